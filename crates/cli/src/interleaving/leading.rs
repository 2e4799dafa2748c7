//! What has to be in place for an interleaving to come about: orders between its threads shortly before its end.
//!
//! Forcing two accesses into an order is in vain where a thread comes to its own only if something else was in time, such as
//! one that looks whether a thing is still there before it uses it. The example run shows in which order the same threads
//! came to other variables; nearest are those with the fewest accesses between them and the steps, in
//! what each of the threads did.

use std::collections::BTreeSet;

use localize::{Code, LocationId, Run, ThreadId};
use recording::{Interleaving, InterleavingStep, Treatment};

use super::{Forcible, Moment, conflicts, moment, place_of_access};

/// Orders that are looked for, each on a variable of its own.
const MOST_ORDERS: usize = 3;
/// Accesses of a thread before or after one of its steps that are looked at.
const NEAR: usize = 16;
/// Accesses of all threads that are.
const FAR: usize = 10_000;

/// Two accesses by two of an interleaving's threads, one after the other, to another variable than its own.
#[derive(Clone)]
pub struct Lead {
    steps: [(Moment, InterleavingStep); 2],
    /// Both in words, once these are found.
    pub told: Vec<report::Access>,
}

impl Lead {
    /// Where the two are in the example's run.
    pub fn accesses(&self) -> [usize; 2] {
        self.steps.map(|(moment, _)| moment.index)
    }

    pub(super) fn map_steps(&mut self, map: &mut dyn FnMut(InterleavingStep) -> InterleavingStep) {
        self.steps.iter_mut().for_each(|(_, step)| *step = map(*step));
    }

    /// The thread of each, as the finding numbers them.
    pub fn threads(&self) -> [u8; 2] {
        self.steps.map(|(_, step)| step.thread)
    }
}

/// What a step of a longer interleaving stands for.
#[derive(Clone, Copy)]
pub enum Origin {
    /// An access of the finding.
    Own(usize),
    /// A lead, and which of its two accesses.
    Lead(usize, usize),
}

/// An interleaving with what leads to it.
pub struct Led {
    pub interleaving: Interleaving,
    /// For each step.
    pub origins: Vec<Origin>,
}

/// What may lead to these steps, the nearest first.
pub fn leads(steps: &[InterleavingStep], moments: &[Moment], run: &Run, code: &Code) -> Vec<Lead> {
    let threads: BTreeSet<ThreadId> = moments.iter().map(|moment| moment.thread).collect();
    let near: Vec<Near> = threads.iter().flat_map(|&thread| near(thread, moments, run)).collect();
    let mut found: Vec<(usize, [Moment; 2])> = Vec::new();
    for second in &near {
        let is_conflict = |first: &&Near| {
            first.moment.location == second.moment.location
                && first.moment.index < second.moment.index
                && first.moment.thread != second.moment.thread
                && (first.writes || second.writes)
        };
        let first = near.iter().filter(is_conflict).max_by_key(|first| first.moment.index);
        found.extend(first.map(|first| (first.distance + second.distance, [first.moment, second.moment])));
    }
    found.sort_by_key(|&(distance, [first, second])| (distance, first.index, second.index));
    let mut known: BTreeSet<LocationId> = BTreeSet::new();
    found.retain(|(_, [first, _])| known.insert(first.location));
    let role = |thread: ThreadId| {
        let own = moments.iter().position(|moment| moment.thread == thread)?;
        Some(steps.get(own)?.thread)
    };
    let step = |moment: Moment| {
        let place = place_of_access(&moment, run, code)?;
        Some((moment, InterleavingStep { thread: role(moment.thread)?, ..place }))
    };
    let lead = |(_, [first, second]): (usize, [Moment; 2])| {
        Some(Lead { steps: [step(first)?, step(second)?], told: Vec::new() })
    };
    found.into_iter().filter_map(lead).take(MOST_ORDERS).collect()
}

/// An access of a thread near one of its steps.
struct Near {
    moment: Moment,
    writes: bool,
    /// Accesses of the thread from here to that step.
    distance: usize,
}

/// What a thread did last before all steps were done, newest first, but for what it did to their variables.
fn near(thread: ThreadId, moments: &[Moment], run: &Run) -> Vec<Near> {
    let end = moments.iter().map(|moment| moment.index + 1).max().unwrap_or(0);
    let newest = run.accesses[..end].iter().enumerate().rev().take(FAR);
    let own: Vec<usize> =
        newest.filter(|(_, access)| access.thread == thread).map(|(index, _)| index).collect();
    let is_step = |place: &usize| moments.iter().any(|moment| moment.index == own[*place]);
    let steps: Vec<usize> = (0..own.len()).filter(is_step).collect();
    let mut near: Vec<Near> = Vec::new();
    for (place, &index) in own.iter().enumerate() {
        let distance = steps.iter().map(|step| step.abs_diff(place)).min();
        let Some(distance) = distance.filter(|&distance| distance <= NEAR) else { continue };
        let access = &run.accesses[index];
        if moments.iter().all(|step| step.location != access.location) {
            near.push(Near { moment: moment(run, index), writes: access.kind.writes(), distance });
        }
    }
    near
}

impl Forcible {
    /// Its own steps and those of these leads, in the order of the example. None if that is too much.
    pub fn led(&self, leads: &[usize]) -> Option<Led> {
        let (_, moments) = self.example.as_ref()?;
        let own = moments.iter().zip(self.interleaving.steps()).zip(&self.accesses);
        let mut steps: Vec<(Moment, InterleavingStep, Origin)> =
            own.map(|((&moment, &step), &access)| (moment, step, Origin::Own(access))).collect();
        let fresh = self.interleaving.steps().iter().map(|step| step.variable + 1).max()?;
        for (variable, &lead) in (fresh..).zip(leads) {
            let both = self.leading.get(lead)?.steps.into_iter().enumerate();
            steps.extend(both.map(|(nth, (moment, step))| {
                (moment, InterleavingStep { variable, ..step }, Origin::Lead(lead, nth))
            }));
        }
        steps.sort_by_key(|(moment, ..)| moment.index);
        let listed: Vec<InterleavingStep> = steps.iter().map(|&(_, step, _)| step).collect();
        let interleaving =
            Interleaving::new(Treatment::Enforce, &listed)?.with_orders(&conflicts(&listed))?;
        Some(Led { interleaving, origins: steps.into_iter().map(|(.., origin)| origin).collect() })
    }
}
