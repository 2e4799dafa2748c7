//! Switches between contexts that run on stacks of their own.

use core::ffi::c_int;

use super::jumps::marking;
use crate::fibers;
use crate::real::real;

marking! {
    getcontext, mark_getcontext, getcontext, fibers::mark;
    setcontext, mark_setcontext, setcontext, fibers::jump;
    makecontext, mark_makecontext, makecontext, fibers::begin;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn swapcontext(from: usize, to: usize) -> c_int {
    fibers::switch(from, to);
    let result = real!(swapcontext(usize, usize) -> c_int)(from, to);
    fibers::back_in(from);
    result
}
