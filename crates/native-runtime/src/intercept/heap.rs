//! The heap: a block begins a new life when it is handed out, and its end is a write to all of it.
//!
//! So a use after free shows as an access after the freeing thread's write, until the memory is handed out again.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use recording::flag;

use crate::cells::{Kind, Touch};
use crate::real::{real, with_caller};
use crate::{access, blocks, context, log, rebirth, sampling, shadow, thread};

/// Blocks above this size come from and go back to the system: their shadow is dropped when they are freed.
const LARGE: usize = 64 << 10;

with_caller! {
    malloc => 1, allocate;
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

static LOOKING_UP: AtomicBool = AtomicBool::new(false);

/// Looks a function up unless that is under way.
macro_rules! real_or {
    ($fallback:expr, $name:ident($($argument:ty),*) $(-> $result:ty)?) => {{
        static FOUND: AtomicBool = AtomicBool::new(false);
        if FOUND.load(Ordering::Acquire) {
            real!($name($($argument),*) $(-> $result)?)
        } else if LOOKING_UP.swap(true, Ordering::Acquire) {
            $fallback
        } else {
            let found = real!($name($($argument),*) $(-> $result)?);
            FOUND.store(true, Ordering::Release);
            LOOKING_UP.store(false, Ordering::Release);
            found
        }
    }};
}

unsafe fn usable(block: usize) -> usize {
    real!(malloc_usable_size(usize) -> usize)(block)
}

/// Does the heap belong to the C library, whose blocks have their length in front of them?
unsafe fn is_c_librarys() -> bool {
    real!(malloc(usize) -> usize) as usize == __libc_malloc as *const () as usize
}

/// A block was handed out: nobody has touched it yet.
unsafe fn born(block: usize, pc: usize) -> usize {
    if block == 0 || !log::is_active() {
        return block;
    }
    if let Some(thread) = thread::enter() {
        let size = usable(block);
        if size < LARGE {
            rebirth::forget(block, block + size);
        }
        if is_c_librarys() {
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
        let touch = Touch { kind: Kind::Write, flags: flag::FREE, leaf: context::leaf(thread.tls, pc) };
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

unsafe extern "C" fn allocate(size: usize, pc: usize) -> usize {
    born(real_or!(__libc_malloc, malloc(usize) -> usize)(size), pc)
}

unsafe extern "C" fn allocate_zeroed(count: usize, size: usize, pc: usize) -> usize {
    born(real_or!(__libc_calloc, calloc(usize, usize) -> usize)(count, size), pc)
}

/// A block that stays where it is keeps its history. One that has to grow is copied here rather than by the
/// allocator: once that has moved it, the old one may be another thread's already, too late to record its end.
unsafe extern "C" fn reallocate(block: usize, size: usize, pc: usize) -> usize {
    let resize = real_or!(__libc_realloc, realloc(usize, usize) -> usize);
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
    real_or!(__libc_free, free(usize))(block);
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
