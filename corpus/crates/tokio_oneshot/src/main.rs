//! A client asks a worker for some results, each over a channel for one value, and gives up on each: it closes the channel
//! and looks a last time whether the value is there. A value that is sent just after the close is marked as sent
//! all the same, so that the client takes it while the worker takes it back.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use tokio::sync::oneshot::{self, Receiver, Sender};

const REQUESTS: u32 = 100;

type Value = Box<u32>;

/// Lets both threads begin each request at the same time.
#[derive(Default)]
struct Pace(AtomicU32);

impl Pace {
    fn wait(&self, request: u32) {
        self.0.fetch_add(1, Ordering::AcqRel);
        while self.0.load(Ordering::Acquire) < 2 * (request + 1) {
            thread::yield_now();
        }
    }
}

/// Lets nobody wait for a thread that has ended, also by a panic.
struct Member<'a>(&'a Pace);

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_add(2 * REQUESTS, Ordering::AcqRel);
    }
}

/// Answers all requests, and says which answers came back.
fn answer(pace: &Pace, replies: Vec<Sender<Value>>) -> Vec<bool> {
    let _member = Member(pace);
    let send = |(number, reply): (u32, Sender<Value>)| {
        let result = Box::new(number);
        pace.wait(number);
        reply.send(result).is_err()
    };
    (0..).zip(replies).map(send).collect()
}

/// Gives up on all requests, and says which answers were there.
fn give_up(pace: &Pace, requests: Vec<Receiver<Value>>) -> Vec<bool> {
    let _member = Member(pace);
    let take = |(number, mut request): (u32, Receiver<Value>)| {
        pace.wait(number);
        request.close();
        request.try_recv().is_ok()
    };
    (0..).zip(requests).map(take).collect()
}

fn main() -> ExitCode {
    let pace = Pace::default();
    let (replies, requests) = (0..REQUESTS).map(|_| oneshot::channel()).unzip();
    let (came_back, taken) = thread::scope(|scope| {
        let worker = scope.spawn(|| answer(&pace, replies));
        let client = scope.spawn(|| give_up(&pace, requests));
        (worker.join().unwrap(), client.join().unwrap())
    });
    let in_one_place = came_back.iter().zip(&taken).filter(|(back, taken)| back != taken).count();
    println!("{in_one_place} of {REQUESTS} answers are in one place");
    if in_one_place == came_back.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
