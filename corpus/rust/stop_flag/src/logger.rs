//! A thread that writes what others send it, until it is told to stop.

use std::sync::atomic::AtomicBool;
#[cfg(not(fixed))]
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread;

use crate::work::compute;

const FORMAT_ROUNDS: u32 = 300;

#[derive(Default)]
pub struct Log {
    pub lines: u32,
    pub digest: u32,
}

impl Log {
    fn write(&mut self, line: u32) {
        self.lines += 1;
        self.digest ^= compute(line, FORMAT_ROUNDS);
    }
}

#[cfg(not(fixed))]
pub fn keep_log(lines: Receiver<u32>, stop: &AtomicBool) -> Log {
    let mut log = Log::default();
    while !stop.load(Ordering::Acquire) {
        write_pending(&lines, &mut log);
        thread::yield_now();
    }
    write_pending(&lines, &mut log);
    hang_up(lines);
    log
}

#[cfg(fixed)]
pub fn keep_log(lines: Receiver<u32>, _stop: &AtomicBool) -> Log {
    let mut log = Log::default();
    while write_pending(&lines, &mut log) {
        thread::yield_now();
    }
    hang_up(lines);
    log
}

/// Writes all lines that are there; false when no more can come.
fn write_pending(lines: &Receiver<u32>, log: &mut Log) -> bool {
    loop {
        let received = lines.try_recv(); // truth:B1
        match received {
            Ok(line) => log.write(line),
            Err(TryRecvError::Empty) => return true,
            Err(TryRecvError::Disconnected) => return false,
        }
    }
}

#[inline(never)]
fn hang_up(lines: Receiver<u32>) {
    drop(lines); // truth:A1
}
