//! Parked threads watch the one that runs. One that blocks where nobody sees it (in a system call, in a lock of
//! some library) must not keep the token: it is *away* from then on, and comes back at its next point.
//!
//! No thread of the recorder's own does this: the target's threads must stay the only ones.

use core::fmt::Write;
use core::sync::atomic::{AtomicU32, Ordering};

use super::seats::{BELLS, HOLDER, POINTS, Seat, Standing, lock};
use super::token::{give, vacate};
use super::{clock, is_on};
use crate::path::Text;
use crate::{kernel, mapping, tls};

/// How long the holder may stand still until somebody looks after it.
const PATIENCE: u64 = 4_000_000;
/// Time that the holder may compute without a single point. It may be spinning on something that no hook sees.
const LONGEST_COMPUTATION: u64 = 100_000_000;

/// The seat of the parked thread that watches. Whoever passes the token on parks next and takes the post, so it is
/// never vacant for long; the others look now and then all the same, the more of them the more rarely.
static WATCHER: AtomicU32 = AtomicU32::new(0);
static PARKED: AtomicU32 = AtomicU32::new(0);

/// Parks the calling thread until its seat has the token, or control is over.
pub unsafe fn until_given(own: usize) {
    watch_until_given(own);
    let _ = WATCHER.compare_exchange(own as u32, 0, Ordering::Relaxed, Ordering::Relaxed);
}

unsafe fn watch_until_given(own: usize) {
    let mut watch = Watch::default();
    loop {
        let seen = BELLS[own].load(Ordering::Acquire);
        if HOLDER.load(Ordering::Acquire) as usize == own || !is_on() {
            return;
        }
        let parked = PARKED.fetch_add(1, Ordering::Relaxed) + 1;
        let watcher = WATCHER.compare_exchange(0, own as u32, Ordering::Relaxed, Ordering::Relaxed);
        let watches = watcher.is_ok() || watcher == Err(own as u32);
        let time = kernel::span(if watches { PATIENCE } else { PATIENCE * (1 + u64::from(parked)) });
        let time_is_over = kernel::wait_on(BELLS[own].as_ptr(), seen, &time);
        PARKED.fetch_sub(1, Ordering::Relaxed);
        if time_is_over {
            let tls = tls::current();
            let was_busy = core::mem::replace(&mut (*tls).busy, 1);
            watch.look(own);
            (*tls).busy = was_busy;
        }
    }
}

/// A wait may be over for so long by the system's clock while another thread sleeps that is to go on before by logical time. The two agree
/// to within a few milliseconds on a machine that does little else; on a busy one sleepers wake late, and should go on in the same
/// order all the same.
const LATE: u64 = 100_000_000;

impl Seat {
    /// Has its wait been over for a while, though it should not be yet by logical time? The program may well measure how long it took.
    fn is_late(&self, now: u64) -> bool {
        self.standing == Standing::Waiting && self.real_deadline.saturating_add(LATE) <= now
    }
}

/// What a parked thread saw when it looked last.
#[derive(Default)]
struct Watch {
    holder: u32,
    points: u32,
    /// Time that the holder had computed then.
    computed: u64,
}

impl Watch {
    unsafe fn look(&mut self, own: usize) {
        let (holder, points) = (HOLDER.load(Ordering::Relaxed), POINTS.load(Ordering::Relaxed));
        if holder == 0 {
            self.help_itself(own);
            return;
        }
        let (os_id, sleeps) = match lock() {
            Some(state) => {
                let Seat { os_id, sleeps, .. } = state.seats[holder as usize];
                (os_id, sleeps && !state.seats[own].is_late(clock::now()))
            }
            None => return,
        };
        let computed = computed(os_id);
        if (holder, points) != (self.holder, self.points) {
            (self.holder, self.points, self.computed) = (holder, points, computed.unwrap_or(0));
            return;
        }
        let task = Task::look(os_id, computed);
        // One that was created a moment ago may not have got to its first instruction.
        let keeps_it = sleeps
            || os_id == 0
            || matches!(task, Task::Computing(time) if time < self.computed + LONGEST_COMPUTATION);
        if !keeps_it {
            take_away(holder as usize, points, task == Task::Gone);
        }
    }

    /// Nobody has the token: all wait, or are away. What this thread waits for may have come about unseen.
    unsafe fn help_itself(&self, own: usize) {
        let Some(mut state) = lock() else { return };
        if HOLDER.load(Ordering::Relaxed) != 0 || state.waits_for_next() {
            return;
        }
        let tries = state.seats[own].standing == Standing::Waiting;
        if tries {
            if state.seats[own].real_deadline <= clock::now() {
                state.seats[own].timed_out = true;
            }
            state.seats[own].standing = Standing::Ready;
        }
        give(&mut state, own, own);
        if tries {
            // No part of the schedule: how often it happens depends on time.
            state.seats[own].handed = None;
            state.seats[own].helped_itself = true;
        }
    }
}

unsafe fn take_away(holder: usize, points: u32, gone: bool) {
    let Some(mut state) = lock() else { return };
    // It may have come to a point since.
    if HOLDER.load(Ordering::Relaxed) as usize != holder || POINTS.load(Ordering::Relaxed) != points {
        return;
    }
    if gone {
        vacate(&mut state, holder);
    } else if state.leaves_token(holder) {
        return;
    } else {
        state.seats[holder].standing = Standing::Away;
    }
    let mut next = state.choose(None, false);
    // Logical time stands still as long as nobody comes to a point, but the holder may wait for what a sleeper does next.
    if next == 0 && state.end_waits_that_are_over(clock::now()) {
        next = state.choose(None, false);
    }
    if next == 0 && !gone && !state.any(Standing::Ready) {
        // Nobody wants it.
        state.seats[holder].standing = Standing::Running;
    } else {
        (*mapping::header()).taken_away += u64::from(!gone);
        give(&mut state, next, 0);
    }
}

/// What a thread does, as the system sees it.
#[derive(PartialEq, Eq)]
enum Task {
    /// With the nanoseconds that it has computed so far.
    Computing(u64),
    Blocked,
    Gone,
}

impl Task {
    /// At a thread that has computed for so long.
    unsafe fn look(os_id: u32, computed: Option<u64>) -> Task {
        let Some(computed) = computed else { return Task::Gone };
        let mut bytes = [0u8; 512];
        let state = read_of(os_id, "stat", &mut bytes).and_then(|stat| {
            // The name before it may hold anything, a parenthesis too.
            let name_end = stat.iter().rposition(|&byte| byte == b')')?;
            stat.get(name_end + 2).copied()
        });
        match state {
            // Waiting for a disk or a page is over soon; stopped and traced ones are in a debugger's hands.
            Some(b'R' | b'D' | b'T' | b't') => Task::Computing(computed),
            _ => Task::Blocked,
        }
    }
}

/// The nanoseconds that a thread of this process has computed so far; none if there is no such thread. By its clock and not by what `/proc` tells
/// of it: whatever was looked at there has to be forgotten when the thread ends, and while it does, whoever waits for the process spins.
unsafe fn computed(os_id: u32) -> Option<u64> {
    // How the kernel numbers the clocks of threads (linux/posix-timers_types.h): by scheduler time, of one thread.
    const OF_THREAD: i32 = 0b110;
    let clock = !(os_id as i32) << 3 | OF_THREAD;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let read = kernel::call(libc::SYS_clock_gettime, [clock as usize, &raw mut time as usize, 0, 0]);
    (read == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Not by functions that the recorder stands in front of.
unsafe fn read_of<'a>(os_id: u32, file: &str, bytes: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut path = Text::new();
    let _ = write!(path, "/proc/self/task/{os_id}/{file}");
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    let here = libc::AT_FDCWD as isize as usize;
    let opened = kernel::call(libc::SYS_openat, [here, path.as_c_string() as usize, flags, 0]);
    let file = usize::try_from(opened).ok()?;
    let read = kernel::call(libc::SYS_read, [file, bytes.as_mut_ptr() as usize, bytes.len(), 0]);
    kernel::call(libc::SYS_close, [file, 0, 0, 0]);
    bytes.get(..usize::try_from(read).ok()?)
}
