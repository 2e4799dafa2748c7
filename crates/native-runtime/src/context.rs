//! Calling contexts: a tree that all threads share, kept up by function entry and exit.
//!
//! An access is named by its *leaf*: the current context's first leaf plus the distance of the instruction
//! from the function's start. That is one subtraction and one addition on the fast path, and 32 bits name
//! instruction and whole call stack at once.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence};

use recording::{Context, RegionId};

use crate::thread::{KNOWN_CALLS, KnownCall};
use crate::tls::{self, Frame, Tls};
use crate::{bridges, control, log, mapping, modules, spin, stack, thread, unwind};

pub const ROOT: u32 = 1;
/// In a frame: a call from here has to be looked at ([`crate::stack`]). The context is the one with the same first leaf.
pub const ARMED: u32 = 0;
/// Contexts beyond which recursion is folded: 12 MiB of them. A recursive sort of a million items makes
/// that many distinct paths, and nobody can read them.
const CONTEXTS_BEFORE_FOLDING: u32 = 1 << 18;
/// The same for programs with huge functions: half of all leaves.
const LEAVES_BEFORE_FOLDING: u32 = 1 << 31;
/// How far up a folded call looks for its function.
const FOLDING_DISTANCE: u32 = 256;

const BUCKETS: usize = 1 << 14;
static CHAINS: [AtomicU32; BUCKETS] = [const { AtomicU32::new(0) }; BUCKETS];
/// Contexts beyond these are in chains of their own, so that the chains stay short: deep recursion makes hundreds of thousands.
/// Few programs have so many, and the others need not touch a megabyte of chains for each of theirs to be in another page.
const FIRST_CONTEXTS: u32 = 1 << 14;
const FURTHER_BUCKETS: usize = 1 << 18;
static FURTHER_CHAINS: [AtomicU32; FURTHER_BUCKETS] = [const { AtomicU32::new(0) }; FURTHER_BUCKETS];
static INSERTING: AtomicU32 = AtomicU32::new(0);
static NEXT_LEAF: AtomicU32 = AtomicU32::new(1);

pub unsafe fn start() -> bool {
    // The root stands for code outside of any known function; it has no instructions of its own.
    insert(0, 0, 0, modules::Function { start: 0, size: 1, module: 0 }) == Some(ROOT)
}

pub fn table() -> *mut Context {
    // SAFETY: the mapping stays.
    unsafe { mapping::record(RegionId::Contexts, 0) }
}

pub fn root_frame() -> Frame {
    // SAFETY: made by `start`.
    unsafe { frame_of(table(), ROOT) }
}

#[inline]
unsafe fn frame_of(contexts: *const Context, id: u32) -> Frame {
    let context = &*contexts.add(id as usize);
    Frame {
        function: context.function as u32,
        size: context.size,
        first_leaf: context.first_leaf,
        context: id,
    }
}

/// A function was entered.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Where it will return to.
    pub call: usize,
    /// Where its hook returns to.
    pub entry: usize,
    /// Its frame's lowest address.
    pub sp: usize,
    /// What it has in the register for frame pointers.
    pub fp: usize,
}

/// A function was entered: see [`Entry`], whose fields stay in their registers here.
#[inline(always)]
pub unsafe fn enter(call: usize, entry: usize, sp: usize, fp: usize) {
    let tls = tls::current();
    let contexts = (*tls).contexts;
    if contexts.is_null() {
        return enter_unattached(call, entry, sp, fp);
    }
    let id = (*contexts.add((*tls).frame.context as usize)).recent_child;
    let child = contexts.add(id as usize);
    if (*child).call != call as u64 || (*child).entry != entry as u64 {
        return enter_another(call, entry, sp, fp);
    }
    push(tls, frame_of(contexts, id));
}

/// Another function than the caller's last one: most often one that this thread called from there before.
#[inline(never)]
unsafe fn enter_another(call: usize, entry: usize, sp: usize, fp: usize) {
    let tls = tls::current();
    let parent = (*tls).frame.context;
    let known = *known_call(tls, parent, call);
    let child = (*tls).contexts.add(known.context as usize);
    if known.parent != parent || (*child).call != call as u64 || (*child).entry != entry as u64 {
        return enter_elsewhere(call, entry, sp, fp);
    }
    push(tls, frame_of((*tls).contexts, known.context));
}

/// Where the thread remembers what became of a call.
#[inline(always)]
unsafe fn known_call(tls: *const Tls, parent: u32, call: usize) -> *mut KnownCall {
    let mixed = (call as u32 ^ parent.wrapping_mul(0x9e37_79b1)).wrapping_mul(0x85eb_ca6b);
    &raw mut (*(*tls).thread).calls[(mixed >> 16) as usize % KNOWN_CALLS]
}

#[inline(always)]
unsafe fn push(tls: *mut Tls, frame: Frame) {
    let top = (*tls).top.add(1);
    if top as usize >= (*tls).thread as usize + thread::FRAMES * size_of::<Frame>() {
        return too_deep(tls);
    }
    *top = frame;
    (*tls).top = top;
    (*tls).frame = frame;
}

#[cold]
unsafe fn too_deep(tls: *mut Tls) {
    (*(*tls).thread).too_deep += 1;
}

/// The current function is left.
#[inline(always)]
pub unsafe fn exit() {
    let tls = tls::current();
    let top = (*tls).top;
    if core::ptr::eq(top.cast(), (*tls).thread) || (*tls).contexts.is_null() {
        return;
    }
    if top as usize + size_of::<Frame>() >= (*tls).thread as usize + thread::FRAMES * size_of::<Frame>()
        && (*(*tls).thread).too_deep > 0
    {
        (*(*tls).thread).too_deep -= 1;
        return;
    }
    let top = top.sub(1);
    (*tls).top = top;
    (*tls).frame = *top;
}

#[cold]
unsafe fn enter_unattached(call: usize, entry: usize, sp: usize, fp: usize) {
    if let Some(thread) = thread::enter() {
        thread::leave(thread);
        if !(*tls::current()).contexts.is_null() {
            enter_elsewhere(call, entry, sp, fp);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn enter_elsewhere(call: usize, entry: usize, sp: usize, fp: usize) {
    let new = Entry { call, entry, sp, fp };
    let tls = tls::current();
    if (*tls).busy != 0 {
        // A signal handler interrupted the recorder, which may hold the lock of the contexts. Accesses are not
        // recorded either until it returns; only the depth has to be right.
        return push(tls, (*tls).frame);
    }
    (*tls).busy = 1;
    compiler_fence(Ordering::SeqCst);
    if (*tls).frame.context == ARMED {
        stack::reuse(tls, new.call, new.sp);
    }
    let parent = (*tls).frame.context;
    let is_direct = parent == ROOT || holds(parent, new.call as u64);
    let id = if is_direct {
        child_of(parent, new.call as u64, new.entry as u64)
    } else {
        bridges::context_of(&mut *(*tls).thread, parent, new)
    };
    compiler_fence(Ordering::SeqCst);
    (*tls).busy = 0;
    if is_direct {
        // After its content, for the threads that find it here.
        AtomicU32::from_ptr(&raw mut (*(*tls).contexts.add(parent as usize)).recent_child)
            .store(id, Ordering::Release);
        *known_call(tls, parent, new.call) = KnownCall { parent, context: id };
    }
    push(tls, frame_of((*tls).contexts, id));
}

/// The context of the current function.
pub unsafe fn current(tls: *const Tls) -> u32 {
    let Frame { context, first_leaf, .. } = (*tls).frame;
    if context == ARMED { with_first_leaf(first_leaf) } else { context }
}

/// The context with this first leaf, which there is.
unsafe fn with_first_leaf(leaf: u32) -> u32 {
    let first_leaf = |id: u32| (&raw const (*table().add(id as usize)).first_leaf).read_volatile();
    loop {
        let (mut low, mut high) = (ROOT, mapping::record_count::<Context>(RegionId::Contexts));
        while low + 1 < high {
            let middle = low.midpoint(high);
            if first_leaf(middle) <= leaf {
                low = middle;
            } else {
                high = middle;
            }
        }
        // The newest context may not have its leaf yet, which leads astray.
        if first_leaf(low) == leaf {
            return low;
        }
        core::hint::spin_loop();
    }
}

/// The leaf of an instruction that lies outside the current function's code.
#[cold]
#[inline(never)]
pub unsafe fn distant_leaf(address: usize) -> u32 {
    let tls = tls::current();
    let current = current(tls);
    let place = (address >> 2) ^ current as usize;
    let known = &mut (*(*tls).thread).distant[place % thread::DISTANT_LEAVES];
    let generation = modules::generation();
    if (known.address, known.context, known.generation) == (address, current, generation) {
        return known.leaf;
    }
    let Some(id) = without_entry(current, address as u64) else { return 0 };
    let context = &*(*tls).contexts.add(id as usize);
    let distance = (address as u64).wrapping_sub(context.function);
    let leaf = if distance < context.size as u64 { context.first_leaf + distance as u32 } else { 0 };
    *known = thread::DistantLeaf { address, context: current, generation, leaf };
    leaf
}

/// The leaf of an instruction in the current context. Zero means unknown.
#[inline(always)]
pub unsafe fn leaf(tls: *const Tls, address: usize) -> u32 {
    let distance = (address as u32).wrapping_sub((*tls).frame.function);
    if distance < (*tls).frame.size { (*tls).frame.first_leaf + distance } else { distant_leaf(address) }
}

/// The context of code that was reached from `current` without an entry hook: a part that the compiler moved
/// elsewhere, which takes the function's place on the stack, or a library without hooks, which was called by the
/// function from who knows where.
/// None for code that the loader does not know.
pub unsafe fn without_entry(current: u32, address: u64) -> Option<u32> {
    let function = modules::function_at(address as usize)?;
    let here = &*table().add(current as usize);
    let (parent, call) = if current == ROOT {
        (ROOT, 0)
    } else if may_be_part(address, current) {
        (here.parent, here.call)
    } else {
        (current, here.entry)
    };
    Some(find_or_insert(parent, call, function.start | 1, function))
}

/// May the code at this address be a part of the context's function that the compiler moved elsewhere? Not where signal handlers
/// return to, which wholly static programs have in the same module.
pub unsafe fn may_be_part(address: u64, context: u32) -> bool {
    modules::in_same_module(address, (*table().add(context as usize)).function)
        && !unwind::is_of_signal(address)
}

/// Does this address lie in the function of this context?
pub unsafe fn holds(context: u32, address: u64) -> bool {
    let context = &*table().add(context as usize);
    address.wrapping_sub(context.function) < context.size as u64
}

pub unsafe fn child_of(parent: u32, call: u64, entry: u64) -> u32 {
    if let Some(id) = find(parent, call, entry) {
        return id;
    }
    let folds = mapping::record_count::<Context>(RegionId::Contexts) > CONTEXTS_BEFORE_FOLDING
        || NEXT_LEAF.load(Ordering::Relaxed) > LEAVES_BEFORE_FOLDING;
    let folded = if folds { same_function_above(parent, entry) } else { None };
    if let Some(id) = folded {
        return id;
    }
    let function = modules::function_at(entry as usize).unwrap_or(modules::Function {
        start: entry & !0xfff,
        size: 0x10000,
        module: 0,
    });
    find_or_insert(parent, call, entry, function)
}

unsafe fn same_function_above(parent: u32, entry: u64) -> Option<u32> {
    let mut id = parent;
    for _ in 0..FOLDING_DISTANCE {
        let context = table().add(id as usize);
        if (*context).entry == entry {
            (*context).flags |= 1;
            return Some(id);
        }
        id = (*context).parent;
        if id == 0 {
            break;
        }
    }
    None
}

/// Where chains begin in which such a context may be: one of the first, or a further one.
fn chains(parent: u32, call: u64, entry: u64) -> [&'static AtomicU32; 2] {
    let mixed = (call ^ entry.rotate_left(21) ^ (parent as u64) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let among = |buckets: usize| (mixed >> (64 - buckets.ilog2())) as usize % buckets;
    [&CHAINS[among(BUCKETS)], &FURTHER_CHAINS[among(FURTHER_BUCKETS)]]
}

unsafe fn find(parent: u32, call: u64, entry: u64) -> Option<u32> {
    let [first, further] = chains(parent, call, entry);
    find_in_chain(first, parent, call, entry).or_else(|| {
        let has_further = mapping::record_count::<Context>(RegionId::Contexts) > FIRST_CONTEXTS;
        if has_further { find_in_chain(further, parent, call, entry) } else { None }
    })
}

unsafe fn find_in_chain(chain: &AtomicU32, parent: u32, call: u64, entry: u64) -> Option<u32> {
    let mut id = chain.load(Ordering::Acquire);
    while id != 0 {
        let context = &*table().add(id as usize);
        if context.parent == parent && context.call == call && context.entry == entry {
            return Some(id);
        }
        id = context.next;
    }
    None
}

pub unsafe fn find_or_insert(parent: u32, call: u64, entry: u64, function: modules::Function) -> u32 {
    if let Some(id) = find(parent, call, entry) {
        return id;
    }
    if !log::is_active() || !spin::lock(&INSERTING) {
        return ROOT;
    }
    let id = find(parent, call, entry).or_else(|| insert(parent, call, entry, function)).unwrap_or(ROOT);
    spin::unlock(&INSERTING);
    id
}

/// With `INSERTING` held, or before any other thread is recorded.
unsafe fn insert(parent: u32, call: u64, entry: u64, function: modules::Function) -> Option<u32> {
    let first_leaf = NEXT_LEAF.load(Ordering::Relaxed);
    let Some(next_leaf) = first_leaf.checked_add(function.size) else {
        log::fault(recording::fault::REGION_FULL, RegionId::Contexts as u32);
        return None;
    };
    let id = mapping::allocate_record::<Context>(RegionId::Contexts)?;
    NEXT_LEAF.store(next_leaf, Ordering::Relaxed);
    let chain = chains(parent, call, entry)[usize::from(id >= FIRST_CONTEXTS)];
    // Where a function has no size, each of its accesses is looked at, whether or not the bytes are the thread's own.
    let is_watched = entry != function.start | 1 && control::is_watched(function);
    let context = table().add(id as usize);
    *context = Context {
        call,
        entry,
        function: function.start,
        parent,
        first_leaf,
        size: if is_watched { 0 } else { function.size },
        recent_child: 0,
        next: chain.load(Ordering::Relaxed),
        flags: function.module << recording::CONTEXT_MODULE_AT,
    };
    chain.store(id, Ordering::Release);
    Some(id)
}

/// In the entry of a context: its code has been unloaded, so that no call leads there any more.
const UNLOADED: u64 = 1 << 63;

/// Code is no longer there. Contexts in it, and those called from it, stay for what was recorded in them, but other code at
/// the same addresses gets new ones.
pub unsafe fn forget_code(is_gone: &dyn Fn(u64) -> bool) {
    if !spin::lock(&INSERTING) {
        return;
    }
    for id in ROOT + 1..mapping::record_count::<Context>(RegionId::Contexts) {
        let context = table().add(id as usize);
        if is_gone((*context).function) || (*context).call != 0 && is_gone((*context).call) {
            let entry = AtomicU64::from_ptr(&raw mut (*context).entry);
            entry.fetch_or(UNLOADED, Ordering::Release);
        }
    }
    spin::unlock(&INSERTING);
}

pub fn lock_before_fork() {
    spin::lock(&INSERTING);
}

/// In a forked child: the parent may have gone on to enter contexts that the child does not have.
pub unsafe fn restart() {
    let count = mapping::record_count::<Context>(RegionId::Contexts);
    for id in 1..count {
        let recent = &raw mut (*table().add(id as usize)).recent_child;
        if *recent >= count {
            *recent = 0;
        }
    }
}

pub fn unlock_after_fork() {
    INSERTING.store(0, Ordering::Relaxed);
}
