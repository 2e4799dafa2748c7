//! A probe takes some samples and puts them into a ring, which a display looks into now and then. A sample counts
//! as being in the ring before it is there: who looks at that moment takes what was in its place.

#[path = "../../../background.rs"]
mod background;
mod ring;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use ring::Ring;
use work::compute;

const SAMPLES: u32 = 6;
const LOOKS: u32 = 10;
const PROBE_ROUNDS: u32 = 10_000;
const DRAW_ROUNDS: u32 = 6000;

fn probe(ring: &Ring) {
    for number in 0..SAMPLES {
        background::step(number);
        ring.put(compute(number, PROBE_ROUNDS));
    }
}

fn take_all(ring: &Ring) -> Vec<u32> {
    let mut samples = Vec::new();
    while let Some(sample) = ring.take() {
        samples.push(sample);
    }
    samples
}

fn display(ring: &Ring) -> (Vec<u32>, u32) {
    let (mut samples, mut digest) = (Vec::new(), 0);
    for number in 0..LOOKS {
        background::step(number);
        digest ^= compute(number, DRAW_ROUNDS);
        samples.extend(take_all(ring));
    }
    (samples, digest)
}

fn main() -> ExitCode {
    let ring = Ring::new();
    let (mut samples, digest) = thread::scope(|scope| {
        let probing = scope.spawn(|| probe(&ring));
        let displaying = scope.spawn(|| display(&ring));
        probing.join().unwrap();
        displaying.join().unwrap()
    });
    samples.extend(take_all(&ring));
    // Those that were put in are odd.
    let wrong = samples.iter().filter(|&&sample| sample == 0).count();
    println!("{} samples, {wrong} of them wrong, digest {digest:08x}", samples.len());
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
