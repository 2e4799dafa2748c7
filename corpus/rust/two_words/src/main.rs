//! A router counts the bytes of its links, from the first to the last, while a report asks for the counts, from the last to
//! the first. A count is two words; one that overflows from the low to the high word while it is read is off by four billion.

#[path = "../../../background.rs"]
mod background;
mod meter;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use meter::Meter;
use work::compute;

const LINKS: u32 = 64;
const PACKET_ROUNDS: u32 = 3500;
const REPORT_ROUNDS: u32 = 3000;
const BEFORE: u32 = u32::MAX - 99;
const PACKET: u32 = 1500;

fn forward_all(links: &[Meter]) -> u32 {
    let mut digest = 0;
    for (link, number) in links.iter().zip(0..) {
        background::step(number);
        digest ^= compute(number, PACKET_ROUNDS);
        link.add(PACKET);
    }
    digest
}

/// How many counts can never have been right.
fn report_all(links: &[Meter]) -> (usize, u32) {
    let possible = [u64::from(BEFORE), u64::from(BEFORE) + u64::from(PACKET)];
    let (mut wrong, mut digest) = (0, 0);
    for (link, number) in links.iter().zip(0..LINKS).rev() {
        background::step(number);
        digest ^= compute(number, REPORT_ROUNDS);
        wrong += usize::from(!possible.contains(&link.total()));
    }
    (wrong, digest)
}

fn main() -> ExitCode {
    let links: Vec<Meter> = (0..LINKS).map(|_| Meter::new(BEFORE)).collect();
    let (forwarded, (wrong, reported)) = thread::scope(|scope| {
        let forwarding = scope.spawn(|| forward_all(&links));
        let reporting = scope.spawn(|| report_all(&links));
        (forwarding.join().unwrap(), reporting.join().unwrap())
    });
    println!("{wrong} counts are wrong, digest {:08x}", forwarded ^ reported);
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
