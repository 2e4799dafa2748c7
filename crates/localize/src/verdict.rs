//! The verdict: one ranked list of causes, made of what the other techniques see.
//!
//! docs/techniques/verdict.md describes the method and what each part of it brings.
//!
//! **Finds** what any of Locon, AVIO and Unicorn finds. *Clues* are the immediate dependencies of a run, its
//! unserializable triples and Unicorn's patterns on two variables (`clues.rs`). Each is weighed by how well it
//! explains which runs fail (`weight.rs`), and against what is known of causes: a cause reorders accesses that
//! passing runs make as well, in another order (`scale.rs`). Clues that the same runs show, on the same data
//! or one within the other, are one cause. How sure that makes is asked of chance: would runs that are called
//! failing at random have given as good a clue (`chance.rs`)?
//!
//! **Misses** what none of these techniques sees.

mod calls;
mod causes;
mod chance;
mod clues;
mod crossings;
mod evidence;
mod fold;
mod freed;
mod leads;
mod new_code;
mod orders;
mod reason;
mod regions;
mod scale;
mod sources;
mod strata;
mod torn;
mod tuning;
mod unfinished;
mod values;
mod weight;

pub(crate) use clues::{Clues, clues};
pub(crate) use evidence::Evidence;
pub use reason::{Reason, Reasoning};
pub use tuning::Tuning;
pub use values::{Value, Values};
