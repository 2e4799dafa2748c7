//! A proxy shuts down: one thread closes the reading halves of all connections, another the writing halves, in
//! opposite order. Each half asks whether it is the last and then lets go; if both ask before either lets go, nobody
//! is the last, and the peer never hears of it.

#[path = "../../../background.rs"]
mod background;
mod connection;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use connection::Connection;
use work::compute;

const CONNECTIONS: u32 = 128;
const DRAIN_ROUNDS: u32 = 5000;

fn shut_down(halves: impl Iterator<Item = Arc<Connection>>) -> u32 {
    let mut digest = 0;
    for (half, order) in halves.zip(0..) {
        background::step(order);
        digest ^= compute(order, DRAIN_ROUNDS);
        digest ^= half.close();
    }
    digest
}

fn main() -> ExitCode {
    let goodbyes = Arc::new(AtomicU32::new(0));
    let readers: Vec<_> = (0..CONNECTIONS).map(|peer| Connection::open(peer, &goodbyes)).collect();
    let writers = readers.clone();
    let reading = thread::spawn(|| shut_down(readers.into_iter()));
    let writing = thread::spawn(|| shut_down(writers.into_iter().rev()));
    let digest = reading.join().unwrap() ^ writing.join().unwrap();
    let goodbyes = goodbyes.load(Ordering::Relaxed);
    println!("{goodbyes} of {CONNECTIONS} goodbyes, digest {digest:08x}");
    if goodbyes == CONNECTIONS { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
