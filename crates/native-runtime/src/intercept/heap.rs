//! The heap: a block begins a new life when it is handed out, and its end is a write to all of it.
//!
//! So a use after free shows as an access after the freeing thread's write, until the memory is handed out again.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use recording::flag;

use crate::cells::{Kind, Touch};
use crate::real::{Real, linked, real, with_caller};
use crate::unwind::Place;
use crate::{access, askers, blocks, context, control, log, rebirth, releases, sampling, shadow, thread};

/// Blocks above this size come from and go back to the system: their shadow is dropped when they are freed.
const LARGE: usize = 64 << 10;

with_caller! {
    malloc => 1 with frame, allocate_for;
}

with_caller! {
    calloc => 2, allocate_zeroed;
    realloc => 2, reallocate;
    reallocarray => 3, reallocate_array;
    free => 1, release;
    cfree => 1, release;
    memalign => 2, allocate_aligned;
    aligned_alloc => 2, allocate_aligned;
    posix_memalign => 3, allocate_aligned_into;
    valloc => 1, allocate_page_aligned;
    pvalloc => 1, allocate_pages;
}

unsafe extern "C" {
    // The C library's own names for its heap: usable while the real functions are being looked up, which
    // allocates memory itself.
    fn __libc_malloc(size: usize) -> usize;
    fn __libc_calloc(count: usize, size: usize) -> usize;
    fn __libc_realloc(block: usize, size: usize) -> usize;
    fn __libc_free(block: usize);
}

/// The heap that the program uses. All of it is looked up when memory is first asked for, and not when some is first given
/// back: looking up frees what the loader last had to complain about, which may be just what is being freed.
struct Heap {
    malloc: Real,
    calloc: Real,
    realloc: Real,
    free: Real,
    usable_size: Real,
    is_found: AtomicBool,
    is_looked_up: AtomicBool,
}

static HEAP: Heap = Heap {
    malloc: Real::new(c"malloc", linked!(malloc)),
    calloc: Real::new(c"calloc", linked!(calloc)),
    realloc: Real::new(c"realloc", linked!(realloc)),
    free: Real::new(c"free", linked!(free)),
    usable_size: Real::new(c"malloc_usable_size", linked!(malloc_usable_size)),
    is_found: AtomicBool::new(false),
    is_looked_up: AtomicBool::new(false),
};

impl Heap {
    /// Can its functions be used? If not, they are being looked up.
    fn look_up(&self) -> bool {
        if self.is_found.load(Ordering::Acquire) {
            return true;
        }
        if self.is_looked_up.swap(true, Ordering::Acquire) {
            return false;
        }
        for real in [&self.malloc, &self.calloc, &self.realloc, &self.free, &self.usable_size] {
            real.address();
        }
        self.is_found.store(true, Ordering::Release);
        true
    }
}

/// The program's own function, or the C library's while there is no telling.
macro_rules! heap {
    ($is_there:expr, $name:ident, $fallback:ident($($argument:ty),*) $(-> $result:ty)?) => {
        if $is_there {
            core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(
                HEAP.$name.address(),
            )
        } else {
            $fallback
        }
    };
}

unsafe fn usable(block: usize) -> usize {
    core::mem::transmute::<*mut c_void, unsafe extern "C" fn(usize) -> usize>(HEAP.usable_size.address())(
        block,
    )
}

/// Does the heap belong to the C library, whose blocks have their length in front of them?
unsafe fn is_c_librarys() -> bool {
    core::ptr::eq(HEAP.malloc.address(), (__libc_malloc as *const ()).cast())
}

/// A block was handed out: nobody has touched it yet.
unsafe fn born(block: usize, pc: usize) -> usize {
    born_for(block, |_| pc)
}

/// The same, asked for at the place that `asked_at` tells.
unsafe fn born_for(block: usize, asked_at: impl FnOnce(&mut thread::Thread) -> usize) -> usize {
    if block == 0 || !log::is_active() {
        return block;
    }
    if let Some(thread) = thread::enter() {
        let size = usable(block);
        if size < LARGE {
            rebirth::forget(block, block + size);
        }
        if is_c_librarys() {
            let pc = asked_at(thread);
            blocks::born(block, size, context::leaf(thread.tls, pc));
        }
        thread::leave(thread);
    }
    block
}

/// A block is about to be given back.
unsafe fn dying(block: usize, pc: usize) {
    if block == 0 || !log::is_active() {
        return;
    }
    let Some(thread) = thread::enter() else { return };
    let size = usable(block);
    if size >= LARGE {
        rebirth::forget(block, block + size);
        blocks::dead(block);
    } else if !sampling::is_quiet() {
        let leaf = context::leaf(thread.tls, pc);
        control::before_release(thread, block, size, leaf, pc);
        releases::remember(leaf);
        let touch = Touch { kind: Kind::Write, flags: flag::FREE, leaf };
        touch_used_words(thread, block, block + size, touch);
    }
    thread::leave(thread);
}

/// Bytes that nobody touched have no history to go on with.
unsafe fn touch_used_words(thread: &mut thread::Thread, start: usize, end: usize, touch: Touch) {
    for word in (start..end).step_by(8) {
        let line = shadow::line_if_mapped(word);
        if !line.is_null() && (*line).owner != [0, 0] {
            access::touch_range(thread, word, 8.min(end - word), touch);
        }
    }
}

unsafe extern "C" fn allocate_for(size: usize, pc: usize, sp: usize, fp: usize) -> usize {
    let place = Place { pc: pc as u64, sp: sp as u64, fp: fp as u64 };
    let block = heap!(HEAP.look_up(), malloc, __libc_malloc(usize) -> usize)(size);
    born_for(block, |thread| askers::behind(thread, place))
}

unsafe fn allocate(size: usize, pc: usize) -> usize {
    born(heap!(HEAP.look_up(), malloc, __libc_malloc(usize) -> usize)(size), pc)
}

unsafe extern "C" fn allocate_zeroed(count: usize, size: usize, pc: usize) -> usize {
    born(heap!(HEAP.look_up(), calloc, __libc_calloc(usize, usize) -> usize)(count, size), pc)
}

/// A block that stays where it is keeps its history. One that has to grow is copied here rather than by the
/// allocator: once that has moved it, the old one may be another thread's already, too late to record its end.
unsafe extern "C" fn reallocate(block: usize, size: usize, pc: usize) -> usize {
    let resize = heap!(HEAP.look_up(), realloc, __libc_realloc(usize, usize) -> usize);
    if block == 0 || size == 0 || !log::is_active() {
        dying(block, pc);
        return born(resize(block, size), pc);
    }
    let old = usable(block);
    if size > old && old < LARGE {
        let new = allocate(size, pc);
        if new != 0 {
            keeping(block, old, pc);
            super::memory::plain::copy(new, block, old);
            release(block, pc);
        }
        return new;
    }
    keeping(block, old.min(size), pc);
    let new = resize(block, size);
    if new == 0 {
        return new;
    }
    if new != block {
        return born(new, pc);
    }
    if let Some(thread) = thread::enter() {
        blocks::resized(block, usable(block));
        thread::leave(thread);
    }
    block
}

/// The first bytes of a block are about to be read, to be kept; large blocks lose their history, like freed ones.
unsafe fn keeping(block: usize, bytes: usize, pc: usize) {
    let Some(thread) = thread::enter() else { return };
    let all = usable(block);
    if all < LARGE {
        let touch = Touch { kind: Kind::Read, flags: 0, leaf: context::leaf(thread.tls, pc) };
        touch_used_words(thread, block, block + bytes, touch);
    } else {
        rebirth::forget(block, block + all);
    }
    thread::leave(thread);
}

unsafe extern "C" fn reallocate_array(block: usize, count: usize, size: usize, pc: usize) -> usize {
    match count.checked_mul(size) {
        Some(bytes) => reallocate(block, bytes, pc),
        None => {
            *libc::__errno_location() = libc::ENOMEM;
            0
        }
    }
}

unsafe extern "C" fn release(block: usize, pc: usize) {
    dying(block, pc);
    heap!(HEAP.is_found.load(Ordering::Acquire), free, __libc_free(usize))(block);
}

unsafe extern "C" fn allocate_aligned(alignment: usize, size: usize, pc: usize) -> usize {
    born(real!(memalign(usize, usize) -> usize)(alignment, size), pc)
}

unsafe extern "C" fn allocate_aligned_into(
    out: *mut *mut c_void,
    alignment: usize,
    size: usize,
    pc: usize,
) -> c_int {
    let result = real!(posix_memalign(*mut *mut c_void, usize, usize) -> c_int)(out, alignment, size);
    if result == 0 {
        born(*out as usize, pc);
    }
    result
}

unsafe extern "C" fn allocate_page_aligned(size: usize, pc: usize) -> usize {
    born(real!(valloc(usize) -> usize)(size), pc)
}

unsafe extern "C" fn allocate_pages(size: usize, pc: usize) -> usize {
    born(real!(pvalloc(usize) -> usize)(size), pc)
}
