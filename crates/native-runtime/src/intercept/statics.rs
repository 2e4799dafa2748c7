//! Functions of the C library that keep something for all threads together: how far `strtok` has come, the time that `localtime` gives
//! out, the environment.
//!
//! The library's own accesses are not seen, so they are told here, before they are made.

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::cells::Kind;
use crate::real::{real, with_caller};
use crate::{access, thread};

with_caller! {
    strtok => 2, next_token;
    gmtime => 1, universal_time;
    localtime => 1, local_time;
    asctime => 1, time_as_text;
    ctime => 1, local_time_as_text;
    getenv => 1, look_up;
    setenv => 3, set;
    unsetenv => 1, unset;
    putenv => 1, put;
}

unsafe extern "C" {
    fn strtok_r(text: *mut c_char, separators: usize, position: *mut *mut c_char) -> usize;
    static mut environ: usize;
}

/// What `asctime` writes at least: `Thu Jan  1 00:00:00 1970\n`.
const TIME_TEXT: usize = 26;
const TIME: usize = size_of::<libc::tm>();

/// How far the text was gone through, in place of the library's own variable, whose address nobody knows.
#[unsafe(no_mangle)]
static mut strtok_position: *mut c_char = core::ptr::null_mut();

unsafe fn touches(address: usize, bytes: usize, kind: Kind, pc: usize) {
    if !thread::is_inside() {
        access::range(address, bytes, kind, 0, pc);
    }
}

unsafe extern "C" fn next_token(text: usize, separators: usize, pc: usize) -> usize {
    let position = &raw mut strtok_position;
    let bytes = size_of::<*mut c_char>();
    if text == 0 {
        touches(position as usize, bytes, Kind::Read, pc);
    }
    // Another thread may come in between in the library as well.
    let mut own = position.read_volatile();
    let token = strtok_r(text as *mut c_char, separators, &mut own);
    touches(position as usize, bytes, Kind::Write, pc);
    position.write_volatile(own);
    token
}

/// Where a function keeps what it gives out: always at the same place, which the first call tells.
unsafe fn kept_at(known: &AtomicUsize, first: impl FnOnce() -> usize) -> usize {
    if known.load(Ordering::Relaxed) == 0 {
        known.store(first(), Ordering::Relaxed);
    }
    known.load(Ordering::Relaxed)
}

static SOME_TIME: libc::time_t = 0;

unsafe extern "C" fn universal_time(time: usize, pc: usize) -> usize {
    static KEPT: AtomicUsize = AtomicUsize::new(0);
    let real = real!(gmtime(usize) -> usize);
    touches(kept_at(&KEPT, || real(&raw const SOME_TIME as usize)), TIME, Kind::Write, pc);
    real(time)
}

static LOCAL: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn local_time(time: usize, pc: usize) -> usize {
    let real = real!(localtime(usize) -> usize);
    touches(kept_at(&LOCAL, || real(&raw const SOME_TIME as usize)), TIME, Kind::Write, pc);
    real(time)
}

static TEXT: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn time_as_text(time: usize, pc: usize) -> usize {
    let real = real!(asctime(usize) -> usize);
    touches(time, TIME, Kind::Read, pc);
    touches(kept_at(&TEXT, || real(time)), TIME_TEXT, Kind::Write, pc);
    real(time)
}

unsafe extern "C" fn local_time_as_text(time: usize, pc: usize) -> usize {
    let real = real!(ctime(usize) -> usize);
    touches(kept_at(&TEXT, || real(time)), TIME_TEXT, Kind::Write, pc);
    real(time)
}

unsafe fn touches_environment(kind: Kind, pc: usize) {
    touches(&raw mut environ as usize, size_of::<usize>(), kind, pc);
}

unsafe extern "C" fn look_up(name: usize, pc: usize) -> usize {
    touches_environment(Kind::Read, pc);
    real!(getenv(usize) -> usize)(name)
}

unsafe extern "C" fn set(name: usize, value: usize, replaces: c_int, pc: usize) -> c_int {
    touches_environment(Kind::Write, pc);
    real!(setenv(usize, usize, c_int) -> c_int)(name, value, replaces)
}

unsafe extern "C" fn unset(name: usize, pc: usize) -> c_int {
    touches_environment(Kind::Write, pc);
    real!(unsetenv(usize) -> c_int)(name)
}

unsafe extern "C" fn put(text: usize, pc: usize) -> c_int {
    touches_environment(Kind::Write, pc);
    real!(putenv(usize) -> c_int)(text)
}
