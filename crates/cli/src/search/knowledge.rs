//! What earlier runs teach the policies: how long a run is, where its threads meet, and how often they come there.

use std::collections::{BTreeMap, BTreeSet};

use localize::{Code, LocationId, Run, SiteId, ThreadId};
use recording::{List, MOST_SITES, MOST_WEIGHTS, Recording, Site};

use super::site_of;

/// Groups of sites that are remembered at most.
const MOST_GROUPS: usize = 512;

/// What is known so far.
#[derive(Default)]
pub struct Knowledge {
    /// Scheduling points of the longest controlled run that has come to its end so far, without those at which a thread was held back.
    pub points: u64,
    /// The sites that access one shared location, each such set once.
    groups: BTreeSet<Vec<Site>>,
    /// How often the thread of each seat came to a site in the latest controlled run.
    visits: BTreeMap<Site, Vec<u32>>,
}

/// What happened at one location.
#[derive(Default)]
struct Meeting {
    sites: BTreeSet<SiteId>,
    threads: BTreeSet<ThreadId>,
    is_written: bool,
}

impl Knowledge {
    /// Takes note of one more run.
    pub fn learn(&mut self, run: &Run, recordings: &[Recording], code: &Code) {
        let mut meetings: BTreeMap<LocationId, Meeting> = BTreeMap::new();
        for access in &run.accesses {
            let meeting = meetings.entry(access.location).or_default();
            meeting.sites.insert(access.site);
            meeting.threads.insert(access.thread);
            meeting.is_written |= access.kind.writes();
        }
        for meeting in meetings.into_values().filter(|one| one.is_written && one.threads.len() > 1) {
            let sites: Vec<Site> = meeting.sites.iter().filter_map(|&site| site_of(code, site)).collect();
            if !sites.is_empty() && self.groups.len() < MOST_GROUPS {
                self.groups.insert(sites);
            }
        }
        // The process with the most points is the one that matters.
        let Some(recording) = recordings.iter().max_by_key(|recording| recording.header.points) else {
            return;
        };
        if recording.header.points > 0 {
            self.visits = visits(recording);
        }
    }

    /// Whether there are sites to choose from.
    pub fn knows_sites(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The sites where threads meet; some of them, where they are too many for one plan.
    pub fn meeting_sites(&self, seed: u64) -> List<Site, MOST_SITES> {
        let mut sites: Vec<Site> = self.groups.iter().flatten().copied().collect();
        sites.sort_unstable();
        sites.dedup();
        if sites.len() > MOST_SITES {
            let first = seed as usize % sites.len();
            sites.rotate_left(first);
        }
        List::of(sites)
    }

    /// The sites of one shared location, or of two or three that may belong together, and how often each thread comes there.
    pub fn interesting(&self, seed: u64) -> (List<Site, MOST_SITES>, List<u32, MOST_WEIGHTS>) {
        let mut sites = BTreeSet::new();
        if !self.groups.is_empty() {
            // Half of the time one, a quarter of the time two.
            let count = (seed.trailing_ones() + 1).min(3);
            for number in 0..u64::from(count) {
                let drawn = seed.rotate_right(8 + 16 * number as u32) % self.groups.len() as u64;
                sites.extend(self.groups.iter().nth(drawn as usize).into_iter().flatten().copied());
            }
        }
        let sites = List::of(sites);
        let mut weights = Vec::new();
        for visits in sites.iter().filter_map(|site| self.visits.get(site)) {
            weights.resize(weights.len().max(visits.len()), 0u32);
            weights.iter_mut().zip(visits).for_each(|(weight, visits)| *weight += visits);
        }
        (sites, List::of(weights))
    }
}

fn visits(recording: &Recording) -> BTreeMap<Site, Vec<u32>> {
    let mut visits: BTreeMap<Site, Vec<u32>> = BTreeMap::new();
    for visit in &recording.visits {
        let module = recording.module_of_code(visit.site).map(|index| &recording.modules[index]);
        let site =
            module.and_then(|module| Site::new(&module.build_id, visit.site.wrapping_sub(module.bias)));
        let seat = visit.seat as usize;
        let (Some(site), 1..=MOST_WEIGHTS) = (site, seat) else { continue };
        let counts = visits.entry(site).or_default();
        counts.resize(counts.len().max(seat), 0);
        counts[seat - 1] = counts[seat - 1].saturating_add(visit.count);
    }
    visits
}
