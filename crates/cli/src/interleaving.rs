//! A finding as the recorder can recognize and bring it about: steps at places in the code, and their order.

mod leading;
mod standstills;
mod wider;

use leading::Lead;
pub use leading::{Led, Origin};
use localize::{
    AccessKind, Code, Detail, Finding, LocationId, Lock, Reason, Run, RunId, SiteId, StackId, ThreadId,
};
use recording::{Interleaving, InterleavingStep, MOST_COPIES, Treatment};

use crate::names::Names;
use crate::narrow::Narrowed;

/// A finding's steps, to be enforced.
#[derive(Clone)]
pub struct Forcible {
    pub interleaving: Interleaving,
    /// What a fix would keep whole, if that is more.
    pub wider: Option<Interleaving>,
    /// For each step the number of the access that it stands for, in the finding's list.
    pub accesses: Vec<usize>,
    /// The run of the example, and for each step what it was there; nothing for what is more than accesses.
    example: Option<(RunId, Vec<Moment>)>,
    /// Locks that threads take in a circle.
    pub is_circle: bool,
    /// A signal that comes before the wait for it.
    pub is_missed_signal: bool,
    /// An order that passing runs never have the other way round: it may be what the failure does.
    is_effect: bool,
    /// Both of its steps are one access of the source.
    is_one_place: bool,
    /// Passing runs never come to one of its steps, so that something else decides whether it comes about.
    pub is_new_code: bool,
    /// All of its steps are atomic updates, which come out alike in any order: counts of references, mostly.
    pub is_count: bool,
    /// A thread's two steps are in one section, which it has left and come to again in between: to keep that whole is to keep a whole round.
    pub is_round: bool,
    /// Failing runs that ended before its last step, with all else of it.
    pub unfinished: u64,
    /// What may have to be in place for it.
    pub leading: Vec<Lead>,
    /// It with what has to be in place, once that was found out.
    pub whole: Option<Interleaving>,
    /// The accesses that it stands for, where the finding is told by others.
    pub own: Option<Vec<report::Access>>,
    /// What is known of it by a run that was made short.
    pub narrowed: Option<Narrowed>,
}

impl Forcible {
    /// What makes runs fail, as far as is known.
    pub fn forced(&self) -> Interleaving {
        self.whole.unwrap_or(self.interleaving)
    }

    /// The accesses of a finding that it stands for.
    pub fn own_accesses<'f>(&'f self, finding: &'f report::Finding) -> &'f [report::Access] {
        self.own.as_deref().unwrap_or(&finding.accesses)
    }

    /// Whether forbidding its order is but a delay. Two threads do the same to the same thing, or are in the same section under one
    /// lock: in the other order that is the same again. Or there is no other order, as where one thread uses what another has made: whoever has to wait for the use to come
    /// first keeps out whatever leads to it.
    pub fn has_no_other_order(&self) -> bool {
        let is_same = self.is_one_place || is_symmetric(&self.interleaving);
        is_same || is_of_one_section(&self.interleaving) || self.is_effect
    }

    /// Whether there is nothing that could be forbidden in earnest.
    pub fn is_beyond_forbidding(&self) -> bool {
        self.is_round || self.has_no_other_order() && self.wider.is_none()
    }

    /// Whether a thread comes to the same access again, in another round of its loop, after what another one does.
    pub fn is_done_again(&self) -> bool {
        let place = |step: &InterleavingStep| (step.thread, step.build_id, step.address);
        matches!(self.interleaving.steps(), [first, _, third] if place(first) == place(third))
    }

    /// With what the source says of its accesses. A function that was inlined at two places has two addresses for what is one access.
    pub fn told_by(self, accesses: &[report::Access]) -> Forcible {
        let place = |access: &report::Access| {
            (access.kind, access.file.clone(), access.line, access.column, access.function.clone())
        };
        let is_one_place =
            matches!(accesses, [first, second] if first.line.is_some() && place(first) == place(second));
        Forcible { is_one_place, ..self }
    }

    /// With the copies that a compiler made of each step's places.
    fn with_copies(
        mut self,
        copies: &mut dyn FnMut(&InterleavingStep) -> Option<[u64; MOST_COPIES]>,
    ) -> Forcible {
        let mut known = |step: InterleavingStep| match copies(&step) {
            Some(copies) => InterleavingStep { copies, ..step },
            // Of too many calls, none is better known than another.
            None => InterleavingStep {
                caller: 0,
                copies: copies(&InterleavingStep { caller: 0, ..step }).unwrap_or_default(),
                ..step
            },
        };
        self.interleaving = self.interleaving.map_steps(&mut known);
        self.wider = self.wider.map(|wider| wider.map_steps(&mut known));
        self.leading.iter_mut().for_each(|lead| lead.map_steps(&mut known));
        self
    }
}

/// An access in a run.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Moment {
    /// Its place in the run.
    index: usize,
    thread: ThreadId,
    location: LocationId,
}

/// None if a place in the code is in no known module. The run is that of the finding's example.
pub fn of(finding: &Finding, run: &Run, code: &Code, names: &mut Names) -> Option<Forcible> {
    let forcible = of_places(finding, run, code)?;
    let is_circle = forcible.is_circle;
    Some(forcible.with_copies(&mut |step| match is_circle {
        true => names.other_places_of_lock(step, code),
        false => names.other_places(step, code),
    }))
}

fn of_places(finding: &Finding, run: &Run, code: &Code) -> Option<Forcible> {
    match &finding.detail {
        Detail::Verdict(reasoning) if reasoning.standstill.is_some() => {
            standstills::of_standstill(reasoning.standstill.as_ref()?, run, code)
        }
        _ => of_accesses(finding, run, code),
    }
}

fn of_accesses(finding: &Finding, run: &Run, code: &Code) -> Option<Forcible> {
    let example = &finding.example;
    let mut accesses: Vec<usize> = (0..example.accesses.len()).collect();
    // Two pairs that are put together stand one after the other; each thread does its steps as in the run.
    if example.id.row().is_none() {
        accesses.sort_by_key(|&nth| example.accesses[nth]);
    }
    let roles: Vec<(u8, u8)> =
        example.id.steps().map(|step| (step.thread, u8::from(step.variable != 'x'))).collect();
    let moments: Vec<Moment> = accesses.iter().map(|&nth| moment(run, example.accesses[nth])).collect();
    let steps = accesses.iter().zip(&moments).map(|(&nth, moment)| {
        let (thread, variable) = *roles.get(nth)?;
        let place = place_of_access(moment, run, code)?;
        Some(InterleavingStep { thread, variable, ..place })
    });
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let interleaving = Interleaving::new(Treatment::Enforce, &steps)?;
    let interleaving =
        if steps.len() < 4 { interleaving } else { interleaving.with_orders(&conflicts(&steps))? };
    let wider =
        wider::wider(&steps, &moments, run, code).filter(|wider| leaves_section(&interleaving, wider));
    let leading = leading::leads(&steps, &moments, run, code);
    Some(Forcible {
        interleaving,
        wider,
        accesses,
        example: Some((example.run, moments)),
        is_circle: false,
        is_missed_signal: false,
        is_effect: steps.len() == 2 && is_effect(finding),
        is_one_place: false,
        is_new_code: has_reason(finding, |reason| {
            matches!(reason, Reason::NewCode | Reason::Outcome | Reason::SecondThread)
        }),
        is_count: example.accesses.iter().all(|&index| is_updated_at(run, run.accesses[index].site)),
        is_round: is_round(run, &example.accesses),
        unfinished: unfinished(finding),
        leading,
        whole: None,
        own: None,
        narrowed: None,
    })
}

/// Whether what is done there is an atomic update: the last of a turn is on record as the read or the write that it is as well.
fn is_updated_at(run: &Run, site: SiteId) -> bool {
    run.accesses.iter().any(|access| access.site == site && access.kind == AccessKind::Update)
}

/// Whether the first and the third of three accesses are within a lock that was taken at the same place, and was held by another thread in between.
fn is_round(run: &Run, accesses: &[usize]) -> bool {
    let &[first, between, third] = accesses else { return false };
    let held = |index: usize| run.held(&run.accesses[index]).unwrap_or_default();
    let is_same = |lock: &Lock| {
        held(third).iter().any(|other| (other.object, other.taken_at) == (lock.object, lock.taken_at))
    };
    let is_taken =
        |lock: &Lock| held(between).iter().any(|other| other.object == lock.object && !other.shared);
    held(first).iter().any(|lock| is_same(lock) && is_taken(lock))
}

fn unfinished(finding: &Finding) -> u64 {
    let Detail::Verdict(reasoning) = &finding.detail else { return 0 };
    let counts = reasoning.reasons.iter().map(|reason| match reason {
        Reason::Unfinished { failed } => u64::from(*failed),
        _ => 0,
    });
    counts.sum()
}

fn is_effect(finding: &Finding) -> bool {
    has_reason(finding, |reason| {
        matches!(reason, Reason::Effect | Reason::SetUp | Reason::NewCode | Reason::SecondThread)
    })
}

fn has_reason(finding: &Finding, is_it: impl Fn(&Reason) -> bool) -> bool {
    let Detail::Verdict(reasoning) = &finding.detail else { return false };
    reasoning.reasons.iter().any(is_it)
}

fn is_symmetric(interleaving: &Interleaving) -> bool {
    matches!(interleaving.steps(), [one, other] if one.is_same_place(other))
}

/// Two threads, one after the other, in a section that one lock keeps whole, each called from the same place.
fn is_of_one_section(interleaving: &Interleaving) -> bool {
    let section = |step: &InterleavingStep| (step.build_id, step.guard, step.caller);
    matches!(interleaving.steps(), [one, other] if one.guard != 0 && section(one) == section(other))
}

/// Whether what a fix would keep whole is more than the section that both threads are in: what a thread did there before, it did in
/// another round.
fn leaves_section(interleaving: &Interleaving, wider: &Interleaving) -> bool {
    let guard = interleaving.steps().first().map(|step| step.guard);
    !is_of_one_section(interleaving) || wider.steps().iter().any(|step| Some(step.guard) != guard)
}

fn moment(run: &Run, index: usize) -> Moment {
    let access = &run.accesses[index];
    Moment { index, thread: access.thread, location: access.location }
}

/// A step at the place of an access, with that of the outermost lock that was held.
fn place_of_access(moment: &Moment, run: &Run, code: &Code) -> Option<InterleavingStep> {
    let access = &run.accesses[moment.index];
    let held = access.locks.and_then(|locks| run.locksets.get(locks.0 as usize)?.first());
    let guard = held.map(|lock| code.site(lock.taken_in));
    let site = code.stack(access.stack)[0];
    let guard = guard.filter(|guard| guard.module == code.site(site).module);
    let place = place(site, access.stack, code)?;
    Some(InterleavingStep { guard: guard.map_or(0, |guard| guard.address), ..place })
}

/// Accesses to one variable by one thread and then by another. Of several variables, the order of accesses to each
/// matters, not that of accesses to one and to another.
fn conflicts(steps: &[InterleavingStep]) -> Vec<(usize, usize)> {
    let previous = |second: usize| {
        let same = |&first: &usize| steps[first].variable == steps[second].variable;
        (0..second).rev().find(same).filter(|&first| steps[first].thread != steps[second].thread)
    };
    (0..steps.len()).filter_map(|second| Some((previous(second)?, second))).collect()
}

/// A step at this place in the code, reached by these calls.
fn place(site: SiteId, stack: StackId, code: &Code) -> Option<InterleavingStep> {
    let site = code.site(site);
    let caller = code.stack(stack).get(1).map(|&caller| code.site(caller));
    let caller = caller.filter(|caller| caller.module == site.module).map_or(0, |caller| caller.address);
    let module = code.module(site.module?);
    let mut build_id = [0; 32];
    build_id.get_mut(..module.build_id.len())?.copy_from_slice(&module.build_id);
    let step = InterleavingStep { build_id, address: site.address, caller, ..InterleavingStep::default() };
    (!module.build_id.is_empty()).then_some(step)
}

/// Steps of several findings, each with the finding and its access that it stands for.
#[derive(Clone)]
pub struct Joined {
    pub interleaving: Interleaving,
    pub accesses: Vec<(usize, usize)>,
}

/// The steps of findings, told by their places in the report, that the same run showed: what it takes to bring all of
/// them about. None if that is too much, or if they are of different runs.
pub fn join(findings: &[(usize, &Forcible)]) -> Option<Joined> {
    let (first, rest) = findings.split_first()?;
    let whole = |(at, one): &(usize, &Forcible)| one.accesses.iter().map(|&nth| (*at, nth)).collect();
    if rest.is_empty() {
        return Some(Joined { interleaving: first.1.interleaving, accesses: whole(first) });
    }
    let run = first.1.example.as_ref()?.0;
    let mut steps: Vec<(Moment, InterleavingStep, (usize, usize))> = Vec::new();
    for (at, forcible) in findings {
        let (_, moments) = forcible.example.as_ref().filter(|(of, _)| *of == run)?;
        for ((&moment, &step), &nth) in
            moments.iter().zip(forcible.interleaving.steps()).zip(&forcible.accesses)
        {
            if steps.iter().all(|(known, ..)| *known != moment) {
                steps.push((moment, step, (*at, nth)));
            }
        }
    }
    steps.sort_by_key(|(moment, ..)| moment.index);
    let (mut threads, mut locations) = (Vec::new(), Vec::new());
    let renamed = steps.iter().map(|(moment, step, _)| {
        let thread = u8::try_from(number(&mut threads, moment.thread) + 1).ok()?;
        let variable = u8::try_from(number(&mut locations, moment.location)).ok()?;
        Some(InterleavingStep { thread, variable, ..*step })
    });
    let renamed = renamed.collect::<Option<Vec<_>>>()?;
    let interleaving = Interleaving::new(Treatment::Enforce, &renamed)?.with_orders(&conflicts(&renamed))?;
    Some(Joined { interleaving, accesses: steps.into_iter().map(|(.., access)| access).collect() })
}

/// The place of a thing in a list, at whose end it is put if it is new.
fn number<T: PartialEq>(known: &mut Vec<T>, one: T) -> usize {
    known.iter().position(|other| *other == one).unwrap_or_else(|| {
        known.push(one);
        known.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use localize::{Access, LocksetId, ObjectId, Outcome};

    use super::*;

    /// Accesses of one kind by threads 1, 2 and 1, each with the lock that it holds and where that was taken.
    fn run_of(kinds: [AccessKind; 3], locks: [Option<(u32, u32)>; 3]) -> Run {
        let mut run = Run::new(RunId(1), Outcome::Fail);
        run.locksets.clear();
        for (nth, (kind, lock)) in kinds.into_iter().zip(locks).enumerate() {
            let lock = lock.map(|(object, taken_at)| Lock {
                object: ObjectId(object),
                taken_in: SiteId(taken_at),
                taken_at: StackId(taken_at),
                shared: false,
                tried: false,
            });
            run.locksets.push(lock.into_iter().collect());
            run.accesses.push(Access {
                thread: ThreadId(1 + nth as u32 % 2),
                location: LocationId(0),
                site: SiteId(nth as u32 / 2),
                stack: StackId(nth as u32),
                kind,
                uncertain: false,
                value: None,
                before: None,
                locks: Some(LocksetId(nth as u32)),
                iteration: None,
                atomic: false,
                frees: false,
            });
        }
        run
    }

    /// A list is written to under its lock, by another thread too, and read under it the next time.
    #[test]
    fn a_section_that_is_come_to_again_is_another_round() {
        use AccessKind::{Read, Write};
        let is_round = |locks| is_round(&run_of([Write, Write, Read], locks), &[0, 1, 2]);
        assert!(is_round([Some((7, 1)), Some((7, 2)), Some((7, 1))]));
        assert!(!is_round([Some((7, 1)), Some((7, 2)), Some((7, 3))]), "two sections of one round");
        assert!(!is_round([Some((7, 1)), None, Some((7, 1))]), "nobody else takes the lock");
        assert!(!is_round([None, Some((7, 2)), None]));
    }

    #[test]
    fn the_same_access_again_is_of_the_next_round() {
        let step = |thread, address| InterleavingStep { thread, address, ..InterleavingStep::default() };
        let is_done_again = |steps: &[InterleavingStep]| {
            let interleaving = Interleaving::new(Treatment::Enforce, steps).unwrap();
            Forcible { interleaving, ..forcible() }.is_done_again()
        };
        assert!(is_done_again(&[step(1, 7), step(2, 8), step(1, 7)]));
        assert!(!is_done_again(&[step(1, 7), step(2, 8), step(1, 9)]));
        assert!(!is_done_again(&[step(1, 7), step(2, 7)]));
    }

    #[test]
    fn the_last_update_of_a_turn_is_one_as_well() {
        use AccessKind::{Update, Write};
        // The first two are at one place.
        let run = run_of([Update, Write, Write], [None; 3]);
        assert!(is_updated_at(&run, run.accesses[1].site));
        assert!(!is_updated_at(&run, run.accesses[2].site));
    }

    /// Steps of two threads, each called from somewhere.
    fn forcible() -> Forcible {
        let step = |thread| InterleavingStep { thread, address: 7, caller: 9, ..InterleavingStep::default() };
        Forcible {
            interleaving: Interleaving::new(Treatment::Enforce, &[step(1), step(2)]).unwrap(),
            wider: None,
            accesses: vec![0, 1],
            example: None,
            is_circle: false,
            is_missed_signal: false,
            is_effect: false,
            is_one_place: false,
            is_new_code: false,
            is_count: false,
            is_round: false,
            unfinished: 0,
            leading: Vec::new(),
            whole: None,
            own: None,
            narrowed: None,
        }
    }

    #[test]
    fn of_too_many_copies_of_a_call_none_is_asked_for() {
        let mut copies = [0; MOST_COPIES];
        copies[0] = 8;
        let known = forcible().with_copies(&mut |_| Some(copies));
        assert!(known.interleaving.steps().iter().all(|step| step.caller == 9 && step.copies == copies));
        // Those of the access itself are few enough.
        let many_calls = forcible().with_copies(&mut |step| (step.caller == 0).then_some(copies));
        assert!(many_calls.interleaving.steps().iter().all(|step| step.caller == 0 && step.copies == copies));
        let many = forcible().with_copies(&mut |_| None);
        let is_bare = |step: &InterleavingStep| step.caller == 0 && step.copies == [0; MOST_COPIES];
        assert!(many.interleaving.steps().iter().all(is_bare));
    }

    #[test]
    fn what_was_inlined_twice_has_no_other_order() {
        let access = |line: Option<u32>, column: u32, kind: &str| -> report::Access {
            serde_json::from_value(serde_json::json!({
                "thread": 1, "kind": kind, "variable": "", "function": "use_buffer", "file": "pool.rs", "line": line,
                "column": column, "source": null, "stack": [], "value": null, "locks": null,
            }))
            .unwrap()
        };
        let step = |thread, address| InterleavingStep { thread, address, ..InterleavingStep::default() };
        let steps = Interleaving::new(Treatment::Enforce, &[step(1, 7), step(2, 90)]).unwrap();
        let told = |first, second| {
            Forcible { interleaving: steps, ..forcible() }.told_by(&[first, second]).has_no_other_order()
        };
        let swap = || access(Some(61), 20, "update");
        assert!(told(swap(), swap()));
        assert!(!told(swap(), access(Some(66), 20, "update")), "another line");
        assert!(!told(swap(), access(Some(61), 34, "update")), "another one on the same line");
        assert!(!told(swap(), access(Some(61), 20, "read")), "not the same");
        assert!(!told(access(None, 20, "update"), access(None, 20, "update")), "nothing is known");
    }

    #[test]
    fn two_threads_in_one_section_have_no_other_order() {
        let step = |thread, address, guard, caller| InterleavingStep {
            thread,
            address,
            guard,
            caller,
            ..InterleavingStep::default()
        };
        let of = |steps: &[InterleavingStep]| Interleaving::new(Treatment::Enforce, steps).unwrap();
        let (one, other) = (step(1, 7, 3, 0), step(2, 8, 3, 0));
        let both = of(&[one, other]);
        assert!(is_of_one_section(&both));
        assert!(!is_of_one_section(&of(&[step(1, 7, 0, 0), step(2, 8, 0, 0)])), "no lock");
        assert!(!is_of_one_section(&of(&[one, step(2, 8, 4, 0)])), "taken elsewhere");
        assert!(!is_of_one_section(&of(&[one, step(2, 8, 3, 5)])), "for another purpose");
        // The round before is no part of it; where a thread looked before, it took the lock elsewhere.
        assert!(!leaves_section(&both, &of(&[one, step(2, 9, 3, 0), other])));
        assert!(leaves_section(&both, &of(&[one, step(2, 9, 4, 0), other])));
        let apart = of(&[one, step(2, 8, 4, 0)]);
        assert!(leaves_section(&apart, &apart), "there is none to leave");
    }

    #[test]
    fn the_same_access_by_two_threads_has_no_other_order() {
        let symmetric = |addresses: &[u64]| {
            let step =
                |(&address, thread)| InterleavingStep { thread, address, ..InterleavingStep::default() };
            let steps: Vec<InterleavingStep> = addresses.iter().zip(1..).map(step).collect();
            is_symmetric(&Interleaving::new(Treatment::Enforce, &steps).unwrap())
        };
        assert!(symmetric(&[7, 7]));
        assert!(!symmetric(&[7, 8]));
        assert!(!symmetric(&[7, 7, 7]), "a third thread's comes between");
    }
}
