//! Memory that the hook class (hook-class/java/lang/UnsnarlHooks.java) and the recorder both look at, so that most hooks
//! stay in Java: what a thread is doing ([`desk`]), which accesses to objects of its own it has made ([`block`]), which
//! objects those are ([`known`]) and what is known about hooks' places ([`sites`]).
//!
//! Only the thread that has the token uses [`known`] and blocks, and only a desk's own thread writes to it. A thread
//! that loses the token in its sleep, within a hook, can at worst write into a block that has found another use: blocks
//! are never given back.

pub mod block;
pub mod desk;
pub mod known;
pub mod sites;

use std::sync::atomic::AtomicU32;

/// Set when garbage was collected, for the hook class to forget its objects.
pub static COLLECTED: AtomicU32 = AtomicU32::new(0);

/// How many calls of the library are under way that others may get into: while there are none, the hooks inside of
/// them have nothing to do.
pub static TORN: AtomicU32 = AtomicU32::new(0);

/// Fresh memory, all zero, that is taken from the system only where it is touched.
fn reserve(bytes: usize) -> Option<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, wherever there is room.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    (base != libc::MAP_FAILED).then_some(base.cast())
}
