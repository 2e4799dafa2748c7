//! The schedule of a controlled run, for another run to follow: a file that the runner makes of a recording.
//!
//! The file has a part for each process of the run, in the order in which they started: a [`SavedSchedule`], then its
//! [`Switch`]es, then the [`Site`]s that count if stops are numbered by progress. A process takes the first part that no other one has taken.

use core::fmt;
use core::str::FromStr;

use crate::event::flag;
use crate::layout::Pod;
use crate::plan::PlanError;
use crate::site::Site;

/// Environment variable naming the file of schedules to follow.
pub const ENV_SCHEDULE: &str = "UNSNARL_SCHEDULE";
/// First eight bytes of every part.
pub const SCHEDULE_MAGIC: u64 = u64::from_le_bytes(*b"UNSCHED\x03");

/// The schedule of one process.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedSchedule {
    /// [`SCHEDULE_MAGIC`].
    pub magic: u64,
    /// How many switches stand behind this.
    pub switches: u64,
    /// How many of them to follow; from then on the plan's policy decides.
    pub followed: u64,
    /// The seed of that run: where chance decides about more than switches, it decides the same again as long as they are followed.
    pub seed: u64,
    /// Where to stop for a debugger, as in the module's file; zero if nowhere.
    pub stop_address: u64,
    /// So many switches must have been followed by then.
    pub stop_after: u64,
    /// The thread to stop.
    pub stop_thread: u32,
    /// What the numbers of stops count: a [`Numbering`].
    pub numbering: u32,
    /// The build id of the module to stop in, padded with zeros.
    pub stop_build_id: [u8; 32],
    /// How many sites stand behind the switches.
    pub sites: u64,
}

/// What the number of a stop says, in a schedule and in the recording of a run that follows it.
///
/// Which accesses are stops depends on who has used the bytes before. So the number of a thread's stop means another place in a run in
/// which others have done less by then. A thread's *progress* does not depend on that: it is how many of its accesses at certain sites,
/// whoever the bytes belong to, and how many atomic operations and synchronizations are behind it.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// Stops of the thread so far, this one included.
    Stops = 0,
    /// The schedule counts stops, the recording tells the thread's progress.
    FromStopsToProgress = 1,
    /// The thread's progress. Wherever it is to lose the token there is a stop.
    Progress = 2,
}

/// The token passed from one thread to another.
///
/// A thread can lose the token at its *stops*: where it comes to a point, begins to wait, or ends.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switch {
    /// Who got it.
    pub to: u32,
    /// Who had it, zero if nobody.
    pub from: u32,
    /// The stop, by number (see [`Numbering`]), no later than which that one lost it.
    pub stop: u32,
    /// [`flag::AWAY`] and [`flag::BY_TIME`].
    pub flags: u32,
}

impl Switch {
    /// As a stop in a schedule that nobody has recorded: the thread goes on until it has to wait, ends, or lets others run.
    pub const AS_LONG_AS_IT_CAN: u32 = u32::MAX;

    /// The one that had the token was blocked where nobody saw it, or computed for long.
    pub fn is_taken_away(&self) -> bool {
        self.flags & u32::from(flag::AWAY) != 0
    }

    /// The one that got the token had waited until its time was over.
    pub fn is_by_time(&self) -> bool {
        self.flags & u32::from(flag::BY_TIME) != 0
    }
}

/// How a run begins: like an earlier one of its session, which stands in a plan as `17:120` for 120 switches of run 17. The recorder
/// finds these in the file of schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The number of that run.
    pub run: u32,
    /// So many of its switches are followed.
    pub switches: u64,
}

impl fmt::Display for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.run, self.switches)
    }
}

impl FromStr for Beginning {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Beginning, PlanError> {
        let (run, switches) = text.split_once(':').ok_or(PlanError)?;
        let (run, switches) = (run.parse().map_err(|_| PlanError)?, switches.parse().map_err(|_| PlanError)?);
        Ok(Beginning { run, switches })
    }
}

// SAFETY: repr(C), integers; the tests check that there is no padding.
unsafe impl Pod for SavedSchedule {}
// SAFETY: as above.
unsafe impl Pod for Switch {}
// SAFETY: as above.
unsafe impl Pod for Site {}

#[cfg(feature = "read")]
mod saving {
    use alloc::vec::Vec;

    use super::*;
    use crate::event::EventKind;
    use crate::interleaving::InterleavingStep;
    use crate::read::{Recording, ThreadEvent};

    impl Recording {
        /// The token's way, one event for each time that a thread got it.
        pub fn switch_events(&self) -> impl Iterator<Item = &ThreadEvent> {
            self.events.iter().filter(|event| event.kind == EventKind::Switch)
        }

        /// The token's way.
        pub fn switches(&self) -> Vec<Switch> {
            let switch = |event: &ThreadEvent| Switch {
                to: event.thread,
                from: event.event.other,
                stop: event.event.object,
                flags: event.event.flags.into(),
            };
            self.switch_events().map(switch).collect()
        }
    }

    /// Where a run that follows a schedule stops for a debugger.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Stop {
        /// The access. Its thread and variable mean nothing here.
        pub place: InterleavingStep,
        /// The thread, by its id.
        pub thread: u32,
        /// So many switches must have been followed by then.
        pub after: u64,
    }

    /// The schedule of one process, to be written.
    #[derive(Clone, Copy, Debug)]
    pub struct Course<'a> {
        /// The token's way.
        pub switches: &'a [Switch],
        /// The seed of the run that it is from.
        pub seed: u64,
        /// What the numbers of stops count.
        pub numbering: Numbering,
        /// Where accesses are progress. None if stops are counted.
        pub sites: &'a [Site],
    }

    impl<'a> Course<'a> {
        /// The way of a recorded run.
        pub fn recorded(switches: &'a [Switch], seed: u64) -> Course<'a> {
            Course { switches, seed, numbering: Numbering::Stops, sites: &[] }
        }
    }

    impl SavedSchedule {
        /// Appends the part of one process to the file's content.
        pub fn write(course: Course<'_>, followed: u64, stop: Option<Stop>, file: &mut Vec<u8>) {
            let Course { switches, seed, numbering, sites } = course;
            let place = stop.map(|stop| stop.place).unwrap_or_default();
            let words = [
                SCHEDULE_MAGIC,
                switches.len() as u64,
                followed,
                seed,
                place.address,
                stop.map_or(0, |stop| stop.after),
                stop.map_or(0, |stop| stop.thread.into()) | (numbering as u64) << 32,
            ];
            words.iter().for_each(|word| file.extend(word.to_le_bytes()));
            file.extend(place.build_id);
            file.extend((sites.len() as u64).to_le_bytes());
            for Switch { to, from, stop, flags } in switches {
                [to, from, stop, flags].iter().for_each(|number| file.extend(number.to_le_bytes()));
            }
            for Site { build_id, address } in sites {
                file.extend(build_id);
                file.extend(address.to_le_bytes());
            }
        }
    }
}

#[cfg(feature = "read")]
pub use saving::{Course, Stop};

#[cfg(all(test, feature = "read"))]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn schedules_are_written_as_they_are_read() {
        assert_eq!(size_of::<SavedSchedule>(), 6 * 8 + 2 * 4 + 32 + 8);
        assert_eq!(size_of::<Switch>(), 16);
        assert_eq!(size_of::<Site>(), 40);
        let switch = Switch { to: 2, from: 1, stop: 7, flags: flag::AWAY.into() };
        let place = crate::InterleavingStep { address: 0x1f40, build_id: [9; 32], ..Default::default() };
        let mut file = Vec::new();
        let stop = Stop { place, thread: 3, after: 5 };
        let site = Site { build_id: [7; 32], address: 0x1234 };
        let (switches, sites) = ([switch, switch], [site]);
        let recorded = Course::recorded(&switches, 17);
        let course = Course { numbering: Numbering::Progress, sites: &sites, ..recorded };
        SavedSchedule::write(course, 1, Some(stop), &mut file);
        let sites_at = size_of::<SavedSchedule>() + 2 * size_of::<Switch>();
        assert_eq!(file.len(), sites_at + size_of::<Site>());
        // SAFETY: long enough, any bit pattern is valid, and the reads are unaligned.
        let (header, first, last) = unsafe {
            let at = |offset: usize| file.as_ptr().add(offset);
            (
                at(0).cast::<SavedSchedule>().read_unaligned(),
                at(size_of::<SavedSchedule>()).cast::<Switch>().read_unaligned(),
                at(sites_at).cast::<Site>().read_unaligned(),
            )
        };
        let expected = SavedSchedule {
            magic: SCHEDULE_MAGIC,
            switches: 2,
            followed: 1,
            seed: 17,
            stop_address: 0x1f40,
            stop_after: 5,
            stop_thread: 3,
            numbering: Numbering::Progress as u32,
            stop_build_id: [9; 32],
            sites: 1,
        };
        assert_eq!(header, expected);
        assert_eq!(first, switch);
        assert_eq!(last, site);
        assert!(first.is_taken_away() && !first.is_by_time());
    }
}
