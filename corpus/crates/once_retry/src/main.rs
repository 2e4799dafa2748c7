//! Whoever needs the settings first loads them. They are not there yet at the first try, so that somebody has to try again. Who waits for
//! another's try is told by the crate that it cannot come to nothing, and panics when it does.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use spin::Once;

const USERS: usize = 2;
/// As many as there are users: each may be the one whose try comes to nothing.
const MOST_TRIES: usize = 3;

#[derive(Debug)]
struct NotThereYet;

/// Comes to nothing the first time.
fn load(tries: &AtomicU32) -> Result<String, NotThereYet> {
    match tries.fetch_add(1, Ordering::Relaxed) {
        0 => Err(NotThereYet),
        _ => Ok("verbose".to_owned()),
    }
}

fn length(settings: &Once<String>, tries: &AtomicU32) -> Option<usize> {
    let mut all = (0..MOST_TRIES).map(|_| settings.try_call_once(|| load(tries)));
    all.find_map(Result::ok).map(String::len)
}

fn main() -> ExitCode {
    let (settings, tries) = (Once::new(), AtomicU32::new(0));
    let lengths: Vec<Option<usize>> = thread::scope(|scope| {
        let users: Vec<_> = (0..USERS).map(|_| scope.spawn(|| length(&settings, &tries))).collect();
        users.into_iter().map(|user| user.join().ok().flatten()).collect()
    });
    println!("{lengths:?}");
    if lengths.iter().all(|length| *length == Some("verbose".len())) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
