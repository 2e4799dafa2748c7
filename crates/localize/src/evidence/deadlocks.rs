//! Locks that threads take in opposite orders, and threads that wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::run::{Run, StackId, ThreadId};
use crate::synchronization::{Lock, ObjectId, SyncKind, SyncTarget, Wait};

/// Longer cycles are left to those who find them; the search is exhaustive.
const LONGEST: usize = 8;

/// Locks that threads take in a circle: each thread, holding one, takes the next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockCycle {
    /// One step for each thread; the lock taken in the last is the one held in the first.
    pub steps: Vec<LockStep>,
}

/// A thread that took a lock while it held another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockStep {
    /// The thread.
    pub thread: ThreadId,
    /// What it held.
    pub held: ObjectId,
    /// Where it had taken that.
    pub held_at: StackId,
    /// What it took.
    pub taken: ObjectId,
    /// Where.
    pub taken_at: StackId,
}

/// An edge of the lock graph, with the other locks that were held meanwhile.
struct Edge {
    step: LockStep,
    gates: BTreeSet<ObjectId>,
}

/// The circles in which different threads take locks of this run, each once. A lock that all its threads hold besides
/// is a gate that lets only one of them in, so that such a circle never closes; neither does one that locks taken for
/// reading alone make up, nor one with a lock that is tried and not waited for.
pub fn lock_cycles(run: &Run) -> Vec<LockCycle> {
    let edges = edges(run);
    let mut by_held: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
    for (number, edge) in edges.iter().enumerate() {
        by_held.entry(edge.step.held).or_default().push(number);
    }
    let mut found: BTreeMap<BTreeSet<(ObjectId, ObjectId)>, LockCycle> = BTreeMap::new();
    for (number, edge) in edges.iter().enumerate() {
        let mut path = vec![number];
        extend(&edges, &by_held, edge.step.held, &mut path, &mut found);
    }
    found.into_values().collect()
}

/// All pairs of a held and a taken lock.
fn edges(run: &Run) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for nesting in &run.nestings {
        let Some((taken, held)) = run.locksets[nesting.locks.0 as usize].split_last() else { continue };
        if taken.tried {
            continue;
        }
        for lock in held.iter().filter(|lock| lock.object != taken.object) {
            if lock.shared && taken.shared {
                continue;
            }
            let step = step(nesting.thread, lock, taken);
            let gates = held.iter().filter(|gate| !gate.shared).map(|gate| gate.object);
            let gates: BTreeSet<ObjectId> = gates.filter(|&gate| gate != lock.object).collect();
            if !edges.iter().any(|edge| edge.step == step && edge.gates == gates) {
                edges.push(Edge { step, gates });
            }
        }
    }
    edges
}

fn step(thread: ThreadId, held: &Lock, taken: &Lock) -> LockStep {
    LockStep {
        thread,
        held: held.object,
        held_at: held.taken_at,
        taken: taken.object,
        taken_at: taken.taken_at,
    }
}

/// Goes on from the end of a path; notes it where it closes.
fn extend(
    edges: &[Edge],
    by_held: &BTreeMap<ObjectId, Vec<usize>>,
    start: ObjectId,
    path: &mut Vec<usize>,
    found: &mut BTreeMap<BTreeSet<(ObjectId, ObjectId)>, LockCycle>,
) {
    let last = &edges[path[path.len() - 1]].step;
    if last.taken == start {
        let steps: Vec<LockStep> = path.iter().map(|&number| edges[number].step).collect();
        let key = steps.iter().map(|step| (step.held, step.taken)).collect();
        found.entry(key).or_insert(LockCycle { steps });
        return;
    }
    if path.len() == LONGEST {
        return;
    }
    for &next in by_held.get(&last.taken).map_or(&[][..], Vec::as_slice) {
        let fits = path.iter().all(|&earlier| {
            let (one, other) = (&edges[earlier], &edges[next]);
            one.step.thread != other.step.thread
                && one.step.held != other.step.held
                && one.gates.is_disjoint(&other.gates)
        });
        // Every circle is found from its smallest lock alone.
        if fits && edges[next].step.held > start {
            path.push(next);
            extend(edges, by_held, start, path, found);
            path.pop();
        }
    }
}

/// The threads that wait for each other in a circle at the end of a run: each for a lock that the next holds, or for
/// the end of the next. The circle begins with the thread of the smallest number; empty if there is none.
pub fn waiting_cycle(run: &Run) -> Vec<Wait> {
    let next = |wait: &Wait| -> Option<&Wait> {
        let blocker = match wait.target {
            SyncTarget::Thread(thread) => thread,
            SyncTarget::Object(_) if wait.kind == SyncKind::WaitBegin => return None,
            SyncTarget::Object(object) => {
                let holds = |other: &&Wait| {
                    let locks = &run.locksets[other.locks.0 as usize];
                    other.thread != wait.thread && locks.iter().any(|lock| lock.object == object)
                };
                run.waits.iter().find(holds)?.thread
            }
        };
        run.waits.iter().find(|other| other.thread == blocker)
    };
    let mut starts: Vec<&Wait> = run.waits.iter().collect();
    starts.sort_by_key(|wait| wait.thread);
    for start in starts {
        let mut circle = vec![*start];
        let mut current = start;
        while let Some(following) = next(current) {
            if following.thread == start.thread {
                return circle;
            }
            if circle.iter().any(|wait| wait.thread == following.thread) {
                break;
            }
            circle.push(*following);
            current = following;
        }
    }
    Vec::new()
}
