//! The interface that `-fsanitize=thread` code calls. Shims only.

mod annotations;
pub mod atomic;
mod coverage;
#[cfg(target_arch = "x86_64")]
mod fast;
mod function;
mod memory;
mod unused;
