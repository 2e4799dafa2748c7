//! Runs in, findings out: which interleaving of which accesses tells the failing runs from the passing ones.
//!
//! ```text
//! Run ──technique──▶ Occurrences (the patterns one run shows) ──Collector──▶ counts ──formula──▶ Vec<Finding>
//! ```
//!
//! Everything here is pure: no files, clock, randomness, or dependence on the order of a hash table or of the
//! runs. A technique is one function from a run to its occurrences, in a file of its own, and one line of the
//! table in [`technique`]. A run is read once and can then be dropped: only patterns and counts stay.

pub mod code;
mod falcon;
mod name;
mod occurrences;
mod options;
pub mod pattern;
pub mod profile;
mod ranking;
pub mod run;
pub mod suspiciousness;
pub mod technique;
mod unicorn;
mod window;

pub use code::{Code, Module, ModuleId, Site};
pub use name::UnknownName;
pub use occurrences::Occurrences;
pub use options::Options;
pub use pattern::{Pattern, PatternId, Violation};
pub use profile::{Profile, profile};
pub use ranking::{Collector, Example, Finding, localize};
pub use run::{
    Access, AccessKind, Gap, LocationId, LocksetId, Outcome, Run, RunId, SiteId, StackId, ThreadId,
};
pub use suspiciousness::Formula;
pub use technique::Technique;
