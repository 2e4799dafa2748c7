//! Handovers that were kept when the budget was used up.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::event::{Event, EventKind};
use crate::layout::{CONTESTED, Location, SLOT_SITES, Slot};
use crate::read::ThreadEvent;

/// Describes locations that were contested at the end as all others are.
pub(crate) fn settle(locations: &mut [Location], slots: &mut [Slot]) {
    for (index, location) in locations.iter_mut().enumerate().filter(|(_, it)| it.lock & CONTESTED != 0) {
        let slot = slots.get_mut((location.lock & !CONTESTED) as usize);
        if let Some(slot) = slot.filter(|slot| slot.location == CONTESTED | index as u32) {
            location.kept = slot.sites[SLOT_SITES - 1];
            slot.location = index as u32;
        }
    }
}

/// Beyond the budget some handovers are kept, each with a gap before it. Where two follow each other at a location
/// nothing is missing in between; behind one that is followed by others that were not kept there is a gap. False if
/// there are none.
pub(crate) fn join(locations: &[Location], events: &mut Vec<ThreadEvent>) -> bool {
    let number_of = |event: &ThreadEvent| {
        let number = u32::try_from(event.event.value).ok().filter(|&number| number != 0)?;
        (event.kind == EventKind::Gap).then_some((event.event.object, number))
    };
    let kept: BTreeSet<(u32, u32)> = events.iter().filter_map(number_of).collect();
    if kept.is_empty() {
        return false;
    }
    let mut joined = Vec::with_capacity(events.len());
    let mut handover = None;
    for event in events.drain(..) {
        handover = match event.kind {
            EventKind::Gap => number_of(&event),
            _ => handover,
        };
        let follows = |(location, number): (u32, u32)| kept.contains(&(location, number - 1));
        if event.kind == EventKind::Gap && handover.is_some_and(follows) {
            continue;
        }
        joined.push(event);
        let begins = matches!(event.kind, EventKind::Read | EventKind::Write | EventKind::Update);
        if let (true, Some((location, number))) = (begins, handover.take_if(|_| begins)) {
            let newest = locations.get(location as usize).is_none_or(|location| location.kept <= number);
            if !newest && !kept.contains(&(location, number.wrapping_add(1))) {
                let gap = Event { kind: EventKind::Gap as u8, value: 0, ..event.event };
                joined.push(ThreadEvent { kind: EventKind::Gap, event: gap, ..event });
            }
        }
    }
    *events = joined;
    true
}
