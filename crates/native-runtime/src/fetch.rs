//! Asking for cache lines before they are needed, so that several come at the same time from another processor.

/// The thread is going to change what is at this address. Nothing happens if there is no memory.
#[inline(always)]
pub fn to_change<T>(address: *mut T) {
    // SAFETY: changes nothing that the program could see, and never faults.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) address, options(nostack, preserves_flags));
    }
}
