//! Two reporters send one line each to a collector that goes away at the same time, round by round. The first to send makes the block that
//! lines are kept in. If the collector goes away when the block is made and not stored yet, though the other line is in it, it waits for the
//! block and frees it, but leaves it in its place, where it is freed again.

use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

const ROUNDS: usize = 8;
const REPORTERS: usize = 2;

/// A line that counts when it is dropped: each must be, once, wherever it is then.
struct Line<'a>(&'a AtomicUsize);

impl Drop for Line<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn report<'a>(lines: Sender<Line<'a>>, dropped: &'a AtomicUsize, begin: &Barrier) {
    let line = Line(dropped);
    begin.wait();
    // Nobody may want it any more.
    drop(lines.send(line));
}

fn close(lines: Receiver<Line<'_>>, begin: &Barrier) {
    begin.wait();
    drop(lines);
}

/// How many lines were dropped.
fn round() -> usize {
    let dropped = AtomicUsize::new(0);
    let begin = Barrier::new(REPORTERS + 1);
    thread::scope(|scope| {
        let (sender, receiver) = unbounded();
        for _ in 0..REPORTERS {
            let sender = sender.clone();
            scope.spawn(|| report(sender, &dropped, &begin));
        }
        drop(sender);
        scope.spawn(|| close(receiver, &begin));
    });
    dropped.load(Ordering::Relaxed)
}

fn main() -> ExitCode {
    let lines: usize = (0..ROUNDS).map(|_| round()).sum();
    println!("{lines} lines were dropped");
    if lines == ROUNDS * REPORTERS { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
