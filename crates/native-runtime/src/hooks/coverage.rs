//! `-fsanitize-coverage=trace-pc`: a call at the start of every basic block.

use crate::loops;
use crate::real::with_caller;

with_caller! {
    __sanitizer_cov_trace_pc => 0, block;
}

unsafe extern "C" fn block(pc: usize) {
    loops::at_block(pc);
}
