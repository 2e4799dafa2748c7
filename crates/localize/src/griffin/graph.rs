//! The bug graph (Figure 12): all accesses of a cause, those of one thread that nothing separates as one node, and
//! arrows in the order of accesses between the threads.

use crate::run::{AccessKind, SiteId};

/// All accesses of a cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BugGraph {
    /// In time order.
    pub nodes: Vec<GraphNode>,
    /// From node to node, each once, ascending.
    pub edges: Vec<[usize; 2]>,
}

/// Accesses of one thread with none of the other in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// The thread: 0 for the one that begins, 1 for the other.
    pub side: usize,
    /// Where its accesses are and what they do, in time order.
    pub accesses: Vec<(SiteId, AccessKind)>,
}

/// An access of a pattern; the same in all patterns of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub side: usize,
    pub site: SiteId,
    pub kind: AccessKind,
}

/// One place in the order of all accesses. A pattern may pass one site twice, before and after the other thread.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    access: Access,
    /// How often its pattern has been at this access before.
    again: usize,
}

impl BugGraph {
    /// Puts patterns together, each in time order, the most suspicious first.
    pub(super) fn of(patterns: &[Vec<Access>]) -> Self {
        let mut order: Vec<Place> = Vec::new();
        let mut arrows: Vec<[Place; 2]> = Vec::new();
        for pattern in patterns {
            let mut places: Vec<Place> = Vec::new();
            for &access in pattern {
                let again = places.iter().filter(|place| place.access == access).count();
                places.push(Place { access, again });
            }
            insert(&mut order, &places);
            let across = places.windows(2).filter(|pair| pair[0].access.side != pair[1].access.side);
            arrows.extend(across.map(|pair| [pair[0], pair[1]]));
        }
        let mut nodes: Vec<GraphNode> = Vec::new();
        let mut node_of = Vec::new();
        for place in &order {
            let Access { side, site, kind } = place.access;
            match nodes.last_mut() {
                Some(last) if last.side == side => last.accesses.push((site, kind)),
                _ => nodes.push(GraphNode { side, accesses: vec![(site, kind)] }),
            }
            node_of.push(nodes.len() - 1);
        }
        let node = |place: &Place| order.iter().position(|known| known == place).map(|at| node_of[at]);
        let mut edges: Vec<[usize; 2]> = arrows
            .iter()
            .filter_map(|[from, to]| Some([node(from)?, node(to)?]))
            .filter(|[from, to]| from < to)
            .collect();
        edges.sort_unstable();
        edges.dedup();
        Self { nodes, edges }
    }
}

/// Adds a pattern's places to the order. What is there already stays where it is; what is new comes right after what
/// precedes it in the pattern, or, at the pattern's beginning, right before what follows it.
fn insert(order: &mut Vec<Place>, places: &[Place]) {
    for (nth, place) in places.iter().enumerate() {
        if order.contains(place) {
            continue;
        }
        let find = |wanted: &Place| order.iter().position(|known| known == wanted);
        let after = places[..nth].iter().rev().find_map(find).map(|at| at + 1);
        let before = places[nth + 1..].iter().find_map(find);
        let at = match (after, before) {
            // Behind accesses of its own thread, so that these stay one node.
            (Some(after), before) => {
                let end = before.filter(|&before| before >= after).unwrap_or(order.len());
                let same =
                    order[after..end].iter().take_while(|known| known.access.side == place.access.side);
                after + same.count()
            }
            (None, Some(before)) => before,
            (None, None) => order.len(),
        };
        order.insert(at, *place);
    }
}
