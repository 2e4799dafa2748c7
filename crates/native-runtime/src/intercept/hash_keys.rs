//! The random keys of Rust's hash tables. In which order a map is gone through, and which part of it a key falls into, goes by them, so that a
//! schedule that is followed would come to other places each time. In controlled runs they follow from the run's seed, and where
//! a run is followed, from its seed.
//!
//! The standard library asks for them with a flag that says that they may be guessed, and asks for nothing else with that flag; it looks
//! for the function by name so that somebody may stand in front of it. What has to be a secret is left to the kernel.

use core::ffi::{c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

use policies::Random;

use crate::real::{Real, linked};
use crate::{control, errno, mapping, thread};

/// May be guessed.
const INSECURE: c_uint = libc::GRND_INSECURE;

static SEED: AtomicU64 = AtomicU64::new(0);

pub fn start(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
}

/// The keys are those of another run, which who follows this one in turn has to know.
pub unsafe fn follow(seed: u64) {
    start(seed);
    (*mapping::header()).seed = seed;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, flags: c_uint) -> isize {
    if flags == INSECURE
        && control::is_on()
        && let Some(thread) = thread::enter()
    {
        let own = u64::from(thread.id) << 32;
        thread::leave(thread);
        let mut random = Random::with_seed(SEED.load(Ordering::Relaxed) ^ own);
        for at in (0..length).step_by(size_of::<u64>()) {
            let bytes = random.next().to_ne_bytes();
            let left = bytes.len().min(length - at);
            // SAFETY: the caller says that so much may be written there.
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast::<u8>().add(at), left);
        }
        return length as isize;
    }
    static REAL: Real = Real::new(c"getrandom", linked!(getrandom));
    let address = REAL.address();
    // Older C libraries have none, and who asks for it by name looks elsewhere then.
    if address.is_null() {
        errno::set(libc::ENOSYS);
        return -1;
    }
    type Getrandom = unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize;
    core::mem::transmute::<*mut c_void, Getrandom>(address)(buffer, length, flags)
}
