//! What a person or a program gets to see of a session: the [`Report`] and its formats.
//!
//! The report holds plain, resolved data (names, lines, counts), so that each format is a pure function from a
//! report to text, in a file of its own: [`json`], [`terminal`]. The words they share are in one place, so
//! that a finding reads the same everywhere. Two modules are not formats: [`source`] looks up the source line of
//! each access before the report is shown, and [`progress`] is what is visible while the runs go on.
//!
//! Invariants: the same report gives the same bytes; text that came from the target never reaches a terminal
//! with its control characters alive.

pub mod expression;
pub mod json;
mod model;
pub mod progress;
pub mod source;
pub mod terminal;
mod visible;
mod wording;

pub use model::{
    Access, AccessKind, Confirmation, FailureGroup, Finding, Frame, Kind, Report, Runs, SCHEMA, Session,
    Trial, Verdict,
};
pub use visible::visible;
