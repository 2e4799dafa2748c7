//! The system call by which locks and conditions other than the C library's make threads wait: Rust's, parking_lot's,
//! `std::atomic::wait` and home-made ones.
//!
//! Waiting for a lock that the recorder knows is part of taking it. Any other word is a condition.

use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicU32, Ordering};

use recording::EventKind;

use crate::control::{self, Deadline, Time};
use crate::{atomic_locks, context, errno, lock_code, log, noise, sync, thread};

/// As the C library's, whatever is called, without a word on the stack: a call may return twice.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall() {
    core::arch::naked_asm!(
        "cmp rdi, {futex}",
        "je 2f",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov r10, r8",
        "mov r8, r9",
        "mov r9, [rsp + 8]",
        "syscall",
        "cmp rax, -4095",
        "jae 3f",
        "ret",
        // The caller's address goes onto the stack as one more argument, before the return address and the last
        // of the caller's own.
        "2: push [rsp]",
        "call {call}",
        "add rsp, 8",
        "ret",
        "3: mov rdi, rax",
        "jmp {fail}",
        futex = const libc::SYS_futex,
        call = sym futex,
        fail = sym fail,
    )
}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" fn futex(
    _: c_long,
    word: usize,
    operation: c_int,
    value: u32,
    timeout: usize,
    word2: usize,
    pc: usize,
    _: usize,
    value3: usize,
) -> c_long {
    around(word, operation, value, timeout as Time, pc, || {
        let result: isize;
        core::arch::asm!(
            "syscall",
            inlateout("rax") libc::SYS_futex as isize => result,
            in("rdi") word,
            in("rsi") operation as usize,
            in("rdx") value as usize,
            in("r10") timeout,
            in("r8") word2,
            in("r9") value3,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
        result
    })
}

/// As the C library's, whatever is called, without a word on the stack: a call may return twice.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall() {
    core::arch::naked_asm!(
        "cmp x0, {futex}",
        "b.eq 2f",
        "mov x8, x0",
        "mov x0, x1",
        "mov x1, x2",
        "mov x2, x3",
        "mov x3, x4",
        "mov x4, x5",
        "mov x5, x6",
        "svc 0",
        "cmn x0, 4095",
        "b.cs 3f",
        "ret",
        "2: mov x7, x30",
        "b {call}",
        "3: b {fail}",
        futex = const libc::SYS_futex,
        call = sym futex,
        fail = sym fail,
    )
}

#[cfg(target_arch = "aarch64")]
unsafe extern "C" fn futex(
    _: c_long,
    word: usize,
    operation: c_int,
    value: u32,
    timeout: usize,
    word2: usize,
    value3: usize,
    pc: usize,
) -> c_long {
    around(word, operation, value, timeout as Time, pc, || {
        let result: isize;
        core::arch::asm!(
            "svc 0",
            in("x8") libc::SYS_futex,
            inlateout("x0") word as isize => result,
            in("x1") operation as usize,
            in("x2") value as usize,
            in("x3") timeout,
            in("x4") word2,
            in("x5") value3,
            options(nostack),
        );
        result
    })
}

unsafe extern "C" fn fail(negative: isize) -> c_long {
    *libc::__errno_location() = -negative as i32;
    -1
}

unsafe fn around(
    word: usize,
    operation: c_int,
    value: u32,
    timeout: Time,
    pc: usize,
    call: impl FnOnce() -> isize,
) -> c_long {
    let result = match operation & libc::FUTEX_CMD_MASK {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            let call = |expected| controlled_wait(word, operation, expected, timeout).unwrap_or_else(call);
            wait(word, value, pc, call)
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            wake(word, value, pc);
            let woken = control::futex_wake(word, value);
            // Those that nobody controls wait in the kernel.
            if woken < value { woken as isize + call().max(0) } else { woken as isize }
        }
        _ => call(),
    };
    if (-4095..0).contains(&result) { fail(result) } else { result as c_long }
}

/// In a controlled run, waiting for words that other processes cannot wake. Else none.
unsafe fn controlled_wait(word: usize, operation: c_int, expected: u32, time: Time) -> Option<isize> {
    if !control::is_on() || operation & libc::FUTEX_PRIVATE_FLAG == 0 {
        return None;
    }
    let deadline = match operation & libc::FUTEX_CMD_MASK {
        libc::FUTEX_WAIT => Deadline::after(time),
        _ if operation & libc::FUTEX_CLOCK_REALTIME != 0 => Deadline::at(libc::CLOCK_REALTIME, time),
        _ => Deadline::at(libc::CLOCK_MONOTONIC, time),
    };
    control::futex_wait(word, expected, deadline).map(|error| -(error as isize))
}

/// `call` waits while the word has the value that is passed to it.
unsafe fn wait(word: usize, mut expected: u32, pc: usize, call: impl FnOnce(u32) -> isize) -> isize {
    let Some(thread) = thread::enter() else { return call(expected) };
    let kept = errno::keep();
    if thread.awaited.is_waited_for_on(word) {
        // It has been noted already what the thread waits for.
        noise::at_sync(thread);
        control::at_sync(thread, word, 0, 0);
        thread::leave(thread);
        drop(kept);
        return call(expected);
    }
    if !thread.awaited.after_condition {
        atomic_locks::settle(thread);
    }
    let leaf = context::leaf(thread.tls, pc);
    let condition = |thread: &mut thread::Thread, kind| {
        if !log::over_budget() {
            log::emit_sync(thread, kind, leaf, 0, thread.held.set, word as u64);
        }
    };
    condition(thread, EventKind::WaitBegin);
    let mutex = atomic_locks::give_back_unseen(thread);
    // If it was seen, the thread awaits it again.
    let given_back = mutex.unwrap_or(thread.awaited);
    noise::at_sync(thread);
    control::at_sync(thread, word, leaf, pc);
    // Where nobody has needed the mutex meanwhile, what was done at that point may as well have been done before the
    // condition variable looked at its word, which it does unseen, with the mutex in hand: then a signal was missed.
    if control::is_on() && atomic_locks::is_as_left(thread, &given_back) && word_now(word) != expected {
        expected = word_now(word);
        condition(thread, EventKind::WaitBegin);
    }
    sync::note_wait(thread, EventKind::WaitBegin, word as u64, leaf);
    thread::leave(thread);
    drop(kept);
    let result = call(expected);
    if let Some(thread) = thread::enter() {
        sync::end_wait(thread);
        if let Some(mutex) = mutex {
            thread.awaited = mutex;
        }
        condition(thread, EventKind::WaitEnd);
        thread::leave(thread);
    }
    result
}

unsafe fn word_now(word: usize) -> u32 {
    AtomicU32::from_ptr(word as *mut u32).load(Ordering::Relaxed)
}

unsafe fn wake(word: usize, count: u32, pc: usize) {
    let Some(thread) = thread::enter() else { return };
    let _errno = errno::keep();
    // Whoever gives a lock back wakes the next in line.
    if !sync::is_part_of_lock(word as u64) && !lock_code::gives_back(thread, pc) {
        let leaf = context::leaf(thread.tls, pc);
        noise::at_sync(thread);
        control::at_sync(thread, word, 0, pc);
        if !log::over_budget() {
            let kind = if count == 1 { EventKind::Signal } else { EventKind::Broadcast };
            log::emit_sync(thread, kind, leaf, 0, thread.held.set, word as u64);
        }
    }
    thread::leave(thread);
}
