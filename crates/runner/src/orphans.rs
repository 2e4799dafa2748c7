//! Ends what a run leaves behind.
//!
//! Each run's first process leads a process group, which most descendants stay in. Those that leave it
//! (`setsid`, a daemon) lose their parent sooner or later and are then adopted by us, since we are a
//! *subreaper*. Of the adopted ones, a run's own are known by a mark in their environment, which all
//! descendants inherit. One that left the group *and* cleared its environment is ended when no other run
//! could own it.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{self, Child, Command, ExitStatus};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use libc::pid_t;

/// The environment variable that carries the mark.
const MARK: &str = "UNSNARL_FAMILY";

/// A process's last thread tells of its end before it has had the kernel forget what others had looked at of it in `/proc`. Whoever waits for
/// the process before that is done spins until it is, for milliseconds if that is where the other one would have run.
const FORGETTING: Duration = Duration::from_micros(100);

/// First processes of the runs under way. Locked while one is started and while orphans are looked for, so
/// that a process which ends at once is not taken for an orphan.
static LEADERS: Mutex<Vec<pid_t>> = Mutex::new(Vec::new());

fn leaders() -> MutexGuard<'static, Vec<pid_t>> {
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The processes of one run.
pub(crate) struct Family {
    leader: pid_t,
    mark: String,
}

/// Starts a command as the first of a family. It must lead a process group of its own, and is to be waited
/// for by nothing but [`Family::end`].
pub(crate) fn start_family(command: &mut Command) -> io::Result<(Child, Family)> {
    static ADOPT: Once = Once::new();
    // SAFETY: this prctl takes plain integers. Kernels without it leave orphans to init.
    ADOPT.call_once(|| unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    });
    static STARTED: AtomicU64 = AtomicU64::new(0);
    // Of the same length each time: the environment lies on the stack, whose addresses must not depend on it.
    let mark = format!("{}.{:08}", process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
    command.env(MARK, &mark);
    let mut leaders = leaders();
    let child = command.spawn()?;
    let leader = child.id() as pid_t;
    leaders.push(leader);
    Ok((child, Family { leader, mark }))
}

/// Ends the process groups of all runs under way, for a caller who is about to end itself.
pub(crate) fn end_families() {
    for leader in leaders().iter() {
        // SAFETY: kill takes plain integers; leaders on the list have not been waited for yet.
        unsafe { libc::kill(-leader, libc::SIGKILL) };
    }
}

impl Family {
    /// The process group.
    pub fn group(&self) -> pid_t {
        self.leader
    }

    /// Sends a signal to the whole process group.
    pub fn signal(&self, signal: libc::c_int) {
        // The group's number cannot have become another's, since its leader is waited for only in `end`.
        // SAFETY: kill takes plain integers.
        unsafe { libc::kill(-self.leader, signal) };
    }

    /// Ends all members and says how the leader ended.
    pub fn end(self) -> io::Result<ExitStatus> {
        self.signal(libc::SIGKILL);
        thread::sleep(FORGETTING);
        // Until the lock is released, no new process can get the leader's number and be taken for it.
        let mut leaders = leaders();
        let status = wait_for(self.leader)?;
        // Even SIGKILL does not end a process that hangs in a device. Such a one is left alone after a while.
        let given_up = Instant::now() + Duration::from_secs(2);
        while self.end_orphans(&leaders) && Instant::now() < given_up {
            thread::sleep(Duration::from_micros(100));
        }
        leaders.retain(|&leader| leader != self.leader);
        Ok(status)
    }

    /// Ends adopted members of this family, those of the process group included. True if there may be more to
    /// come, since the dead hand their children on to us.
    fn end_orphans(&self, leaders: &[pid_t]) -> bool {
        let alone = leaders == [self.leader];
        let mut look_again = false;
        for pid in own_children().into_iter().filter(|pid| !leaders.contains(pid)) {
            look_again |= match Adopted::look_at(pid) {
                // The dead tell nothing about their past, but nobody else waits for them.
                Some(Adopted::Dead) => reap(pid),
                Some(Adopted::InBetween) => true,
                Some(Adopted::Alive { mark })
                    if mark.as_ref() == Some(&self.mark) || (alone && mark.is_none()) =>
                {
                    // SAFETY: kill takes plain integers; `pid` is our child and not waited for yet.
                    unsafe { libc::kill(pid, libc::SIGKILL) };
                    true
                }
                Some(Adopted::Alive { .. }) | None => false,
            };
        }
        look_again
    }
}

/// A child that was not started by [`start_family`].
enum Adopted {
    Dead,
    /// Exiting, or in the midst of an `exec`: it has no environment just now.
    InBetween,
    Alive {
        mark: Option<String>,
    },
}

impl Adopted {
    /// `None` for what is not adopted but started elsewhere in this program: such children share our process
    /// group, which no family member does.
    fn look_at(pid: pid_t) -> Option<Adopted> {
        let stat = Stat::read(pid)?;
        // SAFETY: getpgrp has no preconditions.
        if stat.group == unsafe { libc::getpgrp() } {
            return None;
        }
        if stat.is_dead {
            return Some(Adopted::Dead);
        }
        let environment = match fs::read(format!("/proc/{pid}/environ")) {
            Ok(environment) => environment,
            // Another user's, so that we could not end it either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return None,
            Err(_) => return Some(Adopted::InBetween),
        };
        let prefix = format!("{MARK}=");
        let mark = environment
            .split(|&byte| byte == 0)
            .find_map(|entry| entry.strip_prefix(prefix.as_bytes()))
            .map(|mark| String::from_utf8_lossy(mark).into_owned());
        // An environment without a mark may be one that was replaced while we read it.
        let settled = stat.environment != 0 && Stat::read(pid)?.environment == stat.environment;
        Some(if mark.is_some() || settled { Adopted::Alive { mark } } else { Adopted::InBetween })
    }
}

/// What the kernel tells about a process.
struct Stat {
    is_dead: bool,
    group: pid_t,
    /// The address of its environment; zero if it has none just now.
    environment: u64,
}

impl Stat {
    fn read(pid: pid_t) -> Option<Stat> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Fields are numbered from 1 in proc(5). The second one, a name in parentheses, may contain anything.
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Stat {
            is_dead: matches!(field(3)?, "Z" | "X"),
            group: field(5)?.parse().ok()?,
            environment: field(50)?.parse().ok()?,
        })
    }
}

/// Is this a living process of the group?
pub(crate) fn is_alive_in(pid: pid_t, group: pid_t) -> bool {
    Stat::read(pid).is_some_and(|stat| stat.group == group && !stat.is_dead)
}

/// All children of this process, whichever thread they hang on.
fn own_children() -> Vec<pid_t> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// True unless the child is still alive in some of its threads.
fn reap(pid: pid_t) -> bool {
    // SAFETY: a null status pointer is allowed.
    unsafe { libc::waitpid(pid, ptr::null_mut(), libc::WNOHANG) != 0 }
}

fn wait_for(pid: pid_t) -> io::Result<ExitStatus> {
    let mut status = 0;
    // SAFETY: the pointer is to an integer of ours.
    while unsafe { libc::waitpid(pid, &mut status, 0) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(ExitStatus::from_raw(status))
}
