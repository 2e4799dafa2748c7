//! Runs in, findings out: which interleaving of which accesses tells the failing runs from the passing ones.
//!
//! ```text
//! Run ──technique──▶ Reduced (what has to be known of one run) ──Collector──▶ evidence ──▶ Vec<Finding>
//! ```
//!
//! Everything here is pure: no files, clock, randomness, or dependence on the order of a hash table or of the
//! runs. A technique is a file of its own, and one row of the table in [`technique`]. Most are a function
//! from a run to the suspects it shows, which are then counted; a run is read once and can then be dropped.

mod avio;
mod bugaboo;
mod cci;
mod cleaning;
pub mod code;
mod codes;
mod collector;
mod communication;
mod counts;
mod defuse;
mod dependencies;
mod digest;
mod edge_counts;
pub mod evidence;
mod falcon;
mod finding;
mod fisher;
mod gathering;
pub mod griffin;
mod histories;
mod intrusion;
mod left_out;
mod locon;
mod missing;
mod name;
mod numbering;
mod occurrences;
mod options;
pub mod pattern;
mod predicted;
pub mod profile;
mod pset;
mod recon;
mod retest;
pub mod run;
mod scan;
mod segments;
mod sequences;
mod settling;
mod shape;
mod spare;
mod standstill;
mod suspect;
pub mod suspiciousness;
pub mod synchronization;
mod tallies;
pub mod technique;
mod unicorn;
mod verdict;
mod views;
mod window;
pub mod written_over;

pub use code::{Code, Module, ModuleId, Site};
pub use collector::{Collector, Reduced, localize};
pub use communication::{Context, ContextEvent, Node};
pub use finding::{Detail, Example, Finding};
pub use fisher::fisher;
pub use intrusion::{Intrusion, Row};
pub use locon::{Level, Procedure};
pub use name::UnknownName;
pub use options::Options;
pub use pattern::{Pattern, PatternId, Violation};
pub use predicted::{Coverage, Predicted};
pub use profile::{Profile, profile};
pub use recon::{Neighbour, Reconstruction};
pub use run::{
    Access, AccessKind, Calls, Gap, LocationId, LocksetId, LoopPosition, Observation, Outcome, Run, RunId,
    SiteId, StackId, ThreadId,
};
pub use scan::Scan;
pub use settling::{Need, Settling};
pub use shape::{Shape, Step};
pub use standstill::{Action, Standstill, StandstillKind, StandstillStep, usual_signal};
pub use suspect::Previous;
pub use suspiciousness::Formula;
pub use synchronization::{Holding, Lock, Nesting, ObjectId, Sleep, SyncEvent, SyncKind, SyncTarget, Wait};
pub use technique::Technique;
pub use verdict::{Reason, Reasoning, Tuning, Value, Values};
