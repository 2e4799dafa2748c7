//! Where threads are in their loops, in programs whose compiler announces every basic block.
//!
//! The runner has told which blocks are in which loops (see [`recording::LoopTable`]). Each thread keeps a stack
//! of the loops it is in, those of calling functions included; whenever the innermost one is entered, left or
//! begins an iteration, the thread gets a new tick, and its *ring* remembers the position that holds from there
//! on. An access is dated by ticks, its own or its stamp's, so that its position can be looked up when it is
//! recorded, whoever records it: only then does the position become an event, and so the recording still grows
//! with communication and not with iterations.
//!
//! Deviations: a ring has room for the newest positions only, and accesses that are older have none. A stamp has
//! 16 bits, so that an access which its thread made tens of thousands of ticks ago gets a later position.

use core::ffi::CStr;
use core::fmt::Write;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use recording::{BYTES_PER_BLOCK, Block, ENV_LOOPS, Event, EventKind, LOOPS_MAGIC, LoopTable, flag};

use crate::path::{PathBuffer, Text, concat_zero};
use crate::thread::{self, Thread};
use crate::tls::{self, Frame};
use crate::{errno, log, mapping};

/// The code of a module whose loops are known.
struct Table {
    start: AtomicU64,
    end: AtomicU64,
    blocks: AtomicPtr<Block>,
}

const TABLES: usize = 32;
static LOADED: [Table; TABLES] = [const {
    Table { start: AtomicU64::new(0), end: AtomicU64::new(0), blocks: AtomicPtr::new(core::ptr::null_mut()) }
}; TABLES];
static LOADED_COUNT: AtomicU32 = AtomicU32::new(0);

/// The folder of tables; empty if loops are not asked for.
static FOLDER: PathBuffer = PathBuffer::new();

#[inline]
fn are_known() -> bool {
    LOADED_COUNT.load(Ordering::Acquire) != 0
}

/// Before modules are noted.
pub unsafe fn start() {
    let folder = libc::getenv(concat_zero!(ENV_LOOPS).as_ptr().cast());
    if !folder.is_null() {
        FOLDER.set(CStr::from_ptr(folder));
    }
}

/// A module is loaded: reads its table if there is one. Called by one thread at a time.
pub unsafe fn load(build_id: &[u8], bias: u64) {
    let count = LOADED_COUNT.load(Ordering::Relaxed) as usize;
    if FOLDER.get().is_empty() || build_id.is_empty() || count == TABLES {
        return;
    }
    let _errno = errno::keep();
    let mut path = Text::new();
    let _ = write!(path, "{}/", FOLDER.get());
    for byte in build_id {
        let _ = write!(path, "{byte:02x}");
    }
    let file = libc::open(path.as_c_string(), libc::O_RDONLY | libc::O_CLOEXEC);
    if file < 0 {
        return;
    }
    let bytes = libc::lseek(file, 0, libc::SEEK_END).max(0) as usize;
    let memory = libc::mmap(core::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_PRIVATE, file, 0);
    libc::close(file);
    if memory == libc::MAP_FAILED || bytes < size_of::<LoopTable>() {
        return;
    }
    let header = memory.cast::<LoopTable>();
    let blocks = header.add(1).cast::<Block>();
    let room = (bytes - size_of::<LoopTable>()) / size_of::<Block>();
    if (*header).magic != LOOPS_MAGIC || (*header).blocks > room as u64 {
        return;
    }
    let start = bias.wrapping_add((*header).start);
    let table = &LOADED[count];
    table.start.store(start, Ordering::Relaxed);
    table.end.store(start + (*header).blocks * BYTES_PER_BLOCK as u64, Ordering::Relaxed);
    table.blocks.store(blocks, Ordering::Relaxed);
    LOADED_COUNT.store(count as u32 + 1, Ordering::Release);
}

unsafe fn block_at(address: u64) -> Block {
    // The newest first: a module may have been loaded where another was.
    let loaded = &LOADED[..LOADED_COUNT.load(Ordering::Acquire) as usize];
    for table in loaded.iter().rev() {
        let start = table.start.load(Ordering::Relaxed);
        if (start..table.end.load(Ordering::Relaxed)).contains(&address) {
            let number = (address - start) as usize / BYTES_PER_BLOCK;
            return *table.blocks.load(Ordering::Relaxed).add(number);
        }
    }
    Block::OUTSIDE
}

/// Loops that one thread can be in at the same time; what is nested deeper counts as part of the last.
const DEEPEST: usize = 256;

/// A loop that a thread is in.
#[derive(Clone, Copy)]
struct Entered {
    /// Its function's place on the shadow call stack.
    frame: *const Frame,
    block: Block,
    entry: u32,
    iteration: u32,
}

/// The loops that a thread is in, innermost last. All zero at first.
pub struct Stack {
    loops: [Entered; DEEPEST],
    count: usize,
    /// Loops entered so far.
    entries: u32,
}

impl Stack {
    fn top(&mut self) -> Option<&mut Entered> {
        self.loops[..self.count].last_mut()
    }

    /// Notes that a block begins in the function at `frame`. True if the innermost loop's position is another now.
    fn visit(&mut self, frame: *const Frame, block: Block) -> bool {
        let is_left = |top: &Entered| {
            let is_another = top.block.number() != block.number() || top.block.depth() != block.depth();
            top.frame > frame || top.frame == frame && top.block.depth() >= block.depth() && is_another
        };
        let before = self.count;
        while self.top().is_some_and(|top| is_left(top)) {
            self.count -= 1;
        }
        let changed = self.count != before;
        if block.depth() == 0 {
            return changed;
        }
        if let Some(top) = self.top()
            && top.frame == frame
            && top.block.depth() == block.depth()
        {
            top.iteration = top.iteration.wrapping_add(block.begins_iteration() as u32);
            return changed || block.begins_iteration();
        }
        if self.count == DEEPEST {
            return changed;
        }
        self.entries += 1;
        self.loops[self.count] = Entered { frame, block, entry: self.entries, iteration: 0 };
        self.count += 1;
        true
    }

    /// In no loop it is zero and zero.
    fn position(&mut self) -> (u32, u32) {
        self.top().map_or((0, 0), |top| (top.entry, top.iteration))
    }
}

/// A block of the target's code begins; `pc` is where its announcement returns to.
pub unsafe fn at_block(pc: usize) {
    if !are_known() {
        return;
    }
    let tls = tls::current();
    if (*tls).contexts.is_null() || (*tls).busy != 0 {
        return;
    }
    // Functions without accesses and calls have no entry hook: their blocks are not the current function's.
    let distance = (pc as u32).wrapping_sub((*tls).frame.function);
    if distance >= (*tls).frame.size {
        return;
    }
    let block = block_at(pc as u64);
    if block.depth() == 0 && (*(*tls).thread).loops.count == 0 {
        return;
    }
    let Some(thread) = thread::enter() else { return };
    if thread.loops.visit((*tls).top, block) {
        let tick = log::next_tick();
        thread.set_tick(tick);
        if let Some(ring) = own_ring(thread) {
            (*ring).push(tick, thread.loops.position());
        }
    }
    thread::leave(thread);
}

/// Positions that a ring has room for.
const POSITIONS: u64 = 1024;

/// A position that a thread had from `since` on.
struct Position {
    since: AtomicU64,
    entry: AtomicU32,
    iteration: AtomicU32,
    /// 1 once there is an event for it.
    recorded: AtomicU32,
}

/// The newest positions of one thread. Only that thread adds to it; others read it.
struct Ring {
    count: AtomicU64,
    positions: [Position; POSITIONS as usize],
}

/// By thread; further threads have none. They stay when their threads end, whose accesses may yet be recorded.
const RINGS: usize = 4096;
static OF_THREADS: [AtomicPtr<Ring>; RINGS] = [const { AtomicPtr::new(core::ptr::null_mut()) }; RINGS];

unsafe fn own_ring(thread: &Thread) -> Option<*mut Ring> {
    let place = OF_THREADS.get(thread.id as usize)?;
    if place.load(Ordering::Relaxed).is_null() {
        place.store(mapping::reserve(size_of::<Ring>()).cast(), Ordering::Release);
    }
    Some(place.load(Ordering::Relaxed)).filter(|ring| !ring.is_null())
}

impl Ring {
    fn at(&self, number: u64) -> &Position {
        &self.positions[(number % POSITIONS) as usize]
    }

    fn push(&self, since: u64, (entry, iteration): (u32, u32)) {
        let number = self.count.load(Ordering::Relaxed);
        let position = self.at(number);
        // Whoever reads it in the midst of this finds no time that fits.
        position.since.store(u64::MAX, Ordering::Relaxed);
        core::sync::atomic::fence(Ordering::Release);
        position.entry.store(entry, Ordering::Relaxed);
        position.iteration.store(iteration, Ordering::Relaxed);
        position.recorded.store(0, Ordering::Relaxed);
        position.since.store(since, Ordering::Release);
        self.count.store(number + 1, Ordering::Release);
    }

    /// The number of the position that held at `tick`, if it is still here.
    fn number_at(&self, tick: u64) -> Option<u64> {
        let end = self.count.load(Ordering::Acquire);
        let start = end.saturating_sub(POSITIONS);
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at(middle).since.load(Ordering::Acquire) <= tick {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low > start).then(|| low - 1)
    }
}

/// Sees to it that the position of `actor` at `tick` is in the file, and returns the flag for the access's event:
/// none if the position is unknown or in no loop.
#[inline(always)]
pub unsafe fn flag_at(thread: &mut Thread, actor: u32, tick: u64) -> u8 {
    if are_known() { known_flag_at(thread, actor, tick) } else { 0 }
}

#[inline(never)]
unsafe fn known_flag_at(thread: &mut Thread, actor: u32, tick: u64) -> u8 {
    let Some(ring) = OF_THREADS.get(actor as usize).and_then(|ring| ring.load(Ordering::Acquire).as_ref())
    else {
        return 0;
    };
    let Some(position) = ring.number_at(tick).map(|number| ring.at(number)) else { return 0 };
    let since = position.since.load(Ordering::Acquire);
    let entry = position.entry.load(Ordering::Relaxed);
    let iteration = position.iteration.load(Ordering::Relaxed);
    core::sync::atomic::fence(Ordering::Acquire);
    // Its thread may have gone round the ring meanwhile.
    if since > tick || position.since.load(Ordering::Relaxed) != since || entry == 0 {
        return 0;
    }
    if position.recorded.swap(1, Ordering::Relaxed) == 0 {
        let event = Event {
            kind: EventKind::Iteration as u8,
            flags: 0,
            size: 0,
            reserved: 0,
            leaf: 0,
            tick: since,
            object: entry,
            other: actor,
            value: iteration as u64,
        };
        log::emit(thread, event);
    }
    flag::ITERATION
}

/// In a forked child, whose file has no events yet.
pub unsafe fn restart() {
    for place in &OF_THREADS {
        let ring = place.swap(core::ptr::null_mut(), Ordering::Relaxed);
        if !ring.is_null() {
            mapping::unmap(ring.cast(), size_of::<Ring>());
        }
    }
}
