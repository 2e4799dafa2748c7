//! Blocks: for an object that one thread alone has used so far, the last read and the last write of each of its parts.

use super::desk::When;
use super::{known, reserve};

/// Parts beyond this have no place in blocks.
pub const MOST_PARTS: u32 = 1 << 20;
/// Smaller blocks are cut from pieces of this size.
const PIECE: usize = 1 << 20;
/// Room of the smallest block.
const LEAST_ROOM: u32 = 4;

#[derive(Debug)]
#[repr(C)]
struct Head {
    owner: u32,
    room: u32,
    /// Where the hook class knows it.
    known_at: u32,
    unused: u32,
}

/// What one thread did to a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct BlockCell {
    read_leaf: u32,
    write_leaf: u32,
    /// A [`When`], and in the last bit: was this after the last write?
    read_when: u64,
    write_when: u64,
}

// As the hook class has it.
const _: () = assert!(size_of::<Head>() == 16 && size_of::<BlockCell>() == 24);

impl BlockCell {
    /// Notes a read.
    pub fn read(&mut self, leaf: u32, when: When) {
        (self.read_leaf, self.read_when) = (leaf, when.to_bits() | 1);
    }

    /// Notes a write.
    pub fn write(&mut self, leaf: u32, when: When) {
        (self.write_leaf, self.write_when) = (leaf, when.to_bits());
        self.read_when &= !1;
    }

    /// The last read: its leaf, and when.
    pub fn last_read(&self) -> Option<(u32, When)> {
        (self.read_leaf != 0).then(|| (self.read_leaf, When::from_bits(self.read_when)))
    }

    /// The last write.
    pub fn last_write(&self) -> Option<(u32, When)> {
        (self.write_leaf != 0).then(|| (self.write_leaf, When::from_bits(self.write_when)))
    }

    /// Was the last read after the last write?
    pub fn read_is_later(&self) -> bool {
        self.read_when & 1 != 0
    }
}

/// A block.
#[derive(Debug)]
pub struct Block(*mut Head);

// SAFETY: the recorder's lock guards blocks, and the hook class writes to those of the running thread only.
unsafe impl Send for Block {}

impl Block {
    /// Its address.
    pub fn address(&self) -> u64 {
        self.0 as u64
    }

    fn head(&self) -> &Head {
        // SAFETY: a block's memory is never given back.
        unsafe { &*self.0 }
    }

    /// The thread that has the object for itself.
    pub fn owner(&self) -> u32 {
        self.head().owner
    }

    /// The number of its parts.
    pub fn room(&self) -> u32 {
        self.head().room
    }

    /// What was done to its parts.
    pub fn cells(&mut self) -> &mut [BlockCell] {
        // SAFETY: so many cells follow the head.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(1).cast(), self.room() as usize) }
    }
}

/// The hook class knows the block with this address at this place from now on.
pub fn set_known_at(block: u64, place: u32) {
    // SAFETY: a block's memory is never given back, and only the running thread comes here.
    unsafe { (*(block as *mut Head)).known_at = place }
}

/// All blocks that are not in use, by their size as a power of two.
#[derive(Default)]
pub struct Blocks {
    free: Vec<Vec<Block>>,
    /// What is left of the current piece.
    piece: (usize, usize),
}

// A block of so much room is of this size: the power of two that holds its head and cells.
fn size_class(room: u32) -> u32 {
    (size_of::<Head>() + room as usize * size_of::<BlockCell>()).next_power_of_two().trailing_zeros()
}

impl Blocks {
    /// An empty block with room for at least so many parts.
    pub fn take(&mut self, owner: u32, room: u32) -> Option<Block> {
        let class = size_class(room.max(LEAST_ROOM));
        let bytes = 1usize << class;
        let used = self.free.get_mut(class as usize).and_then(Vec::pop);
        let block = match used {
            Some(mut block) => {
                match bytes {
                    // SAFETY: a mapping of its own, which becomes as it was at first.
                    PIECE.. => unsafe {
                        libc::madvise(block.0.cast(), bytes, libc::MADV_DONTNEED);
                    },
                    _ => block.cells().fill(BlockCell::default()),
                }
                block
            }
            None if bytes >= PIECE => Block(reserve(bytes)?.cast()),
            None => Block(self.cut(bytes)? as *mut Head),
        };
        let room = (bytes - size_of::<Head>()) / size_of::<BlockCell>();
        // SAFETY: the block's own memory, large enough for its head.
        unsafe { block.0.write(Head { owner, room: room as u32, known_at: 0, unused: 0 }) };
        Some(block)
    }

    fn cut(&mut self, bytes: usize) -> Option<usize> {
        let (at, left) = self.piece;
        if left < bytes {
            // What is left of the last one is at most as large as a block of this size.
            self.piece = (reserve(PIECE)? as usize, PIECE);
            return self.cut(bytes);
        }
        self.piece = (at + bytes, left - bytes);
        Some(at)
    }

    /// Takes a block back. The hook class does not know it any more.
    pub fn give_back(&mut self, block: Block) {
        known::forget(block.head().known_at, block.address());
        let class = size_class(block.room()) as usize;
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        // SAFETY: as in `take`; a hook that still has its address finds that it is nobody's.
        unsafe { (*block.0).owner = 0 };
        self.free[class].push(block);
    }

    /// The same block with more room.
    pub fn grow(&mut self, mut block: Block, room: u32) -> Option<Block> {
        let mut larger = self.take(block.owner(), room.max(2 * block.room()))?;
        let cells = block.cells();
        larger.cells()[..cells.len()].copy_from_slice(cells);
        self.give_back(block);
        Some(larger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHEN: When = When { tick: 77, locks: 5 };

    #[test]
    fn a_cell_tells_what_was_last() {
        let mut cell = BlockCell::default();
        assert_eq!((cell.last_read(), cell.last_write()), (None, None));
        cell.write(3, WHEN);
        cell.read(4, When { tick: 78, locks: 0 });
        assert!(cell.read_is_later());
        cell.write(5, WHEN);
        assert!(!cell.read_is_later());
        assert_eq!(cell.last_read(), Some((4, When { tick: 78, locks: 0 })));
        assert_eq!(cell.last_write(), Some((5, WHEN)));
    }

    #[test]
    fn blocks_grow_with_what_they_hold_and_are_used_again_empty() {
        let mut blocks = Blocks::default();
        let mut block = blocks.take(2, 1).unwrap();
        block.cells()[1].write(9, WHEN);
        let small = block.address();
        let mut block = blocks.grow(block, 100).unwrap();
        assert!(block.room() >= 100 && block.owner() == 2);
        assert_eq!(block.cells()[1].last_write(), Some((9, WHEN)));
        let mut again = blocks.take(3, 1).unwrap();
        assert_eq!((again.address(), again.owner()), (small, 3));
        assert_eq!(again.cells()[1], BlockCell::default());
        let mut large = blocks.take(1, MOST_PARTS).unwrap();
        let room = large.room();
        large.cells()[room as usize - 1].read(1, WHEN);
        let address = large.address();
        blocks.give_back(large);
        let mut large = blocks.take(1, MOST_PARTS).unwrap();
        assert_eq!(large.address(), address);
        assert_eq!(large.cells()[room as usize - 1], BlockCell::default());
    }
}
