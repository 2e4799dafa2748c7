//! Runs a command once, to its end or ours.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use regex::bytes::Regex;

use crate::error::{Error, Result};
use crate::orphans;
use crate::output::Output;
use crate::pace::{Advance, Pace};
use crate::standstill::Standstill;

/// How long a process that was asked to end by SIGTERM gets before SIGKILL.
pub const GRACE: Duration = Duration::from_secs(2);

/// How often a waiting run looks whether it was cancelled.
const CANCEL_CHECK: Duration = Duration::from_millis(50);

/// How often somebody looks whether a run stands still that is young, or seems to.
const NEXT_LOOK: Duration = Duration::from_millis(10);

/// A pipe holds at most this much for a user without privileges. What is read beyond it after the process
/// ended comes from somebody else who is still writing.
const PIPE_LIMIT: u64 = 1 << 20;

/// A command to run once.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments, without the program's name.
    pub arguments: &'a [OsString],
    /// What it reads from its standard input; nothing if there is none.
    pub input: Option<&'a Path>,
    /// Variables set on top of our own environment.
    pub environment: &'a [(OsString, OsString)],
    /// When to end it.
    pub timeout: Option<Duration>,
    /// Looked for in every line of its outputs.
    pub pattern: Option<&'a Regex>,
    /// Whether its stack, heap and libraries are at the same addresses every time.
    pub fixed_addresses: bool,
    /// Where it leaves its recordings, if it is to be ended as if its time were up once it stands still for good.
    pub recordings: Option<&'a Path>,
    /// Of a controlled run with recordings: when it is too slow to wait for.
    pub pace: Option<Pace>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, which did not come from us.
    Signaled(i32),
    /// We ended it since its time was up, or was never going to be enough.
    TimedOut,
    /// We ended it since control made it too slow: it was still on its way.
    TooSlow,
    /// We ended it since nobody wants to know any more.
    Cancelled,
}

/// A process that ended.
#[derive(Debug)]
pub struct Finished {
    /// How.
    pub end: End,
    /// Wall-clock time from start to end.
    pub duration: Duration,
    /// Its standard output.
    pub stdout: Output,
    /// Its standard error.
    pub stderr: Output,
}

/// Runs a command in a process group of its own. Returns when its first
/// process has ended; whatever that one left behind, in the group or outside, is ended too.
///
/// Setting `cancelled` ends the run at once.
pub fn run(launch: &Launch<'_>, cancelled: &AtomicBool) -> Result<Finished> {
    let started = Instant::now();
    let input = match launch.input {
        Some(path) => File::open(path).map_err(Error::reading("open", path))?.into(),
        None => Stdio::null(),
    };
    let mut command = Command::new(launch.program);
    command
        .args(launch.arguments)
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let start_error = |source| Error::Start { program: PathBuf::from(launch.program), source };
    let fixed = launch.fixed_addresses.then(FixedAddresses::begin);
    let (mut child, family) = orphans::start_family(&mut command).map_err(start_error)?;
    drop(fixed);
    let watched = Watched::new(&mut child, launch.pattern).and_then(|mut watched| {
        let end = watched.wait(launch, started, cancelled, &family)?;
        Ok((end, watched))
    });
    let duration = started.elapsed();
    // Also on the way out of an error, nothing of the run may go on.
    let status = family.end().map_err(start_error)?;
    let (cut_short, mut watched) = watched.map_err(start_error)?;
    watched.drain_rest();
    let end = cut_short.unwrap_or_else(|| match status.signal() {
        Some(signal) => End::Signaled(signal),
        None => End::Exited(status.code().unwrap_or_default()),
    });
    Ok(Finished { end, duration, stdout: watched.stdout.finish(), stderr: watched.stderr.finish() })
}

/// While it lasts, programs that this thread starts have fixed addresses: they inherit that from it. To say so between fork and exec instead
/// would cost a copy of our own address space for each run. Where the system refuses, addresses differ from run to run, as they usually do.
struct FixedAddresses {
    /// How it was before.
    before: libc::c_int,
}

impl FixedAddresses {
    fn begin() -> FixedAddresses {
        // SAFETY: plain integers.
        let before = unsafe { libc::personality(0xffff_ffff) };
        FixedAddresses::set(before | libc::ADDR_NO_RANDOMIZE);
        FixedAddresses { before }
    }

    fn set(personality: libc::c_int) {
        // SAFETY: plain integers.
        unsafe { libc::personality(personality as libc::c_ulong) };
    }
}

impl Drop for FixedAddresses {
    fn drop(&mut self) {
        FixedAddresses::set(self.before);
    }
}

/// Ends all runs under way without waiting for them. Only for a caller who ends itself next: see
/// [`run`]'s `cancelled` for all others.
pub fn end_all() {
    orphans::end_families();
}

/// A running process and its outputs.
struct Watched<'a> {
    pidfd: OwnedFd,
    stdout: Stream<'a, ChildStdout>,
    stderr: Stream<'a, ChildStderr>,
}

impl<'a> Watched<'a> {
    fn new(child: &mut Child, pattern: Option<&'a Regex>) -> io::Result<Watched<'a>> {
        Ok(Watched {
            pidfd: open_pidfd(child.id())?,
            stdout: Stream::new(child.stdout.take(), pattern)?,
            stderr: Stream::new(child.stderr.take(), pattern)?,
        })
    }

    /// Waits for the process's end, or until it is not to go on, while keeping its pipes empty. Says in the
    /// second case why.
    fn wait(
        &mut self,
        launch: &Launch<'_>,
        started: Instant,
        cancelled: &AtomicBool,
        family: &orphans::Family,
    ) -> io::Result<Option<End>> {
        let deadline = launch.timeout.map(|timeout| started + timeout);
        let mut standstill =
            launch.recordings.map(|recordings| Standstill::new(recordings, family.group(), launch.timeout));
        let mut advance =
            launch.recordings.zip(launch.pace).map(|(recordings, pace)| Advance::new(recordings, pace));
        loop {
            if cancelled.load(Ordering::Relaxed) {
                return Ok(Some(End::Cancelled));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let is_over = left == Some(Duration::ZERO);
            let is_slow = advance
                .as_mut()
                .is_some_and(|advance| if is_over { advance.goes_on() } else { advance.is_too_slow() });
            let spins = advance.as_mut().is_some_and(Advance::spins);
            let stands_still = standstill.as_mut().is_some_and(Standstill::is_final);
            if is_over || is_slow || spins || stands_still {
                self.stop(cancelled, family)?;
                return Ok(Some(if is_slow { End::TooSlow } else { End::TimedOut }));
            }
            let looks_often = standstill.as_ref().is_some_and(|one| one.is_young() || one.is_suspected());
            let next_look = if looks_often { NEXT_LOOK } else { CANCEL_CHECK };
            if self.poll(left.unwrap_or(CANCEL_CHECK).min(CANCEL_CHECK).min(next_look))? {
                return Ok(None);
            }
        }
    }

    /// Asks the process to end, and returns when it did or will not.
    fn stop(&mut self, cancelled: &AtomicBool, family: &orphans::Family) -> io::Result<()> {
        family.signal(libc::SIGTERM);
        // One that is stopped would not get to see the request.
        family.signal(libc::SIGCONT);
        let deadline = Instant::now() + GRACE;
        while !cancelled.load(Ordering::Relaxed) && Instant::now() < deadline {
            if self.poll(CANCEL_CHECK)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sleeps until something is printed, the process ends or the time is over. True once it has ended.
    fn poll(&mut self, timeout: Duration) -> io::Result<bool> {
        let entry = |fd: RawFd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // Poll leaves out entries with a negative descriptor: the streams that are closed.
        let mut entries = [entry(self.pidfd.as_raw_fd()), entry(self.stdout.fd()), entry(self.stderr.fd())];
        // Rounded up, so that the last millisecond before a deadline is not spent spinning.
        let milliseconds = timeout.as_millis() as libc::c_int + 1;
        // SAFETY: the pointer and the length describe the array.
        let ready = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, milliseconds) };
        if ready < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) };
        }
        if entries[1].revents != 0 {
            self.stdout.read_once();
        }
        if entries[2].revents != 0 {
            self.stderr.read_once();
        }
        Ok(entries[0].revents != 0)
    }

    /// Takes what is still in the pipes, without waiting for those who might hold their other ends.
    fn drain_rest(&mut self) {
        self.stdout.drain();
        self.stderr.drain();
    }
}

/// One output while it is being read; the pipe is gone once it was closed at the other end.
struct Stream<'a, P> {
    pipe: Option<P>,
    output: Output,
    pattern: Option<&'a Regex>,
}

impl<'a, P: Read + AsRawFd> Stream<'a, P> {
    fn new(pipe: Option<P>, pattern: Option<&'a Regex>) -> io::Result<Stream<'a, P>> {
        if let Some(pipe) = &pipe {
            make_nonblocking(pipe.as_raw_fd())?;
        }
        Ok(Stream { pipe, output: Output::default(), pattern })
    }

    fn fd(&self) -> RawFd {
        self.pipe.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Reads what is there, up to one buffer. Says how much it was.
    fn read_once(&mut self) -> usize {
        let Some(pipe) = &mut self.pipe else { return 0 };
        let mut buffer = [0; 64 * 1024];
        match pipe.read(&mut buffer) {
            Ok(length) if length > 0 => {
                self.output.push(&buffer[..length], self.pattern);
                length
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
            _ => {
                self.pipe = None;
                0
            }
        }
    }

    fn drain(&mut self) {
        let mut drained = 0;
        while drained < PIPE_LIMIT {
            match self.read_once() {
                0 => return,
                length => drained += length as u64,
            }
        }
    }

    fn finish(mut self) -> Output {
        if let Some(pattern) = self.pattern {
            self.output.end_line(pattern);
        }
        self.output
    }
}

fn open_pidfd(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes plain integers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened for us, and is close-on-exec by definition.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

fn make_nonblocking(fd: RawFd) -> io::Result<()> {
    // SAFETY: fcntl on an open descriptor with integer arguments.
    let result = unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
