//! What happens while a thread is held up, as steps that can be found again in other runs.

use super::{called, leaves_more_than_zero, other_half};
use crate::pattern::Pattern;
use crate::run::{Access, AccessKind, LocationId, Run, SiteId, ThreadId};
use crate::shape::{Shape, Step};

/// So many things that one place looks at are tried.
const MOST_LOOKS: usize = 16;

/// Accesses as a row of the table, or as two orders that cross, at their sites, in time order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Their kinds, threads and variables.
    pub shape: Shape,
    /// The sites.
    pub sites: Vec<SiteId>,
    /// For each the call of the program's that a library is there for, by the first place of that call, or else itself: a map comes to another place of its
    /// code with each shape that it has.
    pub calls: Vec<SiteId>,
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

    /// An occurrence in a run, in time order, with the shape that it has there. Where two orders overlap or enclose each other, neither the two accesses that come first nor the two that
    /// come last have an order of their own, so that any will do.
    pub fn shown(&self, run: &Run) -> Option<(Shape, Vec<usize>)> {
        let swapped = [[0, 1, 2, 3], [1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2]];
        let rows = swapped.into_iter().filter_map(|order| self.reordered(order));
        let own = self.occurrence(run).map(|found| (self.shape, found));
        own.or_else(|| rows.skip(1).find_map(|row| Some((row.shape, row.occurrence(run)?))))
    }

    /// The same steps in another order, if those that change places are neither of one thread nor about one variable.
    fn reordered(&self, order: [usize; 4]) -> Option<Row> {
        let steps: Vec<Step> = self.shape.steps().collect();
        let all: &[Step; 4] = steps.as_slice().try_into().ok()?;
        let is_free = |nth: usize| {
            let (own, other) = (&all[nth], &all[order[nth]]);
            order[nth] == nth || own.thread != other.thread && own.variable != other.variable
        };
        (0..4).all(is_free).then_some(())?;
        let first = &all[order[0]];
        let renamed = order.map(|nth| Step {
            kind: all[nth].kind,
            thread: if all[nth].thread == first.thread { 1 } else { 2 },
            variable: if all[nth].variable == first.variable { 'x' } else { 'y' },
        });
        let has_third = all.iter().any(|step| step.thread > 2);
        (!has_third).then(|| Row {
            shape: Shape::new(&renamed),
            sites: order.map(|nth| self.sites[nth]).to_vec(),
            calls: order.map(|nth| self.calls[nth]).to_vec(),
            to_zero: self.to_zero.and_then(|zero| order.iter().position(|&nth| nth == zero)),
            ..*self
        })
    }

    /// Whether an order of two accesses is one of those that it is made of.
    pub fn has_order(&self, order: &Row) -> bool {
        let steps: Vec<(Step, SiteId)> = self.shape.steps().zip(self.sites.iter().copied()).collect();
        let is_order = |first: &(Step, SiteId), second: &(Step, SiteId)| {
            first.0.thread != second.0.thread
                && first.0.variable == second.0.variable
                && order.sites == [first.1, second.1]
        };
        let mut pairs = (1..steps.len()).flat_map(|second| (0..second).map(move |first| [first, second]));
        pairs.any(|[first, second]| is_order(&steps[first], &steps[second]))
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
        let is_place = access.site == self.sites[nth] || called(run, access.site) == self.calls[nth];
        is_place
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

    /// All steps from these two on. One place of the other thread may be at several things, too: the first that fits.
    fn from(&self, run: &Run, [look, first_other]: [usize; 2]) -> Option<Vec<usize>> {
        let accesses = &run.accesses;
        let Some(nth) = self.shape.steps().position(|step| step.variable != 'x') else {
            return self.about(run, [look, first_other], accesses[look].location);
        };
        let mut tried: Vec<LocationId> = Vec::new();
        for index in (first_other..accesses.len()).filter(|&index| self.is_at(run, index, nth)) {
            let location = accesses[index].location;
            if tried.contains(&location) {
                continue;
            }
            let found = self.about(run, [look, first_other], location);
            if found.is_some() || tried.len() == MOST_LOOKS {
                return found;
            }
            tried.push(location);
        }
        None
    }

    /// The same if this is the other variable.
    fn about(&self, run: &Run, [look, first_other]: [usize; 2], other: LocationId) -> Option<Vec<usize>> {
        let (accesses, steps) = (&run.accesses, self.shape.steps().collect::<Vec<_>>());
        let mut threads = [look, first_other].map(|index| accesses[index].thread).to_vec();
        let mut found = vec![look];
        let of = |nth: usize| usize::from(steps[nth].variable != 'x');
        let locations = [accesses[look].location, other];
        for nth in 1..steps.len() {
            let role = usize::from(steps[nth].thread) - 1;
            let fits = |&index: &usize| {
                let thread = accesses[index].thread;
                self.is_at(run, index, nth)
                    && accesses[index].location == locations[of(nth)]
                    && threads.get(role).map_or(!threads.contains(&thread), |&known| thread == known)
            };
            let index = match nth {
                1 => Some(first_other).filter(fits),
                _ => (found[nth - 1] + 1..accesses.len()).find(fits),
            }?;
            if role == threads.len() {
                threads.push(accesses[index].thread);
            }
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

fn does(access: &Access, kind: AccessKind) -> bool {
    access.kind == AccessKind::Update || access.kind == kind
}
