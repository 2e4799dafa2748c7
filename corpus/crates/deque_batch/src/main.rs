//! An owner does its jobs, the newest first, and a helper takes batches of the oldest ones. When few are left the owner's queue moves to a
//! smaller buffer, and new jobs are put there, where old ones were that the owner has done already. A helper in the midst of a batch
//! goes on in the old buffer: it does those once more, and nobody does the new ones.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use crossbeam_deque::{Steal, Stealer, Worker};

/// More than fit into the smallest buffer.
const FIRST: usize = 70;
const LEFT: usize = 10;
const SECOND: usize = 40;

/// How often each job was done.
type Done = [AtomicU32];

fn finish(done: &Done, job: usize) {
    done[job].fetch_add(1, Ordering::Relaxed);
}

/// Does the first jobs but for a few, and then those that came of them.
fn work(jobs: &Worker<usize>, done: &Done) {
    for _ in LEFT..FIRST {
        if let Some(job) = jobs.pop() {
            finish(done, job);
        }
    }
    for job in FIRST..FIRST + SECOND {
        jobs.push(job);
    }
    while let Some(job) = jobs.pop() {
        finish(done, job);
    }
}

fn help(jobs: &Stealer<usize>, done: &Done, stop: &AtomicBool) {
    let mine = Worker::new_lifo();
    while !stop.load(Ordering::Acquire) {
        if let Steal::Success(()) = jobs.steal_batch(&mine) {
            while let Some(job) = mine.pop() {
                finish(done, job);
            }
        }
        thread::yield_now();
    }
}

fn main() -> ExitCode {
    let done: Vec<AtomicU32> = (0..FIRST + SECOND).map(|_| AtomicU32::new(0)).collect();
    let stop = AtomicBool::new(false);
    let jobs = Worker::new_lifo();
    (0..FIRST).for_each(|job| jobs.push(job));
    let stealer = jobs.stealer();
    thread::scope(|scope| {
        scope.spawn(|| help(&stealer, &done, &stop));
        work(&jobs, &done);
        stop.store(true, Ordering::Release);
    });
    let once = done.iter().filter(|times| times.load(Ordering::Relaxed) == 1).count();
    println!("{once} of {} jobs were done once", done.len());
    if once == done.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
