//! The call by which a program restricts itself, or announces that it will; and by which a thread names itself.

use core::ffi::{c_char, c_int};

use super::threads::name_thread;
use crate::real::real;
use crate::sandbox;

/// Takes up to four arguments more; the C library passes on all of them too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int {
    // A filter may also be set by a system call of its own, but not without the promise before it.
    if matches!(option, libc::PR_SET_SECCOMP | libc::PR_SET_NO_NEW_PRIVS) {
        sandbox::close();
    }
    if option == libc::PR_SET_NAME {
        name_thread(a as *const c_char);
    }
    real!(prctl(c_int, usize, usize, usize, usize) -> c_int)(option, a, b, c, d)
}
