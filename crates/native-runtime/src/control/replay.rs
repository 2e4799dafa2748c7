//! A schedule that was recorded before, followed switch by switch, whatever the policy and its seed say.
//!
//! A switch says who had the token, at which of its stops it lost it, and who got it. Stops are counted per thread, so
//! that a thread which does more or less than it did before shifts nobody else's. As long as the program does what it
//! did, every switch comes at its stop. A schedule of our own making may count progress in place of stops (see [`progress`]). Where the thread whose turn it is cannot run, the one that ran goes on, or any
//! other, until it can; who compares the two recordings sees where that was. Behind the last switch the policy decides.
//!
//! Time is the one thing that differs between runs of the same program: a thread that had waited until its time was
//! over does so again, however long that takes now, and threads that block where nobody sees them get more time to
//! come back, or to go away, than others would have patience for.

use core::ffi::CStr;
use core::fmt::Write;
use core::ptr::null;

use recording::{ENV_SCHEDULE, Pod, SCHEDULE_MAGIC, SavedSchedule, Site, Switch};

use super::seats::{NEVER, Seat, Standing, State};
use super::{debugger, progress};
use crate::intercept::hash_keys;
use crate::path::{PathBuffer, Text, concat_zero};
use crate::whole_file;

/// How often parked threads look in vain before the schedule is given up at a switch: about a fifth of a second.
const PATIENCE: u32 = 50;

/// Who is to run as long as it can may sleep so often: a thread that does so before it acts comes to that, and one that looks again and again,
/// for what others are to do, lets them.
const MOST_NAPS: u32 = 4;

/// The file, kept since the target may change its environment.
static FILE: PathBuffer = PathBuffer::new();

pub struct Replay {
    switches: *const Switch,
    count: usize,
    /// The next one to follow.
    position: usize,
    /// How often somebody has looked in vain since the last switch.
    looks: u32,
    /// How often the one that is to run has slept for a short while since then.
    naps: u32,
}

impl Replay {
    pub const fn new() -> Replay {
        Replay { switches: null(), count: 0, position: 0, looks: 0, naps: 0 }
    }

    /// Finds the schedule to follow, if there is one.
    pub unsafe fn start(&mut self) {
        let path = libc::getenv(concat_zero!(ENV_SCHEDULE).as_ptr().cast());
        if !path.is_null() && FILE.set(CStr::from_ptr(path)) {
            self.take_part();
        }
    }

    /// In a forked child: it has a schedule of its own, or none.
    pub unsafe fn restart(&mut self) {
        *self = Replay::new();
        if !FILE.get().is_empty() {
            self.take_part();
        }
    }

    /// Takes the first part of the file that no other process has taken. The mapping stays for good.
    unsafe fn take_part(&mut self) {
        let mut path = Text::new();
        let _ = path.write_str(FILE.get());
        let Some((content, bytes)) = whole_file::map(path.as_c_string()) else { return };
        let mut at = 0;
        for number in 0.. {
            let Some(header) = read::<SavedSchedule>(content, bytes, at) else { return };
            at += size_of::<SavedSchedule>();
            let switches = (header.switches as usize).saturating_mul(size_of::<Switch>());
            let sites = (header.sites as usize).saturating_mul(size_of::<Site>());
            if header.magic != SCHEDULE_MAGIC || switches.saturating_add(sites) > bytes - at {
                return;
            }
            if is_mine(number) {
                self.switches = content.add(at).cast();
                self.count = header.switches.min(header.followed) as usize;
                if header.sites != 0 {
                    let sites = content.add(at + switches).cast();
                    progress::start(header.numbering, sites, header.sites as usize);
                }
                self.tell_next_stop();
                hash_keys::follow(header.seed);
                debugger::start(&header);
                return;
            }
            at += switches + sites;
        }
    }

    /// Is there more to follow?
    pub fn follows(&self) -> bool {
        self.position < self.count
    }

    /// Switches followed so far.
    pub fn position(&self) -> usize {
        self.position
    }

    fn next(&self) -> Option<Switch> {
        // SAFETY: below the number of switches that the mapped file has.
        self.follows().then(|| unsafe { *self.switches.add(self.position) })
    }

    fn advance(&mut self) {
        self.position += 1;
        (self.looks, self.naps) = (0, 0);
        self.tell_next_stop();
    }

    fn tell_next_stop(&self) {
        progress::set_next_stop(self.next().map_or(Switch::AS_LONG_AS_IT_CAN, |switch| switch.stop));
    }

    /// A parked thread looks in vain. False when it is time to do something about it.
    fn waits_longer(&mut self) -> bool {
        self.looks += 1;
        self.looks < PATIENCE
    }
}

/// Whoever makes the file beside the schedule first has this part.
unsafe fn is_mine(number: u32) -> bool {
    let mut mark = Text::new();
    let _ = write!(mark, "{}.{number}", FILE.get());
    let file = libc::open(mark.as_c_string(), libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC, 0o600);
    if file >= 0 {
        libc::close(file);
    }
    file >= 0
}

unsafe fn read<T: Pod>(content: *const u8, bytes: usize, at: usize) -> Option<T> {
    (at + size_of::<T>() <= bytes).then(|| content.add(at).cast::<T>().read_unaligned())
}

impl State {
    /// Who runs next by the schedule; `otherwise` where that cannot be followed. Zero to wait for one that is away. Whoever is to run as long as
    /// it can has done so when it would rather let others run.
    pub fn follow(&mut self, current: Option<usize>, otherwise: usize, passes_on: bool) -> usize {
        while let Some(switch) = self.replay.next() {
            let from = self.of_thread(switch.from);
            let is_open = switch.stop == Switch::AS_LONG_AS_IT_CAN;
            if self.number(from) < switch.stop && !(passes_on && is_open) {
                // It did not lose the token here: if it waits now, its time was over at once then. That was so because nobody
                // else could run, or was let; where others can, it waits for one that came sooner then, perhaps for a minute.
                let may_sleep = !is_open || self.replay.naps < MOST_NAPS;
                if !self.any(Standing::Ready) || may_sleep && self.is_near(self.seats[from].deadline) {
                    self.replay.naps += u32::from(self.seats[from].standing == Standing::Waiting);
                    self.let_time_pass(from);
                }
                if self.is_ready(from) {
                    return from;
                }
            }
            let to = self.of_thread(switch.to);
            if to == 0 && switch.to <= self.newest_thread {
                // It has ended.
                self.replay.advance();
                continue;
            }
            if switch.is_by_time() {
                self.let_time_pass(to);
            }
            if self.is_ready(to) {
                self.replay.advance();
                if self.is_done(to) {
                    continue;
                }
                return to;
            }
            if self.seats[to].standing == Standing::Away && self.replay.looks < PATIENCE {
                return 0;
            }
            break;
        }
        // Who would rather let others run may be waiting for one of them.
        current.filter(|&seat| !passes_on && self.is_ready(seat)).unwrap_or(otherwise)
    }

    /// How far the thread of a seat has come, by what the schedule's numbers count.
    fn number(&self, seat: usize) -> u32 {
        let seat = &self.seats[seat];
        if progress::is_followed() { seat.progress } else { seat.stops }
    }

    /// Does the schedule have the thread of a seat lose the token at the point where it is? By stops it never does: each is one more.
    /// Who waits, and has to see whether it still does, has not come any further by that.
    fn is_done(&self, seat: usize) -> bool {
        let Seat { thread, progress, is_at_point, .. } = self.seats[seat];
        let next = self.replay.next().filter(|next| next.from == thread && next.stop <= progress);
        progress::is_followed() && is_at_point && next.is_some()
    }

    fn is_ready(&self, seat: usize) -> bool {
        seat != 0 && self.seats[seat].standing == Standing::Ready
    }

    /// The wait of this seat's thread is over, if it has an end.
    fn let_time_pass(&mut self, seat: usize) {
        let waiting = &mut self.seats[seat];
        if waiting.standing == Standing::Waiting && waiting.deadline != NEVER {
            waiting.timed_out = true;
            waiting.standing = Standing::Ready;
            self.clock = self.clock.max(waiting.deadline);
        }
    }

    /// Nobody has the token, and a parked thread would help itself: is it better to wait for the one whose turn it is?
    pub fn waits_for_next(&mut self) -> bool {
        let Some(switch) = self.replay.next() else { return false };
        let to = self.of_thread(switch.to);
        self.seats[to].standing == Standing::Away && self.replay.waits_longer()
    }

    /// The holder stands still: is it better to leave it the token, since it did not lose it here before?
    pub fn leaves_token(&mut self, holder: usize) -> bool {
        let Some(switch) = self.replay.next() else { return false };
        let kept = self.seats[holder].thread == switch.from && !switch.is_taken_away();
        kept && self.replay.waits_longer()
    }
}
