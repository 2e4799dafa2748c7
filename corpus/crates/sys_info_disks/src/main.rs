//! Two threads ask for the size of the disks, each at its own time among other work. The crate notes the devices that it has
//! seen in one table for the whole process, and empties it at the end of each call: a call during another's finds
//! devices that it has not seen, and frees what the other frees as well.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;

const STEPS: u32 = 24;
const STEP_ROUNDS: u32 = 15_000;

#[inline(never)]
fn work(step: u32) -> u32 {
    (0..STEP_ROUNDS).fold(step | 1, |state, round| black_box(state.rotate_left(5) ^ round))
}

/// Works, asks at one of the steps, and says how large the disks are.
fn monitor(start: &Barrier, ask_at: u32) -> u64 {
    start.wait();
    let mut total = 0;
    for step in 0..STEPS {
        black_box(work(step));
        if step == ask_at {
            total = sys_info::disk_info().map_or(0, |disks| disks.total);
        }
    }
    total
}

fn main() -> ExitCode {
    let expected = sys_info::disk_info().map_or(0, |disks| disks.total);
    let start = Barrier::new(2);
    let (early, late) = thread::scope(|scope| {
        let early = scope.spawn(|| monitor(&start, STEPS / 3));
        let late = scope.spawn(|| monitor(&start, 2 * STEPS / 3));
        (early.join().unwrap(), late.join().unwrap())
    });
    println!("{early} and {late} of {expected} kilobytes");
    if expected == 0 {
        // Without a disk there is no table: a machine like that has nothing to show.
        return ExitCode::from(2);
    }
    if early == expected && late == expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
