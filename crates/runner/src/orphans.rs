//! Ends what a run leaves behind.
//!
//! Each run's first process leads a process group, which most descendants stay in. Those that leave it
//! (`setsid`, a daemon) lose their parent sooner or later and are then adopted by us, since we are a
//! *subreaper*. Of the adopted ones, a run's own are known by a mark in their environment, which all
//! descendants inherit. One that left the group *and* cleared its environment is ended when no other run
//! could own it.

use std::fs;
use std::io;
use std::mem;
use std::process::{self, Child, Command};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The environment variable that carries the mark.
const MARK: &str = "UNSNARL_FAMILY";

/// First processes of the runs under way. Locked while one is started and while orphans are looked for, so
/// that a process which ends at once is not taken for an orphan.
static LEADERS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn leaders() -> MutexGuard<'static, Vec<u32>> {
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The processes of one run.
pub(crate) struct Family {
    leader: u32,
    mark: String,
}

/// Starts a command as the first of a family. It must lead a process group of its own.
pub(crate) fn start_family(command: &mut Command) -> io::Result<(Child, Family)> {
    static ADOPT: Once = Once::new();
    // SAFETY: this prctl takes plain integers. Kernels without it leave orphans to init.
    ADOPT.call_once(|| unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    });
    static STARTED: AtomicU64 = AtomicU64::new(0);
    let mark = format!("{}.{}", process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
    command.env(MARK, &mark);
    let mut leaders = leaders();
    let child = command.spawn()?;
    let leader = child.id();
    leaders.push(leader);
    Ok((child, Family { leader, mark }))
}

impl Family {
    /// Sends a signal to the whole process group. The leader must not have been waited for yet, since its
    /// id could be another's afterwards.
    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: kill takes plain integers.
        unsafe { libc::kill(-(self.leader as libc::pid_t), signal) };
    }

    /// Ends all members. The leader is left to be waited for by its owner.
    pub fn end(self) {
        self.signal(libc::SIGKILL);
        await_death(self.leader);
        // Ending a process can make orphans of its children, so look until there are none. One that even
        // SIGKILL does not end (it hangs in a device) is left alone after a while.
        let given_up = Instant::now() + Duration::from_secs(2);
        while self.end_orphans() > 0 && Instant::now() < given_up {
            thread::sleep(Duration::from_micros(200));
        }
        leaders().retain(|&leader| leader != self.leader);
    }

    /// Ends adopted members of this family; returns how many there were, dead ones included.
    fn end_orphans(&self) -> usize {
        let leaders = leaders();
        let alone = leaders.len() == 1;
        let mut found = 0;
        for pid in own_children().into_iter().filter(|pid| !leaders.contains(pid)) {
            match Adopted::look_at(pid) {
                // A zombie tells nothing about its past, but nobody else waits for it either.
                Some(Adopted::Dead) => reap(pid),
                Some(Adopted::Alive { mark })
                    if mark.as_ref() == Some(&self.mark) || (alone && mark.is_none()) =>
                {
                    // SAFETY: kill takes plain integers; `pid` is our child and not waited for yet.
                    unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
                }
                _ => continue,
            }
            found += 1;
        }
        found
    }
}

/// A child that was not started by [`start_family`].
enum Adopted {
    Dead,
    Alive { mark: Option<String> },
}

impl Adopted {
    /// `None` for what is not adopted but started elsewhere in this program: such children share our process
    /// group, which no family member does.
    fn look_at(pid: u32) -> Option<Adopted> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may contain anything; the fields after it are: state, parent, group.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, group) = (fields.next()?, fields.nth(1)?);
        // SAFETY: getpgrp has no preconditions.
        if group.parse() == Ok(unsafe { libc::getpgrp() }) {
            return None;
        }
        if matches!(state, "Z" | "X") {
            return Some(Adopted::Dead);
        }
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let prefix = format!("{MARK}=");
        let mark = environment
            .split(|&byte| byte == 0)
            .find_map(|entry| entry.strip_prefix(prefix.as_bytes()))
            .map(|mark| String::from_utf8_lossy(mark).into_owned());
        Some(Adopted::Alive { mark })
    }
}

/// All children of this process, whichever thread they hang on.
fn own_children() -> Vec<u32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

fn reap(pid: u32) {
    // SAFETY: a null status pointer is allowed.
    unsafe { libc::waitpid(pid as libc::pid_t, ptr::null_mut(), libc::WNOHANG) };
}

/// Returns once the process is dead, and so has handed its children on to us. It can still be waited for.
fn await_death(pid: u32) {
    // SAFETY: an all-zero siginfo_t is valid, and the kernel may write to it.
    unsafe {
        let mut info: libc::siginfo_t = mem::zeroed();
        while libc::waitid(libc::P_PID, pid, &mut info, libc::WEXITED | libc::WNOWAIT) != 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}
