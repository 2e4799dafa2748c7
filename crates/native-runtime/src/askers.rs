//! Who asks for memory. C++'s `operator new` does so for others, and lies in a library without hooks: the place that is
//! worth knowing is the one that called it.

use crate::thread::Thread;
use crate::unwind::Place;
use crate::{context, modules};

/// Entries of the direct-mapped cache of such functions: a program has few.
pub const KNOWN_ASKERS: usize = 16;

/// A function without hooks that asks for memory.
#[derive(Clone, Copy)]
pub struct KnownAsker {
    /// Where it does so.
    pc: usize,
    /// [`modules::generation`] then.
    generation: u32,
    /// From the lowest address of its frame to its return address, in bytes; zero if that is not known.
    distance: usize,
}

/// Where the current function asks for memory, if `place` is in a function without hooks that it called directly;
/// otherwise the place itself.
pub unsafe fn behind(thread: &mut Thread, place: Place) -> usize {
    let pc = place.pc as usize;
    let current = context::current(thread.tls);
    if context::holds(current, place.pc) {
        return pc;
    }
    let known = &mut thread.askers[(pc >> 2) % KNOWN_ASKERS];
    let generation = modules::generation();
    let Some(stack_end) = (*thread.stack).end_if_it_holds(place.sp as usize) else { return pc };
    if (known.pc, known.generation) != (pc, generation) {
        let caller = place.caller(stack_end as u64);
        let distance = caller.map_or(0, |caller| (caller.sp - place.sp) as usize - size_of::<usize>());
        *known = KnownAsker { pc, generation, distance };
    }
    let at = place.sp as usize + known.distance;
    if known.distance == 0 || !at.is_multiple_of(align_of::<usize>()) || at >= stack_end {
        return pc;
    }
    // A frame of another size than before leads to something that is hardly an address in the current function.
    let caller = (at as *const usize).read();
    if context::holds(current, caller as u64) { caller } else { pc }
}
