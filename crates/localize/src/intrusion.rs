//! What happens while a thread is held up: what it had done just before, what others do meanwhile, and what it does when it goes on.
//!
//! A failing run that is made as short as it can be has few switches left. Where the last of them can be moved without a change of
//! the outcome, and where not, tells which steps matter ([docs](../../../docs/narrowing.md)): one thread has *looked*, another one does
//! something *decisive* before it *acts*. What these steps are as a pattern, and which runs show it, is told here.

mod row;

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::histories::Histories;
use crate::pattern::{Crossing, PatternId};
use crate::run::{Access, AccessKind, LocationId, Run, SiteId, ThreadId};
use crate::shape::{Shape, Step};
use crate::tallies::Tallies;
pub use row::Row;

/// The steps, as indices into the accesses of one run, each list ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intrusion {
    /// What the held thread did last before; nothing if all the same to the outcome.
    pub look: Vec<usize>,
    /// What else it had done shortly before.
    pub around: Vec<usize>,
    /// What others did while it was held.
    pub between: Vec<usize>,
    /// Of these, what had to be done before it went on, as far as it is known.
    pub decisive: Vec<usize>,
    /// Who has to run there besides the one that decides, if it takes others.
    pub also: Vec<ThreadId>,
    /// What it did first when it went on.
    pub act: Vec<usize>,
}

/// So much of what a thread does when it goes on is looked at: a library's function makes several accesses.
const NEXT_STEPS: usize = 8;

impl Intrusion {
    /// Whether the held thread is about to write anew what it has just written there: then it is between two rounds, and the second does not go by the
    /// first. That the other one came in time is decided by something that it did in the round.
    pub fn is_between_rounds(&self, run: &Run) -> bool {
        let site = |&index: &usize| run.accesses[index].site;
        let is_anew = |act: &usize| {
            run.accesses[*act].kind.writes() && self.look.iter().any(|look| site(look) == site(act))
        };
        !self.act.is_empty() && self.act.iter().all(is_anew)
    }

    /// What others do in between that is about the same data as what the held thread does then.
    pub fn orders(&self, run: &Run) -> Vec<(usize, usize)> {
        let of_act = |&act: &usize| {
            self.between
                .iter()
                .filter(move |&&other| conflict(run, other, act))
                .map(move |&other| (other, act))
        };
        self.act.iter().flat_map(of_act).collect()
    }

    /// Of these, those that decide, if that is known of any: what others do there besides changes nothing.
    pub fn deciding_orders(&self, run: &Run) -> Vec<(usize, usize)> {
        self.of_deciding(self.telling_orders(&Counts::of(run)))
    }

    fn of_deciding(&self, mut orders: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        if orders.iter().any(|(other, _)| self.decisive.contains(other)) {
            orders.retain(|(other, _)| self.decisive.contains(other));
        }
        orders
    }

    /// All orders but those of what both count, which comes out alike in any order: unless one leaves nothing, or nothing else decides.
    fn telling_orders(&self, counts: &Counts<'_>) -> Vec<(usize, usize)> {
        let orders = self.orders(counts.run);
        let is_told = |&(one, other): &(usize, usize)| {
            let is_mere_count = |index| counts.has(index) && !is_down_to_zero(counts.run, index);
            !is_mere_count(one) || !is_mere_count(other)
        };
        let is_decided = self.of_deciding(orders.clone()).iter().any(is_told);
        orders.into_iter().filter(|order| !is_decided || is_told(order)).collect()
    }

    /// The rows that it can be told by, the best first, each with its class: over the look, what is decisive, and the act; then what has
    /// less of these. Of several looks, the one nearest to the edge comes first.
    pub fn rows(&self, run: &Run) -> Vec<(u8, Row)> {
        let counts = Counts::of(run);
        let at_edge = self.look.iter().rev().map(|look| (0, look));
        let around = self.around.iter().map(|look| (class::AROUND, look));
        let looks: Vec<(u8, usize)> = at_edge
            .chain(around)
            .filter(|(_, look)| !self.is_overwritten(run, **look))
            .map(|(class, &look)| (class, look))
            .collect();
        let mut found: Vec<(u8, Row)> = Vec::new();
        for (other, act) in self.telling_orders(&counts) {
            let is_decisive = self.decisive.is_empty() || self.decisive.contains(&other);
            let with_look = looks.iter().flat_map(|&(class, look)| {
                let rows = self.with_look(&counts, look, other, act);
                rows.into_iter().map(move |(kind, steps, id)| (class + kind, steps, id))
            });
            let mut rows: Vec<(u8, Vec<usize>, Shape)> = with_look.collect();
            rows.extend(pair(run, other, act).map(|id| (class::PAIR, vec![other, act], id.into())));
            found.extend(rows.into_iter().map(|(class, steps, id)| {
                let is_around = steps[0] != other && !self.look.contains(&steps[0]);
                let row = Row { is_around, ..row(&counts, id, &steps, [other, act]) };
                let class = class
                    + if is_decisive { 0 } else { class::NOT_DECISIVE }
                    + if row.is_about_counts { class::COUNTS } else { 0 };
                (class, row)
            }));
        }
        // Rows of the table come first of those that tell as much.
        found.sort_by_key(|(class, row)| (*class, row.shape.row().is_none()));
        let mut rows: Vec<(u8, Row)> = Vec::new();
        for (class, row) in found {
            if rows.iter().all(|(_, known)| (known.shape, &known.calls) != (row.shape, &row.calls)) {
                rows.push((class, row));
            }
        }
        rows
    }

    /// Whether the held thread itself has written over what it found there, or had left there, before others came.
    fn is_overwritten(&self, run: &Run, look: usize) -> bool {
        let accesses = &run.accesses;
        let until = self.between.first().copied().unwrap_or(look);
        (look + 1..until).any(|index| {
            let Access { thread, location, kind, .. } = accesses[index];
            (thread, location) == (accesses[look].thread, accesses[look].location)
                && kind.writes()
                && other_half(run, look) != Some(index)
        })
    }

    /// The same seen by those who came in between and go on when the held thread has acted, the one that decides first. That one is in it where nobody
    /// changed what the held thread had looked at, which was in the way at most, as with a lock in its hands: then the other has looked by then, and
    /// acts on that when it goes on. So have those who did nothing that decides, but wait for the held one.
    pub fn from_the_other_side(&self, run: &Run) -> Vec<Intrusion> {
        let thread = |index: &usize| run.accesses[*index].thread;
        let deciding = self.decisive.first().map(thread);
        let is_changed = |look: &usize| self.between.iter().any(|&other| conflict(run, *look, other));
        let mut others: Vec<ThreadId> = Vec::new();
        others.extend(deciding.filter(|_| !self.look.iter().any(is_changed)));
        for other in self.between.iter().map(thread) {
            if deciding.is_some_and(|deciding| deciding != other) && !others.contains(&other) {
                others.push(other);
            }
        }
        others.into_iter().filter_map(|other| self.seen_by(run, other)).collect()
    }

    fn seen_by(&self, run: &Run, other: ThreadId) -> Option<Intrusion> {
        let accesses = &run.accesses;
        let acts = *self.act.first()?;
        let is_others = |index: &usize| accesses[*index].thread == other;
        let goes_on = (acts + 1..accesses.len()).filter(is_others).take(NEXT_STEPS);
        let act: Vec<usize> = goes_on.collect();
        let until = *act.first()?;
        let deciding: Vec<usize> = self.decisive.iter().copied().filter(is_others).collect();
        let own = self.between.iter().copied().filter(is_others);
        let look = if deciding.is_empty() { own.collect() } else { deciding };
        let held = accesses[acts].thread;
        let between = (look.last()? + 1..until).filter(|&index| accesses[index].thread == held).collect();
        Some(Intrusion { look, between, decisive: self.act.clone(), act, ..Intrusion::default() })
    }

    /// The rows over a look, another's step and the act, each with its class.
    fn with_look(
        &self,
        counts: &Counts<'_>,
        look: usize,
        other: usize,
        act: usize,
    ) -> Vec<(u8, Vec<usize>, Shape)> {
        let run = counts.run;
        let accesses = &run.accesses;
        // Where it was in its last round as well is not what it had looked at.
        if accesses[look].site == accesses[act].site {
            return Vec::new();
        }
        if accesses[look].location == accesses[act].location {
            let triples = kinds(run, look).into_iter().flat_map(|first| {
                kinds(run, other).into_iter().flat_map(move |middle| {
                    kinds(run, act).map(move |last| PatternId::triple(first, middle, last))
                })
            });
            let triple = triples.flatten().next();
            return triple.map(|id| (class::TRIPLE, vec![look, other, act], id.into())).into_iter().collect();
        }
        // Others may have been at it on the way to where the one that decides comes to it.
        let thread = accesses[other].thread;
        let is_same = |index: &usize| accesses[*index].thread == thread && conflict(run, look, *index);
        let first = self.between.iter().copied().find(is_same);
        let last = self.between.iter().copied().rfind(|index| *index < other && is_same(index));
        if first.is_none() {
            return self.with_third(counts, [look, other, act]).into_iter().collect();
        }
        let [first, last] = [first, last.filter(|_| first != last)];
        let firsts = first.into_iter().chain(last);
        firsts.filter_map(|first| self.crossing(counts, [look, first], [other, act])).collect()
    }

    /// The row over a look that one thread outdates before another one does what decides, and the act: who closes something, and who finds it closed and
    /// goes, before what was let in while it was open is there.
    fn with_third(
        &self,
        counts: &Counts<'_>,
        [look, other, act]: [usize; 3],
    ) -> Option<(u8, Vec<usize>, Shape)> {
        let run = counts.run;
        let changes = |&&first: &&usize| first < other && conflict(run, look, first);
        let first = *self.between.iter().rev().find(changes)?;
        // Where the one that decides sets others going, these need no switch of their own.
        let decides = [first, other].iter().any(|index| self.decisive.contains(index));
        (decides && self.look.contains(&look)).then_some(())?;
        let are_counts = |pair: [usize; 2]| pair.into_iter().all(|index| counts.has(index));
        // Two who count at one thing count what they take there, if it takes both of them and a third one.
        let is_counted = are_counts([look, first]);
        let is_needed = self.also.contains(&run.accesses[first].thread);
        (!are_counts([other, act]) && (!is_counted || is_needed)).then_some(())?;
        let begin = pairs_of_look(run, look, first).next()?;
        let end = pairs(run, other, act).next()?;
        let kinds = begin.steps().iter().chain(end.steps()).map(|step| step.kind);
        let roles = [(1, 'x'), (2, 'x'), (3, 'y'), (1, 'y')];
        let steps: Vec<Step> =
            kinds.zip(roles).map(|(kind, (thread, variable))| Step { kind, thread, variable }).collect();
        let class = if is_counted { class::COUNTED } else { class::THIRD };
        Some((class, vec![look, first, other, act], Shape::new(&steps)))
    }

    /// The row over two orders that cross, with its class.
    fn crossing(
        &self,
        counts: &Counts<'_>,
        [look, first]: [usize; 2],
        [other, act]: [usize; 2],
    ) -> Option<(u8, Vec<usize>, Shape)> {
        let run = counts.run;
        let (crossing, steps) = match first < other {
            true => (Crossing::Apart, [look, first, other, act]),
            false => (Crossing::Overlapping, [look, other, first, act]),
        };
        // What was done a little before may be anything, so that it is told by no more than what the updates are first of all.
        let is_at_edge = self.look.contains(&look);
        let readings = if is_at_edge { usize::MAX } else { 1 };
        let row = pairs_of_look(run, look, first).take(readings).find_map(|begin| {
            let mut ends = pairs(run, other, act).take(readings);
            ends.find_map(|end| PatternId::quadruple(begin, end, crossing))
        });
        let are_counts = |pair: [usize; 2]| pair.into_iter().all(|index| counts.has(index));
        if let Some(row) = row {
            let is_counted = are_counts([look, first]) && !is_down_to_zero(run, look);
            let class = if is_counted { class::COUNTED } else { class::QUADRUPLE };
            return Some((class, steps.to_vec(), row.into()));
        }
        (pair(run, look, first).is_some() && pair(run, other, act).is_some()).then_some(())?;
        // Others cross as well as those of the table, unless nobody looks.
        if !is_at_edge || are_counts([look, first]) || are_counts([other, act]) {
            return None;
        }
        let shape = steps.map(|index| Step {
            kind: kinds(run, index)[0],
            thread: if [look, act].contains(&index) { 1 } else { 2 },
            variable: if index == look || index == first { 'x' } else { 'y' },
        });
        Some((class::QUADRUPLE, steps.to_vec(), Shape::new(&shape)))
    }
}

/// How far a row is from the best: what is on one variable and all of it at the edges.
mod class {
    pub const TRIPLE: u8 = 0;
    /// Among several that others do, nothing says that this is what matters.
    pub const NOT_DECISIVE: u8 = 1;
    pub const QUADRUPLE: u8 = 2;
    /// The look is outdated by one thread, and another one does what decides.
    pub const THIRD: u8 = 5;
    /// It begins with what was done a little before the edge.
    pub const AROUND: u8 = 6;
    /// It begins with a count that nobody looks at.
    pub const COUNTED: u8 = 9;
    /// See [`super::Row::is_about_counts`].
    pub const COUNTS: u8 = 8;
    pub const PAIR: u8 = 12;
}

fn pair(run: &Run, one: usize, two: usize) -> Option<PatternId> {
    pairs(run, one, two).next()
}

/// All orders that two accesses can stand for. Of two updates the first one changes, rather, what the second one finds.
fn pairs(run: &Run, one: usize, two: usize) -> impl Iterator<Item = PatternId> {
    let seconds = kinds(run, two);
    let kinds = kinds(run, one).into_iter().flat_map(move |first| seconds.map(|second| (first, second)));
    kinds.filter_map(|(first, second)| PatternId::pair(first, second))
}

/// The same of a look and what comes next: of two updates the first one looks, rather, and the second one changes what was seen.
fn pairs_of_look(run: &Run, one: usize, two: usize) -> impl Iterator<Item = PatternId> {
    let firsts = kinds(run, one);
    let kinds = kinds(run, two).into_iter().flat_map(move |second| firsts.map(|first| (first, second)));
    kinds.filter_map(|(first, second)| PatternId::pair(first, second))
}

fn row(counts: &Counts<'_>, shape: Shape, steps: &[usize], order: [usize; 2]) -> Row {
    let is_last = |index: &usize| is_update(counts.run, *index) && is_down_to_zero(counts.run, *index);
    let is_count = |index: &usize| counts.has(*index) && !is_last(index);
    let counted = steps.iter().filter(|index| is_count(index)).count();
    // What three do is told only if the order that decides is about more than that.
    let is_by_three = shape.steps().any(|step| step.thread == 3);
    Row {
        shape,
        sites: steps.iter().map(|&index| counts.run.accesses[index].site).collect(),
        calls: steps.iter().map(|&index| called(counts.run, counts.run.accesses[index].site)).collect(),
        is_about_counts: !is_by_three && counted * 2 > steps.len() || order.iter().all(is_count),
        is_around: false,
        to_zero: steps.iter().position(is_last),
    }
}

/// The first place of the call that a site belongs to, if it is a library's.
fn called(run: &Run, site: SiteId) -> SiteId {
    run.calls.get(&site).copied().unwrap_or(site)
}

/// What an access can stand for in a row: an update reads and writes. One that leaves what it finds, as an exchange of a flag that is set already,
/// has asked for it.
fn kinds(run: &Run, index: usize) -> [AccessKind; 2] {
    let access = &run.accesses[index];
    match access.kind {
        AccessKind::Update if access.before.is_some() && access.before == access.value => {
            [AccessKind::Read, AccessKind::Read]
        }
        AccessKind::Update => [AccessKind::Write, AccessKind::Read],
        _ if other_half(run, index).is_some() => [AccessKind::Write, AccessKind::Read],
        kind => [kind, kind],
    }
}

/// The write of an update whose read this is, or the other way round: the last of a turn is on record as both.
fn other_half(run: &Run, index: usize) -> Option<usize> {
    let one = run.accesses.get(index)?;
    let (at, kind) = match one.kind {
        AccessKind::Read => (index + 1, AccessKind::Write),
        AccessKind::Write => (index.checked_sub(1)?, AccessKind::Read),
        AccessKind::Update => return None,
    };
    let other = run.accesses.get(at)?;
    let is_same = (other.thread, other.location, other.site) == (one.thread, one.location, one.site);
    (is_same && other.kind == kind).then_some(at)
}

/// What a run counts: by atomic updates, or by steps that nobody breaks into.
struct Counts<'r> {
    run: &'r Run,
    histories: Histories,
    tallies: Tallies,
    /// What goes down as well, or holds addresses: that somebody takes what is left is no statistics.
    others: FxHashSet<LocationId>,
}

impl<'r> Counts<'r> {
    fn of(run: &'r Run) -> Self {
        let histories = Histories::of(run);
        let is_other = |access: &&Access| {
            let goes_down = access.before.zip(access.value).is_some_and(|(before, value)| value < before);
            access.kind.writes() && (goes_down || is_address(access.value))
        };
        let others = run.accesses.iter().filter(is_other).map(|access| access.location).collect();
        Self { run, tallies: Tallies::of(run, &histories), histories, others }
    }

    fn has(&self, index: usize) -> bool {
        let Access { site, location, .. } = self.run.accesses[index];
        // The last of a turn is on record as the read or the write that it is as well.
        self.run.accesses.iter().any(|access| access.site == site && may_count(access))
            || self.tallies.has(&self.histories, index) && !self.others.contains(&location)
    }
}

fn is_update(run: &Run, index: usize) -> bool {
    run.accesses[index].kind == AccessKind::Update || other_half(run, index).is_some()
}

/// Whether an update leaves nothing: who is the last goes by that.
fn is_down_to_zero(run: &Run, index: usize) -> bool {
    let is_zero = |index: usize| run.accesses[index].kind.writes() && run.accesses[index].value == Some(0);
    is_zero(index) || other_half(run, index).is_some_and(is_zero)
}

/// The same of what is known not to.
fn leaves_more_than_zero(run: &Run, index: usize) -> bool {
    let is_more = |index: usize| {
        run.accesses[index].kind.writes() && run.accesses[index].value.is_some_and(|value| value != 0)
    };
    is_more(index) || other_half(run, index).is_some_and(is_more)
}

/// No program counts as far, and addresses are beyond that.
const ADDRESSES: Range<u64> = 1 << 32..1 << 63;

/// Whether an access is an update of what may be a count: of a number. What holds an address is exchanged, and what is lost there nobody adds up; of a collection that a call changes
/// no number is known.
fn may_count(access: &Access) -> bool {
    let is_number = access.before.is_some() || access.value.is_some();
    access.kind == AccessKind::Update && is_number && !is_address(access.before) && !is_address(access.value)
}

fn is_address(value: Option<u64>) -> bool {
    value.is_some_and(|value| ADDRESSES.contains(&value))
}

fn conflict(run: &Run, one: usize, other: usize) -> bool {
    let (one, other) = (&run.accesses[one], &run.accesses[other]);
    one.location == other.location && one.thread != other.thread && (one.kind.writes() || other.kind.writes())
}
