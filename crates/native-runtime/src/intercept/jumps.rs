//! Jumps that leave functions without their exit hooks.

use core::ffi::c_int;

use crate::jumps;
use crate::real::real;

/// Exports functions that note their first argument, then become the real function: that one must find the
/// caller's stack and all arguments as they were.
macro_rules! marking {
    ($($name:ident, $mark:ident, $real:ident, $note:path;)*) => {
        $(
            #[cfg(target_arch = "x86_64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                    "call {}",
                    "mov r11, rax",
                    "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                    "jmp r11",
                    sym $mark
                )
            }

            #[cfg(target_arch = "aarch64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "stp x0, x1, [sp, -80]!", "stp x2, x3, [sp, 16]", "stp x4, x5, [sp, 32]",
                    "stp x6, x7, [sp, 48]", "str x30, [sp, 64]",
                    "bl {}",
                    "mov x16, x0",
                    "ldr x30, [sp, 64]", "ldp x6, x7, [sp, 48]", "ldp x4, x5, [sp, 32]",
                    "ldp x2, x3, [sp, 16]", "ldp x0, x1, [sp], 80",
                    "br x16",
                    sym $mark
                )
            }

            /// Returns the real function.
            unsafe extern "C" fn $mark(buffer: usize) -> usize {
                $note(buffer);
                real!($real(usize) -> c_int) as usize
            }
        )*
    };
}
pub(super) use marking;

marking! {
    setjmp, mark_setjmp, setjmp, jumps::mark;
    _setjmp, mark_plain_setjmp, _setjmp, jumps::mark;
    sigsetjmp, mark_sigsetjmp, __sigsetjmp, jumps::mark;
    __sigsetjmp, mark_internal_sigsetjmp, __sigsetjmp, jumps::mark;
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
