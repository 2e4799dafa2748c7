//! Idle connections to a host. Every operation is atomic by itself.

use std::sync::Mutex;

/// An open connection.
pub struct Connection {
    pub host: u32,
    pub reused: bool,
}

pub struct Pool {
    host: u32,
    idle: Mutex<Vec<Connection>>,
}

impl Pool {
    /// A pool with one idle connection, left by an earlier request.
    pub fn new(host: u32) -> Pool {
        Pool { host, idle: Mutex::new(vec![Connection { host, reused: true }]) }
    }

    #[cfg(not(fixed))]
    #[inline(never)]
    pub fn has_idle(&self) -> bool {
        let idle = self.idle.lock().unwrap();
        !idle.is_empty() // truth:A1
    }

    /// An idle connection if there is one.
    #[inline(never)]
    pub fn take(&self) -> Option<Connection> {
        let mut idle = self.idle.lock().unwrap();
        idle.pop() // truth:A2
    }

    pub fn connect(&self) -> Connection {
        Connection { host: self.host, reused: false }
    }
}
