//! Where threads are in their loops, by the same rules as in the native recorder (`loops.rs` there): each thread has a
//! stack of the loops it is in, those of calling methods included. Whenever the innermost one is entered, left or
//! begins an iteration, the thread gets a new tick and the position that holds from there on is remembered; it
//! becomes an event when an access that was made there is recorded.

use std::collections::VecDeque;

use recording::Block;

/// Older positions of a thread are forgotten.
const POSITIONS: usize = 1024;

/// A loop that a thread is in.
#[derive(Clone, Copy, Debug)]
struct Entered {
    /// In how many methods the thread is.
    frame: usize,
    block: Block,
    entry: u32,
    iteration: u32,
}

/// A position that a thread had from `since` on: the number of the loop's execution, and its iteration.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    pub since: u64,
    pub entry: u32,
    pub iteration: u32,
    is_recorded: bool,
}

/// The loops of one thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadLoops {
    stack: Vec<Entered>,
    entries: u32,
    positions: VecDeque<Position>,
}

impl ThreadLoops {
    /// The thread is at a place of the method that is `frame` methods deep. True if the position is another now.
    pub fn visit(&mut self, frame: usize, block: Block) -> bool {
        let before = self.stack.len();
        let is_left = |top: &Entered| {
            let is_another = (top.block.number(), top.block.depth()) != (block.number(), block.depth());
            top.frame > frame || top.frame == frame && top.block.depth() >= block.depth() && is_another
        };
        while self.stack.last().is_some_and(is_left) {
            self.stack.pop();
        }
        let changed = self.stack.len() != before;
        if block.depth() == 0 {
            return changed;
        }
        if let Some(top) = self.stack.last_mut()
            && top.frame == frame
            && top.block.depth() == block.depth()
        {
            top.iteration += u32::from(block.begins_iteration());
            return changed || block.begins_iteration();
        }
        self.entries += 1;
        self.stack.push(Entered { frame, block, entry: self.entries, iteration: 0 });
        true
    }

    /// The thread has left all methods but so many. True if the position is another now.
    pub fn leave(&mut self, frame: usize) -> bool {
        let before = self.stack.len();
        self.stack.retain(|entered| entered.frame <= frame);
        self.stack.len() != before
    }

    /// The position holds from here on.
    pub fn note(&mut self, since: u64) {
        let (entry, iteration) = self.stack.last().map_or((0, 0), |top| (top.entry, top.iteration));
        if self.positions.len() == POSITIONS {
            self.positions.pop_front();
        }
        self.positions.push_back(Position { since, entry, iteration, is_recorded: false });
    }

    /// The position at this tick, if it is known and in a loop; and whether this is the first time it is asked for.
    pub fn at(&mut self, tick: u64) -> Option<(Position, bool)> {
        let later = self.positions.partition_point(|position| position.since <= tick);
        let position = self.positions.get_mut(later.checked_sub(1)?)?;
        if position.entry == 0 {
            return None;
        }
        let is_new = !std::mem::replace(&mut position.is_recorded, true);
        Some((*position, is_new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry_and_iteration(loops: &mut ThreadLoops, tick: u64) -> Option<(u32, u32)> {
        loops.at(tick).map(|(position, _)| (position.entry, position.iteration))
    }

    #[test]
    fn loops_end_where_others_begin_and_with_their_methods() {
        let (outer, inner) = (Block::inside(2, 1), Block::inside(1, 2));
        let mut loops = ThreadLoops::default();
        let mut tick = 0;
        let mut at = |loops: &mut ThreadLoops, frame: usize, block: Block| {
            tick += 1;
            if loops.visit(frame, block) {
                loops.note(tick);
            }
            entry_and_iteration(loops, tick)
        };
        assert_eq!(at(&mut loops, 1, Block::OUTSIDE), None);
        assert_eq!(at(&mut loops, 1, outer.beginning()), Some((1, 0)));
        assert_eq!(at(&mut loops, 1, inner.beginning()), Some((2, 0)));
        assert_eq!(at(&mut loops, 1, inner.beginning()), Some((2, 1)));
        assert_eq!(at(&mut loops, 2, Block::OUTSIDE), Some((2, 1)), "a method that the loop calls");
        assert_eq!(at(&mut loops, 2, outer.beginning()), Some((3, 0)));
        assert_eq!(at(&mut loops, 1, outer.beginning()), Some((1, 1)));
        assert_eq!(at(&mut loops, 1, inner.beginning()), Some((4, 0)), "another execution");
        assert_eq!(at(&mut loops, 1, Block::OUTSIDE), None);
        assert_eq!(entry_and_iteration(&mut loops, 4), Some((2, 1)), "what was, is still known");
    }

    #[test]
    fn a_position_is_new_once() {
        let mut loops = ThreadLoops::default();
        loops.visit(1, Block::inside(1, 1));
        loops.note(5);
        assert!(loops.at(4).is_none());
        assert!(loops.at(5).unwrap().1);
        assert!(!loops.at(6).unwrap().1);
        assert!(loops.leave(0));
    }
}
