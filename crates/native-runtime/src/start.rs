//! Switching the recorder on, and keeping it right across fork and exit.

use core::ffi::{CStr, c_char, c_void};
use core::fmt::Write;
use core::sync::atomic::{AtomicU32, Ordering};

use recording::{ENV_DIR, ENV_PLAN, EventKind, RunPlan};

use crate::{cells, context, location, log, mapping, modules, noise, shadow, thread};

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
    if STATE.compare_exchange(NOT_STARTED, STARTING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        let started = start();
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
    DIRECTORY.set(CStr::from_ptr(directory));
    if let Err(error) = create_file(|path| mapping::create(path, &plan)) {
        complain("it cannot create its file in UNSNARL_DIR", error);
        return false;
    }
    if !shadow::start() || !cells::start() {
        complain("there is not enough address space for its shadow memory", mapping::errno());
        log::fault(recording::fault::MEMORY, mapping::errno() as u32);
        return false;
    }
    modules::start();
    log::activate(plan.budget_bytes);
    noise::start(plan.seed, plan.noise);
    let mut key = 0;
    if libc::pthread_key_create(&mut key, Some(at_thread_end)) == 0 {
        THREAD_END.store(key, Ordering::Relaxed);
    }
    libc::pthread_atfork(None, None, Some(in_forked_child));
    libc::atexit(at_exit);
    context::start()
}

macro_rules! concat_zero {
    ($name:ident) => {{
        const BYTES: [u8; $name.len() + 1] = {
            let mut bytes = [0; $name.len() + 1];
            let mut at = 0;
            while at < $name.len() {
                bytes[at] = $name.as_bytes()[at];
                at += 1;
            }
            bytes
        };
        BYTES
    }};
}
use concat_zero;

/// The directory for recordings, kept since the target may change its environment.
static DIRECTORY: PathBuffer = PathBuffer(core::cell::UnsafeCell::new([0; 3800]));
struct PathBuffer(core::cell::UnsafeCell<[u8; 3800]>);
// SAFETY: written once before any other thread can read it.
unsafe impl Sync for PathBuffer {}

impl PathBuffer {
    unsafe fn set(&self, path: &CStr) {
        let buffer = &mut *self.0.get();
        let bytes = path.to_bytes();
        if bytes.len() < buffer.len() {
            for (to, from) in buffer.iter_mut().zip(bytes) {
                *to = *from;
            }
        }
    }

    unsafe fn get(&self) -> &'static str {
        let path = CStr::from_ptr((*self.0.get()).as_ptr().cast());
        core::str::from_utf8_unchecked(path.to_bytes())
    }
}

/// Text in a fixed buffer; what does not fit is left out.
struct Text {
    bytes: [u8; 4096],
    length: usize,
}

impl Text {
    fn new() -> Text {
        Text { bytes: [0; 4096], length: 0 }
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for &byte in text.as_bytes() {
            // The last byte stays zero, so that the text can be passed to C.
            if self.length < self.bytes.len() - 1 {
                self.bytes[self.length] = byte;
                self.length += 1;
            }
        }
        Ok(())
    }
}

/// Calls `create` with a path that no other process of the run uses: the pid, and a number where a process
/// that executed another program leaves several files.
unsafe fn create_file(create: impl Fn(*const c_char) -> Result<(), i32>) -> Result<(), i32> {
    let pid = libc::getpid();
    for attempt in 0..1000 {
        let mut path = Text::new();
        let _ = write!(path, "{}/{pid}-{attempt}.raw", DIRECTORY.get());
        match create(path.bytes.as_ptr().cast()) {
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
    libc::write(2, text.bytes.as_ptr().cast(), text.length);
}

/// Arranges for [`thread::detach`] when the calling thread ends, however it does.
pub unsafe fn call_at_thread_end() {
    let key = THREAD_END.load(Ordering::Relaxed);
    if key != u32::MAX {
        libc::pthread_setspecific(key, 1 as *const c_void);
    }
}

/// Other destructors may run target code after ours: wait for the last of the rounds that POSIX grants.
unsafe extern "C" fn at_thread_end(round: *mut c_void) {
    const ROUNDS: usize = 4;
    if (round as usize) < ROUNDS {
        libc::pthread_setspecific(THREAD_END.load(Ordering::Relaxed), (round as usize + 1) as *const c_void);
    } else {
        thread::detach();
    }
}

extern "C" fn at_exit() {
    // SAFETY: the mapping stays.
    unsafe {
        if let Some(thread) = thread::enter() {
            log::emit_sync(thread, EventKind::Exit, 0, 0, 0, 0);
            thread::leave(thread);
            (*mapping::header()).ended = 1;
        }
    }
}

/// The child shares the parent's file until here; from here on it has its own.
unsafe extern "C" fn in_forked_child() {
    if !log::is_active() {
        return;
    }
    let parent = (*mapping::header()).pid;
    log::forget_chunks();
    mapping::unlock_after_fork();
    if let Err(error) = create_file(|path| mapping::continue_in_own_file(path)) {
        log::deactivate();
        complain("a forked process cannot create its file", error);
        return;
    }
    cells::unlock_after_fork();
    context::unlock_after_fork();
    modules::unlock_after_fork();
    shadow::unlock_after_fork();
    location::unlock_after_fork();
    crate::sync::unlock_after_fork();
    thread::continue_after_fork();
    if let Some(thread) = thread::enter() {
        log::emit_sync(thread, EventKind::Fork, 0, 0, 0, parent as u64);
        thread::leave(thread);
    }
}
