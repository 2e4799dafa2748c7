//! A schedule that was recorded before, to be followed switch by switch: what is left of it. Who runs next by it is in
//! [`super::state`].

use std::fs::{self, OpenOptions};
use std::path::Path;

use recording::{Numbering, Pod, SCHEDULE_MAGIC, SavedSchedule, Site, Switch};

/// What is left to follow.
#[derive(Default)]
pub struct Replay {
    /// The next one last.
    switches: Vec<Switch>,
    /// The seed of the run that it is from.
    pub seed: u64,
    /// Whoever is to run next has been waited for in vain.
    pub has_waited: bool,
    /// What the numbers of its stops count: a [`Numbering`].
    numbering: u32,
}

impl Replay {
    /// Takes the first part of a file of schedules that no other process has taken.
    pub fn take_part(path: &Path) -> Replay {
        let content = fs::read(path).unwrap_or_default();
        let mut rest = content.as_slice();
        for number in 0.. {
            let Some(header) = take::<SavedSchedule>(&mut rest).filter(|one| one.magic == SCHEDULE_MAGIC)
            else {
                break;
            };
            let all: Option<Vec<Switch>> = (0..header.switches).map(|_| take(&mut rest)).collect();
            let Some(all) = all else { break };
            // Places in native code mean nothing here.
            (0..header.sites).map_while(|_| take::<Site>(&mut rest)).for_each(drop);
            if is_mine(path, number) {
                let followed = header.followed.min(header.switches) as usize;
                let switches = all[..followed].iter().rev().copied().collect();
                let (seed, numbering) = (header.seed, header.numbering);
                return Replay { switches, seed, has_waited: false, numbering };
            }
        }
        Replay::default()
    }

    /// Is there more to follow?
    pub fn follows(&self) -> bool {
        !self.switches.is_empty()
    }

    /// Does the recording tell progress in place of stops?
    pub fn tells_progress(&self) -> bool {
        self.numbering != Numbering::Stops as u32
    }

    /// Does the schedule count progress?
    pub fn counts_progress(&self) -> bool {
        self.numbering == Numbering::Progress as u32
    }

    /// The progress at which whoever has the token is to lose it.
    pub fn next_stop(&self) -> u32 {
        let next = self.next().filter(|_| self.counts_progress());
        next.map_or(Switch::AS_LONG_AS_IT_CAN, |switch| switch.stop)
    }

    /// The next switch.
    pub fn next(&self) -> Option<Switch> {
        self.switches.last().copied()
    }

    /// It was followed, or never can be.
    pub fn advance(&mut self) {
        self.switches.pop();
        self.has_waited = false;
    }

    #[cfg(test)]
    pub fn of(switches: &[Switch]) -> Replay {
        Replay { switches: switches.iter().rev().copied().collect(), ..Replay::default() }
    }

    #[cfg(test)]
    pub fn by_progress(switches: &[Switch]) -> Replay {
        Replay { numbering: Numbering::Progress as u32, ..Replay::of(switches) }
    }
}

/// The value that a text of bytes begins with.
fn take<T: Pod>(bytes: &mut &[u8]) -> Option<T> {
    let (first, rest) = bytes.split_at_checked(size_of::<T>())?;
    *bytes = rest;
    // SAFETY: any bytes are a valid value, as many as it has, and the read is unaligned.
    Some(unsafe { first.as_ptr().cast::<T>().read_unaligned() })
}

/// Whoever makes the file beside the schedule first has this part.
fn is_mine(path: &Path, number: u32) -> bool {
    let mut mark = path.as_os_str().to_owned();
    mark.push(format!(".{number}"));
    OpenOptions::new().write(true).create_new(true).open(mark).is_ok()
}

#[cfg(test)]
mod tests {
    use recording::Course;

    use super::*;

    fn switch(to: u32, from: u32, stop: u32) -> Switch {
        Switch { to, from, stop, flags: 0 }
    }

    #[test]
    fn each_process_takes_a_part_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("schedule");
        let mut content = Vec::new();
        let first = [switch(2, 1, 3), switch(1, 2, 1)];
        let sites = &[Site::default(); 2][..];
        SavedSchedule::write(Course { sites, ..Course::recorded(&first, 17) }, 1, None, &mut content);
        SavedSchedule::write(Course::recorded(&[switch(3, 1, 9)], 17), u64::MAX, None, &mut content);
        fs::write(&path, &content).unwrap();
        let first = Replay::take_part(&path);
        assert_eq!((first.switches.as_slice(), first.seed), (&[switch(2, 1, 3)][..], 17));
        assert_eq!(Replay::take_part(&path).switches, [switch(3, 1, 9)]);
        assert!(!Replay::take_part(&path).follows());
        fs::write(&path, &content[..content.len() - 1]).unwrap();
        assert!(!Replay::take_part(&path).follows(), "its end is missing");
    }
}
