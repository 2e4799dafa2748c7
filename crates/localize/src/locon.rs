//! Locon: what tells one failing run from all passing ones.
//!
//! Wenwen Wang, Zhenjiang Wang, Chenggang Wu, Pen-Chung Yew, Xipeng Shen, Xiang Yuan, Jianjun Li, Xiaobing
//! Feng, Yong Guan: *Localization of Concurrency Bugs Using Shared Memory Access Pairs* (ASE 2014), sections
//! 3 and 4.
//!
//! **Finds** pairs of accesses of which one immediately depends on the other (see `dependencies.rs`), by three
//! procedures:
//!
//! - I: pairs that the failing run shows and no passing run does (order violations, and atomicity violations
//!   on one variable).
//! - II: pairs that the failing run lacks, probably because it ended too early, and that all passing runs
//!   have, or all that have another pair which the failing run has: to blame is the opposite order, which
//!   nobody has seen.
//! - III: two pairs on different variables that passing runs show, but never both, told apart at three
//!   [`Level`]s.
//!
//! Pairs whose order follows from that of others are dropped (`prediction.rs`). The procedures are tried in
//! this order until one finds something. Each failing run is judged by itself; what more of them lead to goes
//! first, and then what is complete earlier, which is the paper's order for one failing run.
//!
//! **Misses** errors that also occur in passing runs; and combinations of three pairs.
//!
//! Deviations, with why:
//!
//! 1. The recorder leaves out accesses that repeat others, but no immediate dependency.
//! 2. A passing run with a gap, or a sampled one, may have shown what it lacks, so it is not asked by procedure II; and a
//!    failing run with a gap is not put to procedure II.
//! 3. Both pairs of a couple of procedure III run between the same two threads at every level, as all of the
//!    paper's examples do; those of procedure II need not, as in its Algorithm 2.
//! 4. Whether the pairs of a couple of procedure II are on different variables is judged by the first passing
//!    run that shows them.
//! 5. A couple's three levels are nested, so that a thread's own two accesses are compared at the loop level
//!    only for whether they are in the same iteration, as the paper does in its Figure 4. Of nested loops,
//!    only the innermost is known. Where an access's place in a loop is unknown, it may be any.
//! 6. What the creation or the end of a thread keeps in order can never be the other way round: procedure II does not
//!    conclude it from a failing run that ended too early to show the pair.
//! 7. Of the couples of one failing run, the [`couples::MOST`] that are complete first are looked at.
//!
//! Of a passing run 4 bytes are kept for each different pair and two threads between which it ran, and 24 more
//! for each two iterations in which it did; of a failing run 60 bytes for each such pair.

mod absence;
mod couples;
mod evidence;
mod prediction;
mod presence;

use std::fmt;

use rustc_hash::FxHashSet;

use crate::dependencies::{self, Instance, Places};
use crate::digest::KnownDependency;
use crate::evidence::HappensBefore;
use crate::numbering::Numbering;
use crate::pattern::{Pattern, PatternId};
use crate::run::{LoopPosition, Outcome, RunId, SiteId, ThreadId};
use crate::scan::Scan;

pub(crate) use evidence::Evidence;

/// A way in which accesses can tell a failing run from passing ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Procedure {
    /// I: a pair that passing runs never show.
    OnlyInFailing,
    /// II: a pair that the failing run lacks although passing runs have it: the example is of a passing run
    /// and has the accesses the other way round.
    MissingFromFailing,
    /// III: two pairs that passing runs never show together.
    NeverTogether(Level),
}

/// What it takes for two pairs to be together in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The run shows both.
    Site,
    /// They run between two threads in opposite directions.
    Thread,
    /// A thread's own two accesses are in the same iteration of a loop besides, if they are in the failing run.
    Loop,
}

impl Procedure {
    /// In the order in which they are tried.
    pub const ALL: [Self; 5] = [
        Self::OnlyInFailing,
        Self::MissingFromFailing,
        Self::NeverTogether(Level::Site),
        Self::NeverTogether(Level::Thread),
        Self::NeverTogether(Level::Loop),
    ];
}

impl fmt::Display for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OnlyInFailing => "only in failing runs",
            Self::MissingFromFailing => "missing from failing runs",
            Self::NeverTogether(Level::Site) => "never together in passing runs",
            Self::NeverTogether(Level::Thread) => "never together in passing runs in opposite directions",
            Self::NeverTogether(Level::Loop) => "never together in passing runs in one iteration",
        })
    }
}

/// The pairs of a run.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    pub run: RunId,
    outcome: Outcome,
    is_whole: bool,
    /// Each different pair between two threads once, in the order in which they are first complete.
    lanes: Vec<Lane>,
    /// Each different place in loops, for pairs with an access whose place is known.
    iterations: Vec<Iteration>,
}

/// A pair in one direction between two threads.
#[derive(Clone, Debug)]
struct Lane {
    pattern: Pattern,
    /// Of the head and of the tail.
    threads: [ThreadId; 2],
    places: Places,
    /// The creation or the end of a thread comes between its two accesses, at least where it comes first.
    is_kept_in_order: bool,
}

/// A pair in an iteration of each thread.
#[derive(Clone, Copy, Debug)]
struct Iteration {
    /// Which of the lanes.
    lane: u32,
    /// Of the head and of the tail.
    positions: Positions,
    first: Instance,
}

type Positions = [Option<LoopPosition>; 2];

/// The pairs that a run shows.
pub(crate) fn find(scan: &Scan) -> Pairs {
    let run = scan.run;
    let mut lanes: Vec<Lane> = Vec::new();
    let mut numbers = Numbering::new();
    for (known, places) in scan.digest().dependencies().filter(|(known, _)| known.is_immediate) {
        let KnownDependency { id, sites, threads, .. } = *known;
        let (lane, is_new) = numbers.number((id, sites, threads));
        if is_new {
            let pattern = Pattern::new(id, &sites);
            lanes.push(Lane { pattern, threads, places: *places, is_kept_in_order: false });
        } else {
            let known = &mut lanes[lane as usize].places;
            known.add(places.first);
            places.other.into_iter().for_each(|other| known.add(other));
        }
    }
    let mut iterations = Vec::new();
    if scan.histories.has_loops() {
        iterations = find_iterations(scan, |known| numbers.find(known));
    }
    in_order_of_time(&mut lanes, &mut iterations);
    if !run.outcome.is_failing() {
        let ends = |lane: &Lane| lane.places.first.accesses.map(|index| index as usize);
        let order = HappensBefore::by_threads(run, lanes.iter().flat_map(ends));
        for lane in &mut lanes {
            let [head, tail] = ends(lane);
            lane.is_kept_in_order = order.orders(head, tail) == Some(true);
        }
    }
    Pairs {
        run: run.id,
        outcome: run.outcome,
        is_whole: run.gaps.is_empty() && run.sampled.is_none(),
        lanes,
        iterations,
    }
}

/// The places in loops of the pairs that a run shows.
fn find_iterations(
    scan: &Scan,
    lane_of: impl Fn((PatternId, [SiteId; 2], [ThreadId; 2])) -> Option<u32>,
) -> Vec<Iteration> {
    let mut iterations = Vec::new();
    let mut known = FxHashSet::default();
    dependencies::each_of_run(&scan.histories, |pair| {
        let ends = [pair.head, pair.tail];
        let accesses = ends.map(|end| &scan.run.accesses[end.index as usize]);
        let positions = accesses.map(|access| access.iteration);
        if !pair.is_immediate || positions == [None, None] {
            return;
        }
        let first = Instance { location: accesses[0].location, accesses: ends.map(|end| end.index) };
        let lane = lane_of((pair.id, ends.map(|end| end.site), ends.map(|end| end.thread)));
        if let Some(lane) = lane
            && known.insert((lane, positions, first.location))
        {
            iterations.push(Iteration { lane, positions, first });
        }
    });
    iterations
}

/// Sorts what was found location by location.
fn in_order_of_time(lanes: &mut Vec<Lane>, iterations: &mut [Iteration]) {
    let mut order: Vec<usize> = (0..lanes.len()).collect();
    order.sort_unstable_by_key(|&lane| lanes[lane].places.first.time());
    let mut place = vec![0; lanes.len()];
    for (new, &old) in (0u32..).zip(&order) {
        place[old] = new;
    }
    *lanes = order.iter().map(|&lane| lanes[lane].clone()).collect();
    for iteration in &mut *iterations {
        iteration.lane = place[iteration.lane as usize];
    }
    iterations.sort_by_key(|iteration| iteration.first.time());
}
