//! Objects whose blocks the hook class knows: the last ones that the running thread found to be its own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use jvmti_bindings::sys::jni::{JNIEnv, jobject};

use super::block;
use crate::jvm::{self, jni};

const MOST: usize = 1 << 13;

/// Their blocks, zero for none.
static SHADOWS: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];
/// The array with the objects themselves at the same places.
static OBJECTS: OnceLock<Objects> = OnceLock::new();

struct Objects(jobject);

// SAFETY: a global reference is valid in all threads.
unsafe impl Send for Objects {}
// SAFETY: as above.
unsafe impl Sync for Objects {}

/// Where the hook class finds blocks.
pub fn table() -> u64 {
    SHADOWS.as_ptr() as u64
}

/// The hook class has made its array.
pub fn begin(env: *mut JNIEnv, objects: jobject) {
    let _ = OBJECTS.set(Objects(jvm::keep(env, objects)));
}

/// Makes an object and its block known. They take the place of others.
pub fn tell(env: *mut JNIEnv, object: jobject, block: u64) {
    let Some(objects) = OBJECTS.get() else { return };
    let place = jvm::hash(object) % MOST as u32;
    SHADOWS[place as usize].store(0, Relaxed);
    jni!(env, SetObjectArrayElement, objects.0, place as i32, object);
    block::set_known_at(block, place);
    SHADOWS[place as usize].store(block, Relaxed);
}

/// A block is no more.
pub fn forget(place: u32, block: u64) {
    let _ = SHADOWS[place as usize].compare_exchange(block, 0, Relaxed, Relaxed);
}
