//! A connection with two halves, each of which holds it by an `Arc`. Whoever lets go last says goodbye to the peer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::work::compute;

const FLUSH_ROUNDS: u32 = 200;

pub struct Connection {
    peer: u32,
    goodbyes: Arc<AtomicU32>,
}

impl Connection {
    /// A connection that counts its goodbyes in `goodbyes`.
    pub fn open(peer: u32, goodbyes: &Arc<AtomicU32>) -> Arc<Connection> {
        Arc::new(Connection { peer, goodbyes: Arc::clone(goodbyes) })
    }

    /// Gives up one half.
    #[cfg(not(fixed))]
    #[inline(never)]
    pub fn close(self: Arc<Connection>) -> u32 {
        let others = Arc::strong_count(&self) - 1; // truth:A1
        let flushed = compute(self.peer, FLUSH_ROUNDS);
        if others == 0 {
            self.say_goodbye();
        }
        drop(self); // truth:A2
        flushed
    }

    /// Gives up one half.
    #[cfg(fixed)]
    #[inline(never)]
    pub fn close(self: Arc<Connection>) -> u32 {
        let flushed = compute(self.peer, FLUSH_ROUNDS);
        if let Some(last) = Arc::into_inner(self) {
            last.say_goodbye();
        }
        flushed
    }

    fn say_goodbye(&self) {
        self.goodbyes.fetch_add(1, Ordering::Relaxed);
    }
}
