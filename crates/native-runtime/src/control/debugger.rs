//! A place to stop at for a debugger, in a run that follows a schedule.
//!
//! When the thread in question gets the token after which it will make the access, it calls a function that does
//! nothing but carry a breakpoint. By then it is known where the access is in memory, so that the debugger can stop
//! there next; all other threads are parked, and stay so until this one passes the token on.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::SavedSchedule;

use super::seats::lock;
use crate::modules;
use crate::thread::Thread;

/// The thread to stop, zero if none.
static THREAD: AtomicU32 = AtomicU32::new(0);
static AFTER: AtomicU64 = AtomicU64::new(0);

/// For the debugger: where the access is, zero while that is unknown.
#[unsafe(no_mangle)]
pub static unsnarl_access_address: AtomicU64 = AtomicU64::new(0);

/// For the debugger: the thread that calls this makes the access next.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn unsnarl_access_is_next() {
    // Something that the compiler cannot leave out.
    THREAD.store(0, Ordering::Relaxed);
}

pub unsafe fn start(schedule: &SavedSchedule) {
    if schedule.stop_address == 0 {
        return;
    }
    if let Some(module) = modules::with_build_id(&schedule.stop_build_id) {
        let address = module.bias.wrapping_add(schedule.stop_address);
        unsnarl_access_address.store(address, Ordering::Relaxed);
        AFTER.store(schedule.stop_after, Ordering::Relaxed);
        THREAD.store(schedule.stop_thread, Ordering::Relaxed);
    }
}

/// The thread got the token.
pub unsafe fn handed(thread: &Thread) {
    if THREAD.load(Ordering::Relaxed) != thread.id {
        return;
    }
    let position = lock().map_or(0, |state| state.replay.position());
    if position as u64 >= AFTER.load(Ordering::Relaxed) {
        unsnarl_access_is_next();
    }
}
