//! Ctrl-C.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::kit::{PATIENCE, Seen, Workplace, claims, processes_with, wait_until};

fn interrupt(child: &Child) {
    // SAFETY: kill takes plain integers; the child was not waited for yet.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) }, 0);
}

/// Starts a campaign whose run number `stall` does not end, and waits until it is there.
fn campaign_that_stalls(place: &Workplace, stall: u32, stdout: Stdio) -> Child {
    let mut command = place.unsnarl("run --jobs 1 --time 10m --timeout 10m --");
    let counter = place.path("count");
    command.arg(claims()).arg(&counter).args(["2", "exit", &stall.to_string()]);
    let child = command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the run stalls", || place.path("count.stalled").exists());
    child
}

/// Waits for the end, but not forever.
fn end(mut child: Child) -> Seen {
    let mut ended = || child.try_wait().unwrap().is_some();
    let started = Instant::now();
    while !ended() && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    if !ended() {
        child.kill().unwrap();
    }
    Seen::of("Ctrl-C", child.wait_with_output().unwrap())
}

fn stalled_runs(place: &Workplace) -> Vec<String> {
    processes_with(&format!("{} 2 exit", place.path("count").display()))
        .into_iter()
        .filter(|line| !line.contains("--time"))
        .collect()
}

#[test]
fn what_is_done_is_kept_and_reported() {
    let place = Workplace::new();
    let child = campaign_that_stalls(&place, 7, Stdio::piped());
    assert_eq!(stalled_runs(&place).len(), 1);
    interrupt(&child);
    let seen = end(child).exits(0);
    seen.says(&["6 runs", "3 passed", "3 failed", "`queue.size`"])
        .complains(&["interrupted: this is from the runs done so far"]);
    assert_eq!(place.outcomes("claims").len(), 6);
    assert_eq!(stalled_runs(&place), [""; 0]);
    assert_eq!(fs::read_dir(place.scratch()).unwrap().count(), 0, "no temporary file stays behind");
    place.call("report").exits(0).says(&["6 runs"]);
}

#[test]
fn the_exit_code_is_that_of_the_result() {
    let place = Workplace::new();
    let child = campaign_that_stalls(&place, 2, Stdio::piped());
    interrupt(&child);
    end(child).exits(10).says(&["1 run ", "No run failed"]);
}

#[test]
fn before_the_first_run_is_done_there_is_nothing_to_keep() {
    let place = Workplace::new();
    let child = campaign_that_stalls(&place, 1, Stdio::piped());
    interrupt(&child);
    let seen = end(child).exits(130);
    seen.complains(&["interrupted before the first run was done"]);
    place.call("sessions list").exits(0).says(&["no sessions"]);
}

#[test]
fn twice_ends_at_once() {
    let place = Workplace::new();
    // Standard output is a pipe without room, so that after the first Ctrl-C unsnarl is sure to be there still.
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    // SAFETY: fcntl on an open descriptor with integer arguments.
    let flags = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_GETFL) };
    // SAFETY: as above.
    unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) };
    while writer.write(&[b'.'; 4096]).is_ok() {}
    while writer.write(b".").is_ok() {}
    // SAFETY: as above.
    unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, flags) };

    let child = campaign_that_stalls(&place, 7, writer.into());
    interrupt(&child);
    wait_until("the stalled run is ended", || stalled_runs(&place).is_empty());
    interrupt(&child);
    end(child).exits(130);
    let mut printed = String::new();
    reader.read_to_string(&mut printed).unwrap();
    assert!(printed.bytes().all(|byte| byte == b'.'), "no report was wanted any more");

    assert_eq!(fs::read_dir(place.path(".unsnarl/claims/runs")).unwrap().count(), 6);
    place.call("report").exits(0).says(&["6 runs", "3 failed"]);
}
