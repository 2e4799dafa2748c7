//! The loops among a function's blocks.
//!
//! Blocks that can all reach each other form a loop. Its *head* is where it is entered; an iteration begins there.
//! Without the jumps back to its head the blocks fall apart, and those that still can reach each other form the
//! loops within it. (So are loops with several ways in, which `goto` makes: the first of them is the head.)

use std::collections::BTreeMap;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use recording::Block;

use super::blocks::BasicBlock;

/// Adds to `table` what each announcement of a function means. `loops` counts the loops of the whole module.
pub(super) fn describe(blocks: &[BasicBlock], loops: &mut u32, table: &mut BTreeMap<u64, Block>) {
    let mut function = Function { blocks, of: vec![Block::OUTSIDE; blocks.len()], loops };
    function.nest(&(0..blocks.len()).collect::<Vec<_>>(), None, 1);
    for (block, described) in blocks.iter().zip(&function.of) {
        for (nth, &address) in block.announced.iter().enumerate() {
            // Of several announcements in a row only one begins the iteration.
            let meaning =
                if nth == 0 { *described } else { Block::inside(described.number(), described.depth()) };
            if meaning != Block::OUTSIDE {
                table.insert(address, meaning);
            }
        }
    }
}

struct Function<'a> {
    blocks: &'a [BasicBlock],
    /// What is known so far about each block.
    of: Vec<Block>,
    loops: &'a mut u32,
}

impl Function<'_> {
    /// Finds the loops among `members`, which are a loop themselves if they have a `head`.
    fn nest(&mut self, members: &[usize], head: Option<usize>, depth: u32) {
        let mut graph = DiGraph::<usize, ()>::new();
        let nodes: BTreeMap<usize, NodeIndex> =
            members.iter().map(|&block| (block, graph.add_node(block))).collect();
        for (&block, &node) in &nodes {
            let next = self.blocks[block].next.iter().filter(|&&next| Some(next) != head);
            for next in next.filter_map(|next| nodes.get(next)) {
                graph.add_edge(node, *next, ());
            }
        }
        for component in kosaraju_scc(&graph) {
            let is_loop = component.len() > 1 || graph.contains_edge(component[0], component[0]);
            let mut inner: Vec<usize> = component.into_iter().map(|node| graph[node]).collect();
            // A loop that calls nothing makes no accesses: nobody will ask for its iterations.
            if !is_loop || !inner.iter().any(|&block| self.blocks[block].has_calls) {
                continue;
            }
            inner.sort_unstable();
            self.add_loop(&inner, depth);
        }
    }

    fn add_loop(&mut self, members: &[usize], depth: u32) {
        *self.loops += 1;
        let number = *self.loops;
        for &block in members {
            self.of[block] = Block::inside(number, depth);
        }
        let head = self.head(members);
        for block in self.first_announced(head, members) {
            self.of[block] = self.of[block].beginning();
        }
        if depth < Block::DEEPEST {
            self.nest(members, Some(head), depth + 1);
        }
    }

    /// The first block that is entered from elsewhere; the first of all in code that nothing leads to.
    fn head(&self, members: &[usize]) -> usize {
        let is_member = |block: &usize| members.binary_search(block).is_ok();
        let outside = (0..self.blocks.len()).filter(|block| !is_member(block));
        let entered = outside.flat_map(|block| &self.blocks[block].next).copied().filter(is_member).min();
        match members.first() {
            // The function begins with it.
            Some(0) => 0,
            first => entered.or(first.copied()).unwrap_or(0),
        }
    }

    /// The head if it is announced, else the blocks by whose announcement an iteration is first noticed.
    fn first_announced(&self, head: usize, members: &[usize]) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = vec![head];
        let mut waiting = vec![head];
        while let Some(block) = waiting.pop() {
            if !self.blocks[block].announced.is_empty() {
                found.push(block);
                continue;
            }
            for &next in &self.blocks[block].next {
                if members.binary_search(&next).is_ok() && !seen.contains(&next) {
                    seen.push(next);
                    waiting.push(next);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks by what may follow each; block n is announced at address n, and all call something but those in
    /// `silent`.
    fn described(next: &[&[usize]], silent: &[usize]) -> String {
        let block = |(nth, next): (usize, &&[usize])| BasicBlock {
            announced: vec![nth as u64],
            has_calls: !silent.contains(&nth),
            next: next.to_vec(),
        };
        let blocks: Vec<BasicBlock> = next.iter().enumerate().map(block).collect();
        let mut table = BTreeMap::new();
        describe(&blocks, &mut 0, &mut table);
        let word = |nth: usize| match table.get(&(nth as u64)) {
            None => "-".to_owned(),
            Some(block) => {
                let begins = if block.begins_iteration() { "!" } else { "" };
                format!("{}.{}{begins}", block.number(), block.depth())
            }
        };
        (0..next.len()).map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn straight_lines_and_branches_are_no_loops() {
        assert_eq!(described(&[&[1, 2], &[3], &[3], &[]], &[]), "- - - -");
    }

    #[test]
    fn a_loop_begins_where_it_is_entered() {
        assert_eq!(described(&[&[1], &[1, 2], &[]], &[]), "- 1.1! -");
        // Entered in its middle, as compilers do to test the condition first.
        assert_eq!(described(&[&[2], &[2], &[1, 3], &[]], &[]), "- 1.1 1.1! -");
        // The function's own beginning.
        assert_eq!(described(&[&[1], &[0, 2], &[]], &[]), "1.1! 1.1 -");
    }

    #[test]
    fn loops_nest() {
        let nested: [&[usize]; 5] = [&[1], &[2], &[2, 3], &[1, 4], &[]];
        assert_eq!(described(&nested, &[]), "- 1.1! 2.2! 1.1 -");
        // Nothing is asked about the inner one.
        assert_eq!(described(&nested, &[2]), "- 1.1! 1.1 1.1 -");
        assert_eq!(described(&nested, &[1, 2, 3]), "- - - - -");
    }

    #[test]
    fn a_loop_with_two_ways_in_has_one_head() {
        assert_eq!(described(&[&[1, 2], &[2], &[1, 3], &[]], &[]), "- 1.1! 1.1 -");
    }

    #[test]
    fn a_silent_head_lets_others_announce_the_iteration() {
        let block = |announced: &[u64], next: &[usize]| BasicBlock {
            announced: announced.to_vec(),
            has_calls: true,
            next: next.to_vec(),
        };
        let blocks = [
            block(&[10], &[1]),
            block(&[], &[2, 3]),
            block(&[20, 25], &[1]),
            block(&[30], &[1, 4]),
            block(&[40], &[]),
        ];
        let mut table = BTreeMap::new();
        describe(&blocks, &mut 6, &mut table);
        let inside = Block::inside(7, 1);
        assert_eq!(table, BTreeMap::from([(20, inside.beginning()), (25, inside), (30, inside.beginning())]));
    }
}
