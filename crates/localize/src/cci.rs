//! CCI: sites that are executed just after another thread, or just after their own, in failing runs.
//!
//! Guoliang Jin, Aditya Thakur, Ben Liblit, Shan Lu: *Instrumentation and Sampling Strategies for Cooperative
//! Concurrency Bug Isolation* (OOPSLA 2010), its predicate CCI-Prev, as described in the Falcon paper and the
//! thesis; the score is from Liblit, Naik, Zheng, Aiken, Jordan: *Scalable Statistical Bug Isolation* (PLDI
//! 2005).
//!
//! **Finds** a site for which it matters whether the previous access to the same location was by the same
//! thread (local) or by another (remote). With `f` and `p` the failing and passing runs in which that is ever
//! so, and `f_obs` and `p_obs` those in which the site is executed after any access at all, the score is
//! *Importance*: the harmonic mean of *Increase* `f/(f+p) − f_obs/(f_obs+p_obs)` and of `log(f)/log(F)`.
//!
//! - `f = 1` of several failing runs: the logarithm is 0, and so is the score. One failing run is no evidence.
//! - `F = 1`: there is only one failing run to go by, so that what it shows counts fully: the second part is 1.
//! - An Increase of 0 or less: the score is 0.
//!
//! **Misses** which accesses belong together: each predicate is about one site.
//!
//! Deviations, with why:
//!
//! 1. All accesses are looked at, and none is sampled: runs are recorded anyway.
//! 2. The recorder leaves out accesses that repeat others of their turn, which are local ones, but tells their
//!    sites (see [`Observation`]). A read counts as local also if other threads have read in between.
//! 3. A location's first access, and its first after a gap, has no previous one.

use rustc_hash::FxHashMap;

use crate::counts::Counts;
use crate::finding::{self, Finding};
use crate::histories::Histories;
use crate::occurrences::{Occurrence, Occurrences};
use crate::options::Options;
use crate::pattern::Pattern;
use crate::run::{AccessKind, Observation, SiteId};
use crate::scan::Scan;
use crate::shape::Shape;
use crate::suspect::{Circumstance, Previous, Suspect};
use crate::suspiciousness::Spectrum;

/// The predicates that hold in `run`, and the sites that were observed.
pub(crate) fn occurrences(scan: &Scan) -> Occurrences {
    let run = scan.run;
    let sites = scan.sites();
    let mut found: FxHashMap<Suspect, Occurrence> = FxHashMap::default();
    let mut add = |site: SiteId, previous: Previous, access: Option<u32>| {
        let kind = access.map_or(AccessKind::Read, |index| run.accesses[index as usize].kind);
        let occurrence = Occurrence::new(Shape::access(kind), access.as_slice());
        // A predicate is about a site, whatever the kinds of access there.
        let pattern = Pattern::access(AccessKind::Read, site);
        found
            .entry(Suspect { pattern, circumstance: Circumstance::Previous(previous) })
            .or_insert(occurrence);
        found.entry(observed(pattern)).or_insert(occurrence);
    };
    for &Observation { site, local, remote } in &run.observations {
        // A site may have been executed, but never in a way that would have been recorded.
        let any = sites.get(&site).and_then(|seen| seen.any);
        let is_recorded = |access: fn(&Sightings) -> Option<u32>| sites.get(&site).and_then(access).is_some();
        if local && !is_recorded(|seen| seen.local) {
            add(site, Previous::Local, any);
        }
        if remote && !is_recorded(|seen| seen.remote) {
            add(site, Previous::Remote, any);
        }
    }
    for (&site, seen) in sites {
        for (previous, access) in [(Previous::Local, seen.local), (Previous::Remote, seen.remote)] {
            if access.is_some() {
                add(site, previous, access);
            }
        }
    }
    Occurrences { suspects: found.into_iter().collect(), ..Occurrences::of(run) }
}

/// The first accesses at each site.
pub(crate) fn sightings(histories: &Histories) -> FxHashMap<SiteId, Sightings> {
    let codes = histories.codes();
    // By actor: after the own thread, after another, and of all; as large as can be where there is none.
    let mut firsts: Vec<[u32; 3]> = vec![[u32::MAX; 3]; codes.actor_count()];
    for stretch in histories.stretches() {
        let mut previous: Option<u32> = None;
        for access in stretch {
            let thread = codes.thread_number(access.code);
            let [local, remote, any] = &mut firsts[access.code.actor()];
            *any = access.index.min(*any);
            if let Some(previous) = previous.replace(thread) {
                let first = if previous == thread { local } else { remote };
                *first = access.index.min(*first);
            }
        }
    }
    let mut sightings: FxHashMap<SiteId, Sightings> = FxHashMap::default();
    for (actor, firsts) in firsts.into_iter().enumerate() {
        let [local, remote, any] = firsts.map(|index| (index != u32::MAX).then_some(index));
        sightings.entry(codes.site_of(actor)).or_default().take_in(Sightings { local, remote, any });
    }
    sightings
}

/// The first accesses at a site: after its own thread, after another, and of all.
#[derive(Default)]
pub(crate) struct Sightings {
    local: Option<u32>,
    remote: Option<u32>,
    any: Option<u32>,
}

impl Sightings {
    /// The first of all.
    pub fn first(&self) -> Option<u32> {
        self.any
    }

    /// Keeps the first of these and others.
    fn take_in(&mut self, others: Self) {
        let first = |one: Option<u32>, other: Option<u32>| one.into_iter().chain(other).min();
        self.local = first(self.local, others.local);
        self.remote = first(self.remote, others.remote);
        self.any = first(self.any, others.any);
    }
}

/// The predicates by Importance.
pub(crate) fn findings(counts: &Counts, _: &Options) -> Vec<Finding> {
    let mut findings = counts.findings(|suspect, seen| {
        let observed = counts.suspects.get(&observed(suspect.pattern)).map(|all| counts.spectrum(all));
        observed.map_or(0.0, |observed| importance(seen, observed))
    });
    findings.retain(|finding| matches!(finding.detail, finding::Detail::Previous(_)));
    finding::rank_by_score(findings)
}

/// That a site was executed after any access: not suspected itself, but counted like what is.
fn observed(pattern: Pattern) -> Suspect {
    Suspect { pattern, circumstance: Circumstance::Any }
}

/// `seen` counts the runs in which the predicate holds, `observed` those in which it could have.
fn importance(seen: Spectrum, observed: Spectrum) -> f64 {
    let share = |seen: Spectrum| f64::from(seen.failed) / f64::from(seen.failed + seen.passed);
    let increase = share(seen) - share(observed);
    let sensitivity = match (seen.failed, seen.all_failed) {
        (0, _) => 0.0,
        // Also where both are 1 and the logarithms are 0.
        (f, all) if f == all => 1.0,
        (f, all) => f64::from(f).ln() / f64::from(all).ln(),
    };
    if increase <= 0.0 || sensitivity == 0.0 { 0.0 } else { 2.0 / (1.0 / increase + 1.0 / sensitivity) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_at_its_edges() {
        let check = |[f, p]: [u32; 2], [f_obs, p_obs]: [u32; 2], [all_f, all_p]: [u32; 2], expected: f64| {
            let counts = |failed, passed| Spectrum { failed, passed, all_failed: all_f, all_passed: all_p };
            let score = importance(counts(f, p), counts(f_obs, p_obs));
            assert!((score - expected).abs() < 1e-12, "{f} {p}: {score} is not {expected}");
        };
        // Increase 0.8 − 0.5 and log 4 / log 16, so that their harmonic mean is 2 · 0.3 · 0.5 / 0.8.
        check([4, 1], [16, 16], [16, 16], 0.375);
        // All failing runs: the second part is 1.
        check([16, 0], [16, 16], [16, 16], 2.0 * 0.5 / 1.5);
        check([1, 0], [1, 1], [1, 1], 2.0 * 0.5 / 1.5);
        // One of several failing runs.
        check([1, 0], [16, 16], [16, 16], 0.0);
        // No increase: as often as it is observed at all, or less.
        check([4, 4], [16, 16], [16, 16], 0.0);
        check([4, 8], [16, 16], [16, 16], 0.0);
        check([16, 0], [16, 0], [16, 0], 0.0);
        check([0, 3], [0, 3], [0, 3], 0.0);
    }
}
