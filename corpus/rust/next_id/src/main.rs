//! A server opens a web session and a mail session for each of its tenants, the web sessions from the first tenant to
//! the last, the mail sessions from the last to the first. A session's number is loaded and then stored, each
//! atomically; if the other session's number is loaded between the two, both get the same.

#[path = "../../../background.rs"]
mod background;
mod ids;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use ids::Ids;
use work::compute;

const TENANTS: u32 = 128;
const HANDSHAKE_ROUNDS: u32 = 5000;

struct Session {
    id: usize,
    key: u32,
}

fn open(ids: &Ids, tenant: u32) -> Session {
    let key = compute(tenant, HANDSHAKE_ROUNDS);
    let (id, stamp) = ids.take();
    Session { id, key: key ^ stamp }
}

fn open_all<'a>(tenants: impl Iterator<Item = (&'a Ids, u32)>) -> Vec<Session> {
    let mut sessions = Vec::new();
    for (ids, tenant) in tenants {
        background::step(tenant);
        sessions.push(open(ids, tenant));
    }
    sessions
}

fn main() -> ExitCode {
    let tenants: Vec<Ids> = (0..TENANTS).map(|_| Ids::new()).collect();
    let (web, mail) = thread::scope(|scope| {
        let web = scope.spawn(|| open_all(tenants.iter().zip(0..)));
        let mail = scope.spawn(|| open_all(tenants.iter().rev().zip((0..TENANTS).rev())));
        (web.join().unwrap(), mail.join().unwrap())
    });
    let pairs = || web.iter().zip(mail.iter().rev());
    let doubled = pairs().filter(|(web, mail)| web.id == mail.id).count();
    let digest = pairs().fold(0, |digest, (web, mail)| digest ^ web.key ^ mail.key.rotate_left(7));
    println!("{doubled} numbers given twice, digest {digest:08x}");
    if doubled == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
