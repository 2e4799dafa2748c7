//! Names for objects that serve as locks.

use jvmti_bindings::sys::jni::{JNIEnv, jobject};

use crate::jvm;
use crate::places::short_name;
use crate::process::{Process, read};
use crate::recorder::lock_address;

/// An address for all objects of a kind that threads park because of, with a name: `CountDownLatch`.
pub fn kind_of_wait(process: &Process, env: *mut JNIEnv, blocker: jobject) -> u64 {
    let class = jvm::class_of(env, blocker);
    let address = lock_address(jvm::tag(class));
    let is_named = process.record(|recorder| recorder.is_lock_named(address));
    if is_named == Some(false) {
        let class = jvm::class_name(class);
        let name = match class.ends_with("$ConditionObject") {
            true => "Condition".to_owned(),
            false => short_name(class.split('$').next().unwrap_or_default()),
        };
        process.record(|recorder| recorder.name_lock(address, &name));
    }
    address
}

/// The address of an object as a lock. It gets a name when it is first used: the field it was seen in, or its class.
pub fn lock(process: &Process, env: *mut JNIEnv, object: jobject) -> u64 {
    let tag = jvm::tag(object);
    let address = lock_address(tag);
    let is_named = process.record(|recorder| recorder.is_lock_named(address));
    if is_named == Some(false) {
        let held = read(&process.fields).holder(tag).map(str::to_owned);
        let name = held.unwrap_or_else(|| {
            let class = jvm::class_name_of(env, object);
            match class.as_str() {
                // A class as a lock: the one of its static synchronized methods.
                "java/lang/Class" => format!("{}.class", short_name(&jvm::class_name(object))),
                // Waited for until it ends.
                "java/lang/Thread" => format!("Thread {}", jvm::thread_name(object)),
                _ if class.ends_with("$ConditionObject") => "Condition".to_owned(),
                // What locks are made of is nothing to know.
                _ if class.starts_with("java/util/concurrent/locks/") => {
                    short_name(class.split('$').next().unwrap_or_default())
                }
                _ => short_name(&class),
            }
        });
        process.record(|recorder| recorder.name_lock(address, &name));
    }
    address
}
