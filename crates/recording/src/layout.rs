//! The file's header, regions and fixed-size records.
//!
//! All records are plain integers in the machine's byte order (unsnarl runs on little-endian machines only).
//! Index 0 of every record region stays unused, so that 0 can mean "none".

/// First eight bytes of every recording.
pub const MAGIC: u64 = u64::from_le_bytes(*b"UNSNARL\x01");
/// Changes whenever a reader of the old format would misread the new one.
pub const VERSION: u32 = 3;
/// The header's room at the start of the file; regions start after it.
pub const HEADER_BYTES: usize = 4096;
/// Events come in chunks of this size, each owned by one thread at a time. Small, so that a hundred
/// thousand threads with a few events each do not exhaust the file.
pub const CHUNK_BYTES: usize = 8192;
/// Distinct reading sites that a [`Slot`] remembers.
pub const SLOT_SITES: usize = 3;
/// Number of [`RegionId`]s.
pub const REGION_COUNT: usize = 9;

/// Plain old data: any bit pattern is a value.
///
/// # Safety
/// The type is `repr(C)`, has no padding and consists of integers and arrays of them.
pub unsafe trait Pod: Copy {}

/// The regions of the file, in the order of [`Header::regions`].
#[repr(usize)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionId {
    /// [`ThreadRecord`]s.
    Threads = 0,
    /// [`ModuleHeader`]s, each followed by its path.
    Modules = 1,
    /// [`Context`]s.
    Contexts = 2,
    /// [`Location`]s.
    Locations = 3,
    /// [`Slot`]s.
    Slots = 4,
    /// Event chunks.
    Chunks = 5,
    /// [`crate::NameHeader`]s, each followed by its lines and texts.
    Names = 6,
    /// [`crate::Visit`]s of a controlled run.
    Visits = 7,
    /// [`crate::Decision`]s of a bounded run, in their order.
    Decisions = 8,
}

impl RegionId {
    /// All regions in file order.
    pub const ALL: [RegionId; REGION_COUNT] = [
        RegionId::Threads,
        RegionId::Modules,
        RegionId::Contexts,
        RegionId::Locations,
        RegionId::Slots,
        RegionId::Chunks,
        RegionId::Names,
        RegionId::Visits,
        RegionId::Decisions,
    ];
}

/// Where a region lies and how much of it is in use.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Room in bytes.
    pub capacity: u64,
    /// Bytes handed out so far.
    pub used: u64,
    /// Bytes known to be backed by storage, so that touching them cannot fault.
    pub backed: u64,
}

/// Why a recorder switched itself off: [`Header::fault`].
pub mod fault {
    /// All is well.
    pub const NONE: u32 = 0;
    /// No more storage for the recording.
    pub const STORAGE: u32 = 1;
    /// A region of the file is full.
    pub const REGION_FULL: u32 = 2;
    /// No memory for the recorder's own state.
    pub const MEMORY: u32 = 3;
    /// The recorder found its own state inconsistent.
    pub const INTERNAL: u32 = 4;
    /// Detail of [`INTERNAL`]: a lock that nobody gives back.
    pub const LOCK_LOST: u32 = 1;
    /// Detail of [`INTERNAL`]: the target left a signal handler that had interrupted the recorder by a jump.
    pub const JUMPED_OUT: u32 = 2;
}

/// The start of the file.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// The recorded process.
    pub pid: u32,
    /// Its parent.
    pub parent_pid: u32,
    /// [`fault`] code, zero if none.
    pub fault: u32,
    /// More about the fault: an `errno` or a [`RegionId`].
    pub fault_detail: u32,
    /// 1 once the process began an orderly exit.
    pub ended: u32,
    /// Seed of the run plan; where that follows another run, that run's.
    pub seed: u64,
    /// Nanoseconds since the Unix epoch at start.
    pub started: u64,
    /// The total order's last position given out.
    pub tick: u64,
    /// Accesses that could not be looked at (in a signal handler that interrupted the recorder).
    pub dropped: u64,
    /// Handovers left out because the budget was used up.
    pub thinned: u64,
    /// Bytes whose last access was forgotten because too many neighbours were accessed apart.
    pub forgotten: u64,
    /// See [`RegionId`].
    pub regions: [Region; REGION_COUNT],
    /// Scheduling points of a controlled run so far.
    pub points: u64,
    /// How often the plan's [`crate::Interleaving`] has come about; zero once the one to be avoided has.
    pub interleavings: u64,
    /// How often a thread lost the token, since it blocked or computed out of the recorder's sight.
    pub taken_away: u64,
    /// Accesses in a million that were looked at, all if zero.
    pub sample: u64,
    /// One more than the [`points`](Header::points) at which all threads of a controlled run waited for one another without a
    /// time-out; zero if they never did. If no point came after, they wait to this day.
    pub standstill: u64,
    /// Where one of them has a time-out nevertheless: when that is over, in nanoseconds of the system's monotonic clock. The
    /// greatest number if there is none, but a signal handler could wake one of them.
    pub standstill_until: u64,
    /// Those of its [`points`](Header::points) at which a thread that could run was held back for the plan's
    /// [`crate::Interleaving`]: how many these are says nothing about the program.
    pub held: u64,
}

impl Header {
    /// Do all threads wait for one another, for ever or until [`standstill_until`](Header::standstill_until)? Only whoever looks twice can be sure that this is no moment on
    /// the way to the next point.
    pub fn stands_still(&self) -> bool {
        self.standstill == self.points + 1
    }

    /// The points of a controlled run so far at which all threads that could run were free to.
    pub fn free_points(&self) -> u64 {
        self.points.saturating_sub(self.held)
    }
}

/// One thread of the recorded process.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadRecord {
    /// The operating system's id.
    pub os_id: u32,
    /// The creating thread, zero for the first.
    pub parent: u32,
    /// Where it was created.
    pub created_at: u32,
    /// The set of locks it holds now.
    pub locks: u32,
    /// What it waits for now: the address of a lock, condition, barrier or semaphore, or a thread id; zero if it does not wait.
    pub waits_for: u64,
    /// Where it waits.
    pub waits_at: u32,
    /// [`crate::EventKind`] number of the operation it waits in.
    pub waits_in: u32,
    /// Address of its start function.
    pub entry: u64,
    /// Tick of its newest event.
    pub last_tick: u64,
    /// Head of the list of slots that other threads gave back to it.
    pub free_slots: u32,
    /// 1 once it ended.
    pub ended: u32,
    /// Its name, padded with zeros.
    pub name: [u8; 16],
    /// Lowest and one past the highest address of its stack, zero where unknown.
    pub stack: [u64; 2],
    /// The recorder's: what its start function is called with.
    pub argument: u64,
    /// The recorder's: the thread's handle in the target.
    pub handle: u64,
    /// Zero: fills two cache lines.
    pub reserved: [u64; 3],
}

/// One loaded module; followed by `path_bytes` bytes of path, padded to eight.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleHeader {
    /// What to subtract from an address to get the file's own address.
    pub bias: u64,
    /// First address of its executable part.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// First address of the whole image.
    pub image_start: u64,
    /// One past the last.
    pub image_end: u64,
    /// Length of the path that follows.
    pub path_bytes: u32,
    /// Length of the build id, zero if it has none.
    pub build_id_bytes: u32,
    /// The build id.
    pub build_id: [u8; 32],
}

/// In [`Context::flags`], where the module's number begins.
pub const CONTEXT_MODULE_AT: u32 = 1;

/// A calling context: a function, reached by a chain of calls. Contexts form a tree whose root is index 1.
///
/// A *leaf* (32 bits, in events and cells) names an instruction within a context: `first_leaf` + the
/// instruction's distance from `function`. Contexts take up `size` leaves each, in increasing order.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// Return address into the caller.
    pub call: u64,
    /// Address by which the recorder tells functions apart: where its entry hook returns to.
    pub entry: u64,
    /// First address of the function's code.
    pub function: u64,
    /// The caller's context.
    pub parent: u32,
    /// This context's first leaf.
    pub first_leaf: u32,
    /// Bytes of code, and so the number of leaves.
    pub size: u32,
    /// The recorder's: the child entered last.
    pub recent_child: u32,
    /// The recorder's: next in its hash chain.
    pub next: u32,
    /// Bit 0: deeper recursion was folded into this context. From bit [`CONTEXT_MODULE_AT`] on: the number of its
    /// module, counted from 1, zero if that is not known.
    pub flags: u32,
}

/// In [`Location::lock`]: the rest is the number of the slot in which the location's turns are described, whoever's they are. In
/// [`Slot::location`]: this is such a slot, and the last of its [`sites`](Slot::sites) is what would be [`Location::kept`].
pub const CONTESTED: u32 = 1 << 31;

/// A range of bytes, within one aligned 8-byte word, that several threads used.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// First byte.
    pub address: u64,
    /// Number of bytes, 1 to 8.
    pub size: u32,
    /// The recorder's: nonzero while a thread changes this record, or [`CONTESTED`].
    pub lock: u32,
    /// Counts the turns that wrote.
    pub version: u32,
    /// The thread whose turn it is and that has written in it; zero when threads share it for reading.
    pub owner: u32,
    /// Head of the list of [`Slot`]s of the current version.
    pub slots: u32,
    /// The location this one was cut from: its history is this one's too. Zero if none.
    pub parent: u32,
    /// Tick at which it became shared.
    pub born: u64,
    /// Where its heap block was allocated, zero if unknown or not on the heap.
    pub allocated_at: u32,
    /// Distance of `address` from the start of the heap block.
    pub block_offset: u32,
    /// 1 once its memory was given another life, or it was cut into pieces.
    pub ended: u32,
    /// 1 once events were left out of its history.
    pub gapped: u32,
    /// Handovers beyond the budget.
    pub kept: u32,
    /// The object that it is part of, where objects have numbers ([`object_address`](crate::object_address)); zero if
    /// unknown or a matter of addresses.
    pub object: u32,
}

/// What one thread last did at one location in the location's current version.
///
/// Only that thread writes the access fields, so that a thread which loses its turn in the midst of an
/// access spoils nobody else's record.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The location.
    pub location: u32,
    /// The thread.
    pub thread: u32,
    /// Next slot of the same location, or of the thread's free list.
    pub next: u32,
    /// The location's version this belongs to.
    pub version: u32,
    /// Leaf of the last read.
    pub read: u32,
    /// Leaf of the last write.
    pub write: u32,
    /// Time of the last read: the newest tick of its thread then.
    pub read_tick: u64,
    /// Time of the last write.
    pub write_tick: u64,
    /// The set of locks held at the last read.
    pub read_locks: u32,
    /// The set of locks held at the last write.
    pub write_locks: u32,
    /// Has it read since its last recorded read? 1 if so, 2 if that was also later than its last write.
    pub reread: u16,
    /// Has it written since its last recorded write? 1 if so, 2 if that was also later than its last read.
    pub rewritten: u16,
    /// Leaves of reads already recorded in this turn, zero where empty.
    pub sites: [u32; SLOT_SITES],
}

/// The start of an event chunk.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// The thread that began it.
    pub thread: u32,
    /// Bytes used, this header included.
    pub used: u32,
    /// Zero.
    pub reserved: [u64; 3],
}

// SAFETY: repr(C) integers; `sizes_have_no_padding` below checks that none has padding.
unsafe impl Pod for Region {}
// SAFETY: as above.
unsafe impl Pod for Header {}
// SAFETY: as above.
unsafe impl Pod for ThreadRecord {}
// SAFETY: as above.
unsafe impl Pod for ModuleHeader {}
// SAFETY: as above.
unsafe impl Pod for Context {}
// SAFETY: as above.
unsafe impl Pod for Location {}
// SAFETY: as above.
unsafe impl Pod for Slot {}
// SAFETY: as above.
unsafe impl Pod for ChunkHeader {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_no_padding() {
        assert_eq!(size_of::<Header>(), 8 + 6 * 4 + 13 * 8 + REGION_COUNT * size_of::<Region>());
        assert!(size_of::<Header>() <= HEADER_BYTES);
        assert_eq!(size_of::<ThreadRecord>(), 128);
        assert_eq!(size_of::<ModuleHeader>(), 80);
        assert_eq!(size_of::<Context>(), 48);
        assert_eq!(size_of::<Location>(), 64);
        assert_eq!(size_of::<Slot>(), 64);
        assert_eq!(size_of::<ChunkHeader>(), 32);
    }
}
