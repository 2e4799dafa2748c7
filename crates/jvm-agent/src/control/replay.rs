//! A schedule that was recorded before, followed switch by switch, as in the native recorder (`control/replay.rs`
//! there). Stops are counted per thread; where the thread whose turn it is cannot run, the one that ran goes on, or
//! any other. Behind the last switch to be followed the policy decides.

use std::fs::{self, OpenOptions};
use std::path::Path;

use recording::{Pod, SCHEDULE_MAGIC, SavedSchedule, Switch};

use super::policy::Candidate;

/// What is left to follow.
#[derive(Default)]
pub struct Replay {
    /// The next one last.
    switches: Vec<Switch>,
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
            if is_mine(path, number) {
                let followed = header.followed.min(header.switches) as usize;
                return Replay { switches: all[..followed].iter().rev().copied().collect() };
            }
        }
        Replay::default()
    }

    /// Is there more to follow?
    pub fn follows(&self) -> bool {
        !self.switches.is_empty()
    }

    /// Who runs next, as an index of the candidates, of which there is at least one. `last` ran so far, and has come to
    /// so many stops.
    pub fn choose(&mut self, candidates: &[Candidate], (last, stops): (u32, u32)) -> usize {
        let place = |thread: u32| candidates.iter().position(|candidate| candidate.thread == thread);
        let Some(&Switch { to, from, stop, .. }) = self.switches.last() else { return 0 };
        let is_due = from == last && stops >= stop;
        match (place(last), place(to)) {
            (Some(own), _) if !is_due => own,
            // It lost the token here, or it waits where it did not then.
            (_, Some(next)) => {
                self.switches.pop();
                next
            }
            (own, None) => own.unwrap_or(0),
        }
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
    use super::super::Operation;
    use super::*;

    fn switch(to: u32, from: u32, stop: u32) -> Switch {
        Switch { to, from, stop, flags: 0 }
    }

    fn candidates(threads: &[u32]) -> Vec<Candidate> {
        threads.iter().map(|&thread| Candidate { thread, operation: Operation::NONE }).collect()
    }

    #[test]
    fn each_process_takes_a_part_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("schedule");
        let mut content = Vec::new();
        SavedSchedule::write(&[switch(2, 1, 3), switch(1, 2, 1)], 1, None, &mut content);
        SavedSchedule::write(&[switch(3, 1, 9)], u64::MAX, None, &mut content);
        fs::write(&path, &content).unwrap();
        assert_eq!(Replay::take_part(&path).switches, [switch(2, 1, 3)]);
        assert_eq!(Replay::take_part(&path).switches, [switch(3, 1, 9)]);
        assert!(!Replay::take_part(&path).follows());
        fs::write(&path, &content[..content.len() - 1]).unwrap();
        assert!(!Replay::take_part(&path).follows(), "its end is missing");
    }

    #[test]
    fn the_token_passes_where_it_did() {
        let mut replay = Replay { switches: vec![switch(1, 3, 1), switch(3, 1, 2)] };
        let three = candidates(&[1, 2, 3]);
        assert_eq!(replay.choose(&three, (1, 1)), 0);
        assert_eq!(replay.choose(&three, (1, 2)), 2);
        assert_eq!(replay.choose(&candidates(&[2, 3]), (3, 1)), 1, "who is to run cannot");
        assert_eq!(replay.choose(&candidates(&[1, 2]), (3, 0)), 0, "who ran waits earlier than it did");
        assert!(!replay.follows());
    }
}
