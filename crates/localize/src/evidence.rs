//! What is known about the accesses of a finding beside their order: which locks guard them, what orders them, who
//! created whom. This tells a missing lock from one held too short, or from a missing join, and so what to do.
//!
//! Locksets are those of Eraser (Savage et al., 1997), the order is that of happens-before by vector clocks (DJIT+,
//! Pozniansky and Schuster, 2003), lock-order cycles respect gate locks (GoodLock, Havelund, 2000).
//!
//! Everything here is a [`Fact`] about one run. Nothing is said where something is not known: an access whose locks
//! were not recorded neither proves nor disproves that it is guarded.

mod advice;
mod counterpart;
mod deadlocks;
mod facts;
mod fix;
mod one_round;
mod order;
mod outdated;
mod sleeping;
mod telling;
mod waiting;

pub use advice::advise;
pub use counterpart::counterpart;
pub use deadlocks::{LockCycle, LockStep, lock_cycles, waiting_cycle};
pub use facts::{Fact, Witness};
pub use fix::{Action, Fix, Span};
pub use order::HappensBefore;
pub use telling::telling_example;
pub use waiting::advise_standstill;
