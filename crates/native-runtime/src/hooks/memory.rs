//! Reads and writes.

use crate::access;
use crate::cells::Kind;
use crate::real::with_caller;
use crate::unaligned;

#[cfg(not(target_arch = "x86_64"))]
with_caller! {
    __tsan_read1 => 1, aligned::<1, false>;
    __tsan_write1 => 1, aligned::<1, true>;
    __tsan_read2 => 1, aligned::<2, false>;
    __tsan_write2 => 1, aligned::<2, true>;
    __tsan_read4 => 1, aligned::<4, false>;
    __tsan_read8 => 1, aligned::<8, false>;
    __tsan_write4 => 1, aligned::<4, true>;
    __tsan_write8 => 1, aligned::<8, true>;
}

with_caller! {
    __tsan_read16 => 1, unaligned::<16, false>;
    __tsan_write16 => 1, unaligned::<16, true>;
    __tsan_unaligned_read2 => 1, unaligned::<2, false>;
    __tsan_unaligned_read4 => 1, unaligned::<4, false>;
    __tsan_unaligned_read8 => 1, unaligned::<8, false>;
    __tsan_unaligned_read16 => 1, unaligned::<16, false>;
    __tsan_unaligned_write2 => 1, unaligned::<2, true>;
    __tsan_unaligned_write4 => 1, unaligned::<4, true>;
    __tsan_unaligned_write8 => 1, unaligned::<8, true>;
    __tsan_unaligned_write16 => 1, unaligned::<16, true>;
    __tsan_volatile_read1 => 1, aligned::<1, false>;
    __tsan_volatile_read2 => 1, aligned::<2, false>;
    __tsan_volatile_read4 => 1, aligned::<4, false>;
    __tsan_volatile_read8 => 1, aligned::<8, false>;
    __tsan_volatile_read16 => 1, unaligned::<16, false>;
    __tsan_volatile_write1 => 1, aligned::<1, true>;
    __tsan_volatile_write2 => 1, aligned::<2, true>;
    __tsan_volatile_write4 => 1, aligned::<4, true>;
    __tsan_volatile_write8 => 1, aligned::<8, true>;
    __tsan_volatile_write16 => 1, unaligned::<16, true>;
    __tsan_unaligned_volatile_read2 => 1, unaligned::<2, false>;
    __tsan_unaligned_volatile_read4 => 1, unaligned::<4, false>;
    __tsan_unaligned_volatile_read8 => 1, unaligned::<8, false>;
    __tsan_unaligned_volatile_read16 => 1, unaligned::<16, false>;
    __tsan_unaligned_volatile_write2 => 1, unaligned::<2, true>;
    __tsan_unaligned_volatile_write4 => 1, unaligned::<4, true>;
    __tsan_unaligned_volatile_write8 => 1, unaligned::<8, true>;
    __tsan_unaligned_volatile_write16 => 1, unaligned::<16, true>;
    __tsan_read_write1 => 1, read_then_write::<1>;
    __tsan_read_write2 => 1, read_then_write::<2>;
    __tsan_read_write4 => 1, read_then_write::<4>;
    __tsan_read_write8 => 1, read_then_write::<8>;
    __tsan_read_write16 => 1, read_then_write::<16>;
    __tsan_unaligned_read_write2 => 1, read_then_write::<2>;
    __tsan_unaligned_read_write4 => 1, read_then_write::<4>;
    __tsan_unaligned_read_write8 => 1, read_then_write::<8>;
    __tsan_unaligned_read_write16 => 1, read_then_write::<16>;
    __tsan_vptr_read => 1, aligned::<8, false>;
    __tsan_vptr_update => 2, vptr_update;
    __tsan_read_range => 2, range::<false>;
    __tsan_write_range => 2, range::<true>;
}

/// For callers that pass the address of the access themselves.
macro_rules! with_given_caller {
    ($($name:ident => $target:path;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(address: usize, pc: usize) {
                $target(address, pc);
            }
        )*
    };
}

with_given_caller! {
    __tsan_read1_pc => aligned::<1, false>;
    __tsan_read2_pc => aligned::<2, false>;
    __tsan_read4_pc => aligned::<4, false>;
    __tsan_read8_pc => aligned::<8, false>;
    __tsan_read16_pc => unaligned::<16, false>;
    __tsan_write1_pc => aligned::<1, true>;
    __tsan_write2_pc => aligned::<2, true>;
    __tsan_write4_pc => aligned::<4, true>;
    __tsan_write8_pc => aligned::<8, true>;
    __tsan_write16_pc => unaligned::<16, true>;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_read_range_pc(address: usize, size: usize, pc: usize) {
    range::<false>(address, size, pc);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_write_range_pc(address: usize, size: usize, pc: usize) {
    range::<true>(address, size, pc);
}

const fn kind(write: bool) -> Kind {
    if write { Kind::Write } else { Kind::Read }
}

unsafe extern "C" fn aligned<const SIZE: usize, const WRITE: bool>(address: usize, pc: usize) {
    access::aligned::<SIZE, WRITE>(address, pc);
}

unsafe extern "C" fn unaligned<const SIZE: usize, const WRITE: bool>(address: usize, pc: usize) {
    unaligned::access::<WRITE>(address, SIZE, pc);
}

unsafe extern "C" fn read_then_write<const SIZE: usize>(address: usize, pc: usize) {
    access::any(address, SIZE, Kind::Read, pc);
    access::further(address, SIZE, Kind::Write, pc);
}

/// What gcc calls for accesses that may not be aligned, too.
unsafe extern "C" fn range<const WRITE: bool>(address: usize, size: usize, pc: usize) {
    unaligned::access::<WRITE>(address, size, pc);
}

/// A constructor or destructor stores the table of its class. Storing what is there already changes nothing:
/// derived classes do so all the time.
unsafe extern "C" fn vptr_update(address: usize, new: usize, pc: usize) {
    let write = *(address as *const usize) != new;
    access::any(address, 8, kind(write), pc);
}
