//! What is known about an object: who made it, whether it is one thread's own, and what was done to its parts.

use rustc_hash::FxHashMap;

use super::turns::Cell;
use crate::memory::block::{Block, Blocks, MOST_PARTS};

/// An object, class or array.
#[derive(Default)]
pub struct Object {
    /// The thread that made it and the leaf at which it did so, zero if nobody saw it.
    pub maker: u32,
    pub made_at: u32,
    /// Has a thread used it that did not make it?
    is_known_to_others: bool,
    /// While one thread alone has used it, what that did to its fields or elements.
    own: Option<Block>,
    /// Has it ever been more than one thread's?
    is_open: bool,
    /// Its fields or elements that have no place in such a block.
    pub parts: FxHashMap<u32, Cell>,
}

impl Object {
    /// Is it, or could it be, something that several threads use?
    pub fn may_be_shared(&self, thread: u32) -> bool {
        self.is_known_to_others || self.maker != thread
    }

    /// A thread uses it: from now on, it may be that of several.
    pub fn used_by(&mut self, blocks: &mut Blocks, thread: u32) {
        self.is_known_to_others |= self.maker != thread;
        if let Some(mut block) = self.own.take_if(|block| block.owner() != thread) {
            self.is_open = true;
            let owner = block.owner();
            for (part, cell) in block.cells().iter().enumerate() {
                if let Some(cell) = Cell::of_one_thread(owner, cell) {
                    self.parts.insert(part as u32, cell);
                }
            }
            blocks.give_back(block);
        }
    }

    /// The block for an access to this part by a thread that has it for itself; with room for so many parts.
    pub fn own(&mut self, blocks: &mut Blocks, thread: u32, part: u32, room: u32) -> Option<&mut Block> {
        let room = room.max(part.checked_add(1)?);
        if part >= MOST_PARTS {
            return None;
        }
        match self.own.take() {
            Some(block) if part < block.room() => self.own = Some(block),
            Some(block) => self.own = blocks.grow(block, room),
            None => {
                let is_alone = self.maker == 0 || self.maker == thread && !self.is_known_to_others;
                self.own = if is_alone && !self.is_open { blocks.take(thread, room) } else { None };
            }
        }
        self.is_open |= self.own.is_none();
        self.own.as_mut()
    }

    /// It is no more.
    pub fn end(self, blocks: &mut Blocks) {
        self.own.into_iter().for_each(|block| blocks.give_back(block));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::memory::desk::When;

    /// What a block holds becomes what a plain map of last reads and writes would hold.
    #[test]
    fn nothing_is_lost_when_a_second_thread_comes() {
        let mut blocks = Blocks::default();
        let mut object = Object { maker: 1, ..Object::default() };
        let mut plain = BTreeMap::new();
        for step in 0..2_000u32 {
            // Far apart now and then, so that the block has to grow.
            let part =
                step.wrapping_mul(step).wrapping_mul(2_654_435_761) >> if step % 7 == 0 { 23 } else { 29 };
            let (leaf, when) = (step + 1, When { tick: u64::from(step / 3), locks: step % 5 });
            let cell = &mut object.own(&mut blocks, 1, part, 0).unwrap().cells()[part as usize];
            let last = plain.entry(part).or_insert(([None, None], false));
            if step % 3 == 0 {
                cell.write(leaf, when);
                (last.0[1], last.1) = (Some((leaf, when)), false);
            } else {
                cell.read(leaf, when);
                (last.0[0], last.1) = (Some((leaf, when)), true);
            }
        }
        object.used_by(&mut blocks, 1);
        assert!(object.parts.is_empty() && !object.may_be_shared(1));
        object.used_by(&mut blocks, 2);
        assert!(object.may_be_shared(1) && object.own(&mut blocks, 1, 0, 0).is_none());
        let told: BTreeMap<_, _> = object.parts.iter().map(|(&part, cell)| (part, cell.last())).collect();
        assert_eq!(told, plain);
    }
}
