//! Functions that copy, fill and compare memory.
//!
//! The recorder's own copies, which the compiler makes calls of, land here too: the thread is inside the
//! recorder then, so they are just done, as they are while the real functions cannot be looked up yet.

use core::ffi::c_int;

use crate::cells::Kind;
use crate::real::{real, with_caller};
use crate::{access, start, thread};

with_caller! {
    memcpy => 3, copy;
    memmove => 3, copy;
    memset => 3, fill;
    __tsan_memcpy => 3, copy;
    __tsan_memmove => 3, copy;
    __tsan_memset => 3, fill;
    __sanitizer_internal_memcpy => 3, copy;
    __sanitizer_internal_memmove => 3, copy;
    __sanitizer_internal_memset => 3, fill;
    __memcpy_chk => 4, checked_copy;
    __memmove_chk => 4, checked_copy;
    __memset_chk => 4, checked_fill;
}

unsafe extern "C" fn copy(to: usize, from: usize, bytes: usize, pc: usize) -> usize {
    if !thread::is_inside() {
        access::range(from, bytes, Kind::Read, 0, pc);
        access::further(to, bytes, Kind::Write, pc);
    }
    if thread::is_inside() || !start::ready() {
        plain::copy(to, from, bytes);
        return to;
    }
    real!(memmove(usize, usize, usize) -> usize)(to, from, bytes)
}

unsafe extern "C" fn fill(to: usize, byte: c_int, bytes: usize, pc: usize) -> usize {
    if !thread::is_inside() {
        access::range(to, bytes, Kind::Write, 0, pc);
    }
    if thread::is_inside() || !start::ready() {
        plain::fill(to, byte as u8, bytes);
        return to;
    }
    real!(memset(usize, c_int, usize) -> usize)(to, byte, bytes)
}

unsafe extern "C" fn checked_copy(to: usize, from: usize, bytes: usize, room: usize, pc: usize) -> usize {
    check(bytes, room);
    copy(to, from, bytes, pc)
}

unsafe extern "C" fn checked_fill(to: usize, byte: c_int, bytes: usize, room: usize, pc: usize) -> usize {
    check(bytes, room);
    fill(to, byte, bytes, pc)
}

unsafe fn check(bytes: usize, room: usize) {
    if bytes > room {
        __chk_fail();
    }
}

unsafe extern "C" {
    /// Ends the program with the C library's message about a buffer overflow.
    fn __chk_fail() -> !;
}

/// The work itself, in instructions that the compiler does not turn back into calls of the functions above.
pub mod plain {
    #[cfg(target_arch = "x86_64")]
    pub unsafe fn copy(to: usize, from: usize, bytes: usize) {
        if to.wrapping_sub(from) >= bytes {
            core::arch::asm!("rep movsb", inout("rcx") bytes => _, inout("rdi") to => _, inout("rsi") from => _,
                options(nostack, preserves_flags));
        } else {
            // Overlapping with the source first: backwards.
            core::arch::asm!("std", "rep movsb", "cld", inout("rcx") bytes => _,
                inout("rdi") to.wrapping_add(bytes).wrapping_sub(1) => _,
                inout("rsi") from.wrapping_add(bytes).wrapping_sub(1) => _, options(nostack));
        }
    }

    #[cfg(target_arch = "x86_64")]
    pub unsafe fn fill(to: usize, byte: u8, bytes: usize) {
        core::arch::asm!("rep stosb", inout("rcx") bytes => _, inout("rdi") to => _, in("al") byte,
            options(nostack, preserves_flags));
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub unsafe fn copy(to: usize, from: usize, bytes: usize) {
        let (to, from) = (to as *mut u8, from as *const u8);
        if (to as usize).wrapping_sub(from as usize) >= bytes {
            for at in 0..bytes {
                to.add(at).write_volatile(from.add(at).read());
            }
        } else {
            for at in (0..bytes).rev() {
                to.add(at).write_volatile(from.add(at).read());
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub unsafe fn fill(to: usize, byte: u8, bytes: usize) {
        for at in 0..bytes {
            (to as *mut u8).add(at).write_volatile(byte);
        }
    }
}
