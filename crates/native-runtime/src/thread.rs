//! The recorder's state per thread, in memory of its own.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};

use recording::{EventKind, RegionId, Slot, ThreadRecord};

use crate::askers::{KNOWN_ASKERS, KnownAsker};
use crate::bridges::{KNOWN_BRIDGES, KnownBridge};
use crate::intercept::Patience;
use crate::new_slots::NewSlots;
use crate::own::Who;
use crate::tls::{self, Frame, Tls};
use crate::{
    atomic_locks, blocks, context, control, errno, groups, jumps, kept, kernel, known_reads, location,
    lock_code, log, loops, mapping, noise, passages, planned, sampling, sandbox, slots, split, stack, sync,
    trails,
};

/// Depth of the shadow call stack; deeper calls are counted but not told apart.
pub const FRAMES: usize = 1 << 18;
/// Entries of the direct-mapped cache from location to slot.
pub const CACHED_SLOTS: usize = 2048;

/// Where a thread's slot for a location is, while the location has this version.
#[derive(Clone, Copy)]
pub struct CachedSlot {
    pub location: u32,
    pub version: u32,
    pub slot: *mut Slot,
}

/// Entries of the direct-mapped cache of calls.
pub const KNOWN_CALLS: usize = 512;

/// The context that a call from another context led to.
#[derive(Clone, Copy)]
pub struct KnownCall {
    pub parent: u32,
    pub context: u32,
}

/// Entries of the direct-mapped cache of distant leaves.
pub const DISTANT_LEAVES: usize = 64;

/// The leaf of an instruction in a context that is not its function's.
#[derive(Clone, Copy)]
pub struct DistantLeaf {
    pub address: usize,
    pub context: u32,
    /// [`crate::modules::generation`] then.
    pub generation: u32,
    pub leaf: u32,
}

/// All zero at first. `frames` comes first: its address is the bottom of the shadow call stack.
#[repr(C)]
pub struct Thread {
    pub frames: [Frame; FRAMES],
    /// Calls beyond the room in `frames`.
    pub too_deep: u64,
    pub tls: *mut Tls,
    pub record: *mut ThreadRecord,
    pub id: u32,
    /// Where [`control`] keeps what it knows of this thread, zero if it is not controlled.
    pub seat: u32,
    /// How far it has come in a controlled run, see `control::progress`.
    pub progress: u32,
    pub chunk_left: u32,
    pub chunk: *mut u8,
    pub last_tick: u64,
    /// When and where it slept last.
    pub slept: (u64, u32),
    /// Slots of this thread that it may use again.
    pub free_slots: u32,
    pub new_slots: NewSlots,
    /// Events of this thread that were left out.
    pub thinned: u32,
    /// Bytes whose last access it has forgotten.
    pub forgotten: u32,
    /// The last handover of those that are no news, see [`crate::handovers`].
    pub no_news: (u32, u32),
    /// Its current access is one to a buffer, see [`crate::handovers::BUFFER`].
    pub in_buffer: bool,
    pub trails: trails::Trails,
    /// Further halves that it may split.
    pub splits: u32,
    /// Room for the cells of such.
    pub groups: groups::Chain,
    /// Where its passages are, see [`passages`].
    pub passages: u32,
    pub noise: noise::State,
    pub held: sync::Held,
    pub patience: Patience,
    pub awaited: atomic_locks::Awaited,
    pub lock_roles: [lock_code::CachedRole; lock_code::CACHED_ROLES],
    pub jumps: jumps::Marks,
    pub loops: loops::Stack,
    /// The fiber it runs, zero if that is its own.
    pub fiber: usize,
    /// Never null.
    pub stack: *const stack::Stack,
    /// The heap block that a location was last found in.
    pub recent_block: blocks::Block,
    /// Leaves of instructions outside their context's function, found before.
    pub distant: [DistantLeaf; DISTANT_LEAVES],
    pub calls: [KnownCall; KNOWN_CALLS],
    pub bridges: [KnownBridge; KNOWN_BRIDGES],
    pub askers: [KnownAsker; KNOWN_ASKERS],
    pub cache: [CachedSlot; CACHED_SLOTS],
    pub known_reads: known_reads::KnownReads,
    pub kept: kept::Used,
}

impl Thread {
    /// The time of this thread's newest event: what its later accesses without an event are stamped with.
    #[inline]
    pub unsafe fn set_tick(&mut self, tick: u64) {
        self.last_tick = tick;
        (*self.record).last_tick = tick;
        let low = tick as u32 & 0xffff;
        (*self.tls).stamp_pair = low | low << 16;
    }

    /// This thread, for what it notes of bytes of its own.
    #[inline(always)]
    pub fn who(&self) -> Who {
        Who { id: self.id, stamp: self.last_tick as u16 }
    }

    /// Are all stamps of this thread so far the low bits of just one tick?
    pub unsafe fn has_exact_stamps(thread: u32) -> bool {
        let record: *mut ThreadRecord = mapping::record(RegionId::Threads, thread);
        (&raw const (*record).last_tick).read_volatile() <= u16::MAX.into()
    }

    /// The full tick that a 16-bit stamp of this thread stood for: the newest that fits.
    pub unsafe fn full_tick(thread: u32, stamp: u16) -> u64 {
        let record: *mut ThreadRecord = mapping::record(RegionId::Threads, thread);
        let newest = (&raw const (*record).last_tick).read_volatile();
        newest.wrapping_sub((newest as u16).wrapping_sub(stamp) as u64)
    }
}

/// How a thread came to be.
#[derive(Clone, Copy, Default)]
pub struct Origin {
    /// Id given to it by its creator, zero if nobody saw it start.
    pub id: u32,
    pub parent: u32,
    pub created_at: u32,
    pub entry: u64,
}

/// The current thread if it is recorded and not inside the recorder already; attaches it if need be.
#[inline]
pub unsafe fn enter() -> Option<&'static mut Thread> {
    let tls = tls::current();
    if (*tls).thread.is_null() {
        return attach_unknown();
    }
    if !log::is_active() {
        return None;
    }
    if (*tls).busy != 0 {
        log::count(&raw mut (*mapping::header()).dropped);
        return None;
    }
    (*tls).busy = 1;
    // A signal handler on this thread must see the flag before anything below happens.
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
    let thread = &mut *(*tls).thread;
    if (*thread.stack).is_wanted() {
        stack::arm(thread);
    }
    Some(thread)
}

/// Is the calling thread in the recorder's own code?
#[inline]
pub unsafe fn is_inside() -> bool {
    (*tls::current()).busy != 0
}

#[inline]
pub unsafe fn leave(thread: &mut Thread) {
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
    (*thread.tls).busy = 0;
}

/// A thread that nobody saw start: the first one, or one made without `pthread_create`.
#[cold]
unsafe fn attach_unknown() -> Option<&'static mut Thread> {
    if !crate::start::ready() {
        return None;
    }
    attach(Origin::default());
    let tls = tls::current();
    if (*tls).thread.is_null() || (*tls).busy != 0 {
        return None;
    }
    (*tls).busy = 1;
    Some(&mut *(*tls).thread)
}

/// Reserves the id of a thread that is about to be created.
pub unsafe fn new_id() -> Option<u32> {
    let id = mapping::allocate_record::<ThreadRecord>(RegionId::Threads)?;
    if id > passages::LAST_THREAD {
        log::fault(recording::fault::REGION_FULL, RegionId::Threads as u32);
        return None;
    }
    Some(id)
}

/// Makes the calling thread a recorded one.
pub unsafe fn attach(origin: Origin) {
    let tls = tls::current();
    if !log::is_active() || !(*tls).thread.is_null() || (*tls).busy != 0 {
        return;
    }
    let _errno = errno::keep();
    (*tls).busy = 1;
    let id = if origin.id != 0 { Some(origin.id) } else { new_id() };
    let memory = mapping::reserve(size_of::<Thread>()).cast::<Thread>();
    if let (Some(id), false) = (id, memory.is_null()) {
        let thread = &mut *memory;
        let record: *mut ThreadRecord = mapping::record(RegionId::Threads, id);
        (*record).os_id = os_id();
        (*record).parent = origin.parent;
        (*record).created_at = origin.created_at;
        (*record).entry = origin.entry;
        (*record).stack = own_stack((*record).os_id);
        (*record).handle = libc::pthread_self() as u64;
        thread.id = id;
        thread.tls = tls;
        thread.record = record;
        thread.noise = noise::State::new(id);
        thread.seat = control::attach(id);
        let [low, high] = if (*record).stack == [0, 0] { first_stack() } else { (*record).stack };
        thread.stack = stack::enter(low as usize, high as usize);
        thread.frames[0] = context::root_frame();
        (*tls).frame = thread.frames[0];
        (*tls).top = &raw mut thread.frames[0];
        (*tls).owner_pair = id as u64 | (id as u64) << 32;
        (*tls).hint_at = location::distance_of_hint(id);
        (*tls).thread = memory;
        crate::start::call_at_thread_end();
        log::emit_sync(thread, EventKind::ThreadStart, 0, id, origin.parent, origin.entry);
        control::begun(thread);
        // A new thread's stack may have been another's before.
        let [low, high] = (*record).stack;
        if origin.id != 0 && high > low {
            crate::rebirth::forget(low as usize, high as usize);
        }
        (*tls).contexts = context::table();
        if sampling::is_on() {
            sampling::begin_counting(thread);
        } else {
            (*tls).root = planned::root();
        }
    } else if id.is_some() {
        // What it does would be missing from what others are seen to do.
        log::fault(recording::fault::MEMORY, errno::get() as u32);
    }
    (*tls).busy = 0;
}

/// The operating system's id of the calling thread, zero where it cannot be asked.
unsafe fn os_id() -> u32 {
    if sandbox::is_closed() { 0 } else { kernel::thread_id() }
}

unsafe fn own_stack(os_id: u32) -> [u64; 2] {
    // The first thread's attributes are read from /proc by the C library: slow, and its stack is never reused.
    if libc::getpid() as u32 == os_id {
        return [0, 0];
    }
    let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
    if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
        return [0, 0];
    }
    let mut low = null_mut();
    let mut size = 0;
    libc::pthread_attr_getstack(&attributes, &mut low, &mut size);
    libc::pthread_attr_destroy(&mut attributes);
    [low as u64, low as u64 + size as u64]
}

/// Where the first thread's stack must lie: below the environment, as far as the limit allows.
unsafe fn first_stack() -> [u64; 2] {
    unsafe extern "C" {
        static environ: *const *const core::ffi::c_char;
    }
    /// Further than that is no stack.
    const LARGEST: u64 = 1 << 30;
    let mut limit: libc::rlimit = core::mem::zeroed();
    let high = environ as u64;
    let known = libc::getrlimit(libc::RLIMIT_STACK, &mut limit) == 0;
    if known { [high.saturating_sub(limit.rlim_cur.min(LARGEST)), high] } else { [0, 0] }
}

/// The calling thread ends: its hooks do nothing from here on, whatever destructors may still run.
pub unsafe fn detach() {
    let tls = tls::current();
    let memory = (*tls).thread;
    if memory.is_null() || (*tls).busy != 0 {
        return;
    }
    (*tls).busy = 1;
    let thread = &mut *memory;
    if log::is_active() {
        log::emit_sync(thread, EventKind::ThreadEnd, 0, thread.id, 0, 0);
        log::give_back_chunk(thread);
        passages::give_back_all(thread);
        split::give_back_all(thread);
        kept::give_back_all(thread);
        slots::leave_behind(thread);
        // Set still if the thread was cancelled while it waited.
        (*thread.record).waits_for = 0;
        AtomicU32::from_ptr(&raw mut (*thread.record).ended).store(1, Ordering::Release);
    }
    control::ended(thread);
    stack::leave(&*thread.stack);
    (*tls).root = core::ptr::null();
    (*tls).contexts = null_mut();
    (*tls).thread = null_mut();
    (*tls).owner_pair = 0;
    mapping::unmap(memory.cast(), size_of::<Thread>());
    // `busy` stays: a thread that ended is not attached again.
}

/// In a forked child: the only thread goes on in the child's own file.
pub unsafe fn restart(thread: &mut Thread) {
    (*thread.record).os_id = os_id();
    (*thread.record).free_slots = 0;
    thread.free_slots = 0;
    thread.new_slots = NewSlots::default();
    slots::restart();
    thread.chunk_left = 0;
    location::forget_cache(thread);
    split::restart(thread);
    passages::restart(thread);
    kept::forget_used(thread);
    sync::restart(thread);
    control::restart(thread);
}
