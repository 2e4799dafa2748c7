//! A chat server sends a message to each of its clients, from the first to the last, while clients leave and others take
//! their slots, from the last to the first. The sender looks whether a client is still in its slot and then
//! sends to the slot, whose number may belong to another client by then.

#[path = "../../../background.rs"]
mod background;
mod slab;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use slab::Slab;
use work::compute;

const CLIENTS: u32 = 128;
const ENCODE_ROUNDS: u32 = 200;
const MESSAGE_ROUNDS: u32 = 5000;
const HANDSHAKE_ROUNDS: u32 = 5000;

/// What the sender did.
#[derive(Default)]
struct Sender {
    digest: u32,
    sent: u32,
    misdelivered: u32,
}

impl Sender {
    #[cfg(not(fixed))]
    fn deliver(&mut self, slab: &Slab, slot: usize, client: u32) {
        self.digest ^= compute(client, ENCODE_ROUNDS);
        let receiver = slab.send(slot);
        self.sent += 1;
        self.misdelivered += u32::from(receiver != client);
    }

    #[cfg(fixed)]
    fn deliver(&mut self, slab: &Slab, slot: usize, client: u32) {
        self.digest ^= compute(client, ENCODE_ROUNDS);
        if let Some(receiver) = slab.send(slot, client) {
            self.sent += 1;
            self.misdelivered += u32::from(receiver != client);
        }
    }

    fn send_to_all(slab: &Slab) -> Sender {
        let mut sender = Sender::default();
        for client in 0..CLIENTS {
            background::step(client);
            sender.digest ^= compute(client, MESSAGE_ROUNDS);
            let slot = client as usize;
            if slab.holds(slot, client) {
                sender.deliver(slab, slot, client);
            }
        }
        sender
    }
}

fn replace_all(slab: &Slab) -> u32 {
    let mut digest = 0;
    for leaving in (0..CLIENTS).rev() {
        background::step(leaving);
        let coming = CLIENTS + leaving;
        digest ^= compute(coming, HANDSHAKE_ROUNDS);
        slab.remove(leaving as usize);
        slab.insert(coming);
    }
    digest
}

fn main() -> ExitCode {
    let slab = Slab::new(0..CLIENTS);
    let (sender, digest) = thread::scope(|scope| {
        let sender = scope.spawn(|| Sender::send_to_all(&slab));
        let replacing = scope.spawn(|| replace_all(&slab));
        (sender.join().unwrap(), replacing.join().unwrap())
    });
    let Sender { sent, misdelivered, .. } = sender;
    println!("{sent} sent, {misdelivered} misdelivered, digest {:08x}", sender.digest ^ digest);
    if misdelivered == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
