//! Functions of the C library that the recorder stands in front of: what they do to memory, locks and
//! threads is recorded, and the real ones are called.

mod condition;
mod heap;
mod jumps;
mod memory;
mod mutex;
mod pages;
mod rwlock;
mod semaphore;
mod threads;

pub use threads::name_thread;
