//! Jumps that leave functions without their exit hooks.

use core::ffi::c_int;

use crate::jumps;
use crate::real::real;

/// Exports functions that mark their first argument, then become the real function: that one must find the
/// caller's stack as it was.
macro_rules! marking {
    ($($name:ident, $mark:ident, $real:ident;)*) => {
        $(
            #[cfg(target_arch = "x86_64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "push rdi", "push rsi", "sub rsp, 8",
                    "call {}",
                    "add rsp, 8", "pop rsi", "pop rdi",
                    "jmp rax",
                    sym $mark
                )
            }

            #[cfg(target_arch = "aarch64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "stp x0, x1, [sp, -32]!", "str x30, [sp, 16]",
                    "bl {}",
                    "mov x16, x0",
                    "ldr x30, [sp, 16]", "ldp x0, x1, [sp], 32",
                    "br x16",
                    sym $mark
                )
            }

            /// Returns the real function.
            unsafe extern "C" fn $mark(buffer: usize) -> usize {
                jumps::mark(buffer);
                real!($real(usize) -> c_int) as usize
            }
        )*
    };
}

marking! {
    setjmp, mark_setjmp, setjmp;
    _setjmp, mark_plain_setjmp, _setjmp;
    sigsetjmp, mark_sigsetjmp, __sigsetjmp;
    __sigsetjmp, mark_internal_sigsetjmp, __sigsetjmp;
}

macro_rules! jumping {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(buffer: usize, value: c_int) {
                jumps::jump(buffer);
                real!($name(usize, c_int))(buffer, value);
            }
        )*
    };
}

jumping! { longjmp _longjmp siglongjmp __longjmp_chk }
