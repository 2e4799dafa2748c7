//! Do all threads of a run wait for one another, as far as the kernel can tell?
//!
//! A thread that waits at a futex without a time limit (or with one after the run's own end) goes on only when another thread wakes it, and one that waits for a
//! child only when the child ends. If all threads of all processes of a run wait so, nobody is left to wake them, and
//! nobody needs to wait for a time-out to know that the run hangs. Signals could still wake them: what has a timer, or a
//! handler for the signals of timers, is never said to wait for good. Processes that have left the run's group are not looked
//! at: these could wake others through shared memory only.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::{fs, iter};

use libc::{SIGALRM, SIGPROF, SIGVTALRM, c_long, pid_t};

use crate::orphans;

/// All threads of the processes in a group and how often each has given up the processor, if all of them wait for one
/// another, until `end` at least. Equal answers at two times: nobody has run in between.
pub(crate) fn all_wait(group: pid_t, end: u64) -> Option<Vec<(pid_t, u64)>> {
    let mut threads = Vec::new();
    let mut any_at_futex = false;
    for pid in iter::once(group).chain(others(group)) {
        let process = Path::new("/proc").join(pid.to_string());
        if has_timers(pid)? {
            return None;
        }
        for thread in fs::read_dir(process.join("task")).ok()? {
            let thread = thread.ok()?;
            match Wait::of(&fs::read_to_string(thread.path().join("syscall")).ok()?)? {
                Wait::Futex => any_at_futex = true,
                Wait::Until(limit) if limit.read(&process)? > end => any_at_futex = true,
                Wait::Until(_) | Wait::AWhile => return None,
                Wait::Child => {}
            }
            let status = fs::read_to_string(thread.path().join("status")).ok()?;
            threads.push((thread.file_name().to_str()?.parse().ok()?, switches(&status)?));
        }
    }
    threads.sort_unstable();
    any_at_futex.then_some(threads)
}

/// How many threads the processes of a group have, if all of them sleep until another one wakes them, be it for a while only.
pub(crate) fn sleeping_threads(group: pid_t) -> Option<usize> {
    let mut threads = 0;
    for pid in iter::once(group).chain(others(group)) {
        for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
            Wait::of(&fs::read_to_string(thread.ok()?.path().join("syscall")).ok()?)?;
            threads += 1;
        }
    }
    Some(threads)
}

/// Whether timers may interrupt a process. None if nothing is known about them.
pub(crate) fn has_timers(pid: pid_t) -> Option<bool> {
    let process = Path::new("/proc").join(pid.to_string());
    let timers = fs::read(process.join("timers")).ok()?;
    let status = fs::read_to_string(process.join("status")).ok()?;
    Some(!timers.is_empty() || catches_timers(&status)?)
}

/// A clock of the system's, in nanoseconds.
pub(crate) fn now(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the structure.
    unsafe { libc::clock_gettime(clock, &mut time) };
    nanoseconds(time.tv_sec, time.tv_nsec)
}

fn nanoseconds(seconds: i64, rest: i64) -> u64 {
    (seconds.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(rest.max(0) as u64)
}

/// The living processes of a group but its leader. Looked for only once the leader is known to wait.
fn others(group: pid_t) -> impl Iterator<Item = pid_t> {
    let processes = iter::once_with(|| fs::read_dir("/proc")).flatten().flatten().flatten();
    processes
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .filter(move |&pid| pid != group && orphans::is_alive_in(pid, group))
}

/// What a thread waits for.
#[derive(PartialEq, Debug)]
enum Wait {
    /// With no end in sight.
    Futex,
    /// The same, up to a time.
    Until(Limit),
    /// The same, for a span of time from nobody knows when.
    AWhile,
    Child,
}

/// When a wait ends by itself.
#[derive(PartialEq, Debug)]
struct Limit {
    /// Where the time is in the process's memory.
    address: u64,
    clock: libc::clockid_t,
}

impl Limit {
    /// By the system's monotonic clock.
    fn read(&self, process: &Path) -> Option<u64> {
        let mut time = [[0; 8]; 2];
        let memory = File::open(process.join("mem")).ok()?;
        memory.read_exact_at(time.as_flattened_mut(), self.address).ok()?;
        let [seconds, rest] = time.map(i64::from_ne_bytes);
        let left = nanoseconds(seconds, rest).saturating_sub(now(self.clock));
        Some(now(libc::CLOCK_MONOTONIC).saturating_add(left))
    }
}

impl Wait {
    /// From the kernel's line about a thread's system call: its number and arguments.
    fn of(line: &str) -> Option<Wait> {
        const OPERATION: usize = 1;
        const TIME_LIMIT: usize = 3;
        // `running` for one that runs, or is about to.
        let mut words = line.split_whitespace();
        let call: c_long = words.next()?.parse().ok()?;
        let arguments: Vec<u64> =
            words.map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
        match call {
            libc::SYS_futex => {
                let operation = *arguments.get(OPERATION)? as libc::c_int;
                let address = *arguments.get(TIME_LIMIT)?;
                let by_date = operation & libc::FUTEX_CLOCK_REALTIME != 0;
                let clock = if by_date { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
                match operation & libc::FUTEX_CMD_MASK {
                    libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET | libc::FUTEX_LOCK_PI if address == 0 => {
                        Some(Wait::Futex)
                    }
                    libc::FUTEX_WAIT_BITSET => Some(Wait::Until(Limit { address, clock })),
                    libc::FUTEX_WAIT => Some(Wait::AWhile),
                    _ => None,
                }
            }
            libc::SYS_wait4 | libc::SYS_waitid => Some(Wait::Child),
            _ => None,
        }
    }
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

fn catches_timers(status: &str) -> Option<bool> {
    let caught = u64::from_str_radix(field(status, "SigCgt")?, 16).ok()?;
    Some([SIGALRM, SIGVTALRM, SIGPROF].iter().any(|signal| caught >> (signal - 1) & 1 != 0))
}

fn switches(status: &str) -> Option<u64> {
    let count = |name| field(status, name)?.parse::<u64>().ok();
    Some(count("voluntary_ctxt_switches")? + count("nonvoluntary_ctxt_switches")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(call: c_long, arguments: [u64; 6]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|argument| format!("{argument:#x}")).collect();
        format!("{call} {} 0x7ffd0 0x7f00\n", arguments.join(" "))
    }

    #[test]
    fn only_what_has_no_time_limit_waits_for_good() {
        const PRIVATE: u64 = libc::FUTEX_PRIVATE_FLAG as u64;
        let wait = PRIVATE | libc::FUTEX_WAIT as u64;
        assert_eq!(Wait::of(&line(libc::SYS_futex, [4096, wait, 2, 0, 0, 0])), Some(Wait::Futex));
        assert_eq!(Wait::of(&line(libc::SYS_futex, [4096, wait, 2, 8192, 0, 0])), Some(Wait::AWhile));
        let until = PRIVATE | libc::FUTEX_WAIT_BITSET as u64;
        let limit = |clock| Some(Wait::Until(Limit { address: 8192, clock }));
        let by_date = until | libc::FUTEX_CLOCK_REALTIME as u64;
        assert_eq!(Wait::of(&line(libc::SYS_futex, [4096, until, 2, 0, 0, 0])), Some(Wait::Futex));
        assert_eq!(
            Wait::of(&line(libc::SYS_futex, [4096, until, 2, 8192, 0, 0])),
            limit(libc::CLOCK_MONOTONIC)
        );
        assert_eq!(
            Wait::of(&line(libc::SYS_futex, [4096, by_date, 2, 8192, 0, 0])),
            limit(libc::CLOCK_REALTIME)
        );
        let wake = PRIVATE | libc::FUTEX_WAKE as u64;
        assert_eq!(Wait::of(&line(libc::SYS_futex, [4096, wake, 1, 0, 0, 0])), None);
        assert_eq!(Wait::of(&line(libc::SYS_wait4, [7, 0, 0, 0, 0, 0])), Some(Wait::Child));
        assert_eq!(Wait::of(&line(libc::SYS_read, [0, 4096, 1, 0, 0, 0])), None);
        assert_eq!(Wait::of("running\n"), None);
    }

    #[test]
    fn handlers_of_timers_are_seen() {
        let status = |caught: u64| format!("Name:\tx\nSigCgt:\t{caught:016x}\n");
        assert_eq!(catches_timers(&status(1 << (SIGALRM - 1))), Some(true));
        assert_eq!(catches_timers(&status(1 << (libc::SIGSEGV - 1))), Some(false));
        assert_eq!(catches_timers("Name:\tx\n"), None);
    }

    #[test]
    fn who_runs_does_not_wait() {
        // SAFETY: getpgrp has no preconditions.
        let group = unsafe { libc::getpgrp() };
        assert_eq!(all_wait(group, u64::MAX), None);
        assert_eq!(sleeping_threads(group), None);
    }

    #[test]
    fn who_sleeps_until_another_wakes_it_does_so_for_a_while_too() {
        // SAFETY: in the child there are system calls alone, which read what is on its stack.
        let child = unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::setpgid(0, 0);
                let (word, time) = (0u32, libc::timespec { tv_sec: 1000, tv_nsec: 0 });
                libc::syscall(libc::SYS_futex, &raw const word, libc::FUTEX_WAIT, 0, &raw const time);
                libc::_exit(0);
            }
            child
        };
        let begun = std::time::Instant::now();
        while sleeping_threads(child) != Some(1) && begun.elapsed().as_secs() < 60 {
            std::thread::yield_now();
        }
        let seen = (sleeping_threads(child), all_wait(child, u64::MAX));
        // SAFETY: it is a child of ours that nobody has waited for.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        assert_eq!(seen, (Some(1), None));
    }

    #[test]
    fn times_are_read_from_memory() {
        let process = Path::new("/proc/self");
        for clock in [libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME] {
            const LEFT: u64 = 100_000_000_000;
            let end = now(clock) + LEFT;
            let time = [(end / 1_000_000_000) as i64, (end % 1_000_000_000) as i64];
            let read = Limit { address: time.as_ptr() as u64, clock }.read(process).unwrap();
            let left = read.saturating_sub(now(libc::CLOCK_MONOTONIC));
            assert!(left <= LEFT && left > LEFT / 2, "{left}");
        }
        assert_eq!(Limit { address: 8, clock: libc::CLOCK_MONOTONIC }.read(process), None);
    }
}
