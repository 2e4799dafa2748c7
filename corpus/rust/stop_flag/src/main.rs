//! A job sends its log lines over a channel, and main stops the logger once the job's progress shows the last step. But the
//! job has one more line to send then, its summary: the flag overtakes the channel, and the logger is gone before the
//! summary is sent.

#[path = "../../../background.rs"]
mod background;
mod logger;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use work::compute;

const STEPS: u32 = 40;
const STEP_ROUNDS: u32 = 20000;
const SUMMARY_ROUNDS: u32 = 80000;
const PROGRESS_INTERVAL: Duration = Duration::from_micros(250);

struct Job {
    log: Sender<u32>,
    result: u32,
    lost_lines: u32,
}

impl Job {
    #[inline(never)]
    fn report(&mut self, line: u32) {
        let sent = self.log.send(line); // truth:A2
        if sent.is_err() {
            self.lost_lines += 1;
        }
    }

    fn step(&mut self, step: u32, progress: &AtomicU32) {
        background::step(step);
        self.result ^= compute(step, STEP_ROUNDS);
        self.report(step);
        progress.store(step + 1, Ordering::Release);
    }

    fn run(mut self, progress: &AtomicU32) -> Job {
        for step in 0..STEPS {
            self.step(step, progress);
        }
        self.report(compute(self.result, SUMMARY_ROUNDS));
        self
    }
}

fn main() -> ExitCode {
    let (stop, progress) = (AtomicBool::new(false), AtomicU32::new(0));
    let (log, lines) = mpsc::channel();
    let job = Job { log, result: 0, lost_lines: 0 };
    let (lost_lines, written) = thread::scope(|scope| {
        let logger = scope.spawn(|| logger::keep_log(lines, &stop));
        let job = scope.spawn(|| job.run(&progress));
        while progress.load(Ordering::Acquire) < STEPS {
            thread::sleep(PROGRESS_INTERVAL);
        }
        stop.store(true, Ordering::Release);
        let Job { lost_lines, .. } = job.join().unwrap();
        (lost_lines, logger.join().unwrap())
    });
    println!("{} lines written, {lost_lines} lost, digest {:08x}", written.lines, written.digest);
    if written.lines == STEPS + 1 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
