//! The interface that `-fsanitize=thread` code calls. Shims only.

mod annotations;
mod atomic;
mod function;
mod memory;
mod unused;
