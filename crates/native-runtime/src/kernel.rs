//! System calls, not through the C library: the recorder stands in front of its functions.

/// Asks the kernel; errors are negative.
#[cfg(target_arch = "x86_64")]
pub unsafe fn call(number: i64, arguments: [usize; 4]) -> isize {
    let [a, b, c, d] = arguments;
    let result;
    core::arch::asm!("syscall", inlateout("rax") number as isize => result, in("rdi") a, in("rsi") b, in("rdx") c,
        in("r10") d, out("rcx") _, out("r11") _, options(nostack));
    result
}

/// Asks the kernel; errors are negative.
#[cfg(target_arch = "aarch64")]
pub unsafe fn call(number: i64, arguments: [usize; 4]) -> isize {
    let [a, b, c, d] = arguments;
    let result;
    core::arch::asm!("svc 0", in("x8") number, inlateout("x0") a as isize => result, in("x1") b, in("x2") c,
        in("x3") d, options(nostack));
    result
}

/// Lets another thread run, if one wants to.
pub unsafe fn pass() {
    call(libc::SYS_sched_yield, [0; 4]);
}

/// The calling thread's id.
pub fn thread_id() -> u32 {
    // SAFETY: no arguments.
    unsafe { call(libc::SYS_gettid, [0; 4]) as u32 }
}

/// Waits until the word is woken or differs from `expected`, at most so long. True if the time is over.
pub unsafe fn wait_on(word: *const u32, expected: u32, time: &libc::timespec) -> bool {
    const WAIT: usize = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
    let time = core::ptr::from_ref(time) as usize;
    call(libc::SYS_futex, [word as usize, WAIT, expected as usize, time]) == -(libc::ETIMEDOUT as isize)
}

/// Wakes so many threads that wait on the word, and says how many there were.
pub unsafe fn wake(word: *const u32, count: u32) -> usize {
    const WAKE: usize = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
    call(libc::SYS_futex, [word as usize, WAKE, count as usize, 0]).max(0) as usize
}

/// Sleeps so many nanoseconds, or until a signal comes.
pub unsafe fn sleep(nanoseconds: u64) {
    let time = span(nanoseconds);
    call(libc::SYS_nanosleep, [&raw const time as usize, 0, 0, 0]);
}

pub fn span(nanoseconds: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as i64,
        tv_nsec: (nanoseconds % 1_000_000_000) as i64,
    }
}
