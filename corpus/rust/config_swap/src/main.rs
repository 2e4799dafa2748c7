//! Services move to other hosts, from the first to the last, while a client connects to them, from the last to the first. The client
//! asks for the address twice, for the host and for the port; a service that moves in between gives it the old host
//! and the new port.

#[path = "../../../background.rs"]
mod background;
mod service;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use service::{Address, Service};
use work::compute;

const SERVICES: u32 = 64;
const MOVE_ROUNDS: u32 = 3500;
const CONNECT_ROUNDS: u32 = 3000;

fn move_all(services: &[Service]) -> u32 {
    let mut digest = 0;
    for (service, number) in services.iter().zip(0..) {
        background::step(number);
        digest ^= compute(number, MOVE_ROUNDS);
        service.move_to(Address { host: 2, port: 2 });
    }
    digest
}

/// How many connections would have gone astray.
fn connect_all(services: &[Service]) -> (usize, u32) {
    let (mut astray, mut digest) = (0, 0);
    for (service, number) in services.iter().zip(0..SERVICES).rev() {
        background::step(number);
        digest ^= compute(number, CONNECT_ROUNDS);
        let (host, port) = service.target();
        astray += usize::from(host != port);
    }
    (astray, digest)
}

fn main() -> ExitCode {
    let services: Vec<Service> = (0..SERVICES).map(|_| Service::new(Address { host: 1, port: 1 })).collect();
    let (moved, (astray, connected)) = thread::scope(|scope| {
        let moving = scope.spawn(|| move_all(&services));
        let connecting = scope.spawn(|| connect_all(&services));
        (moving.join().unwrap(), connecting.join().unwrap())
    });
    println!("{astray} connections went astray, digest {:08x}", moved ^ connected);
    if astray == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
