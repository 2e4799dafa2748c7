//! Buffers that the kernel reads or fills.

use core::ffi::c_int;

use crate::cells::Kind;
use crate::real::{real, with_caller};
use crate::{access, errno, thread};

with_caller! {
    read => 3, read_from;
    write => 3, write_to;
    pread => 4, read_at;
    pread64 => 4, read_at;
    pwrite => 4, write_at;
    pwrite64 => 4, write_at;
    recv => 4, receive;
    send => 4, send_to;
}

/// The kernel has stored so many bytes, or none if the call failed.
unsafe fn filled(buffer: usize, bytes: isize, pc: usize) -> isize {
    if bytes > 0 && !thread::is_inside() {
        let _errno = errno::keep();
        access::further(buffer, bytes as usize, Kind::Write, pc);
    }
    bytes
}

/// The kernel is going to look at so many bytes.
unsafe fn given(buffer: usize, bytes: usize, pc: usize) {
    if !thread::is_inside() {
        access::range(buffer, bytes, Kind::Read, 0, pc);
    }
}

unsafe extern "C" fn read_from(file: c_int, buffer: usize, bytes: usize, pc: usize) -> isize {
    filled(buffer, real!(read(c_int, usize, usize) -> isize)(file, buffer, bytes), pc)
}

unsafe extern "C" fn write_to(file: c_int, buffer: usize, bytes: usize, pc: usize) -> isize {
    given(buffer, bytes, pc);
    real!(write(c_int, usize, usize) -> isize)(file, buffer, bytes)
}

unsafe extern "C" fn read_at(file: c_int, buffer: usize, bytes: usize, offset: i64, pc: usize) -> isize {
    filled(buffer, real!(pread64(c_int, usize, usize, i64) -> isize)(file, buffer, bytes, offset), pc)
}

unsafe extern "C" fn write_at(file: c_int, buffer: usize, bytes: usize, offset: i64, pc: usize) -> isize {
    given(buffer, bytes, pc);
    real!(pwrite64(c_int, usize, usize, i64) -> isize)(file, buffer, bytes, offset)
}

unsafe extern "C" fn receive(socket: c_int, buffer: usize, bytes: usize, flags: c_int, pc: usize) -> isize {
    filled(buffer, real!(recv(c_int, usize, usize, c_int) -> isize)(socket, buffer, bytes, flags), pc)
}

unsafe extern "C" fn send_to(socket: c_int, buffer: usize, bytes: usize, flags: c_int, pc: usize) -> isize {
    given(buffer, bytes, pc);
    real!(send(c_int, usize, usize, c_int) -> isize)(socket, buffer, bytes, flags)
}
