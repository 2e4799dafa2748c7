//! Figures about the recordings themselves, whatever any technique makes of them: how many different pairs of accesses
//! turn up as runs accumulate, and how large a window must be to see a pattern, against the number of threads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use localize::{AccessKind, Code, LocationId, SiteId, ThreadId};
use rayon::prelude::*;

use super::build::{self, Variant};
use super::pool::{Pool, Run};
use super::record::{self, Plan};
use crate::chart::{Axis, Box, Chart, Line, Scale, round_marks};
use crate::tool::Tool;
use crate::truth::Subject;

/// Programs whose number of threads can be chosen when they are built.
const SCALABLE: [&str; 5] = ["benign_b", "benign_c", "benign_e", "benign_i", "benign_l"];
const THREADS: [u32; 6] = [2, 4, 8, 16, 32, 64];
const RUNS_PER_NUMBER: u32 = 20;
const SECONDS_PER_NUMBER: u64 = 10;

/// No pattern is looked for in a larger window, as in the paper.
const LARGEST_WINDOW: usize = 50;

/// Curves in the figure on pairs, and the runs in each.
const CURVES: usize = 7;
const ACCUMULATED_RUNS: usize = 100;

/// Who accessed a location where, and how.
type Turn = (ThreadId, SiteId, AccessKind);

/// How many different pairs were seen after each run (as in Locon's Figure 5), for programs from those with the fewest
/// to those with the most.
pub fn accumulated_pairs(pools: &[(&str, &Pool)]) -> anyhow::Result<Chart> {
    let curves: anyhow::Result<Vec<(&str, Vec<usize>)>> =
        pools.par_iter().map(|(name, pool)| Ok((*name, accumulate(pool)?))).collect();
    let mut curves = curves?;
    curves.sort_by_key(|(name, curve)| (curve.last().copied(), *name));
    let last = curves.len().saturating_sub(1);
    let chosen: BTreeSet<usize> = (0..CURVES).map(|index| index * last / (CURVES - 1)).collect();
    let lines: Vec<Line> = chosen
        .iter()
        .rev()
        .filter_map(|&index| curves.get(index))
        .map(|(name, curve)| Line {
            name: (*name).to_owned(),
            points: (1..).zip(curve).map(|(run, &pairs)| (f64::from(run), pairs as f64)).collect(),
            connected: true,
        })
        .collect();
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(1.0, f64::max);
    Ok(Chart {
        title: "Different pairs of accesses, accumulated".to_owned(),
        x: Axis {
            label: "runs".to_owned(),
            marks: round_marks(ACCUMULATED_RUNS as f64),
            scale: Scale::Linear,
        },
        y: Axis { label: "pairs".to_owned(), marks: round_marks(most), scale: Scale::Linear },
        lines,
        boxes: Vec::new(),
    })
}

fn accumulate(pool: &Pool) -> anyhow::Result<Vec<usize>> {
    let mut code = Code::default();
    let mut seen = BTreeSet::new();
    let mut curve = Vec::new();
    for run in pool.in_order().into_iter().take(ACCUMULATED_RUNS) {
        seen.extend(pairs(&accesses(run, &mut code)?));
        curve.push(seen.len());
    }
    Ok(curve)
}

/// A run's accesses by location, in order.
fn accesses(run: &Run, code: &mut Code) -> anyhow::Result<Vec<Vec<Turn>>> {
    let file = runner::RunFile::read(&run.file)?;
    let recordings: Result<Vec<_>, _> =
        file.processes.iter().map(|process| recording::parse(&process.bytes)).collect();
    let recordings = recordings.with_context(|| format!("in {}", run.file.display()))?;
    let profile = localize::profile(localize::RunId(1), localize::Outcome::Pass, &recordings, code);
    let mut locations: BTreeMap<LocationId, Vec<Turn>> = BTreeMap::new();
    for access in &profile.run.accesses {
        locations.entry(access.location).or_default().push((access.thread, access.site, access.kind));
    }
    Ok(locations.into_values().collect())
}

/// Immediate dependencies between threads: a write and what reads or overwrites it, or a read and what overwrites it.
fn pairs(locations: &[Vec<Turn>]) -> BTreeSet<((SiteId, AccessKind), (SiteId, AccessKind))> {
    let mut pairs = BTreeSet::new();
    for accesses in locations {
        // The last write and the reads since.
        let mut before: Vec<Turn> = Vec::new();
        for &(thread, site, kind) in accesses {
            let depends = |other: &&Turn| other.0 != thread && (other.2.writes() || kind.writes());
            pairs.extend(before.iter().filter(depends).map(|other| ((other.1, other.2), (site, kind))));
            if kind.writes() {
                before.clear();
            }
            before.push((thread, site, kind));
        }
    }
    pairs
}

/// The window that a pattern needs, against the number of threads (as in Falcon's Figure 3).
pub fn window_sizes(
    subjects: &[Subject],
    tool: &Tool,
    folder: &Path,
    (seed, noise): (u64, &str),
) -> anyhow::Result<Chart> {
    let mut boxes = Vec::new();
    for threads in THREADS {
        let mut sizes = Vec::new();
        for subject in subjects.iter().filter(|subject| SCALABLE.contains(&subject.truth.name.as_str())) {
            let folder = folder.join(format!("{}-{threads}", subject.truth.name));
            let program =
                build::build(subject, tool, &folder, Variant::Threads(threads), super::USUAL_NOISE)?;
            let plan = Plan {
                failing: 0,
                passing: RUNS_PER_NUMBER,
                seconds: SECONDS_PER_NUMBER,
                seed,
                noise: noise.to_owned(),
                timeout_seconds: subject.truth.timeout_seconds,
            };
            let recording = record::record(tool, &program, &folder.join("runs"), &plan)?;
            let of_runs: anyhow::Result<Vec<Vec<usize>>> = recording
                .pool
                .passing
                .par_iter()
                .map(|run| {
                    Ok(accesses(run, &mut Code::default())?.iter().flat_map(|turns| windows(turns)).collect())
                })
                .collect();
            sizes.extend(of_runs?.into_iter().flatten());
        }
        sizes.sort_unstable();
        let at = |share: f64| sizes.get(((sizes.len().max(1) - 1) as f64 * share) as usize).copied();
        if let [Some(least), Some(lower), Some(median), Some(upper), Some(most)] =
            [0.0, 0.25, 0.5, 0.75, 1.0].map(at)
        {
            let values = [least, lower, median, upper, most].map(|size| size as f64);
            boxes.push(Box { x: f64::from(threads), values });
        }
    }
    let threads = std::iter::once(1).chain(THREADS).chain([128]).map(f64::from);
    Ok(Chart {
        title: "The window that a pattern needs".to_owned(),
        x: Axis { label: "threads".to_owned(), marks: threads.collect(), scale: Scale::Even },
        y: Axis {
            label: "slots".to_owned(),
            marks: round_marks(LARGEST_WINDOW as f64),
            scale: Scale::Linear,
        },
        lines: Vec::new(),
        boxes,
    })
}

/// For each two neighbouring turns of a thread with an unserializable access between them, the slots from the one to
/// the other. A turn is its last write, else its last read.
fn windows(accesses: &[Turn]) -> Vec<usize> {
    let mut slots: Vec<(ThreadId, bool)> = Vec::new();
    for &(thread, _, kind) in accesses {
        match slots.last_mut() {
            Some((last, wrote)) if *last == thread => *wrote |= kind.writes(),
            _ => slots.push((thread, kind.writes())),
        }
    }
    let mut newest: BTreeMap<ThreadId, usize> = BTreeMap::new();
    let mut sizes = Vec::new();
    for (index, &(thread, writes)) in slots.iter().enumerate() {
        let Some(first) = newest.insert(thread, index) else { continue };
        let between = &slots[first + 1..index];
        // A write between two reads, between two writes or between either; a read only between two writes.
        let (wrote, size) = (slots[first].1, index - first + 1);
        let unserializable = between.iter().any(|(_, write)| *write || (wrote && writes));
        if unserializable && size <= LARGEST_WINDOW {
            sizes.push(size);
        }
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `W1@3` is a write by thread 1 at site 3.
    fn history(text: &str) -> Vec<Turn> {
        let parse = |word: &str| {
            let (access, site) = word.split_once('@').unwrap_or((word, "0"));
            let (kind, thread) = access.split_at(1);
            let kind = if kind == "W" { AccessKind::Write } else { AccessKind::Read };
            (ThreadId(thread.parse().unwrap()), SiteId(site.parse().unwrap()), kind)
        };
        text.split_whitespace().map(parse).collect()
    }

    #[test]
    fn windows_are_counted_in_slots() {
        let check = |text: &str, expected: &[usize]| assert_eq!(windows(&history(text)), expected, "{text}");
        // The paper's example.
        check("R1 R3 W2 R3 R1", &[3, 5]);
        check("W1 R2 W1", &[3]);
        check("W1 R2 R1", &[]);
        check("R1 R2 W1", &[]);
        check("R1 W1 R1 W2 W2 R1", &[3]);
    }

    #[test]
    fn pairs_are_immediate() {
        let found = |text: &str| -> Vec<(u32, u32)> {
            pairs(&[history(text)]).iter().map(|(head, tail)| (head.0.0, tail.0.0)).collect()
        };
        assert_eq!(found("W1@1 R2@2 R3@3"), [(1, 2), (1, 3)]);
        // Readers in between do not hide the write before.
        assert_eq!(found("W1@1 R2@2 W3@3"), [(1, 2), (1, 3), (2, 3)]);
        assert_eq!(found("W1@1 W2@2 R3@3"), [(1, 2), (2, 3)]);
        assert_eq!(found("W1@1 R1@2 R2@3"), [(1, 3)]);
    }
}
