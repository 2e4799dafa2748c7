//! Two threads start the modules of a server, from the first to the last and from the last to the first. Whoever comes to a
//! module first loads its configuration. The flag that says so is set before the configuration is there, and the
//! second thread, if it comes right then, finds none.

#[path = "../../../background.rs"]
mod background;
mod lazy;
#[path = "../../../work.rs"]
mod work;

use std::process::ExitCode;
use std::thread;

use lazy::Lazy;
use work::compute;

const MODULES: u32 = 128;
const START_ROUNDS: u32 = 5000;

/// What a thread has started.
#[derive(Default)]
struct Started {
    digest: u32,
    without_config: u32,
}

impl Started {
    fn start(&mut self, lazy: &Lazy, module: u32) {
        match lazy.get(module) {
            Some(config) => self.digest ^= compute(config.checksum, START_ROUNDS),
            None => self.without_config += 1,
        }
    }
}

fn start_all<'a>(modules: impl Iterator<Item = (&'a Lazy, u32)>) -> Started {
    let mut started = Started::default();
    for (lazy, module) in modules {
        background::step(module);
        started.start(lazy, module);
    }
    started
}

fn main() -> ExitCode {
    let modules: Vec<Lazy> = (0..MODULES).map(|_| Lazy::new()).collect();
    let (up, down) = thread::scope(|scope| {
        let up = scope.spawn(|| start_all(modules.iter().zip(0..)));
        let down = scope.spawn(|| start_all(modules.iter().rev().zip((0..MODULES).rev())));
        (up.join().unwrap(), down.join().unwrap())
    });
    let without_config = up.without_config + down.without_config;
    println!("{without_config} without configuration, digest {:08x}", up.digest ^ down.digest);
    if without_config == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
