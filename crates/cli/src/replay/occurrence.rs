//! Where in a recorded schedule a finding comes about.

use recording::{InterleavingStep, Recording, Stop, ThreadEvent};
use runner::Schedules;

/// Where a finding's accesses are in a run, the closest together if there are several such places: the process, and the
/// first access.
pub fn occurrence(schedules: &Schedules, steps: &[InterleavingStep]) -> Option<(usize, Stop)> {
    let processes = schedules.processes().iter().enumerate();
    let found = processes.filter_map(|(number, recording)| {
        let (span, first) = closest(recording, steps)?;
        Some((span, number, stop_at(recording, &first, steps[0])?))
    });
    found.min_by_key(|(span, ..)| *span).map(|(_, process, stop)| (process, stop))
}

/// The shortest stretch of a run with these accesses in this order, and its first access.
fn closest(recording: &Recording, steps: &[InterleavingStep]) -> Option<(usize, ThreadEvent)> {
    let first = steps.first()?;
    let starts = recording.events.iter().enumerate().filter(|(_, event)| is_at(recording, event, first));
    let spans = starts.filter_map(|(start, event)| Some((end_of(recording, start, steps)? - start, *event)));
    // Of several, the last one: what went wrong early would have failed early.
    spans.min_by_key(|(span, event)| (*span, u64::MAX - event.event.tick))
}

/// The index of the last of these accesses, if they follow the first one at `start` with the right threads and variables.
fn end_of(recording: &Recording, start: usize, steps: &[InterleavingStep]) -> Option<usize> {
    let mut threads = [None; 2];
    let mut locations = [None; 2];
    let mut at = start;
    for (number, step) in steps.iter().enumerate() {
        let fits = |event: &ThreadEvent| {
            let thread = usize::from(step.thread - 1);
            is_at(recording, event, step)
                && threads[thread].is_none_or(|known| known == event.actor())
                && threads[1 - thread] != Some(event.actor())
                && locations[usize::from(step.variable)].is_none_or(|known| known == event.event.object)
        };
        let from = if number == 0 { start } else { at + 1 };
        at = from + recording.events[from..].iter().position(fits)?;
        threads[usize::from(step.thread - 1)] = Some(recording.events[at].actor());
        locations[usize::from(step.variable)] = Some(recording.events[at].event.object);
    }
    Some(at)
}

fn is_at(recording: &Recording, event: &ThreadEvent, step: &InterleavingStep) -> bool {
    let is_access = event.kind.is_access() || event.kind == recording::EventKind::Within;
    let place = recording.resolve_leaf(event.event.leaf).filter(|_| is_access);
    let Some((_, address)) = place else { return false };
    let module = recording.module_of_code(address).map(|index| &recording.modules[index]);
    module.is_some_and(|module| {
        address.wrapping_sub(module.bias) == step.address && step.build_id.starts_with(&module.build_id)
    })
}

/// The access, for the recorder: its thread gets the token for the last time before it with this switch.
fn stop_at(recording: &Recording, access: &ThreadEvent, place: InterleavingStep) -> Option<Stop> {
    let thread = access.actor();
    let before = recording.switch_events().take_while(|switch| switch.event.tick <= access.event.tick);
    let last = before.enumerate().filter(|(_, switch)| switch.thread == thread).last()?;
    Some(Stop { place, thread, after: last.0 as u64 + 1 })
}
