//! What is known about each thread and monitor.

mod arrivals;
mod clock;
mod following;
mod locks;
mod monitors;
mod standstill;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar};

use recording::{Decision, RunPlan};
use rustc_hash::{FxHashMap, FxHashSet};

use self::locks::Locks;
use super::Operation;
use super::policy::{self, Candidate, Policy};
use super::replay::Replay;
use super::trial::Trial;
use crate::memory::desk::Desk;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Has the token, or had it until the watchdog took it away.
    Running,
    /// Can run.
    Ready,
    /// Can run once nobody else is in this monitor.
    Wants(u64),
    /// Sleeps until so many points are over, or until nobody else can run.
    Sleeping(u64),
    /// Parked.
    Parked,
    /// Waits for something else, or in a way that nobody knows.
    Away,
    /// Was started or woken and is on its way.
    Expected,
}

struct Member {
    standing: Standing,
    operation: Operation,
    os_id: u32,
    /// Does the virtual machine end without waiting for it?
    is_daemon: bool,
    desk: Option<&'static Desk>,
    called: Option<Arc<Condvar>>,
}

/// A thread as it comes.
#[derive(Clone, Copy)]
pub struct Newcomer {
    pub id: u32,
    pub os_id: u32,
    /// Does the virtual machine end without waiting for it?
    pub is_daemon: bool,
    pub desk: &'static Desk,
}

/// For the watchdog.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watched {
    /// The operating system's id of the thread that has the token.
    pub os_id: u32,
    /// Its desk, at which it is seen to go on.
    pub desk: Option<&'static Desk>,
    /// That thread has not noticed yet that it has it.
    pub is_called: bool,
    /// It waits for others to arrive.
    pub awaits_arrivals: bool,
    /// It really sleeps for a while, which nobody else has to see.
    pub sleeps_on: bool,
}

/// Who had the token before another one got it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Predecessor {
    /// Zero if nobody had.
    pub thread: u32,
    /// The number of the stop, no later than which it lost it.
    pub stop: u32,
    /// The watchdog took it away.
    pub is_away: bool,
}

/// How far a thread has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Come {
    /// See [`super::progress`].
    pub progress: u32,
    /// It is at a point, rather than in the midst of a wait.
    pub is_at_point: bool,
}

/// All of it.
pub struct State {
    /// In the order of ids, which does not depend on who arrives first.
    members: BTreeMap<u32, Member>,
    /// Who is in which monitor, and how often.
    monitors: FxHashMap<u64, (u32, u32)>,
    /// Monitors that threads have left, or will have by their next hook.
    left: FxHashMap<u32, Vec<u64>>,
    /// Who waits for a notification, and how often each had entered the monitor.
    waiting: FxHashMap<u64, VecDeque<u32>>,
    /// Who was notified but could not go on yet: the virtual machine wakes one whenever the monitor is left.
    notified: FxHashMap<u64, VecDeque<u32>>,
    depths: FxHashMap<u32, u32>,
    /// Who waits without a time-out, to be notified or unparked.
    patient: FxHashSet<u32>,
    /// The threads that have been started, by their own objects.
    objects: FxHashMap<u64, u32>,
    /// Threads of Java that have come by other ways and run no code under test.
    pub strangers: u32,
    /// Has a thread ended by an exception?
    pub has_anybody_died: bool,
    /// The library's locks.
    pub locks: Locks,
    /// Who is expected when its time-out is over.
    by_the_clock: Option<u32>,
    /// Was that in vain?
    has_long_time_outs: bool,
    /// Threads whose next park ends at once.
    permits: FxHashSet<u32>,
    pub watched: Watched,
    points: u64,
    /// Logical time that nobody ran for: all were asleep.
    slept: u64,
    policy: Box<dyn Policy>,
    trial: Option<Trial>,
    /// What is to be followed before the policy decides.
    pub replay: Replay,
    /// Who has the token, or had it last.
    last: u32,
    /// How often each thread could have lost it so far.
    stops: FxHashMap<u32, u32>,
    /// How far each has come, if that is counted.
    come: FxHashMap<u32, Come>,
    /// Who had it before.
    pub predecessor: Predecessor,
    /// The highest id of a thread so far.
    newest: u32,
}

impl State {
    pub fn new(plan: &RunPlan) -> State {
        State {
            members: BTreeMap::new(),
            monitors: FxHashMap::default(),
            left: FxHashMap::default(),
            waiting: FxHashMap::default(),
            notified: FxHashMap::default(),
            depths: FxHashMap::default(),
            patient: FxHashSet::default(),
            objects: FxHashMap::default(),
            strangers: 0,
            has_anybody_died: false,
            locks: Locks::default(),
            permits: FxHashSet::default(),
            by_the_clock: None,
            has_long_time_outs: false,
            watched: Watched::default(),
            points: 0,
            slept: 0,
            policy: policy::of_plan(plan),
            trial: plan.interleaving.map(|interleaving| Trial::new(plan.seed, interleaving, plan.avoided)),
            replay: Replay::default(),
            last: 0,
            stops: FxHashMap::default(),
            come: FxHashMap::default(),
            predecessor: Predecessor::default(),
            newest: 0,
        }
    }

    /// Points so far, and interleavings that came about.
    pub fn counts(&self) -> (u64, u64) {
        (self.points, self.trial.as_ref().map_or(0, Trial::completed))
    }

    /// Choices between threads that were made since this was asked last, if the policy keeps them.
    pub fn take_decisions(&mut self) -> Vec<Decision> {
        self.policy.take_decisions()
    }

    /// How often the thread could have lost the token so far.
    pub fn stops(&self, id: u32) -> u32 {
        self.stops.get(&id).copied().unwrap_or(0)
    }

    /// A thread has come so far.
    pub fn note(&mut self, id: u32, come: Come) {
        self.come.insert(id, come);
    }

    fn come(&self, id: u32) -> Come {
        self.come.get(&id).copied().unwrap_or_default()
    }

    /// Has nobody run since this thread did?
    pub fn ran_last(&self, id: u32) -> bool {
        self.last == id
    }

    /// A thread gets the token.
    fn passes_to(&mut self, next: u32, is_away: bool) {
        if next != self.last {
            // One that is away has not come to its next stop.
            let number = match self.replay.tells_progress() {
                true => self.come(self.last).progress,
                false => self.stops(self.last),
            };
            let stop = number + u32::from(is_away);
            self.predecessor = Predecessor { thread: self.last, stop, is_away };
            self.last = next;
        }
    }

    /// A thread is about to be started.
    pub fn announce(&mut self, id: u32, object: u64) {
        self.add(id, Standing::Expected);
        self.objects.insert(object, id);
    }

    fn add(&mut self, id: u32, standing: Standing) -> &mut Member {
        if !self.members.contains_key(&id) {
            self.policy.seated(id);
            self.newest = self.newest.max(id);
        }
        let member = || Member {
            standing,
            operation: Operation::NONE,
            os_id: 0,
            is_daemon: false,
            desk: None,
            called: None,
        };
        self.members.entry(id).or_insert_with(member)
    }

    /// A thread is there.
    pub fn sit_down(&mut self, newcomer: Newcomer, called: Arc<Condvar>) {
        let Newcomer { id, os_id, is_daemon, desk } = newcomer;
        let member = self.add(id, Standing::Away);
        (member.os_id, member.is_daemon) = (os_id, is_daemon);
        (member.desk, member.called) = (Some(desk), Some(called));
    }

    /// A thread is gone.
    pub fn stand_up(&mut self, id: u32) {
        self.members.remove(&id);
        self.by_the_clock = self.by_the_clock.filter(|&other| other != id);
        self.trial.iter_mut().for_each(|trial| trial.left(id));
    }

    pub fn stand(&mut self, id: u32, standing: Standing) {
        if let Some(member) = self.members.get_mut(&id) {
            member.standing = standing;
        }
    }

    fn stands(&self, id: u32) -> Option<Standing> {
        self.members.get(&id).map(|member| member.standing)
    }

    /// A thread has come to a point and will do this next. True if somebody expected it.
    pub fn arrive(&mut self, id: u32, standing: Standing, operation: Operation) -> bool {
        let Some(member) = self.members.get_mut(&id) else { return false };
        let was_expected = member.standing == Standing::Expected || self.by_the_clock == Some(id);
        self.by_the_clock = self.by_the_clock.filter(|&other| other != id);
        member.standing = standing;
        self.finish(id, operation);
        self.trial.iter_mut().for_each(|trial| trial.arrives(id, operation));
        was_expected
    }

    /// A thread has done what it was about to do, and will do this next. Whoever leaves says so before it goes: others
    /// run when it comes back, and chance must not depend on when that is.
    pub fn finish(&mut self, id: u32, next: Operation) {
        let Some(member) = self.members.get_mut(&id) else { return };
        let done = std::mem::replace(&mut member.operation, next);
        if done != Operation::NONE {
            self.policy.done(id, done);
            let follows = self.replay.follows();
            self.trial.iter_mut().for_each(|trial| match follows {
                true => trial.followed(|trial| trial.done(id, done)),
                false => trial.done(id, done),
            });
        }
    }

    /// The thread has taken the lock under which it may do steps of the plan.
    pub fn took_guard(&mut self, id: u32, operation: Operation) {
        if let Some(trial) = &mut self.trial {
            trial.took_guard(id, operation);
        }
    }

    /// A thread has done this, or begins to wait in the midst of it. See [`super::Scheduler::did`].
    pub fn did(&mut self, id: u32, operation: Operation, waits: bool) -> Option<(u64, u64)> {
        let trial = self.trial.as_mut()?;
        let before = trial.completed();
        let tell = |trial: &mut Trial| match waits {
            true => trial.waits(id, operation),
            false => trial.step(id, operation),
        };
        if self.replay.follows() {
            trial.followed(tell)
        } else {
            tell(trial)
        }
        (trial.completed() > before).then(|| self.counts())
    }

    /// A thread has nothing to do until others have run.
    pub fn pass(&mut self, id: u32) {
        self.policy.passes(id);
    }

    /// A thread that waited for the token has it, or nobody waits any more.
    pub fn goes_on(&mut self, id: u32) {
        self.patient.remove(&id);
        self.watched.is_called = false;
        self.watched.sleeps_on = false;
        self.stand(id, Standing::Running);
    }

    /// Who runs next, zero if nobody can. `own` is at a stop, zero if the watchdog asks, and `passes` if it would rather let others run.
    pub fn choose(&mut self, own: u32, passes: bool) -> u32 {
        self.points += 1;
        let stops = self.stops.entry(self.last).or_default();
        *stops += u32::from(own == self.last);
        let mut candidates = self.candidates();
        if candidates.is_empty() {
            candidates.extend(self.first_to_wake(u64::MAX));
        }
        let next = match self.replay.follows() {
            true => self.follow(&candidates, own != 0, passes),
            false => self.decide(candidates, own),
        };
        self.watch(next);
        if next != 0 {
            self.passes_to(next, own == 0);
        }
        next
    }

    /// Who runs next by the trial and the policy.
    fn decide(&mut self, candidates: Vec<Candidate>, own: u32) -> u32 {
        let mut allowed = match &self.trial {
            Some(trial) => trial.let_through(&candidates),
            None => candidates.clone(),
        };
        if allowed.is_empty() && !candidates.is_empty() {
            // The one that they are held back for may be asleep.
            allowed = self.first_to_wake(clock::NEAR).map_or(candidates, |sleeper| vec![sleeper]);
        }
        if allowed.is_empty() {
            return 0;
        }
        let current = allowed.iter().position(|candidate| candidate.thread == own);
        allowed[self.policy.choose(&allowed, current)].thread
    }

    fn candidates(&self) -> Vec<Candidate> {
        let can_run = |(&id, member): (&u32, &Member)| {
            let can = match member.standing {
                Standing::Ready => true,
                Standing::Wants(monitor) => !self.is_held_by_another(id, monitor),
                Standing::Sleeping(until) => until <= self.time(),
                _ => false,
            };
            can.then_some(Candidate { thread: id, operation: member.operation })
        };
        self.members.iter().filter_map(can_run).collect()
    }

    fn watch(&mut self, id: u32) {
        let member = self.members.get(&id);
        self.watched.os_id = member.map_or(0, |member| member.os_id);
        self.watched.desk = member.and_then(|member| member.desk);
    }

    /// Tells a thread that it has the token.
    pub fn call(&mut self, id: u32) {
        if let Some(called) = self.members.get(&id).and_then(|member| member.called.as_ref()) {
            called.notify_one();
            self.watched.is_called = true;
        }
    }

    pub fn call_all(&self) {
        self.members
            .values()
            .filter_map(|member| member.called.as_ref())
            .for_each(|called| called.notify_one());
    }

    /// Can anybody run whom the thread with the token keeps from it? One who sleeps can as soon as nobody else does.
    pub fn is_anybody_ready(&self) -> bool {
        let sleeps = |member: &Member| matches!(member.standing, Standing::Sleeping(_));
        !self.candidates().is_empty() || self.members.values().any(sleeps)
    }

    /// Somebody who waits for a monitor that nobody gives back, as far as is known: it shall see for itself.
    pub fn first_who_wants(&self) -> Option<u32> {
        let wants = |member: &Member| matches!(member.standing, Standing::Wants(_));
        self.members.iter().find(|(_, member)| wants(member)).map(|(&id, _)| id)
    }

    /// The token goes to this thread although it seems unable to run.
    pub fn try_out(&mut self, id: u32) {
        self.watch(id);
        self.passes_to(id, true);
        self.call(id);
    }
}

#[cfg(test)]
mod tests;
