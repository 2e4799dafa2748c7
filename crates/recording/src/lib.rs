//! The bytes that recorders (inside the tested program) and readers agree on.
//!
//! A recorder maps one sparse file per process and writes fixed-size records into its regions; whatever ends
//! the process, the file keeps what was written. The runner copies the used parts into a compact file of the
//! same format ([`compact`]), and [`parse`] turns either into a [`Recording`]. docs/formats.md describes the format.
//!
//! No dependencies and no `std`: the recorder uses this crate too.
#![no_std]

#[cfg(feature = "read")]
extern crate alloc;

mod event;
mod interleaving;
#[cfg(feature = "read")]
mod kept;
mod layout;
mod list;
mod lock_code;
mod loops;
mod name;
mod plan;
#[cfg(feature = "read")]
mod read;
mod schedule;
mod scheduling;
mod site;

pub use event::{Event, EventKind, UNKNOWN_LOCKS, flag};
pub use interleaving::{Interleaving, InterleavingStep, MOST_COPIES, MOST_ROLES, MOST_STEPS, Treatment};
pub use layout::{
    CHUNK_BYTES, CONTESTED, CONTEXT_MODULE_AT, ChunkHeader, Context, HEADER_BYTES, Header, Location, MAGIC,
    ModuleHeader, Pod, REGION_COUNT, Region, RegionId, SLOT_SITES, Slot, ThreadRecord, VERSION, fault,
};
pub use list::List;
pub use lock_code::{ENV_LOCKS, LockCode, LockModule, LockRole};
pub use loops::{BYTES_PER_BLOCK, Block, ENV_LOOPS, LOOPS_MAGIC, LoopTable};
pub use name::{LineRecord, NameHeader, NameKind, object_address, object_number};
pub use plan::{
    ENV_DIR, ENV_PLAN, MOST_DEVIATIONS, MOST_SITES, MOST_WEIGHTS, Noise, PlanError, RunPlan, Schedule,
};
#[cfg(feature = "read")]
pub use read::{Damage, Frame, Module, Name, Recording, ThreadEvent, compact, header, parse};
pub use schedule::{Beginning, ENV_SCHEDULE, Numbering, SCHEDULE_MAGIC, SavedSchedule, Switch};
#[cfg(feature = "read")]
pub use schedule::{Course, Stop};
pub use scheduling::{Decision, Deviation, Visit};
pub use site::Site;
