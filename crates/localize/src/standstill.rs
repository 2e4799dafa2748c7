//! Why a run hung: threads that wait for what will never come.
//!
//! - **Deadlock**: threads wait for locks in a circle, or for the lock of a thread that ended with it, or that waits for
//!   something else itself. A circle of one is a thread that takes a lock again which it holds; if it has that for reading and
//!   wants no more, a writer that came in between is what keeps it out.
//! - **Missed signal**: a thread waits for a condition whose signal came before it began to wait; no other came since. A
//!   signal that is recorded after the beginning and wakes nobody came before it as well.
//!   If the signal's thread wrote what the waiting thread had read before, these two accesses are part of it: the
//!   decision to wait was outdated.
//! - **Another one woken**: a signal for one came while several threads waited for the condition. What its thread had written before is
//!   still as it was when the run hung, so whoever is left waits for what is there. Or whoever woke waits there for something else, and again
//!   (`standstill/woke_in_vain.rs`).
//! - **Unsignalled**: what the thread waits for was changed after it began to wait, at a place that a signal follows at other times, and
//!   none did (`standstill/unsignalled.rs`).
//!
//! A run that is still going on also has threads that wait. Only a hung run stands still.

mod taken_back;
mod unsignalled;
mod woke_in_vain;

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::run::{AccessKind, Run, SiteId, StackId, ThreadId};
use crate::synchronization::{ObjectId, SyncEvent, SyncKind, SyncTarget, Wait};

use taken_back::taken_back;
pub(crate) use taken_back::{given_back, given_back_by};

pub use unsignalled::usual_signal;

/// Threads that wait for what will never come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// What sort it is.
    pub kind: StandstillKind,
    /// What the threads did. Of a deadlock of several threads first the locks that are held and then those that are waited
    /// for, each in the order of the roles; else in time order.
    pub steps: Vec<StandstillStep>,
}

/// Sorts of standstills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StandstillKind {
    /// Locks are held and waited for.
    Deadlock,
    /// A signal came too early.
    MissedSignal,
    /// A signal woke another thread that waited, and there was none for this one.
    WokeAnother,
    /// What is waited for was changed without a signal, though one follows at other times.
    Unsignalled,
}

/// What a thread did on the way into a standstill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandstillStep {
    /// Of the thread, from 1.
    pub role: u32,
    /// The thread.
    pub thread: ThreadId,
    /// What it did.
    pub action: Action,
    /// Where in the code.
    pub site: SiteId,
    /// The calls that led there.
    pub stack: StackId,
}

/// What a thread did, and to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Took a lock, or tried to.
    Lock(ObjectId),
    /// Signalled a condition.
    Signal(ObjectId),
    /// Waits for a condition.
    Wait(ObjectId),
    /// Read: the access with this global index.
    Read(usize),
    /// Wrote: the access with this global index.
    Write(usize),
}

impl Action {
    /// The lock or condition that it is about, if it is about one.
    pub fn object(self) -> Option<ObjectId> {
        match self {
            Self::Lock(object) | Self::Signal(object) | Self::Wait(object) => Some(object),
            Self::Read(_) | Self::Write(_) => None,
        }
    }

    /// Its letter in patterns.
    pub fn letter(self) -> char {
        match self {
            Self::Lock(_) => 'L',
            Self::Signal(_) => 'S',
            Self::Wait(_) => 'C',
            Self::Read(_) => 'R',
            Self::Write(_) => 'W',
        }
    }
}

/// What is decided on is written just before the signal.
const DECISIVE_WRITES: usize = 16;

/// What tells one standstill from another across runs: what is done by which role and where.
pub(crate) type Identity = Vec<(char, u32, SiteId)>;

impl Standstill {
    /// The reads and writes that it begins with, by their global index.
    pub fn leading_accesses(&self) -> Vec<usize> {
        let access = |step: &StandstillStep| match step.action {
            Action::Read(index) | Action::Write(index) => Some(index),
            _ => None,
        };
        self.steps.iter().map_while(access).collect()
    }

    /// Its identity across runs.
    pub(crate) fn identity(&self) -> Identity {
        self.steps.iter().map(|step| (step.action.letter(), step.role, step.site)).collect()
    }
}

/// The standstills of a run.
pub(crate) fn standstills(run: &Run) -> Vec<Standstill> {
    let waiting = Waiting::new(run);
    let mut found = Vec::new();
    let mut in_circles: FxHashSet<ThreadId> = FxHashSet::default();
    for wait in &run.waits {
        if in_circles.contains(&wait.thread) {
            continue;
        }
        let Some(circle) = waiting.circle(wait) else { continue };
        in_circles.extend(circle.iter().map(|link| link.waiter.thread));
        let writer = waiting.writer_between(&circle);
        found.push(match writer {
            Some(writer) => behind_writer(circle[0], writer),
            None => deadlock(circle),
        });
    }
    for wait in &run.waits {
        if !in_circles.contains(&wait.thread) {
            found.extend(
                waiting
                    .blocked(wait)
                    .or_else(|| missed_signal(run, wait))
                    .or_else(|| woke_another(run, wait))
                    .or_else(|| woke_in_vain::woke_in_vain(run, wait))
                    .or_else(|| unsignalled::unsignalled(run, wait)),
            );
        }
    }
    found
}

/// A thread that waits for a lock, and where that lock was taken.
#[derive(Clone, Copy)]
struct Link<'run> {
    waiter: &'run Wait,
    lock: ObjectId,
    holder: ThreadId,
    taken_in: SiteId,
    taken_at: StackId,
}

/// Who waits for whom.
struct Waiting<'run> {
    run: &'run Run,
    links: FxHashMap<ThreadId, Link<'run>>,
}

impl<'run> Waiting<'run> {
    fn new(run: &'run Run) -> Self {
        let mut links = FxHashMap::default();
        for waiter in &run.waits {
            let SyncTarget::Object(lock) = waiter.target else { continue };
            if !matches!(waiter.kind, SyncKind::Acquire | SyncKind::AcquireShared) {
                continue;
            }
            let holds = run.holdings.iter().find_map(|holding| {
                let held = run.locksets[holding.locks.0 as usize].iter().find(|held| held.object == lock)?;
                Some((holding.thread, held))
            });
            if let Some((holder, held)) = holds {
                let (taken_in, taken_at) = (held.taken_in, held.taken_at);
                links.insert(waiter.thread, Link { waiter, lock, holder, taken_in, taken_at });
            }
        }
        Self { run, links }
    }

    /// The circle in which a thread waits, beginning with itself, if it is part of one.
    fn circle(&self, wait: &Wait) -> Option<Vec<Link<'run>>> {
        let mut circle = Vec::new();
        let mut thread = wait.thread;
        loop {
            let link = self.links.get(&thread)?;
            circle.push(*link);
            thread = link.holder;
            if thread == wait.thread {
                return Some(circle);
            }
            // It leads into a circle of others.
            if circle.len() > self.links.len() {
                return None;
            }
        }
    }

    /// The thread that waits to write where another one has the lock for reading and asks for that again.
    fn writer_between(&self, circle: &[Link<'run>]) -> Option<&'run Wait> {
        let [Link { waiter, .. }] = circle else { return None };
        let is_writer = |wait: &&Wait| {
            wait.kind == SyncKind::Acquire && wait.target == waiter.target && wait.thread != waiter.thread
        };
        let reads = waiter.kind == SyncKind::AcquireShared;
        self.run.waits.iter().find(is_writer).filter(|_| reads)
    }

    /// A thread that waits for the lock of one that will not give it back.
    fn blocked(&self, wait: &Wait) -> Option<Standstill> {
        let link = self.links.get(&wait.thread)?;
        let has_ended = |event: &SyncEvent| event.kind == SyncKind::End && event.thread == link.holder;
        let waits_otherwise = self.run.waits.iter().any(|wait| wait.thread == link.holder)
            && !self.links.contains_key(&link.holder);
        if !waits_otherwise && !self.run.synchronization.iter().any(has_ended) {
            return None;
        }
        let (taken_in, taken_at) = (link.taken_in, link.taken_at);
        let lock = Action::Lock(link.lock);
        Some(Standstill {
            kind: StandstillKind::Deadlock,
            steps: vec![
                StandstillStep {
                    role: 1,
                    thread: link.holder,
                    action: lock,
                    site: taken_in,
                    stack: taken_at,
                },
                StandstillStep {
                    role: 2,
                    thread: wait.thread,
                    action: lock,
                    site: wait.site,
                    stack: wait.stack,
                },
            ],
        })
    }
}

/// A reader that asks for its lock again, and waits for the writer that waits for it.
fn behind_writer(reader: Link, writer: &Wait) -> Standstill {
    let step = |role, thread, site, stack| StandstillStep {
        role,
        thread,
        action: Action::Lock(reader.lock),
        site,
        stack,
    };
    let again = reader.waiter;
    let steps = vec![
        step(1, reader.holder, reader.taken_in, reader.taken_at),
        step(2, writer.thread, writer.site, writer.stack),
        step(1, again.thread, again.site, again.stack),
    ];
    Standstill { kind: StandstillKind::Deadlock, steps }
}

/// The same whichever thread of the circle was found first: it begins where its sites are least.
fn deadlock(mut circle: Vec<Link>) -> Standstill {
    let length = circle.len();
    // A link's lock is held by the next thread of the circle.
    let held_by = |circle: &[Link], nth: usize| (nth + circle.len() - 1) % circle.len();
    let sites = |first: usize| -> Vec<[SiteId; 2]> {
        let threads = (first..first + length).map(|nth| nth % length);
        threads.map(|nth| [circle[held_by(&circle, nth)].taken_in, circle[nth].waiter.site]).collect()
    };
    let first = (0..length).min_by_key(|&first| sites(first)).unwrap_or(0);
    circle.rotate_left(first);
    let held = (1..).zip(0..length).map(|(role, nth)| {
        let Link { lock, holder: thread, taken_in: site, taken_at: stack, .. } =
            circle[held_by(&circle, nth)];
        StandstillStep { role, thread, action: Action::Lock(lock), site, stack }
    });
    let awaited = (1..).zip(&circle).map(|(role, link)| StandstillStep {
        role,
        thread: link.waiter.thread,
        action: Action::Lock(link.lock),
        site: link.waiter.site,
        stack: link.waiter.stack,
    });
    Standstill { kind: StandstillKind::Deadlock, steps: held.chain(awaited).collect() }
}

/// A thread that waits for a condition whose signal came before.
fn missed_signal(run: &Run, wait: &Wait) -> Option<Standstill> {
    let SyncTarget::Object(condition) = wait.target else { return None };
    let events = &run.synchronization;
    let is_own = |event: &SyncEvent| event.thread == wait.thread && event.target == wait.target;
    let begun = events.iter().rposition(|event| event.kind == SyncKind::WaitBegin && is_own(event))?;
    let is_signal = |event: &SyncEvent| {
        matches!(event.kind, SyncKind::Signal | SyncKind::Broadcast)
            && event.target == wait.target
            && event.thread != wait.thread
    };
    // One that came before the thread's last wait was over has been heard.
    let heard = events[..begun].iter().rposition(|event| event.kind == SyncKind::WaitEnd && is_own(event));
    let before = || {
        let missed = events[..begun].iter().rposition(is_signal);
        let missed = missed.filter(|&missed| heard.is_none_or(|heard| heard < missed));
        missed.filter(|&missed| !has_woken(&events[missed..begun], wait))
    };
    let missed = match events[begun..].iter().rposition(is_signal) {
        // The wait is on record a moment before it begins.
        Some(since) => Some(begun + since).filter(|&signal| is_lost(run, signal, wait, begun))?,
        None => before()?,
    };
    let signal = &events[missed];
    let mut steps = Vec::new();
    let outdated = outdated_decision(run, wait.thread, signal);
    if outdated.is_none() && looked_since(run, wait.thread, signal, &events[..begun]) {
        return None;
    }
    // What is decided on is written last, and with the lock that the wait gives back, so that whatever is outdated besides is not what the
    // wait is about.
    let awaited = given_back(run, wait.thread, condition);
    let is_guarded = |index: usize| {
        let held = run.held(&run.accesses[index]).unwrap_or_default();
        held.iter().any(|lock| Some(lock.object) == awaited)
    };
    let taken_back = taken_back(run, wait.thread, signal, &events[..begun]);
    let is_it = |gone: usize, write: usize| write < gone || is_guarded(gone) && !is_guarded(write);
    if taken_back.is_some_and(|gone| outdated.is_none_or(|[_, write]| is_it(gone, write))) {
        return None;
    }
    if let Some([read, write]) = outdated {
        let step = |role: u32, index: usize| {
            let access = &run.accesses[index];
            let action = if role == 1 { Action::Read(index) } else { Action::Write(index) };
            StandstillStep { role, thread: access.thread, action, site: access.site, stack: access.stack }
        };
        steps.extend([step(1, read), step(2, write)]);
    }
    // The waiting thread comes first if it reads first.
    let [signaller, waiter] = if steps.is_empty() { [1, 2] } else { [2, 1] };
    steps.push(StandstillStep {
        role: signaller,
        thread: signal.thread,
        action: Action::Signal(condition),
        site: signal.site,
        stack: signal.stack,
    });
    steps.push(StandstillStep {
        role: waiter,
        thread: wait.thread,
        action: Action::Wait(condition),
        site: wait.site,
        stack: wait.stack,
    });
    Some(Standstill { kind: StandstillKind::MissedSignal, steps })
}

/// A thread that waits for a condition whose last signal woke one of several: both waits and the signal. What the signalling thread wrote, and this one would
/// have looked at, has to be there still. Where each thread has something of its own to wait at (parking_lot), those who wait at one place in the code wait for the same,
/// if that look was in the section that the wait began in. Who looked elsewhere may be parked for anything, and is woken by name.
fn woke_another(run: &Run, wait: &Wait) -> Option<Standstill> {
    let SyncTarget::Object(condition) = wait.target else { return None };
    let events = &run.synchronization;
    let is_like = |event: &SyncEvent| {
        event.target == wait.target || (event.site, event.stack) == (wait.site, wait.stack)
    };
    let ends = |event: &SyncEvent| event.kind == SyncKind::WaitEnd && event.thread != wait.thread;
    let woken = events.iter().rposition(|event| ends(event) && is_like(event))?;
    let of_woken = |event: &SyncEvent| event.target == events[woken].target;
    let signals = |event: &SyncEvent| matches!(event.kind, SyncKind::Signal | SyncKind::Broadcast);
    let last = events[..woken].iter().rposition(|event| signals(event) && of_woken(event))?;
    let signal = &events[last];
    let waits_before = |thread: ThreadId, target: SyncTarget| {
        // A monitor is both the condition and the lock that is given back while it is waited for.
        let waits = |event: &SyncEvent| matches!(event.kind, SyncKind::WaitBegin | SyncKind::WaitEnd);
        let own = |event: &&SyncEvent| event.thread == thread && event.target == target && waits(event);
        events[..last].iter().rfind(own).filter(|event| event.kind == SyncKind::WaitBegin)
    };
    waits_before(wait.thread, wait.target)?;
    let other = waits_before(events[woken].thread, events[woken].target)?;
    let [read, write] = outdated_decision(run, wait.thread, signal)?;
    let written = &run.accesses[write];
    let takes = |event: &&SyncEvent| event.thread == wait.thread && event.kind == SyncKind::Acquire;
    let is_of_section = || events[..last].iter().rfind(takes).is_some_and(|taken| taken.before <= read);
    if events[woken].target != wait.target && !is_of_section() {
        return None;
    }
    // What was taken away again is not waited for.
    let changes = |access: &crate::Access| access.location == written.location && access.kind.writes();
    let comes_again = |event: &SyncEvent| signals(event) && event.target == wait.target;
    if signal.kind != SyncKind::Signal
        || events[last + 1..].iter().any(comes_again)
        || run.accesses[write + 1..].iter().any(changes)
    {
        return None;
    }
    let step = |role, thread, action, site, stack| StandstillStep { role, thread, action, site, stack };
    let steps = vec![
        step(1, wait.thread, Action::Wait(condition), wait.site, wait.stack),
        step(2, other.thread, Action::Wait(condition), other.site, other.stack),
        step(3, signal.thread, Action::Signal(condition), signal.site, signal.stack),
    ];
    Some(Standstill { kind: StandstillKind::WokeAnother, steps })
}

/// Whether the signal for one that these events begin with has woken another thread: who begins to wait after that has not missed it.
fn has_woken(events: &[SyncEvent], wait: &Wait) -> bool {
    let wakes = |event: &SyncEvent| {
        (event.kind, event.target) == (SyncKind::WaitEnd, wait.target) && event.thread != wait.thread
    };
    events.first().is_some_and(|signal| signal.kind == SyncKind::Signal) && events.iter().any(wakes)
}

/// Whether a signal that came after the wait of `wait` was put on record, as event `begun`, had no effect on it: it woke
/// all who waited, or at least one of them but nobody did wake. A thread that did wake may still want its lock back.
fn is_lost(run: &Run, signal: usize, wait: &Wait, begun: usize) -> bool {
    let events = &run.synchronization;
    let wakes = |event: &SyncEvent| event.kind == SyncKind::WaitEnd && event.target == wait.target;
    let has_effect = events[signal].kind == SyncKind::Signal && events[signal..].iter().any(wakes);
    let gives_back = |event: &&SyncEvent| event.thread == wait.thread && event.kind == SyncKind::Release;
    let wanted = events[begun..].iter().find(gives_back).map(|event| event.target);
    let is_held = run.holdings.iter().flat_map(|holding| &run.locksets[holding.locks.0 as usize]);
    !has_effect && !is_held.map(|lock| SyncTarget::Object(lock.object)).any(|lock| Some(lock) == wanted)
}

/// Whether a thread looked, after the signal and with the lock in hand with which it went on to wait, at what the signalling thread had written: it knew how
/// things stood and waits for what is yet to come, so that it is not this signal that it lacks. What it has overwritten itself since tells it nothing.
/// `until` ends where it begins to wait.
fn looked_since(run: &Run, waiter: ThreadId, signal: &SyncEvent, until: &[SyncEvent]) -> bool {
    let takes = |event: &&SyncEvent| event.thread == waiter && event.kind == SyncKind::Acquire;
    let Some(taken) = until.iter().rfind(takes) else { return false };
    let (accesses, last) = (&run.accesses, run.accesses.len());
    let wrote = |thread, location, within: Range<usize>| {
        accesses[within].iter().any(|a| a.thread == thread && a.kind.writes() && a.location == location)
    };
    let signalled = signal.before.min(last);
    (signalled.max(taken.before).min(last)..last).any(|at| {
        let look = &accesses[at];
        look.thread == waiter
            && look.kind != AccessKind::Write
            && wrote(signal.thread, look.location, 0..signalled)
            && !wrote(waiter, look.location, signalled..at)
    })
}

/// The last write before a signal, by its thread, to what the waiting thread had read before and did not come back to; and that
/// read. What it read or wrote again before it waits is not what it missed. An update that found nothing to take, as `poll` of a queue, is a look too. What it wrote
/// itself after it had read it, as a count of its own, is so if there is nothing else.
fn outdated_decision(run: &Run, waiter: ThreadId, signal: &SyncEvent) -> Option<[usize; 2]> {
    let before = &run.accesses[..signal.before.min(run.accesses.len())];
    let writes =
        before.iter().enumerate().rev().filter(|(_, a)| a.thread == signal.thread && a.kind.writes());
    let mut outdated = writes.take(DECISIVE_WRITES).filter_map(|(write, written)| {
        let is_own = |access: &crate::Access| access.thread == waiter && access.location == written.location;
        let is_read = |access: &crate::Access| is_own(access) && access.kind != AccessKind::Write;
        let is_missed = !run.accesses[write..].iter().any(is_own);
        let read = before[..write].iter().rposition(is_read).filter(|_| is_missed)?;
        Some(([read, write], before[..write].iter().rposition(is_own) == Some(read)))
    });
    let last = outdated.next()?;
    let look = if last.1 { None } else { outdated.find(|(_, is_look)| *is_look) };
    Some(look.unwrap_or(last).0)
}
