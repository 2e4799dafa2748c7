//! Calls into instrumented code from code without hooks, which the current function had called: a library that calls
//! back, a function without instrumentation, a signal.
//!
//! The frames between the two are found by unwinding, where there are tables for it, and get contexts of their own.

use crate::context::{self, Entry};
use crate::modules;
use crate::thread::{self, Thread};
use crate::unwind::Place;

/// More frames without hooks than this are not looked through.
const MOST_BETWEEN: usize = 16;

/// Entries of the direct-mapped cache of such calls. Sorting calls back from one place, at a few depths; in Rust, small
/// functions without hooks stand between a library's functions all over the program.
pub const KNOWN_BRIDGES: usize = 1024;

/// What a call led to. That it leaves the stack at the same depth tells it from those that came another way.
#[derive(Clone, Copy)]
pub struct KnownBridge {
    current: u32,
    context: u32,
    call: usize,
    sp: usize,
}

/// The context of a function that was entered by such a call while the one of `current` is the newest with hooks.
pub unsafe fn context_of(thread: &mut Thread, current: u32, new: Entry) -> u32 {
    // A function that others were inlined into after they got their hooks is entered at many places by one call.
    let mixed = new.call ^ new.entry << 20 ^ new.sp >> 3 ^ (current as usize) << 7;
    let place = (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % KNOWN_BRIDGES;
    let known = thread.bridges[place];
    let is_known = (known.current, known.call, known.sp) == (current, new.call, new.sp);
    if is_known && (*context::table().add(known.context as usize)).entry == new.entry as u64 {
        return known.context;
    }
    let caller =
        by_unwinding(thread, current, new).unwrap_or_else(|| without_tables(current, new.call as u64));
    let context = context::child_of(caller, new.call as u64, new.entry as u64);
    thread.bridges[place] = KnownBridge { current, context, call: new.call, sp: new.sp };
    context
}

/// Where the current function made the call that led to `place`, which may lie in code without hooks; the place itself
/// where that is not found.
pub unsafe fn call_behind(thread: &Thread, place: Place) -> usize {
    let own = (*context::table().add(context::current(thread.tls) as usize)).function;
    let stack_end = (*thread.stack).end_if_it_holds(place.sp as usize);
    // The context of a function that is to be watched closely does not say how long that is.
    let (Some(function), Some(stack_end)) = (modules::function_at(own as usize), stack_end) else {
        return place.pc as usize;
    };
    let mut above = Some(place);
    for _ in 0..=MOST_BETWEEN {
        let Some(reached) = above else { break };
        if reached.pc.wrapping_sub(function.start) < u64::from(function.size) {
            return reached.pc as usize;
        }
        above = reached.caller(stack_end as u64);
    }
    place.pc as usize
}

/// The same for the calling thread.
pub unsafe fn own_call_behind(place: Place) -> usize {
    let Some(thread) = thread::enter() else { return place.pc as usize };
    let call = call_behind(thread, place);
    thread::leave(thread);
    call
}

/// Of another module's code the last function is known at least; of the same module's it may be a part of the current
/// function that the compiler moved elsewhere.
unsafe fn without_tables(current: u32, call: u64) -> u32 {
    let is_part = context::may_be_part(call, current);
    let between = if is_part { None } else { context::without_entry(current, call) };
    between.unwrap_or(current)
}

/// Looks for the current function's frame on the stack. What lies before it gets contexts.
unsafe fn by_unwinding(thread: &Thread, current: u32, new: Entry) -> Option<u32> {
    let stack_end = (*thread.stack).end_if_it_holds(new.sp)? as u64;
    let own_caller = (*context::table().add(current as usize)).call;
    let mut between = [0u64; MOST_BETWEEN];
    let mut count = 0;
    let mut place = Place { pc: new.entry as u64, sp: new.sp as u64, fp: new.fp as u64 }.caller(stack_end)?;
    if place.pc != new.call as u64 {
        return None;
    }
    while !context::holds(current, place.pc) {
        let above = place.caller(stack_end)?;
        if above.pc == own_caller {
            // A part of the current function that the compiler moved elsewhere.
            break;
        }
        *between.get_mut(count)? = place.pc;
        count += 1;
        place = above;
    }
    let mut caller = current;
    let mut call = place.pc;
    for &address in between[..count].iter().rev() {
        let function = modules::function_at(address as usize)?;
        caller = context::find_or_insert(caller, call, function.start | 1, function);
        call = address;
    }
    Some(caller)
}
