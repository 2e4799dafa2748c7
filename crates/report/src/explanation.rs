//! A finding explained: what is known about its accesses, what to do, and what happened, in plain English.
//!
//! Everything is worded from structured facts, and claims no more than these say.

mod advice;
mod facts;
mod instead;
mod needed;
mod patch;
mod reentrant;
mod region;
mod story;

pub use advice::{advice, any_of_array, one_at_a_time, other_order};
pub use facts::{Fact, sentences};
pub use instead::in_place_of_the_lock;
pub use needed::{crossing, kept_together};
pub use patch::patch;
pub use reentrant::reentrant;
pub(crate) use region::apart;
pub use region::{calling_frame, comes_first, enclosing_functions, own_frame, region, tell_by_calls};
pub use story::story;
