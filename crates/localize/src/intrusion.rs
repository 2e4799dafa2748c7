//! What happens while a thread is held up: what it had done just before, what others do meanwhile, and what it does when it goes on.
//!
//! A failing run that is made as short as it can be has few switches left. Where the last of them can be moved without a change of
//! the outcome, and where not, tells which steps matter ([docs](../../../docs/narrowing.md)): one thread has *looked*, another one does
//! something *decisive* before it *acts*. What these steps are as a pattern, and which runs show it, is told here.

use std::ops::Range;

use crate::pattern::{Crossing, Pattern, PatternId};
use crate::run::{Access, AccessKind, LocationId, Run, SiteId, ThreadId};
use crate::shape::{Shape, Step};

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
    /// What it did first when it went on.
    pub act: Vec<usize>,
}

/// Accesses as a row of the table, or as two orders that cross, at their sites, in time order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Their kinds, threads and variables.
    pub shape: Shape,
    /// The sites.
    pub sites: Vec<SiteId>,
    /// Most of it, or the two steps whose order decides, are atomic updates: counts, which are kept right by themselves.
    pub is_about_counts: bool,
    /// It begins with what was done a little before the edge, which may have nothing to do with it.
    pub is_around: bool,
    /// The step that counts down to zero, if one does: elsewhere it is the same step only if it does not leave anything else there.
    pub to_zero: Option<usize>,
}

impl Row {
    /// What tells it across runs.
    pub fn pattern(&self) -> Pattern {
        Pattern::of_shape(self.shape, &self.sites)
    }

    /// The tightest occurrence in a run: of the steps of the first thread those nearest to the other's, none of them done again
    /// in between, and nothing that they are about written by that thread itself meanwhile.
    pub fn occurrence(&self, run: &Run) -> Option<Vec<usize>> {
        let accesses = &run.accesses;
        let first_other = self.shape.steps().position(|step| step.thread == 2)?;
        let mut best: Option<Vec<usize>> = None;
        for index in (0..accesses.len()).filter(|&index| self.is_at(run, index, first_other)) {
            let Some(found) = self.around(run, index) else { continue };
            let span = |list: &[usize]| list[list.len() - 1] - list[0];
            if best.as_ref().is_none_or(|best| span(&found) < span(best)) {
                best = Some(found);
            }
        }
        best
    }

    fn is_at(&self, run: &Run, index: usize, nth: usize) -> bool {
        let access = &run.accesses[index];
        let is_kind = |step: Step| does(access, step.kind);
        access.site == self.sites[nth]
            && self.shape.steps().nth(nth).is_some_and(is_kind)
            && !(self.to_zero == Some(nth) && leaves_more_than_zero(run, index))
    }

    /// All steps, if the other thread's first one is there: it is the second of all. The same place may look at one thing after another, as
    /// in a list: the nearest one that fits.
    fn around(&self, run: &Run, first_other: usize) -> Option<Vec<usize>> {
        let accesses = &run.accesses;
        let other = accesses[first_other].thread;
        let mut tried: Vec<(ThreadId, LocationId)> = Vec::new();
        for look in (0..first_other).rev() {
            let seen = (accesses[look].thread, accesses[look].location);
            if seen.0 == other || !self.is_at(run, look, 0) || tried.contains(&seen) {
                continue;
            }
            let found = self.from(run, [look, first_other]);
            if found.is_some() || tried.len() == MOST_LOOKS {
                return found;
            }
            tried.push(seen);
        }
        None
    }

    /// All steps from these two on.
    fn from(&self, run: &Run, [look, first_other]: [usize; 2]) -> Option<Vec<usize>> {
        let (accesses, steps) = (&run.accesses, self.shape.steps().collect::<Vec<_>>());
        let threads = [look, first_other].map(|index| accesses[index].thread);
        let mut found = vec![look];
        let mut locations = [None; 2];
        let of = |nth: usize| usize::from(steps[nth].variable != 'x');
        locations[of(0)] = Some(accesses[look].location);
        for nth in 1..steps.len() {
            let thread = threads[usize::from(steps[nth].thread == 2)];
            let fits = |&index: &usize| {
                let known = locations[of(nth)];
                self.is_at(run, index, nth)
                    && accesses[index].thread == thread
                    && known.is_none_or(|known| accesses[index].location == known)
            };
            let index = match nth {
                1 => Some(first_other).filter(fits),
                _ => (found[nth - 1] + 1..accesses.len()).find(fits),
            }?;
            locations[of(nth)] = Some(accesses[index].location);
            found.push(index);
        }
        if steps.len() > 3 && !self.is_of_one_round(run, &found) {
            return None;
        }
        // Who looks once more goes by that.
        let looks_again = (first_other + 1..found[found.len() - 1]).any(|index| {
            accesses[index].thread == threads[0]
                && accesses[index].location == accesses[look].location
                && self.is_at(run, index, 0)
        });
        let is_overwritten = (0..2).any(|variable| {
            let mut of_variable = (0..steps.len()).filter(|&nth| of(nth) == variable).map(|nth| found[nth]);
            let (Some(first), Some(last)) = (of_variable.next(), of_variable.next_back()) else {
                return false;
            };
            (first + 1..last).any(|index| {
                let access = &accesses[index];
                access.thread == threads[0]
                    && other_half(run, first) != Some(index)
                    && access.kind.writes()
                    && access.location == accesses[first].location
            })
        });
        (!looks_again && !is_overwritten).then_some(found)
    }

    /// Whether the last of four steps goes by the first: who has acted before another one came has done by then what it had looked for. And it has to find
    /// what that one has left by the step before, not what it has made of it since.
    fn is_of_one_round(&self, run: &Run, found: &[usize]) -> bool {
        let accesses = &run.accesses;
        let &[first, .., other, act] = found else { return true };
        let is_about_it = |index: usize, thread: ThreadId| {
            (accesses[index].thread, accesses[index].location) == (thread, accesses[act].location)
        };
        let has_acted = (first + 1..other)
            .any(|index| is_about_it(index, accesses[act].thread) && self.is_at(run, index, found.len() - 1));
        let is_replaced = (other + 1..act).any(|index| {
            is_about_it(index, accesses[other].thread)
                && accesses[index].kind.writes()
                && accesses[index].site != accesses[other].site
        });
        !has_acted && !is_replaced
    }
}

/// So much of what a thread does when it goes on is looked at: a library's function makes several accesses.
const NEXT_STEPS: usize = 8;
/// So many things that one place looks at are tried.
const MOST_LOOKS: usize = 16;

fn does(access: &Access, kind: AccessKind) -> bool {
    access.kind == AccessKind::Update || access.kind == kind
}

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
        let mut orders = self.orders(run);
        if orders.iter().any(|(other, _)| self.decisive.contains(other)) {
            orders.retain(|(other, _)| self.decisive.contains(other));
        }
        orders
    }

    /// The rows that it can be told by, the best first, each with its class: over the look, what is decisive, and the act; then what has
    /// less of these. Of several looks, the one nearest to the edge comes first.
    pub fn rows(&self, run: &Run) -> Vec<(u8, Row)> {
        let mut found: Vec<(u8, Row)> = Vec::new();
        for (other, act) in self.orders(run) {
            let is_decisive = self.decisive.is_empty() || self.decisive.contains(&other);
            let looks = self
                .look
                .iter()
                .rev()
                .map(|look| (0, look))
                .chain(self.around.iter().map(|look| (class::AROUND, look)));
            let with_look = looks.filter_map(|(class, &look)| {
                let (kind, steps, id) = self.with_look(run, look, other, act)?;
                Some((class + kind, steps, id))
            });
            let mut rows: Vec<(u8, Vec<usize>, Shape)> = with_look.collect();
            rows.extend(pair(run, other, act).map(|id| (class::PAIR, vec![other, act], id.into())));
            found.extend(rows.into_iter().map(|(class, steps, id)| {
                let is_around = steps[0] != other && !self.look.contains(&steps[0]);
                let row = Row { is_around, ..row(run, id, &steps, [other, act]) };
                let class = class
                    + if is_decisive { 0 } else { class::NOT_DECISIVE }
                    + if row.is_about_counts { class::COUNTS } else { 0 };
                (class, row)
            }));
        }
        found.sort_by_key(|(class, _)| *class);
        let mut rows: Vec<(u8, Row)> = Vec::new();
        for (class, row) in found {
            if rows.iter().all(|(_, known)| *known != row) {
                rows.push((class, row));
            }
        }
        rows
    }

    /// The same seen by the other thread, where the held one need not have done anything before and was in the way at most, as with a lock in its
    /// hands: the other one has looked by then, and acts on that when it goes on.
    pub fn from_the_other_side(&self, run: &Run) -> Option<Intrusion> {
        let accesses = &run.accesses;
        let (&acts, &decides) = (self.act.first()?, self.decisive.first()?);
        let [held, other] = [acts, decides].map(|index| accesses[index].thread);
        let is_others = |index: &usize| accesses[*index].thread == other;
        let goes_on = (acts + 1..accesses.len()).filter(is_others).take(NEXT_STEPS);
        let act: Vec<usize> = goes_on.collect();
        let until = *act.first()?;
        let look: Vec<usize> = self.decisive.iter().copied().filter(is_others).collect();
        let between = (look[look.len() - 1] + 1..until).filter(|&index| accesses[index].thread == held);
        let between = between.collect();
        let intrusion = Intrusion { look, around: Vec::new(), between, decisive: self.act.clone(), act };
        self.look.is_empty().then_some(intrusion)
    }

    /// The row over a look, another's step and the act, with its class.
    fn with_look(&self, run: &Run, look: usize, other: usize, act: usize) -> Option<(u8, Vec<usize>, Shape)> {
        let accesses = &run.accesses;
        // Where it was in its last round as well is not what it had looked at.
        if accesses[look].site == accesses[act].site {
            return None;
        }
        if accesses[look].location == accesses[act].location {
            let triples = kinds(run, look).into_iter().flat_map(|first| {
                kinds(run, other).into_iter().flat_map(move |middle| {
                    kinds(run, act).map(move |last| PatternId::triple(first, middle, last))
                })
            });
            return triples.flatten().next().map(|id| (class::TRIPLE, vec![look, other, act], id.into()));
        }
        let same =
            |&&first: &&usize| accesses[first].thread == accesses[other].thread && conflict(run, look, first);
        let first = *self.between.iter().find(same)?;
        let (crossing, steps) = match first < other {
            true => (Crossing::Apart, [look, first, other, act]),
            false => (Crossing::Overlapping, [look, other, first, act]),
        };
        let are_counts =
            |pair: [usize; 2]| pair.into_iter().all(|index| counts_at(run, accesses[index].site));
        // What was done a little before may be anything, so that it is told by no more than what the updates are first of all.
        let is_at_edge = self.look.contains(&look);
        let readings = if is_at_edge { usize::MAX } else { 1 };
        let row = pairs_of_look(run, look, first).take(readings).find_map(|begin| {
            let mut ends = pairs(run, other, act).take(readings);
            ends.find_map(|end| PatternId::quadruple(begin, end, crossing))
        });
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
            thread: if accesses[index].thread == accesses[look].thread { 1 } else { 2 },
            variable: if index == look || index == first { 'x' } else { 'y' },
        });
        Some((class::CROSSING, steps.to_vec(), Shape::new(&shape)))
    }
}

/// How far a row is from the best: what is on one variable and all of it at the edges.
mod class {
    pub const TRIPLE: u8 = 0;
    /// Among several that others do, nothing says that this is what matters.
    pub const NOT_DECISIVE: u8 = 1;
    pub const QUADRUPLE: u8 = 2;
    /// Two orders that cross, and no row of the table.
    pub const CROSSING: u8 = 4;
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

fn row(run: &Run, shape: Shape, steps: &[usize], order: [usize; 2]) -> Row {
    // The last of a turn is on record as the read or the write that it is as well.
    let is_last = |index: &usize| is_update(run, *index) && is_down_to_zero(run, *index);
    let is_count = |index: &usize| counts_at(run, run.accesses[*index].site) && !is_last(index);
    let counts = steps.iter().filter(|index| is_count(index)).count();
    Row {
        shape,
        sites: steps.iter().map(|&index| run.accesses[index].site).collect(),
        is_about_counts: counts * 2 > steps.len() || order.iter().all(is_count),
        is_around: false,
        to_zero: steps.iter().position(is_last),
    }
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

fn is_update(run: &Run, index: usize) -> bool {
    run.accesses[index].kind == AccessKind::Update || other_half(run, index).is_some()
}

fn counts_at(run: &Run, site: SiteId) -> bool {
    run.accesses.iter().any(|access| access.site == site && may_count(access))
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

/// Whether an access is an update of what may be a count. What holds an address is exchanged, and what is lost there nobody adds up.
fn may_count(access: &Access) -> bool {
    let is_address = |value: Option<u64>| value.is_some_and(|value| ADDRESSES.contains(&value));
    access.kind == AccessKind::Update && !is_address(access.before) && !is_address(access.value)
}

fn conflict(run: &Run, one: usize, other: usize) -> bool {
    let (one, other) = (&run.accesses[one], &run.accesses[other]);
    one.location == other.location && one.thread != other.thread && (one.kind.writes() || other.kind.writes())
}
