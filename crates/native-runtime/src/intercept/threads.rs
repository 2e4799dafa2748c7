//! Threads: creation, end, joining, names.

use core::ffi::{CStr, c_char, c_int, c_void};

use recording::{EventKind, RegionId, ThreadRecord};

use crate::control::{Deadline, Time, TimedOut};
use crate::real::{real, with_caller, with_place};
use crate::thread::Origin;
use crate::unwind::Place;
use crate::{bridges, context, control, log, mapping, sync, thread};

type StartRoutine = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

// C++'s threads call these two from a library without hooks: the place that is worth knowing is the one behind it.
with_place! {
    pthread_create => 4, create;
    pthread_join => 2, join;
}

with_caller! {
    pthread_tryjoin_np => 2, try_join;
    pthread_timedjoin_np => 3, timed_join;
    pthread_clockjoin_np => 4, clock_join;
}

/// The new thread learns from its record what to run: no memory has to be shared with it otherwise.
unsafe extern "C" fn create(
    handle: *mut libc::pthread_t,
    attributes: usize,
    routine: usize,
    argument: usize,
    frame: usize,
    fp: usize,
) -> c_int {
    let pc = bridges::own_call_behind(Place::of_call(frame, fp));
    let start = real!(pthread_create(*mut libc::pthread_t, usize, usize, usize) -> c_int);
    create_by(handle, routine, argument, pc, |routine, argument| start(handle, attributes, routine, argument))
}

/// Creates a thread by `start`, which is given what to run and with what.
pub unsafe fn create_by(
    handle: *mut libc::pthread_t,
    routine: usize,
    argument: usize,
    pc: usize,
    start: impl FnOnce(usize, usize) -> c_int,
) -> c_int {
    let id = announce(routine, argument, pc);
    if id == 0 {
        return start(routine, argument);
    }
    let result = start(run as *const () as usize, id as usize);
    if result == 0 {
        let record: *mut ThreadRecord = mapping::record(RegionId::Threads, id);
        (*record).handle = *handle;
        sync::disturb(0, pc);
    } else {
        control::abandon(id);
    }
    result
}

/// Reserves the new thread's id and records its creation; zero if this thread is not recorded.
unsafe fn announce(routine: usize, argument: usize, pc: usize) -> u32 {
    let Some(thread) = thread::enter() else { return 0 };
    let leaf = context::leaf(thread.tls, pc);
    let id = thread::new_id().unwrap_or(0);
    if id != 0 {
        let record: *mut ThreadRecord = mapping::record(RegionId::Threads, id);
        (*record).parent = thread.id;
        (*record).created_at = leaf;
        (*record).entry = routine as u64;
        (*record).argument = argument as u64;
        log::emit_sync(thread, EventKind::ThreadCreate, leaf, id, thread.id, 0);
        control::announce(id);
    }
    thread::leave(thread);
    id
}

unsafe extern "C" fn run(id: *mut c_void) -> *mut c_void {
    let id = id as usize as u32;
    let record: *mut ThreadRecord = mapping::record(RegionId::Threads, id);
    let (parent, created_at, entry) = ((*record).parent, (*record).created_at, (*record).entry);
    let argument = (*record).argument;
    control::begin(id);
    thread::attach(Origin { id, parent, created_at, entry });
    sync::disturb(0, entry as usize);
    let routine = core::mem::transmute::<u64, StartRoutine>(entry);
    routine(argument as *mut c_void)
}

/// Joins a thread by `join`, which gives up at the deadline if there is one.
pub unsafe fn joined(
    handle: libc::pthread_t,
    deadline: Option<Deadline>,
    pc: usize,
    join: impl FnOnce() -> c_int,
) -> c_int {
    if !log::is_active() {
        return join();
    }
    // Looked up before: afterwards the handle may belong to a new thread.
    let id = sync::thread_with_handle(handle);
    sync::before_waiting(EventKind::ThreadJoin, id as usize, pc);
    let result = match control::join(id, deadline) {
        Ok(()) => join(),
        Err(TimedOut) => libc::ETIMEDOUT,
    };
    sync::after_waiting();
    if result == 0 {
        sync::happened(EventKind::ThreadJoin, 0, id, pc);
    }
    result
}

unsafe extern "C" fn join(handle: libc::pthread_t, out: usize, frame: usize, fp: usize) -> c_int {
    let pc = bridges::own_call_behind(Place::of_call(frame, fp));
    joined(handle, None, pc, || real!(pthread_join(libc::pthread_t, usize) -> c_int)(handle, out))
}

unsafe extern "C" fn try_join(handle: libc::pthread_t, out: usize, pc: usize) -> c_int {
    // Does not wait: a thread that still runs is none that has been joined.
    let result = real!(pthread_tryjoin_np(libc::pthread_t, usize) -> c_int)(handle, out);
    if result == 0 { joined(handle, None, pc, || 0) } else { result }
}

unsafe extern "C" fn timed_join(handle: libc::pthread_t, out: usize, time: Time, pc: usize) -> c_int {
    joined(handle, Deadline::at(libc::CLOCK_REALTIME, time), pc, || {
        real!(pthread_timedjoin_np(libc::pthread_t, usize, Time) -> c_int)(handle, out, time)
    })
}

unsafe extern "C" fn clock_join(
    handle: libc::pthread_t,
    out: usize,
    clock: c_int,
    time: Time,
    pc: usize,
) -> c_int {
    joined(handle, Deadline::at(clock, time), pc, || {
        real!(pthread_clockjoin_np(libc::pthread_t, usize, c_int, Time) -> c_int)(handle, out, clock, time)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cancel(handle: libc::pthread_t) -> c_int {
    let id = if control::is_on() { sync::thread_with_handle(handle) } else { 0 };
    let result = real!(pthread_cancel(libc::pthread_t) -> c_int)(handle);
    control::cancelled(id);
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_setname_np(handle: libc::pthread_t, name: *const c_char) -> c_int {
    if handle == libc::pthread_self() {
        name_thread(name);
    }
    real!(pthread_setname_np(libc::pthread_t, *const c_char) -> c_int)(handle, name)
}

/// Notes the name of the calling thread.
pub unsafe fn name_thread(name: *const c_char) {
    let Some(thread) = thread::enter() else { return };
    let bytes = CStr::from_ptr(name).to_bytes();
    let room = &mut (*thread.record).name;
    *room = [0; 16];
    for (to, from) in room[..15].iter_mut().zip(bytes) {
        *to = *from;
    }
    thread::leave(thread);
}
