//! What a person or a program gets to see of a session: the [`Report`] and its formats.
//!
//! The report holds plain, resolved data (names, lines, counts), so that each format is a pure function from a
//! report to text, in a file or folder of its own: [`terminal`] and [`html`] for people, [`markdown`] for issues,
//! [`json`] and [`sarif`] for programs, [`svg`] and [`dot`] for one finding's picture. The words they share are in
//! one place, so that a finding reads the same everywhere, and so are the picture, the folding of stacks and the
//! choice of source lines. Two modules are not formats: [`source`] looks up the source of each access before the
//! report is shown, and [`progress`] is what is visible while the runs go on.
//!
//! Invariants: the same report gives the same bytes; text that came from the target never reaches a terminal
//! with its control characters alive, and never becomes markup.

mod allocated;
mod causes;
pub mod dot;
pub mod explanation;
pub mod expression;
mod hang;
pub mod html;
pub mod json;
mod locked;
pub mod markdown;
mod markup;
mod model;
mod outlook;
mod passage;
mod picture;
pub mod progress;
pub mod sarif;
mod search;
pub mod source;
mod stacks;
pub mod svg;
pub mod terminal;
pub mod trace;
mod visible;
mod wording;

pub use allocated::{Allocated, allocated_for, allocated_type};
pub use hang::{Hang, HangKind};
pub use locked::{binding, condition_expression, locked_expression, statement_at};
pub use model::{
    Access, AccessKind, Action, Cause, Comparison, Confirmation, Effort, Excerpt, FailureGroup, Finding, Fix,
    FixPlace, Frame, Graph, GraphNode, Kind, NeededOrder, NeededOrders, NeededStep, Needs, Report, Runs,
    SCHEMA, Session, Spent, ThreadRole, Trial, Verdict, Window,
};
pub use outlook::{Outlook, OutlookPoint, Turn};
pub use search::{Covered, Orders, PolicyRuns, Search};
pub use visible::visible;
pub use wording::{NAMES_ARE_MISSING, brief_function, enclosing_type, is_likely};
