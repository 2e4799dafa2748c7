//! unsnarl's recorder for programs that run on a Java virtual machine.
//!
//! The virtual machine loads this library at its start ([`agent`]) and shows it every class before it is used;
//! [`rewrite`] puts calls of the [`hook_class`]'s methods into those under test ([`scope`]). The [`hooks`] let one
//! thread run at a time (`control`) and record into the same kind of file as the native recorder (`recorder`).

pub mod accesses;
pub mod agent;
pub mod classfile;
pub mod collections;
mod control;
mod fields;
pub mod handles;
pub mod hook_class;
pub mod hooks;
pub mod intercept;
mod jvm;
pub mod library;
mod memory;
mod naming;
pub mod places;
mod process;
mod recorder;
pub mod rewrite;
pub mod scope;
mod thread;
