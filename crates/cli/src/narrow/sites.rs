//! Where in the code of a session's test threads have accessed memory that several of them use.

use std::collections::BTreeSet;

use recording::{EventKind, Recording, Site};
use runner::{RunNumber, Schedules, Session};

/// Runs that are looked into, at most. What others do besides is rare, and does not count as progress then.
const MOST_RUNS: usize = 16;

/// The sites of shared accesses in one run and in the session's others; none of a virtual machine's, whose recorder
/// counts all that code under test does.
pub fn shared(session: &Session, (run, own): (RunNumber, &Schedules)) -> Vec<Site> {
    let mut sites = BTreeSet::new();
    let mut take = |schedules: &Schedules| {
        schedules.processes().iter().for_each(|process| add(process, &mut sites));
    };
    take(own);
    for other in
        session.runs().iter().map(|record| record.run).filter(|other| *other != run).take(MOST_RUNS - 1)
    {
        let schedules = session.load(other).ok().and_then(|file| Schedules::of(&file).ok());
        schedules.iter().for_each(&mut take);
    }
    sites.into_iter().collect()
}

fn add(recording: &Recording, sites: &mut BTreeSet<Site>) {
    // Only a virtual machine gives names to what it runs.
    if !recording.names.is_empty() {
        return;
    }
    let accesses = recording.events.iter().filter(|event| {
        use EventKind::{LastRead, LastWrite, Read, Update, Within, Write};
        matches!(event.kind, Read | Write | Update | LastRead | LastWrite | Within)
    });
    let leaves: BTreeSet<u32> = accesses.map(|event| event.event.leaf).collect();
    sites.extend(leaves.into_iter().filter_map(|leaf| {
        let (_, address) = recording.resolve_leaf(leaf)?;
        let module = &recording.modules[recording.module_of_code(address)?];
        Site::new(&module.build_id, address.wrapping_sub(module.bias))
    }));
}
