//! Functions of the C library that the recorder stands in front of: what they do to memory, locks and
//! threads is recorded, and the real ones are called.

mod c11;
mod condition;
mod containers;
mod fibers;
mod futex;
pub mod hash_keys;
mod heap;
mod jumps;
mod loader;
mod memory;
mod mutex;
mod openmp;
mod pages;
mod panics;
mod patience;
mod rwlock;
mod sandbox;
mod semaphore;
mod sleep;
mod statics;
mod strings;
mod threads;
mod transfers;
mod versions;

pub use patience::Patience;
pub use threads::name_thread;
