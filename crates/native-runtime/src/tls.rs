//! The few words per thread that the fast path needs, at a fixed offset from the thread pointer.
//!
//! Stable Rust has no `#[thread_local]`, so the block is declared in assembly and reached through the
//! initial-exec model: one load in the shared library, which the linker turns into a constant when the
//! recorder is linked into an executable. Both ways the block exists before the thread's first instruction.

use recording::Context;

use crate::thread::Thread;

/// The current function of the current thread.
#[repr(C, align(16))]
#[derive(Clone, Copy, Default)]
pub struct Frame {
    /// Low half of the address of the function's first instruction.
    pub function: u32,
    /// Bytes of code.
    pub size: u32,
    /// Leaf of the first instruction.
    pub first_leaf: u32,
    /// Context id.
    pub context: u32,
}

/// All zero until the thread is attached.
#[repr(C, align(64))]
pub struct Tls {
    /// First level of the shadow; null while this thread is not recorded, or its process sampled.
    pub root: *const *mut u8,
    /// This thread's id in both halves: what the owner fields of a word it owns look like.
    pub owner_pair: u64,
    pub frame: Frame,
    /// Low 16 bits of this thread's newest tick, twice.
    pub stamp_pair: u32,
    /// In the recorder's slow path: hooks that come now are a signal handler's.
    pub busy: u32,
    /// Top of the shadow call stack: where the current frame is also stored.
    pub top: *mut Frame,
    pub thread: *mut Thread,
    /// The table of contexts; null while this thread is not recorded.
    pub contexts: *mut Context,
    /// In a sampled process: accesses until this thread begins a burst.
    pub unseen: i64,
    /// From the owner field of half a word to the hint for this thread ([`crate::location::hint`]); half of that where bytes
    /// are described.
    pub hint_at: usize,
}

impl Tls {
    #[inline(always)]
    pub fn id(&self) -> u32 {
        self.owner_pair as u32
    }

    #[inline(always)]
    pub fn stamp(&self) -> u16 {
        self.stamp_pair as u16
    }
}

const TLS_BYTES: usize = 128;
const _: () = assert!(size_of::<Tls>() == TLS_BYTES);

core::arch::global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".hidden unsnarl_tls",
    ".globl unsnarl_tls",
    ".type unsnarl_tls, @object",
    ".size unsnarl_tls, {bytes}",
    ".balign 64",
    "unsnarl_tls:",
    ".zero {bytes}",
    ".text",
    bytes = const TLS_BYTES,
);

/// This thread's block.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn current() -> *mut Tls {
    let block: *mut Tls;
    // SAFETY: reads the thread pointer and a link-time constant.
    unsafe {
        core::arch::asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + unsnarl_tls@GOTTPOFF]",
            out(reg) block,
            options(pure, readonly, nostack),
        );
    }
    block
}

/// This thread's block.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn current() -> *mut Tls {
    let block: *mut Tls;
    // SAFETY: reads the thread pointer and a link-time constant.
    unsafe {
        core::arch::asm!(
            "mrs {0}, tpidr_el0",
            "adrp {1}, :gottprel:unsnarl_tls",
            "ldr {1}, [{1}, :gottprel_lo12:unsnarl_tls]",
            "add {0}, {0}, {1}",
            out(reg) block,
            out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    block
}
