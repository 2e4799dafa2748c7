//! The recorder that lives inside a program compiled with `-fsanitize=thread`.
//!
//! Layers, from the compiler's calls down to the file:
//!
//! - [`hooks`]: the `__tsan_*` interface, one-line shims around …
//! - [`access`]: is this access the owner's? Then one compare and a store; all else goes to …
//! - [`own`] and [`cells`]: who touched these bytes so far (each described by a [`cell`] in the [`shadow`]), and …
//! - [`location`]: the turns of bytes that several threads use (with [`slots`], in the file), which emit …
//! - [`log`]: events, into the [`mapping`] that outlives the process.
//! - [`context`]: calling contexts, kept up by function entry and exit ([`bridges`]: also across code without hooks).
//! - [`sync`] and [`intercept`]: locks, threads, heap and memory functions; [`atomic_locks`]: locks without functions.
//! - [`sampling`] leaves out most accesses, if that is asked for.
//! - [`noise`] disturbs the schedule, or [`control`] makes it.
//!
//! Invariants: no target heap, no lock held across user code, no unwinding, and never the end of the target:
//! on its own trouble the recorder notes a fault in the file and switches itself off.
#![no_std]
#![allow(clippy::missing_safety_doc, clippy::missing_docs_in_private_items)]

mod access;
mod askers;
mod atomic_locks;
mod blocks;
mod bridges;
mod buffers;
mod cell;
mod cells;
mod contested;
mod context;
mod control;
mod errno;
mod fetch;
mod fibers;
mod groups;
mod handovers;
mod hooks;
mod in_turn;
mod intercept;
mod jumps;
mod kept;
mod kernel;
mod known_reads;
mod leaves;
mod location;
mod lock_code;
mod log;
mod loops;
mod mapping;
mod modules;
mod new_slots;
mod noise;
mod own;
mod passages;
mod passing;
mod path;
mod planned;
mod real;
mod rebirth;
mod releases;
mod repetition;
mod residency;
mod sampling;
mod sandbox;
mod shadow;
mod sites;
mod slots;
mod spin;
mod split;
mod stack;
mod start;
mod sync;
mod thread;
mod tls;
mod trails;
mod turns;
mod unaligned;
mod unwind;
mod whole_file;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // Nothing here panics on purpose. Should it happen, ending the target is all that is left.
    // SAFETY: abort takes no arguments.
    unsafe { libc::abort() }
}

/// Marks a program as carrying the recorder; the runner looks for it.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".unsnarl")]
#[used]
pub static unsnarl_recorder_version: u32 = recording::VERSION;
