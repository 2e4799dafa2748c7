//! Switching the recorder on, and keeping it right across fork and exit.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use recording::{ENV_DIR, ENV_LOCKS, ENV_PLAN, EventKind, Noise, RunPlan};

use crate::path::{PathBuffer, Text, concat_zero};
use crate::{
    blocks, cells, context, control, errno, groups, lock_code, log, mapping, modules, noise, planned,
    sampling, sandbox, shadow, thread,
};

const NOT_STARTED: u32 = 0;
const STARTING: u32 = 1;
const READY: u32 = 2;
/// The program runs without the runner, or the recorder could not start.
const OFF: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(NOT_STARTED);
static THREAD_END: AtomicU32 = AtomicU32::new(u32::MAX);

/// Does the recorder record? Not before an instrumented module has announced itself: the loader and the C
/// library call intercepted functions long before the environment can be read.
#[inline]
pub fn ready() -> bool {
    STATE.load(Ordering::Acquire) == READY && log::is_active()
}

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Switches the recorder on at the first call.
pub unsafe fn ensure() {
    // The first call comes before the C library's own start; the constructor of the module will call again.
    if environ.is_null() {
        return;
    }
    let _errno = errno::keep();
    if STATE.compare_exchange(NOT_STARTED, STARTING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        let started = start();
        if !started {
            sampling::leave_out_everything();
        }
        STATE.store(if started { READY } else { OFF }, Ordering::Release);
    }
}

unsafe fn start() -> bool {
    let directory = libc::getenv(concat_zero!(ENV_DIR).as_ptr().cast());
    if directory.is_null() {
        return false;
    }
    let plan = libc::getenv(concat_zero!(ENV_PLAN).as_ptr().cast());
    let plan = if plan.is_null() { Some("") } else { CStr::from_ptr(plan).to_str().ok() };
    let Some(Ok(plan)) = plan.map(str::parse::<RunPlan>) else {
        complain("it does not understand the run plan (runner and recorder are of different versions)", 0);
        return false;
    };
    if !DIRECTORY.set(CStr::from_ptr(directory)) {
        complain("UNSNARL_DIR cannot be used", errno::get());
        return false;
    }
    let elsewhere = shadow::ROOT_BYTES as u64;
    match create_file(|path| mapping::create(path, &plan, elsewhere)) {
        Ok(()) => {}
        Err(libc::ENOMEM) => {
            complain("its address space is limited to less than recording needs (see ulimit -v)", 0);
            return false;
        }
        Err(error) => {
            complain("it cannot create its file in UNSNARL_DIR", error);
            return false;
        }
    }
    if !shadow::start() || !groups::start() {
        complain("there is not enough address space for its shadow memory", errno::get());
        log::fault(recording::fault::MEMORY, errno::get() as u32);
        return false;
    }
    crate::loops::start();
    modules::list();
    let locks = libc::getenv(concat_zero!(ENV_LOCKS).as_ptr().cast());
    if !locks.is_null() {
        lock_code::start(CStr::from_ptr(locks));
    }
    log::activate(plan.budget_bytes);
    planned::start(&plan);
    control::start(&plan);
    if !control::is_on() {
        sampling::start(plan.sample);
    }
    noise::start(plan.seed, if control::is_on() { Noise::Off } else { plan.noise });
    let mut key = 0;
    if libc::pthread_key_create(&mut key, Some(at_thread_end)) == 0 {
        THREAD_END.store(key, Ordering::Relaxed);
    }
    libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(in_forked_child));
    atexit(at_exit);
    context::start()
}

/// The directory for recordings, kept since the target may change its environment and where it works.
static DIRECTORY: PathBuffer = PathBuffer::new();

/// Calls `create` with a path that no other process of the run uses: the pid, and a number where a process
/// that executed another program leaves several files.
unsafe fn create_file(create: impl Fn(*const c_char) -> Result<(), i32>) -> Result<(), i32> {
    let pid = libc::getpid();
    for attempt in 0..1000 {
        let mut path = Text::new();
        let _ = write!(path, "{}/{pid}-{attempt}.raw", DIRECTORY.get());
        match create(path.as_c_string()) {
            Err(libc::EEXIST) => {}
            result => return result,
        }
    }
    Err(libc::EEXIST)
}

unsafe fn complain(why: &str, error: i32) {
    let mut text = Text::new();
    let _ = write!(text, "unsnarl: this process is not recorded: {why}");
    if error != 0 {
        let _ = write!(text, " (error {error})");
    }
    let _ = text.write_str("\n");
    let text = text.as_bytes();
    libc::write(2, text.as_ptr().cast(), text.len());
}

/// Arranges for [`thread::detach`] when the calling thread ends, however it does.
pub unsafe fn call_at_thread_end() {
    let key = THREAD_END.load(Ordering::Relaxed);
    if key != u32::MAX {
        libc::pthread_setspecific(key, core::ptr::without_provenance(1));
    }
}

/// Other destructors may run target code after ours: wait for the last of the rounds that POSIX grants.
unsafe extern "C" fn at_thread_end(round: *mut c_void) {
    const ROUNDS: usize = 4;
    if (round as usize) < ROUNDS {
        let next = core::ptr::without_provenance(round as usize + 1);
        libc::pthread_setspecific(THREAD_END.load(Ordering::Relaxed), next);
    } else {
        thread::detach();
    }
}

unsafe extern "C" fn at_exit() {
    if let Some(thread) = thread::enter() {
        log::emit_sync(thread, EventKind::Exit, 0, 0, 0, 0);
        thread::leave(thread);
        (*mapping::header()).ended = 1;
    }
}

unsafe extern "C" {
    fn __cxa_atexit(routine: unsafe extern "C" fn(), argument: usize, module: usize) -> c_int;
}

/// Usually part of the program itself. One linked against gcc's runtime has none, since that offers it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn atexit(routine: unsafe extern "C" fn()) -> c_int {
    __cxa_atexit(routine, 0, 0)
}

/// Nobody else may be in the midst of a change when the process is copied: takes all locks, outer ones first,
/// but for those of locations, which the child does not take along.
unsafe extern "C" fn before_fork() {
    let Some(_still_inside) = thread::enter() else { return };
    control::lock_before_fork();
    cells::lock_before_fork();
    crate::sync::lock_before_fork();
    modules::lock_before_fork();
    context::lock_before_fork();
    crate::kept::lock_before_fork();
    log::lock_before_fork();
    shadow::lock_before_fork();
    groups::lock_before_fork();
    mapping::lock_before_fork();
    LOCKED_FOR_FORK.store(true, Ordering::Relaxed);
}

/// Not set when a signal handler that interrupted the recorder forks.
static LOCKED_FOR_FORK: AtomicBool = AtomicBool::new(false);

/// False if nothing was locked.
unsafe fn unlock_after_fork() -> bool {
    if !LOCKED_FOR_FORK.swap(false, Ordering::Relaxed) {
        return false;
    }
    mapping::unlock_after_fork();
    groups::unlock_after_fork();
    shadow::unlock_after_fork();
    log::unlock_after_fork();
    crate::kept::unlock_after_fork();
    context::unlock_after_fork();
    modules::unlock_after_fork();
    crate::sync::unlock_after_fork();
    cells::unlock_after_fork();
    control::unlock_after_fork();
    true
}

/// In the parent.
unsafe extern "C" fn after_fork() {
    if unlock_after_fork() {
        (*crate::tls::current()).busy = 0;
    }
}

/// The child shares the parent's file until here; from here on it has its own.
unsafe extern "C" fn in_forked_child() {
    if !log::is_active() {
        return;
    }
    if !unlock_after_fork() {
        // The interrupted thread may have left anything half done.
        return log::deactivate();
    }
    if sandbox::is_closed() {
        // A file of its own cannot be had.
        return log::deactivate();
    }
    let _errno = errno::keep();
    let parent = (*mapping::header()).pid;
    log::forget_chunks();
    if let Err(error) = create_file(|path| mapping::continue_in_own_file(path)) {
        log::deactivate();
        complain("a forked process cannot create its file", error);
        return;
    }
    shadow::clear();
    blocks::restart();
    context::restart();
    crate::sites::restart();
    crate::kept::restart();
    crate::loops::restart();
    sampling::restart();
    // Inside since before the fork.
    if let Some(thread) = (*crate::tls::current()).thread.as_mut() {
        thread::restart(thread);
        log::emit_sync(thread, EventKind::Fork, 0, 0, 0, parent as u64);
        thread::leave(thread);
    }
}
