//! Keys: which part of its collection each one is, and its name.

use std::sync::OnceLock;

use jvmti_bindings::sys::jni::{JNIEnv, jmethodID, jobject};

use crate::jvm::{self, jni};
use crate::places::short_name;

/// Keys have numbers from here on, as parts of their collection; its fields have smaller ones.
pub const FIRST: u32 = 1 << 31;
/// A collection's structure.
pub const STRUCTURE: u32 = u32::MAX - 1;
/// How often that was changed, by which iterators see that it was.
pub const CHANGES: u32 = STRUCTURE - 1;

/// `Object.hashCode`, whoever overrides it.
struct HashCode(jmethodID);

// SAFETY: the virtual machine's functions that take it may be called from any thread.
unsafe impl Send for HashCode {}
// SAFETY: as above.
unsafe impl Sync for HashCode {}

/// The part that a key is. Keys are told apart by the hash that their collection would ask for; the chance that two are
/// taken for one is that of equal hashes. None for a key that has none to tell.
pub fn of_object(env: *mut JNIEnv, key: jobject) -> Option<u32> {
    static HASH_CODE: OnceLock<HashCode> = OnceLock::new();
    if key.is_null() {
        return Some(FIRST);
    }
    let method = HASH_CODE.get_or_init(|| {
        let class = jni!(env, FindClass, c"java/lang/Object".as_ptr());
        HashCode(jni!(env, GetMethodID, class, c"hashCode".as_ptr(), c"()I".as_ptr()))
    });
    let hash = jni!(env, CallIntMethodA, key, method.0, std::ptr::null());
    if jni!(env, ExceptionCheck) != 0 {
        jni!(env, ExceptionClear);
        return None;
    }
    Some(of_number(hash))
}

/// The part that the element with this number is.
pub fn of_number(number: i32) -> u32 {
    (number as u32 | FIRST).min(CHANGES - 1)
}

/// The number of the element that is this part.
pub fn number_of(part: u32) -> u32 {
    part & !FIRST
}

/// A key as it stands in brackets: `"alice"`, `3`, `RED`; of others, the class.
pub fn text(env: *mut JNIEnv, key: jobject) -> String {
    /// Longer texts are cut short.
    const LONGEST: usize = 40;
    if key.is_null() {
        return "null".to_owned();
    }
    let class = jvm::class_of(env, key);
    let name = jvm::class_name(class);
    let boxed = match name.as_str() {
        "java/lang/String" => {
            let text = jvm::text(env, key).unwrap_or_default();
            let cut: String = text.chars().take(LONGEST).collect();
            let more = if cut.len() < text.len() { "…" } else { "" };
            return format!("\"{cut}{more}\"");
        }
        "java/lang/Boolean" => b'Z',
        "java/lang/Byte" => b'B',
        "java/lang/Character" => b'C',
        "java/lang/Short" => b'S',
        "java/lang/Integer" => b'I',
        "java/lang/Long" => b'J',
        _ => return constant(env, key).unwrap_or_else(|| short_name(&name)),
    };
    let value = jvm::declared_by_name(class, "value");
    let value = value.map(|(field, _)| jvm::field_value(env, key, field.id, boxed)).unwrap_or_default();
    match boxed {
        b'Z' => (value != 0).to_string(),
        b'C' => format!("'{}'", char::from_u32(value as u32).unwrap_or('?')),
        _ => (value as i64).to_string(),
    }
}

/// The name of an enumeration's constant.
fn constant(env: *mut JNIEnv, key: jobject) -> Option<String> {
    let mut class = jvm::class_of(env, key);
    while !class.is_null() && jvm::class_name(class) != "java/lang/Enum" {
        class = jvm::superclass(env, class);
    }
    let (field, _) = (!class.is_null()).then(|| jvm::declared_by_name(class, "name"))??;
    jvm::text(env, jvm::field_object(env, key, field.id, false))
}
