//! A service that clients connect to, and where it can be reached at the moment.

use std::sync::{Arc, Mutex};

use crate::work::compute;

const RESOLVE_ROUNDS: u32 = 80;

pub struct Address {
    pub host: u32,
    pub port: u32,
}

pub struct Service {
    address: Mutex<Arc<Address>>,
}

impl Service {
    pub fn new(address: Address) -> Service {
        Service { address: Mutex::new(Arc::new(address)) }
    }

    #[inline(never)]
    pub fn move_to(&self, address: Address) {
        let address = Arc::new(address);
        *self.address.lock().unwrap() = address; // truth:A2
    }

    #[inline(never)]
    fn address(&self) -> Arc<Address> {
        self.address.lock().unwrap().clone() // truth:A1
    }

    /// Where to connect to: host and port.
    #[cfg(not(fixed))]
    #[inline(never)]
    pub fn target(&self) -> (u32, u32) {
        (resolved(self.address().host), self.address().port)
    }

    /// Where to connect to: host and port.
    #[cfg(fixed)]
    #[inline(never)]
    pub fn target(&self) -> (u32, u32) {
        let address = self.address();
        (resolved(address.host), address.port)
    }
}

/// Stands for looking a host up.
fn resolved(host: u32) -> u32 {
    if compute(host, RESOLVE_ROUNDS) == 0 { 0 } else { host }
}
