//! What detectors of data races and lock order complain about: the places in a program's own code that one complaint
//! names, read from what ThreadSanitizer or Helgrind prints.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::truth::Place;

/// One complaint, as far as it can be compared with others and with the truth: the innermost place in the program's
/// own files of each stack that stands for an access or for the taking of a lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Complaint {
    pub places: BTreeSet<Place>,
}

impl Complaint {
    /// Is everything that it names part of the bug?
    pub fn is_at(&self, bug: &BTreeSet<&Place>) -> bool {
        !self.places.is_empty() && self.places.iter().all(|place| bug.contains(place))
    }
}

/// Begins a complaint.
const BEGINNINGS: [&str; 3] = ["WARNING: ThreadSanitizer:", "Possible data race during", ": lock order "];
/// In the line above a stack that stands for an access or for the taking of a lock. Others tell where memory was
/// allocated, where a mutex was made and where threads were started.
const HEADINGS: [&str; 6] = [
    "Read of size",
    "read of size",
    "Write of size",
    "write of size",
    "acquired here",
    "acquisition of lock",
];

/// The complaints in what a detector printed, in their order.
pub fn read(printed: &str, own_files: &[&str]) -> Vec<Complaint> {
    let mut complaints: Vec<Complaint> = Vec::new();
    let (mut heading, mut is_open, mut is_found) = ("", false, false);
    for line in printed.lines() {
        // Valgrind puts its process number in front.
        let line = line.strip_prefix("==").and_then(|rest| Some(rest.split_once("==")?.1)).unwrap_or(line);
        let text = line.trim();
        if BEGINNINGS.iter().any(|beginning| text.contains(beginning)) {
            complaints.push(Complaint { places: BTreeSet::new() });
            (heading, is_open) = (text, true);
        } else if text.starts_with("-----") || text.starts_with("SUMMARY:") {
            is_open = false;
        } else if let Some((depth, place)) = frame(text) {
            let is_access = is_open && HEADINGS.iter().any(|known| heading.contains(known));
            is_found &= depth != Depth::Innermost;
            let own = place.filter(|_| is_access && !is_found).and_then(|place| own_place(place, own_files));
            if let (Some(own), Some(complaint)) = (own, complaints.last_mut()) {
                complaint.places.insert(own);
                is_found = true;
            }
        } else if !text.is_empty() && !text.starts_with("Locks held:") {
            heading = text;
        }
    }
    complaints
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Depth {
    Innermost,
    Outer,
}

/// A line of a stack, and the file and line that it names.
fn frame(text: &str) -> Option<(Depth, Option<(&str, u32)>)> {
    let (number, rest) = text.split_once(' ')?;
    let depth = match number {
        "#0" | "at" => Depth::Innermost,
        "by" => Depth::Outer,
        _ if number.strip_prefix('#').is_some_and(|digits| digits.parse::<u32>().is_ok()) => Depth::Outer,
        _ => return None,
    };
    // `f file.c:12:3 (module+0x1)`, or `0x1234: f (file.c:12)`.
    let words = rest.split([' ', '(', ')']).rev();
    Some((depth, words.filter(|word| !word.contains("+0x")).find_map(file_and_line)))
}

/// `file.c:12` or `file.c:12:3`.
fn file_and_line(word: &str) -> Option<(&str, u32)> {
    let mut parts = word.split(':');
    let (file, line) = (parts.next()?, parts.next()?.parse().ok()?);
    Path::new(file).extension().is_some().then_some((file, line))
}

/// The place as the truth names it, if it is in a file of the program's own.
fn own_place((file, line): (&str, u32), own_files: &[&str]) -> Option<Place> {
    let name = |file: &str| Path::new(file).file_name().map(ToOwned::to_owned);
    let own = own_files.iter().find(|&&own| Path::new(file).ends_with(own) || name(own) == name(file))?;
    Some(Place::new(own, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [&str; 2] = ["queue.c", "src/claim.rs"];

    fn places(printed: &str) -> Vec<Vec<String>> {
        let told = |complaint: &Complaint| complaint.places.iter().map(Place::to_string).collect();
        read(printed, &OWN).iter().map(told).collect()
    }

    #[test]
    fn sanitizers_name_two_accesses_and_much_else() {
        let printed = "\
==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 8 at 0x7b04 by thread T2 (mutexes: write M1):
    #0 memcpy <null> (libtsan.so.2+0x6)
    #1 push /home/me/queue.c:33 (claim+0x12a4)
    #2 work /home/me/queue.c:60:5 (claim+0x13a4)

  Previous read of size 8 at 0x7b04 by thread T1:
    #0 claim::size /home/me/src/claim.rs:44:9 (claim+0x1234) (BuildId: aa)

  Location is heap block of size 8 at 0x7b04 allocated by main thread:
    #0 malloc <null> (libtsan.so.2+0x6)
    #1 main queue.c:70 (claim+0x14a4)

  Thread T2 (tid=9, running) created by main thread at:
    #0 pthread_create <null>
    #1 main queue.c:71 (claim+0x14a4)

SUMMARY: ThreadSanitizer: data race queue.c:33 in push
==================
WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=7)
  Cycle in lock order graph: M1 (0x1) => M2 (0x2) => M1

  Mutex M2 acquired here while holding mutex M1 in thread T1:
    #0 pthread_mutex_lock <null> (libtsan.so.2+0x6)
    #1 a queue.c:5 (claim+0x1)

  Mutex M1 acquired here while holding mutex M2 in thread T2:
    #0 pthread_mutex_lock <null> (libtsan.so.2+0x6)
    #1 b queue.c:9 (claim+0x1)
";
        assert_eq!(places(printed), [["queue.c:33", "claim.rs:44"], ["queue.c:5", "queue.c:9"]]);
    }

    #[test]
    fn helgrind_announces_threads_before_it_complains() {
        let printed = "\
==7== ---Thread-Announcement------------------------------------------
==7== Thread #2 was created
==7==    at 0x4A: clone (clone.S:77)
==7==    by 0x10: main (queue.c:71)
==7== ----------------------------------------------------------------
==7== Possible data race during read of size 4 at 0x10C0 by thread #3
==7== Locks held: none
==7==    at 0x109: size (queue.c:44)
==7==    by 0x10A: work (queue.c:45)
==7==
==7== This conflicts with a previous write of size 4 by thread #2
==7== Locks held: 1, at address 0x10C8
==7==    at 0x10B: pop (queue.c:33)
==7==  Address 0x10c0 is 0 bytes inside a block of size 4 alloc'd
==7==    at 0x48: malloc (vg_replace_malloc.c:381)
==7==    by 0x10: main (queue.c:70)
==7== ----------------------------------------------------------------
==7== Thread #3: lock order \"0x10 before 0x20\" violated
==7== Observed (incorrect) order is: acquisition of lock at 0x20
==7==    at 0x48: mutex_lock_WRK (hg_intercepts.c:942)
==7==    by 0x10: a (queue.c:5)
==7==  followed by a later acquisition of lock at 0x10
==7==    at 0x48: mutex_lock_WRK (hg_intercepts.c:942)
==7==    by 0x10: a (queue.c:6)
";
        assert_eq!(places(printed), [["queue.c:33", "queue.c:44"], ["queue.c:5", "queue.c:6"]]);
    }

    #[test]
    fn a_complaint_is_at_the_bug_if_all_that_it_names_is() {
        let (inside, outside) = (Place::new("queue.c", 33), Place::new("queue.c", 1));
        let bug = BTreeSet::from([&inside]);
        let is_at = |places: &[&Place]| {
            Complaint { places: places.iter().map(|&place| place.clone()).collect() }.is_at(&bug)
        };
        assert!(is_at(&[&inside]) && !is_at(&[&inside, &outside]) && !is_at(&[]));
    }
}
