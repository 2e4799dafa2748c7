//! A hand-made `OnceLock`: the first to ask loads the configuration, the others find it there.

use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::work::compute;

const PARSE_ROUNDS: u32 = 150;

pub struct Config {
    pub checksum: u32,
}

pub struct Lazy {
    loaded: AtomicBool,
    /// Null until loaded. Configurations live as long as the program.
    config: AtomicPtr<Config>,
    #[cfg(fixed)]
    loading: std::sync::Mutex<()>,
}

impl Lazy {
    pub fn new() -> Lazy {
        Lazy {
            loaded: AtomicBool::new(false),
            config: AtomicPtr::default(),
            #[cfg(fixed)]
            loading: std::sync::Mutex::new(()),
        }
    }

    /// The configuration; none if it was not loaded, which must not happen.
    pub fn get(&self, module: u32) -> Option<&'static Config> {
        #[cfg(fixed)]
        let _loading = self.loading.lock().unwrap();
        if !self.loaded.swap(true, Ordering::AcqRel) { // truth:A3
            return Some(self.load(module));
        }
        self.current()
    }

    #[inline(never)]
    fn load(&self, module: u32) -> &'static Config {
        let config = Box::leak(Box::new(Config { checksum: compute(module, PARSE_ROUNDS) }));
        self.config.store(config, Ordering::Release); // truth:A2
        config
    }

    #[inline(never)]
    fn current(&self) -> Option<&'static Config> {
        let config = self.config.load(Ordering::Acquire); // truth:A1
        // SAFETY: the pointer is null or comes from `load`, which leaks what it points to and does not change it.
        unsafe { config.as_ref() }
    }
}
