//! Where in a recorded schedule a finding comes about.

use recording::{EventKind, InterleavingStep, MOST_ROLES, Recording, Stop, ThreadEvent};
use runner::Schedules;

/// Where a finding comes about in a run.
#[derive(Clone)]
pub struct Occurrence {
    /// Its process, in the order of start.
    pub process: usize,
    /// The first step.
    pub first: Stop,
    /// After how many switches each step is done.
    pub done_after: Vec<u64>,
    /// Events from the first to the last.
    span: usize,
}

impl Occurrence {
    /// After so many switches all steps are done.
    pub fn through(&self) -> u64 {
        self.done_after.iter().copied().max().unwrap_or(0)
    }
}

/// Where a finding's steps are in a run, the closest together if there are several such places.
pub fn occurrence(schedules: &Schedules, steps: &[InterleavingStep]) -> Option<Occurrence> {
    // Of several, the last one: what went wrong early would have failed early.
    occurrences(schedules, steps, false).into_iter().rev().min_by_key(|occurrence| occurrence.span)
}

/// All places where a finding's steps are in a run, by when the last of them is done. Of a circle of locks each step comes at the
/// end of what its thread does; the second half of its steps is never done.
pub fn occurrences(schedules: &Schedules, steps: &[InterleavingStep], is_circle: bool) -> Vec<Occurrence> {
    let mut found = Vec::new();
    for (process, recording) in schedules.processes().iter().enumerate() {
        let visits = Visits::of(recording, steps);
        let lists = if is_circle { visits.circle(steps.len() / 2) } else { visits.in_order(steps) };
        found.extend(lists.into_iter().filter_map(|list| {
            let (&start, &end) = list.iter().min().zip(list.iter().max())?;
            let first = stop_at(recording, &recording.events[start], steps[0])?;
            let done_after = list.iter().map(|&at| switches_until(recording, &recording.events[at]) + 1);
            Some(Occurrence { process, first, done_after: done_after.collect(), span: end - start })
        }));
    }
    found
}

/// Events at the places of steps.
struct Visits<'a> {
    recording: &'a Recording,
    /// Places in the list of events, each with a bit for every step that is done there.
    visits: Vec<(usize, u64)>,
}

impl<'a> Visits<'a> {
    fn of(recording: &'a Recording, steps: &[InterleavingStep]) -> Visits<'a> {
        let visit = |(index, event): (usize, &ThreadEvent)| {
            let (module, address, caller) = place(recording, event)?;
            let is_there = |step: &InterleavingStep| {
                step.is_at(address)
                    && step.is_called_from(caller)
                    && step.build_id.starts_with(&recording.modules[module].build_id)
            };
            let there = (0..steps.len()).filter(|&nth| is_there(&steps[nth]));
            let mask = there.fold(0, |mask, nth| mask | 1 << nth);
            (mask != 0).then_some((index, mask))
        };
        Visits { recording, visits: recording.events.iter().enumerate().filter_map(visit).collect() }
    }

    fn event(&self, at: usize) -> &ThreadEvent {
        &self.recording.events[self.visits[at].0]
    }

    fn is_at(&self, at: usize, step: usize) -> bool {
        self.visits[at].1 & 1 << step != 0
    }

    /// Where the steps are done one after the other, by the right threads to the right variables. Of several that end at
    /// the same place, the shortest.
    fn in_order(&self, steps: &[InterleavingStep]) -> Vec<Vec<usize>> {
        let starts = (0..self.visits.len()).filter(|&at| self.is_at(at, 0));
        let mut lists: Vec<Vec<usize>> = starts.filter_map(|start| self.steps_from(start, steps)).collect();
        lists.sort_by_key(|list| (list.last().copied(), std::cmp::Reverse(list.first().copied())));
        lists.dedup_by_key(|list| list.last().copied());
        lists.into_iter().map(|list| self.events_of(&list)).collect()
    }

    fn events_of(&self, list: &[usize]) -> Vec<usize> {
        list.iter().map(|&at| self.visits[at].0).collect()
    }

    /// All steps, if they follow the first one at `start` with the right threads and variables.
    fn steps_from(&self, start: usize, steps: &[InterleavingStep]) -> Option<Vec<usize>> {
        let mut threads = [None; MOST_ROLES];
        let mut locations = [None; MOST_ROLES];
        let mut list: Vec<usize> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let role = usize::from(step.thread - 1);
            let fits = |&at: &usize| {
                let event = self.event(at);
                let mut others = threads.iter().enumerate().filter(|(other, _)| *other != role);
                self.is_at(at, number)
                    && threads[role].is_none_or(|known| known == event.actor())
                    && others.all(|(_, known)| *known != Some(event.actor()))
                    && locations[usize::from(step.variable)].is_none_or(|known| known == event.event.object)
            };
            let from = list.last().map_or(start, |last| last + 1);
            let at = (from..self.visits.len()).find(fits)?;
            threads[role] = Some(self.event(at).actor());
            locations[usize::from(step.variable)] = Some(self.event(at).event.object);
            list.push(at);
        }
        Some(list)
    }

    /// So many locks that were taken by different threads, each the last that its thread took there.
    fn circle(&self, threads: usize) -> Vec<Vec<usize>> {
        let mut taken: Vec<usize> = Vec::new();
        for step in 0..threads {
            let is_new = |&at: &usize| {
                let actor = self.event(at).actor();
                self.is_at(at, step) && taken.iter().all(|&other| self.event(other).actor() != actor)
            };
            let last = (0..self.visits.len()).rev().find(is_new);
            taken.extend(last);
        }
        if taken.len() == threads { vec![self.events_of(&taken)] } else { Vec::new() }
    }
}

/// The place in the code of what can be a step: a module, and its addresses of that and of where the function was called.
fn place(recording: &Recording, event: &ThreadEvent) -> Option<(usize, u64, u64)> {
    use EventKind::{Acquire, AcquireShared, Broadcast, Signal, WaitBegin, Within};
    let can_be_step = event.kind.is_access()
        || matches!(event.kind, Within | Acquire | AcquireShared | WaitBegin | Signal | Broadcast);
    let (context, address) = recording.resolve_leaf(event.event.leaf).filter(|_| can_be_step)?;
    let module = recording.module_of_code(address)?;
    let own = |address: u64| address.wrapping_sub(recording.modules[module].bias);
    Some((module, own(address), own(recording.contexts[context as usize].call)))
}

/// The access, for the recorder: its thread gets the token for the last time before it with this switch.
fn stop_at(recording: &Recording, access: &ThreadEvent, place: InterleavingStep) -> Option<Stop> {
    let thread = access.actor();
    let before = recording.switch_events().take_while(|switch| switch.event.tick <= access.event.tick);
    let last = before.enumerate().filter(|(_, switch)| switch.thread == thread).last()?;
    Some(Stop { place, thread, after: last.0 as u64 + 1 })
}

fn switches_until(recording: &Recording, access: &ThreadEvent) -> u64 {
    recording.switch_events().take_while(|switch| switch.event.tick <= access.event.tick).count() as u64
}
