//! Two fetchers of a crawler send one request to each of many hosts, from the first host to the last and from the
//! last to the first. Each host has one idle connection, for whoever comes first. A fetcher asks whether
//! there is one and then takes it: the guard of the question is gone before the taking, and the other
//! fetcher may have been quicker.

#[path = "../../../background.rs"]
mod background;
mod pool;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use pool::{Connection, Pool};
use work::compute;

const HOSTS: u32 = 128;
const REQUEST_ROUNDS: u32 = 100;
const RESPONSE_ROUNDS: u32 = 4000;

/// What a fetcher did.
#[derive(Default)]
struct Fetcher {
    digest: u32,
    reused: u32,
    /// Requests that found no connection although there was one.
    lost: u32,
}

impl Fetcher {
    #[cfg(not(fixed))]
    fn connection(&mut self, pool: &Pool) -> Option<Connection> {
        if !pool.has_idle() {
            return Some(pool.connect());
        }
        self.digest ^= compute(self.digest, REQUEST_ROUNDS);
        pool.take()
    }

    #[cfg(fixed)]
    fn connection(&mut self, pool: &Pool) -> Option<Connection> {
        self.digest ^= compute(self.digest, REQUEST_ROUNDS);
        Some(pool.take().unwrap_or_else(|| pool.connect()))
    }

    fn fetch(&mut self, pool: &Pool) {
        let Some(connection) = self.connection(pool) else {
            self.lost += 1;
            return;
        };
        self.reused += u32::from(connection.reused);
        self.digest ^= compute(connection.host, RESPONSE_ROUNDS);
    }

    fn fetch_all<'a>(pools: impl Iterator<Item = &'a Pool>) -> Fetcher {
        let mut fetcher = Fetcher::default();
        for (pool, request) in pools.zip(0..) {
            background::step(request);
            fetcher.fetch(pool);
        }
        fetcher
    }
}

fn main() -> ExitCode {
    let pools: Vec<Pool> = (0..HOSTS).map(Pool::new).collect();
    let (up, down) = thread::scope(|scope| {
        let up = scope.spawn(|| Fetcher::fetch_all(pools.iter()));
        let down = scope.spawn(|| Fetcher::fetch_all(pools.iter().rev()));
        (up.join().unwrap(), down.join().unwrap())
    });
    let (lost, reused) = (up.lost + down.lost, up.reused + down.reused);
    println!("reused {reused}, lost {lost}, digest {:08x}", up.digest ^ down.digest);
    if lost == 0 && reused == HOSTS { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
