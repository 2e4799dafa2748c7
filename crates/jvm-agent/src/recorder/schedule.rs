//! What a recording tells about the schedule of its run: who got the token where, where points are, which choices there were.

use recording::{Context, Decision, Event, EventKind, RegionId, Visit, flag};

use super::Recorder;
use crate::control::Predecessor;

impl Recorder {
    /// A thread goes on after others ran, so many points from the start.
    pub fn switched(&mut self, thread: u32, leaf: u32, predecessor: Predecessor, points: u64) {
        let Some(thread) = self.threads.get_mut(thread as usize) else { return };
        if thread.log.id == 0 || self.log.is_over_budget(&mut self.file) {
            return;
        }
        let tick = self.log.tick(&mut self.file, &mut thread.log);
        let event = Event {
            kind: EventKind::Switch as u8,
            flags: if predecessor.is_away { flag::AWAY } else { 0 },
            size: 0,
            reserved: 0,
            leaf,
            tick,
            object: predecessor.stop,
            other: predecessor.thread,
            value: points,
        };
        self.log.emit(&mut self.file, &mut thread.log, event);
    }

    /// Notes how far the run has come: scheduling points, and interleavings that came about as planned.
    pub fn note_progress(&mut self, (points, interleavings): (u64, u64)) {
        let header = self.file.header();
        (header.points, header.interleavings) = (points, interleavings);
    }

    /// All threads wait for one another, so far into the run, or do so no more.
    pub fn stands_still(&mut self, counts: Option<(u64, u64)>) {
        counts.into_iter().for_each(|counts| self.note_progress(counts));
        self.file.header().standstill = counts.map_or(0, |(points, _)| points + 1);
    }

    /// A thread has come to a point at this place, which later plans may want to know.
    pub fn visited(&mut self, thread: u32, context: u32, position: u16) {
        /// Places in threads that are told apart.
        const MOST: usize = 2048;
        let function = self.file.record::<Context>(RegionId::Contexts, context).function;
        let site = function + u64::from(position) + 1;
        let known = self.visits.get(&(site, thread)).copied();
        let number = match known {
            Some(number) => number,
            None if self.visits.len() == MOST => return,
            None => {
                let Some(number) = self.file.new_record::<Visit>(RegionId::Visits) else { return };
                *self.file.record(RegionId::Visits, number) = Visit { site, seat: thread, count: 0 };
                self.visits.insert((site, thread), number);
                number
            }
        };
        self.file.record::<Visit>(RegionId::Visits, number).count += 1;
    }

    /// There were choices between threads.
    pub fn decided(&mut self, decisions: &[Decision]) {
        /// Who enumerates schedules notices that there were more.
        const MOST: u32 = 1 << 16;
        for &decision in decisions {
            if self.decisions == MOST {
                return;
            }
            let Some(number) = self.file.new_record::<Decision>(RegionId::Decisions) else { return };
            *self.file.record(RegionId::Decisions, number) = decision;
            self.decisions += 1;
        }
    }
}
