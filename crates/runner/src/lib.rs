//! Runs the tested program many times and keeps what was recorded.
//!
//! [`Target`] says what the command is and how it was built, [`Recorder`] brings unsnarl's recorder into it,
//! [`campaign`] runs it again and again ([`process`]), judges each run ([`Oracle`]) and stores it
//! ([`Session`]); [`portfolio`] and [`preemptions`] say how the next run is to go. [`Symbolizer`] turns recorded addresses into names afterwards, and [`compiler`] builds
//! programs for recording in the first place.
//!
//! "The target failed" is an [`Outcome`]; "unsnarl failed" is an [`Error`].

mod archive;
mod calls;
pub mod campaign;
pub mod compiler;
mod elf;
mod error;
pub mod hook_calls;
pub mod left_out_reads;
mod lock_code;
pub mod loops;
mod nothing_tested;
mod oracle;
mod orphans;
mod output;
pub mod pace;
mod path_text;
pub mod patience;
pub mod portfolio;
pub mod preemptions;
mod preload;
pub mod process;
mod recorded_run;
mod run_file;
mod rust_names;
mod schedules;
mod session;
mod signature;
mod standstill;
mod store;
mod symbolize;
mod takeover;
mod target;
mod types;
mod units;
mod value_form;
mod variables;
mod waiting;

pub use elf::BuildId;
pub use error::{Error, Result};
pub use oracle::{Oracle, Outcome, RAN_NO_TEST};
pub use output::Output;
pub use preload::Preload;
pub use run_file::{ProcessRecording, RunFile, RunNumber, RunRecord};
pub use schedules::{Schedules, follow_course};
pub use session::{Binary, Manifest, Session};
pub use signature::without_numbers;
pub use store::{SessionEntry, Store};
pub use symbolize::{Frame, Symbolizer};
pub use takeover::{Recorder, RecorderImages};
pub use target::{Instrumentation, Target};
pub use value_form::ValueForm;
pub use variables::{Member, Named, TypePlace};
