//! Where loops are in a module's code: a table that the runner makes of a binary and the recorder reads.
//!
//! The table is a file named by the module's build id: a [`LoopTable`], then one [`Block`] for each four bytes of
//! code. Calls are longer than that, so that no two calls' return addresses share an entry.

use crate::layout::Pod;

/// Environment variable naming the folder that holds the tables.
pub const ENV_LOOPS: &str = "UNSNARL_LOOPS";
/// First eight bytes of every table.
pub const LOOPS_MAGIC: u64 = u64::from_le_bytes(*b"UNLOOPS\x01");
/// Bytes of code per entry.
pub const BYTES_PER_BLOCK: usize = 4;

/// The start of a table.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopTable {
    /// [`LOOPS_MAGIC`].
    pub magic: u64,
    /// The first address covered, as in the module's file.
    pub start: u64,
    /// Number of entries that follow.
    pub blocks: u64,
}

// SAFETY: repr(C), three integers of the same size.
unsafe impl Pod for LoopTable {}

/// What a compiler's announcement of a basic block means: which loop the block is in.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Block(u32);

// SAFETY: one integer.
unsafe impl Pod for Block {}

impl Block {
    /// In no loop, or not announced.
    pub const OUTSIDE: Block = Block(0);
    const BEGINS: u32 = 1 << 31;
    const DEPTH_SHIFT: u32 = 24;
    /// Loops nested deeper than this are not told apart.
    pub const DEEPEST: u32 = 127;
    /// A module's loops beyond this number are not told apart.
    pub const MOST: u32 = (1 << Self::DEPTH_SHIFT) - 1;

    /// A block of the loop with this number, which is nested this deep: 1 for a loop that is in no other of its
    /// function.
    pub fn inside(number: u32, depth: u32) -> Block {
        Block(number.min(Self::MOST) | depth.min(Self::DEEPEST) << Self::DEPTH_SHIFT)
    }

    /// The same block if each iteration begins with it.
    pub fn beginning(self) -> Block {
        Block(self.0 | Self::BEGINS)
    }

    /// The same loop, where no iteration begins.
    pub fn within(self) -> Block {
        Block(self.0 & !Self::BEGINS)
    }

    /// Does each iteration begin with it?
    pub fn begins_iteration(self) -> bool {
        self.0 & Self::BEGINS != 0
    }

    /// The innermost loop around it.
    pub fn number(self) -> u32 {
        self.0 & Self::MOST
    }

    /// How many loops of its function it is in.
    pub fn depth(self) -> u32 {
        self.0 >> Self::DEPTH_SHIFT & Self::DEEPEST
    }

    /// As stored.
    pub fn to_bytes(self) -> [u8; BYTES_PER_BLOCK] {
        self.0.to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_keep_what_they_are_told() {
        let block = Block::inside(7, 3);
        assert_eq!((block.number(), block.depth(), block.begins_iteration()), (7, 3, false));
        let first = block.beginning();
        assert_eq!((first.number(), first.depth(), first.begins_iteration()), (7, 3, true));
        let extreme = Block::inside(u32::MAX, u32::MAX);
        assert_eq!((extreme.number(), extreme.depth()), (Block::MOST, Block::DEEPEST));
        assert_eq!(Block::OUTSIDE.depth(), 0);
    }
}
