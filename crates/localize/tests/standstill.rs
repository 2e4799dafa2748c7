//! Runs that hung, and what their threads waited for.

mod support;

use localize::*;

/// A hung run of threads that hold locks and wait, told by number: site `10 * thread + lock` takes a lock, one more than
/// a hundred times that waits for it.
struct Hang {
    run: Run,
}

impl Hang {
    fn new(id: u32) -> Self {
        Self { run: Run::new(RunId(id), Outcome::Hang) }
    }

    fn holds(mut self, thread: u32, lock: u32) -> Self {
        let site = 10 * thread + lock;
        let lock = Lock {
            object: ObjectId(lock),
            taken_in: SiteId(site),
            taken_at: StackId(site),
            shared: false,
            tried: false,
        };
        let locks = LocksetId(self.run.locksets.len() as u32);
        self.run.locksets.push(vec![lock]);
        self.run.holdings.push(Holding { thread: ThreadId(thread), locks });
        self
    }

    fn waits(mut self, thread: u32, kind: SyncKind, object: u32) -> Self {
        let site = 100 * (10 * thread + object) + 1;
        let (target, locks) = (SyncTarget::Object(ObjectId(object)), LocksetId(0));
        let (site, stack) = (SiteId(site), StackId(site));
        self.run.waits.push(Wait { thread: ThreadId(thread), kind, target, site, stack, locks });
        self
    }

    fn does(mut self, thread: u32, kind: SyncKind, target: SyncTarget) -> Self {
        let before = self.run.accesses.len();
        let (site, stack, thread) = (SiteId(7), StackId(7), ThreadId(thread));
        self.run.synchronization.push(SyncEvent { before, thread, kind, target, site, stack });
        self
    }

    /// Begins to wait at a place of its own.
    fn begins_at(mut self, thread: u32, target: SyncTarget, site: u32) -> Self {
        self = self.does(thread, SyncKind::WaitBegin, target);
        let begun = self.run.synchronization.last_mut().expect("it has just been made");
        (begun.site, begun.stack) = (SiteId(site), StackId(site));
        self
    }

    /// Signals at a place of its own.
    fn signals_at(self, thread: u32, target: SyncTarget, site: u32) -> Self {
        let mut hang = self.does(thread, SyncKind::Signal, target);
        let signal = hang.run.synchronization.last_mut().expect("it has just been made");
        (signal.site, signal.stack) = (SiteId(site), StackId(site));
        hang
    }

    fn accesses(mut self, thread: u32, kind: AccessKind, site: u32) -> Self {
        self.run.accesses.push(support::access(kind, ThreadId(thread), LocationId(0), SiteId(site)));
        self
    }
}

/// The standstills that the verdict finds in a hung run, against passing runs in which nothing happens: letter, role
/// and site of each step.
fn found(hang: Hang) -> Vec<String> {
    let mut runs: Vec<Run> = (100..110).map(|id| Run::new(RunId(id), Outcome::Pass)).collect();
    runs.push(hang.run);
    let findings = localize(Technique::Verdict, &runs, &Options::default());
    let standstills = findings.iter().filter_map(|finding| match &finding.detail {
        Detail::Verdict(reasoning) => reasoning.standstill.as_ref(),
        _ => None,
    });
    let step = |step: &StandstillStep| format!("{}{}@{}", step.action.letter(), step.role, step.site.0);
    standstills.map(|stands| stands.steps.iter().map(step).collect::<Vec<_>>().join(" ")).collect()
}

const LOCK: SyncKind = SyncKind::Acquire;

/// No run passes, and there is nothing to compare. A circle needs no comparison; who waits for a signal may be meant to wait.
#[test]
fn a_circle_speaks_for_itself() {
    let first = |hang: Hang| {
        let runs: Vec<Run> = (0..9).map(|id| Run { id: RunId(id), ..hang.run.clone() }).collect();
        let settled_after = (1..=runs.len()).find(|&seen| {
            let mut settling = Settling::new(&Options::default());
            runs[..seen].iter().for_each(|run| settling.observe(run));
            settling.settled().is_some()
        });
        let findings = localize(Technique::Verdict, &runs, &Options::default());
        (findings.first().map(|finding| finding.score > 0.99), settled_after)
    };
    let circle = Hang::new(1).holds(1, 1).holds(2, 2).waits(1, LOCK, 2).waits(2, LOCK, 1);
    assert_eq!(first(circle), (Some(true), Some(9)));
    let condition = SyncTarget::Object(ObjectId(3));
    let missed = Hang::new(1).does(2, SyncKind::Signal, condition).does(1, SyncKind::WaitBegin, condition);
    assert_eq!(first(missed.waits(1, SyncKind::WaitBegin, 3)), (None, None));
}

#[test]
fn two_threads_each_hold_what_the_other_waits_for() {
    let circle = || Hang::new(1).holds(1, 1).holds(2, 2);
    let expected = ["L1@11 L2@22 L1@1201 L2@2101"];
    assert_eq!(found(circle().waits(1, LOCK, 2).waits(2, LOCK, 1)), expected);
    // Whichever thread is looked at first.
    assert_eq!(found(circle().waits(2, LOCK, 1).waits(1, LOCK, 2)), expected);
}

#[test]
fn a_circle_may_have_many_threads_and_others_may_wait_for_it() {
    let hang = Hang::new(1).holds(1, 1).holds(2, 2).holds(3, 3).waits(4, LOCK, 2);
    let hang = hang.waits(1, LOCK, 2).waits(2, LOCK, 3).waits(3, LOCK, 1);
    let circle = "L1@11 L2@22 L3@33 L1@1201 L2@2301 L3@3101";
    assert_eq!(found(hang), [circle]);
}

#[test]
fn a_thread_may_wait_for_itself() {
    assert_eq!(found(Hang::new(1).holds(1, 1).waits(1, LOCK, 1)), ["L1@11 L1@1101"]);
    let again = || Hang::new(1).holds(1, 1).waits(1, SyncKind::AcquireShared, 1);
    assert_eq!(found(again().waits(2, LOCK, 1)), ["L1@11 L2@2101 L1@1101"], "behind one who waits to write");
    assert_eq!(
        found(again().waits(2, SyncKind::AcquireShared, 1)),
        ["L1@11 L1@1101"],
        "readers keep nobody out"
    );
}

#[test]
fn a_thread_that_ended_gives_nothing_back() {
    let own = SyncTarget::Thread(ThreadId(1));
    let held = || Hang::new(1).holds(1, 1).waits(2, LOCK, 1);
    assert_eq!(found(held().does(1, SyncKind::End, own)), ["L1@11 L2@2101"]);
    // One that still runs may give it back.
    assert_eq!(found(held()), [""; 0]);
    // One that waits for something else does not.
    assert_eq!(found(held().waits(1, SyncKind::Arrive, 5)), ["L1@11 L2@2101"]);
}

#[test]
fn a_signal_before_the_wait_is_missed() {
    let condition = SyncTarget::Object(ObjectId(3));
    let begin = |hang: Hang| hang.does(1, SyncKind::WaitBegin, condition).waits(1, SyncKind::WaitBegin, 3);
    let signal = |hang: Hang| hang.does(2, SyncKind::Signal, condition);
    assert_eq!(found(begin(signal(Hang::new(1)))), ["S1@7 C2@1301"]);
    assert_eq!(found(begin(Hang::new(1))), [""; 0], "there was none");
    let another = |hang: Hang| hang.does(4, SyncKind::WaitEnd, condition);
    assert_eq!(found(another(signal(begin(Hang::new(1))))), [""; 0], "it was for another");
    let heard = signal(Hang::new(1)).does(1, SyncKind::WaitEnd, condition);
    assert_eq!(found(begin(heard)), [""; 0], "an earlier wait has heard it");
    let taken = signal(Hang::new(1)).does(4, SyncKind::WaitEnd, condition);
    assert_eq!(found(begin(taken)), [""; 0], "it has woken another one, before this one waits");
    let all = Hang::new(1).does(2, SyncKind::Broadcast, condition).does(4, SyncKind::WaitEnd, condition);
    assert_eq!(found(begin(all)), ["S1@7 C2@1301"], "that was for this one as well");
}

/// A wait is on record a moment before it begins. What comes in between wakes nobody, or all but this thread.
#[test]
fn a_signal_just_before_the_wait_is_missed() {
    let [condition, lock] = [3, 5].map(|object| SyncTarget::Object(ObjectId(object)));
    let hang = |kind: SyncKind| {
        let hang = Hang::new(1).accesses(1, AccessKind::Read, 4).does(1, SyncKind::WaitBegin, condition);
        let hang = hang.does(1, SyncKind::Release, lock).accesses(2, AccessKind::Write, 5);
        hang.does(2, kind, condition).waits(1, SyncKind::WaitBegin, 3)
    };
    let expected = ["R1@4 W2@5 S2@7 C1@1301"];
    assert_eq!(found(hang(SyncKind::Signal)), expected);
    assert_eq!(found(hang(SyncKind::Broadcast)), expected);
    assert_eq!(found(hang(SyncKind::Broadcast).does(4, SyncKind::WaitEnd, condition)), expected);
    assert_eq!(found(hang(SyncKind::Broadcast).holds(4, 5)), [""; 0], "it has woken and wants its lock back");
}

/// Two threads wait for one condition, and a third one changes what both look at and wakes one of them.
#[test]
fn a_signal_for_one_of_several_leaves_the_others() {
    let condition = SyncTarget::Object(ObjectId(3));
    let until = |kind: SyncKind| {
        let wait = |hang: Hang, thread| {
            hang.accesses(thread, AccessKind::Read, 4).does(thread, SyncKind::WaitBegin, condition)
        };
        let hang = wait(wait(Hang::new(1), 1), 4).accesses(2, AccessKind::Write, 5);
        hang.does(2, kind, condition).does(4, SyncKind::WaitEnd, condition)
    };
    let hang = |kind: SyncKind| until(kind).waits(1, SyncKind::WaitBegin, 3);
    let read = |hang: Hang| hang.accesses(4, AccessKind::Read, 4);
    assert_eq!(found(read(hang(SyncKind::Signal))), ["C1@1301 C2@7 S3@7"]);
    assert_ne!(found(read(hang(SyncKind::Broadcast))), ["C1@1301 C2@7 S3@7"]);
    let taken = hang(SyncKind::Signal).accesses(4, AccessKind::Write, 6);
    assert_eq!(found(taken), [""; 0], "whoever was woken has taken it");
    // A monitor of Java is given back by the wait for it.
    let waits = |hang: Hang, thread| {
        let hang = hang.accesses(thread, AccessKind::Read, 4).does(thread, SyncKind::WaitBegin, condition);
        hang.does(thread, SyncKind::Release, condition)
    };
    let monitor = waits(waits(Hang::new(1), 1), 4).accesses(2, AccessKind::Write, 5);
    let monitor = monitor.does(2, SyncKind::Signal, condition).does(4, SyncKind::WaitEnd, condition);
    assert_eq!(found(read(monitor.waits(1, SyncKind::WaitBegin, 3))), ["C1@1301 C2@7 S3@7"]);
    let next = until(SyncKind::Signal).does(2, SyncKind::Broadcast, condition);
    assert_ne!(found(next.waits(1, SyncKind::WaitBegin, 3)), ["C1@1301 C2@7 S3@7"], "all were woken later");
}

/// A taker wakes another taker, which finds nothing and waits again, while a putter waits for the same condition. In parking_lot each thread has something of its own to wait at, but the
/// place of the signal has woken who waited where the putter does.
#[test]
fn a_signal_for_one_is_used_up_by_who_waits_for_something_else() {
    let [own, others, earlier] = [3, 6, 8].map(|object| SyncTarget::Object(ObjectId(object)));
    let hang = |woken_before: u32, kind: SyncKind, finds: &[(AccessKind, u32)]| {
        // Another place has woken one of each.
        let wakes = |hang: Hang, thread, target, site| {
            let hang = hang.begins_at(thread, target, site).signals_at(2, target, 9);
            hang.does(thread, SyncKind::WaitEnd, target)
        };
        let hang = wakes(wakes(Hang::new(1), 5, earlier, woken_before), 4, others, 24);
        let hang = hang.accesses(1, AccessKind::Read, 14).begins_at(1, own, 14);
        let hang = hang.begins_at(4, others, 24).accesses(2, AccessKind::Write, 5);
        let hang = hang.does(2, kind, others).does(4, SyncKind::WaitEnd, others);
        let hang = finds.iter().fold(hang, |hang, &(kind, site)| hang.accesses(4, kind, site));
        let mut hang = hang.begins_at(4, others, 24).waits(1, SyncKind::WaitBegin, 3);
        (hang.run.waits[0].site, hang.run.waits[0].stack) = (SiteId(14), StackId(14));
        found(hang)
    };
    let (signal, look) = (SyncKind::Signal, (AccessKind::Read, 24));
    assert_eq!(hang(14, signal, &[look]), ["C1@14 C2@24 S3@7"]);
    assert_eq!(hang(34, signal, &[look]), [""; 0], "it never wakes who waits there");
    assert_eq!(hang(14, signal, &[(AccessKind::Read, 14)]), [""; 0], "it waits for the same");
    assert_eq!(hang(14, signal, &[look, (AccessKind::Write, 25)]), [""; 0], "it was for who woke");
    assert_eq!(hang(14, SyncKind::Broadcast, &[look]), [""; 0], "all were woken");
}

/// Two threads wait for what a third one changes twice: the first time it finds nothing there and signals, the second time it finds what the first has left and does not.
#[test]
fn a_change_without_the_signal_that_follows_at_other_times_leaves_who_waits() {
    let condition = SyncTarget::Object(ObjectId(3));
    let waits = |hang: Hang, thread| {
        hang.accesses(thread, AccessKind::Read, 4).does(thread, SyncKind::WaitBegin, condition)
    };
    let puts = |hang: Hang, site| hang.accesses(2, AccessKind::Read, 8).accesses(2, AccessKind::Write, site);
    let put = |place| {
        let hang = puts(waits(waits(Hang::new(1), 1), 4), 5).does(2, SyncKind::Signal, condition);
        puts(hang, place).does(4, SyncKind::WaitEnd, condition).accesses(4, AccessKind::Write, 6)
    };
    let hung = |hang: Hang| found(hang.waits(1, SyncKind::WaitBegin, 3));
    assert_eq!(hung(put(5)), ["W1@5 C2@1301"]);
    assert_eq!(hung(put(9)), [""; 0], "no signal ever follows there");
    let later = put(5).does(2, SyncKind::Signal, condition).does(4, SyncKind::WaitEnd, condition);
    assert_eq!(hung(later), [""; 0], "one did later");
    let mut taken = put(5);
    (taken.run.accesses[0].value, taken.run.accesses[6].value) = (Some(0), Some(0));
    assert_eq!(hung(taken), [""; 0], "there is nothing left to be told of");
}

/// Each thread of parking_lot has something of its own to wait at, and `notify_one` wakes that.
#[test]
fn who_waits_at_the_same_place_waits_for_the_same() {
    let [own, others, lock, anything] = [3, 6, 8, 9].map(|object| SyncTarget::Object(ObjectId(object)));
    let hang = |site, taken_after: Option<SyncTarget>| {
        let hang = Hang::new(1).does(1, LOCK, lock).accesses(1, AccessKind::Read, 4);
        let hang = taken_after.into_iter().fold(hang, |hang, lock| hang.does(1, LOCK, lock));
        let hang = hang.does(1, SyncKind::WaitBegin, own);
        let hang = hang.accesses(4, AccessKind::Read, 4).does(4, SyncKind::WaitBegin, others);
        let hang = hang.accesses(2, AccessKind::Write, 5).does(2, SyncKind::Signal, others);
        let mut hang = hang.does(4, SyncKind::WaitEnd, others).waits(1, SyncKind::WaitBegin, 3);
        (hang.run.waits[0].site, hang.run.waits[0].stack) = (SiteId(site), StackId(site));
        hang
    };
    assert_eq!(found(hang(7, None)), ["C1@7 C2@7 S3@7"]);
    assert_eq!(found(hang(8, None)), [""; 0], "it waits for something else");
    assert_eq!(found(hang(7, Some(anything))), [""; 0], "it is parked after another look");
}

#[test]
fn a_missed_signal_follows_an_outdated_decision() {
    let condition = SyncTarget::Object(ObjectId(3));
    let hang = Hang::new(1).accesses(1, AccessKind::Read, 4).accesses(2, AccessKind::Write, 5);
    let hang = hang.does(2, SyncKind::Broadcast, condition).does(1, SyncKind::WaitBegin, condition);
    assert_eq!(found(hang.waits(1, SyncKind::WaitBegin, 3)), ["R1@4 W2@5 S2@7 C1@1301"]);
}

/// A queue is polled in vain; whatever was read of it long before is not what the wait is about.
#[test]
fn what_finds_nothing_to_take_is_a_look() {
    let condition = SyncTarget::Object(ObjectId(3));
    let hang = Hang::new(1).accesses(1, AccessKind::Read, 3).accesses(1, AccessKind::Update, 4);
    let hang = hang.accesses(2, AccessKind::Update, 5).does(2, SyncKind::Signal, condition);
    let hang = hang.does(1, SyncKind::WaitBegin, condition).waits(1, SyncKind::WaitBegin, 3);
    assert_eq!(found(hang), ["R1@4 W2@5 S2@7 C1@1301"]);
}

/// Both count what they do; what one of them had tried in vain is what it goes by.
#[test]
fn what_it_counts_itself_is_not_what_the_wait_is_about() {
    let condition = SyncTarget::Object(ObjectId(3));
    let counted = |mut hang: Hang| {
        hang.run.accesses.last_mut().expect("it has just been made").location = LocationId(1);
        hang
    };
    let told = |tries: bool| {
        let hang = counted(Hang::new(1).accesses(1, AccessKind::Read, 8));
        let hang = counted(hang.accesses(1, AccessKind::Write, 8));
        let hang = if tries { hang.accesses(1, AccessKind::Read, 4) } else { hang };
        let hang = hang.accesses(2, AccessKind::Write, 5);
        let hang = counted(hang.accesses(2, AccessKind::Write, 9));
        let hang = hang.does(2, SyncKind::Broadcast, condition).does(1, SyncKind::WaitBegin, condition);
        found(hang.waits(1, SyncKind::WaitBegin, 3))
    };
    assert_eq!(told(true), ["R1@4 W2@5 S2@7 C1@1301"]);
    assert_eq!(told(false), ["R1@8 W2@9 S2@7 C1@1301"]);
}

/// It took back what the other had written before the signal, and looked at that again: that it did not miss.
#[test]
fn what_the_waiting_thread_comes_back_to_is_not_what_it_missed() {
    let condition = SyncTarget::Object(ObjectId(3));
    for again in [AccessKind::Write, AccessKind::Read] {
        let hang = Hang::new(1).accesses(1, AccessKind::Read, 4).accesses(2, AccessKind::Write, 5);
        let hang = hang.does(2, SyncKind::Broadcast, condition).accesses(1, again, 6);
        let hang = hang.does(1, SyncKind::WaitBegin, condition).waits(1, SyncKind::WaitBegin, 3);
        assert_eq!(found(hang), ["S1@7 C2@1301"]);
    }
}

/// It took its lock after the signal and looked at what the other had written: it waits for what has not come yet, as does a store that waits for its
/// writer, which in turn was not woken. What it wrote there itself does not count, nor what it had read before it took the lock.
#[test]
fn who_looks_after_the_signal_has_not_missed_it() {
    let (condition, lock) = (SyncTarget::Object(ObjectId(3)), SyncTarget::Object(ObjectId(4)));
    let signalled = |kinds: &[AccessKind]| {
        let hang = Hang::new(1).accesses(2, AccessKind::Write, 5).does(2, SyncKind::Broadcast, condition);
        let hang = kinds.iter().fold(hang, |hang, &kind| hang.accesses(1, kind, 6));
        hang.does(1, LOCK, lock)
    };
    let waits =
        |hang: Hang| found(hang.does(1, SyncKind::WaitBegin, condition).waits(1, SyncKind::WaitBegin, 3));
    let looks = |hang: Hang| hang.accesses(1, AccessKind::Read, 7);
    assert_eq!(waits(looks(signalled(&[]))), [""; 0]);
    assert_eq!(waits(signalled(&[])), ["S1@7 C2@1301"]);
    assert_eq!(waits(signalled(&[AccessKind::Read])), ["S1@7 C2@1301"]);
    assert_eq!(waits(looks(signalled(&[AccessKind::Write]))), ["S1@7 C2@1301"]);
}

/// A timer fires with its lock given back, is armed meanwhile and signalled, takes its lock, marks itself as idle and waits: what it lacks is what it wrote over,
/// whatever else it had read before the other one wrote it. If that was written last, it is what the wait is about; and what it has seen before it wrote there is not gone.
#[test]
fn who_writes_over_what_the_signal_was_about_has_not_missed_it() {
    let (condition, lock) = (SyncTarget::Object(ObjectId(3)), SyncTarget::Object(ObjectId(4)));
    const OTHER: LocationId = LocationId(0);
    const PHASE: LocationId = LocationId(1);
    let at = |mut hang: Hang, location| {
        hang.run.accesses.last_mut().expect("it has just been made").location = location;
        hang
    };
    let told = |written: [LocationId; 2], seen: bool| {
        let hang = Hang::new(1).accesses(1, AccessKind::Read, 4);
        let hang = at(hang.accesses(2, AccessKind::Write, 5), written[0]);
        let hang = at(hang.accesses(2, AccessKind::Write, 5), written[1]);
        let mut hang = hang.does(2, SyncKind::Signal, condition).does(1, LOCK, lock);
        if seen {
            hang = at(hang.accesses(1, AccessKind::Read, 6), PHASE);
        }
        let hang = at(hang.accesses(1, AccessKind::Write, 7), PHASE);
        let hang = at(hang.accesses(1, AccessKind::Read, 8), PHASE);
        found(hang.does(1, SyncKind::WaitBegin, condition).waits(1, SyncKind::WaitBegin, 3))
    };
    assert_eq!(told([OTHER, PHASE], false), [""; 0]);
    assert_eq!(told([PHASE, OTHER], false), ["R1@4 W2@5 S2@7 C1@1301"]);
    assert_eq!(told([OTHER, PHASE], true), ["R1@4 W2@5 S2@7 C1@1301"]);
}

/// What is written for who waits, and what is decided on, is guarded by the lock that the wait gives back, here a monitor: what is written without
/// it, before or after, is not what the wait is about.
#[test]
fn what_is_written_over_counts_if_the_lock_of_the_wait_guards_it() {
    let monitor = SyncTarget::Object(ObjectId(3));
    let told = |is_guarded: bool| {
        let mut hang = Hang::new(1)
            .accesses(1, AccessKind::Read, 4)
            .accesses(2, AccessKind::Write, 5)
            .accesses(2, AccessKind::Write, 6)
            .does(2, SyncKind::Signal, monitor)
            .does(1, LOCK, monitor)
            .accesses(1, AccessKind::Write, 7)
            .accesses(1, AccessKind::Read, 8);
        let lock = Lock {
            object: ObjectId(3),
            taken_at: StackId(7),
            taken_in: SiteId(7),
            shared: false,
            tried: false,
        };
        hang.run.locksets.push(vec![lock]);
        for ready in [1, 3, 4] {
            hang.run.accesses[ready].location = LocationId(1);
            hang.run.accesses[ready].locks = is_guarded.then_some(LocksetId(1));
        }
        found(hang.does(1, SyncKind::WaitBegin, monitor).waits(1, SyncKind::WaitBegin, 3))
    };
    assert_eq!(told(true), [""; 0]);
    assert_eq!(told(false), ["R1@4 W2@6 S2@7 C1@1301"]);
}

/// Most runs hang without any signal that came too early: the few with one have no more to say than any other order.
#[test]
fn a_signal_that_few_hung_runs_lack_is_an_order_like_any_other() {
    let condition = SyncTarget::Object(ObjectId(3));
    let hang = |id: u32| Hang::new(id).waits(1, SyncKind::WaitBegin, 3);
    let missed = |id: u32| {
        let hang = Hang::new(id).does(2, SyncKind::Signal, condition).does(1, SyncKind::WaitBegin, condition);
        hang.waits(1, SyncKind::WaitBegin, 3)
    };
    let is_told = |with: u32| {
        let mut runs: Vec<Run> = (100..120).map(|id| Run::new(RunId(id), Outcome::Pass)).collect();
        runs.extend((0..with).map(|id| missed(id).run));
        runs.extend((with..20).map(|id| hang(id).run));
        // All hung runs, and some that pass, have the same order of two accesses.
        for run in runs.iter_mut().filter(|run| run.outcome == Outcome::Hang || run.id.0 < 110) {
            run.accesses.push(support::access(AccessKind::Read, ThreadId(1), LocationId(0), SiteId(21)));
            run.accesses.push(support::access(AccessKind::Write, ThreadId(2), LocationId(0), SiteId(22)));
        }
        for run in runs.iter_mut().filter(|run| run.id.0 >= 110) {
            run.accesses.push(support::access(AccessKind::Write, ThreadId(2), LocationId(0), SiteId(22)));
            run.accesses.push(support::access(AccessKind::Read, ThreadId(1), LocationId(0), SiteId(21)));
        }
        let findings = localize(Technique::Verdict, &runs, &Options::default());
        match &findings[0].detail {
            Detail::Verdict(reasoning) => reasoning.standstill.is_some(),
            _ => unreachable!("the verdict was asked for"),
        }
    };
    assert!(!is_told(3));
    assert!(is_told(19));
}

/// Threads of a pool wait for work when a passing run ends, too.
#[test]
fn what_passing_runs_end_with_is_no_cause() {
    let idle = |id: u32, outcome: Outcome| {
        let condition = SyncTarget::Object(ObjectId(3));
        let hang = Hang::new(id).does(2, SyncKind::Signal, condition).does(1, SyncKind::WaitBegin, condition);
        Run { outcome, ..hang.waits(1, SyncKind::WaitBegin, 3).run }
    };
    let runs =
        [(1, Outcome::Hang), (2, Outcome::Pass), (3, Outcome::Pass)].map(|(id, outcome)| idle(id, outcome));
    assert_eq!(localize(Technique::Verdict, &runs, &Options::default()), []);
    // A crash comes while threads wait for what would have come.
    let runs = [idle(1, Outcome::Fail), Run::new(RunId(2), Outcome::Pass)];
    assert_eq!(localize(Technique::Verdict, &runs, &Options::default()), []);
}

/// Workers look at a flag before and after it is set, at the end of each run that comes to it. One that stands still never does: that nobody
/// looks after the flag was set says nothing about the looks before.
#[test]
fn what_is_usual_is_not_to_blame_for_a_run_that_never_comes_to_the_rest() {
    let whole = "R1(stop)@look R1(jobs)@count W2(stop)@end R1(stop)@look\n";
    let hung = "R1(stop)@look R1(jobs)@count R2(stop)@peek\n";
    let session = support::parse(&(format!("P: {whole}").repeat(20) + &format!("H: {hung}").repeat(10)));
    let found = localize(Technique::Verdict, &session.runs, &Options::default());
    assert!(found.is_empty(), "{found:#?}");
    // Who looks too early and ends the run by that is another matter: passing runs never do.
    let early = "F: R1(config)@use\n".repeat(10);
    let set_up = "P: W2(config)@set R1(config)@use\n".repeat(20);
    let session = support::parse(&(set_up + &early));
    let found = localize(Technique::Verdict, &session.runs, &Options::default());
    assert_eq!(found.len(), 1, "{found:#?}");
}
