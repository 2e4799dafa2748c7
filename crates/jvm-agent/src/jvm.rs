//! What the recorder asks of the virtual machine. None of these calls runs Java code.

use std::ffi::{CStr, CString, c_char};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jlong, jobject};
use jvmti_bindings::sys::jvmti::{jvmtiEnv, jvmtiInterface_1_, jvmtiThreadGroupInfo, jvmtiThreadInfo};

mod values;

pub use self::values::{
    FoundField, array_length, atomic_value, declared_by_name, element_value, field_object, field_value,
    find_field, static_value,
};

static ENVIRONMENT: AtomicPtr<jvmtiEnv> = AtomicPtr::new(null_mut());
/// Tags name objects from 1 on; zero is "no object".
static NEXT_TAG: AtomicI64 = AtomicI64::new(1);

/// The interface that [`crate::agent`] got when it was loaded.
pub fn environment() -> *mut jvmtiEnv {
    ENVIRONMENT.load(Ordering::Acquire)
}

/// Sets the interface.
pub fn set_environment(environment: *mut jvmtiEnv) {
    ENVIRONMENT.store(environment, Ordering::Release);
}

pub(crate) fn functions() -> &'static jvmtiInterface_1_ {
    // SAFETY: set before any hook or event, and valid until the process ends.
    unsafe { &*(*environment()).functions }
}

/// Calls a function of the interface; false if it is missing or fails.
macro_rules! ask {
    ($function:ident $(, $argument:expr)*) => {
        match $crate::jvm::functions().$function {
            // SAFETY: as the interface's specification demands; references are valid while the hook runs.
            Some(function) => unsafe { function($crate::jvm::environment() $(, $argument)*) == jvmti_bindings::sys::jvmti::jvmtiError::NONE },
            None => false,
        }
    };
}
pub(crate) use ask;

/// Calls a function of JNI.
macro_rules! jni {
    ($env:expr, $function:ident $(, $argument:expr)*) => {
        // SAFETY: the environment is the calling thread's, and arguments are valid references.
        unsafe { ((**$env).$function)($env $(, $argument)*) }
    };
}
pub(crate) use jni;

/// Gives memory back that the interface allocated.
pub fn free<T>(memory: *mut T) {
    if !memory.is_null() {
        ask!(Deallocate, memory.cast());
    }
}

/// A text that the interface allocated.
fn take_text(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the interface's texts end in zero.
    let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    free(text);
    copy
}

/// The object's number if it has one, else zero.
pub fn known_tag(object: jobject) -> i64 {
    let mut tag: jlong = 0;
    if !object.is_null() && ask!(GetTag, object, &mut tag) { tag } else { 0 }
}

/// The object's number, which it keeps for life, wherever the garbage collector moves it. Zero for null.
pub fn tag(object: jobject) -> i64 {
    if object.is_null() {
        return 0;
    }
    let mut tag = known_tag(object);
    if tag == 0 {
        tag = NEXT_TAG.fetch_add(1, Ordering::Relaxed);
        if !ask!(SetTag, object, tag) {
            return 0;
        }
    }
    tag
}

/// The object's own hash, as `System.identityHashCode` gives it.
pub fn hash(object: jobject) -> u32 {
    let mut hash: jint = 0;
    ask!(GetObjectHashCode, object, &mut hash);
    hash as u32
}

/// A class's name, as in `java/lang/String` or `[I`.
pub fn class_name(class: jclass) -> String {
    let mut signature = null_mut();
    if !ask!(GetClassSignature, class, &mut signature, null_mut()) {
        return String::new();
    }
    let signature = take_text(signature);
    match signature.strip_prefix('L').and_then(|name| name.strip_suffix(';')) {
        Some(name) => name.to_owned(),
        None => signature,
    }
}

/// The name of an object's class.
pub fn class_name_of(env: *mut JNIEnv, object: jobject) -> String {
    class_name(jni!(env, GetObjectClass, object))
}

/// A property of the virtual machine, empty if it has none of this name.
pub fn system_property(name: &CStr) -> String {
    let mut value = null_mut();
    if ask!(GetSystemProperty, name.as_ptr(), &mut value) { take_text(value) } else { String::new() }
}

/// The calling thread as an object.
pub fn current_thread() -> jobject {
    let mut thread = null_mut();
    if ask!(GetCurrentThread, &mut thread) { thread } else { null_mut() }
}

/// Has a thread been started and not come to its end?
pub fn is_alive(thread: jobject) -> bool {
    const ALIVE: jint = 1;
    let mut state: jint = 0;
    ask!(GetThreadState, thread, &mut state) && state & ALIVE != 0
}

/// The number by which Java code tells threads apart, zero if there is none.
pub fn thread_number(env: *mut JNIEnv, thread: jobject) -> i64 {
    let class = jni!(env, FindClass, c"java/lang/Thread".as_ptr());
    let id = jni!(env, GetFieldID, class, c"tid".as_ptr(), c"J".as_ptr());
    if id.is_null() {
        jni!(env, ExceptionClear);
        return 0;
    }
    jni!(env, GetLongField, thread, id)
}

/// What is asked about a thread.
const NO_INFO: jvmtiThreadInfo = jvmtiThreadInfo {
    name: null_mut(),
    priority: 0,
    is_daemon: 0,
    thread_group: null_mut(),
    context_class_loader: null_mut(),
};

/// A thread's name.
pub fn thread_name(thread: jobject) -> String {
    thread_info(thread).map_or(String::new(), |about| about.0)
}

/// Is it one of the virtual machine's own, which wait for nothing that programs do?
pub fn is_systems_own(thread: jobject) -> bool {
    let mut about = NO_INFO;
    let mut group =
        jvmtiThreadGroupInfo { parent: null_mut(), name: null_mut(), max_priority: 0, is_daemon: 0 };
    if !ask!(GetThreadInfo, thread, &mut about) {
        return false;
    }
    take_text(about.name);
    let is_told = !about.thread_group.is_null() && ask!(GetThreadGroupInfo, about.thread_group, &mut group);
    is_told && matches!(take_text(group.name).as_str(), "system" | "InnocuousThreadGroup")
}

/// Its name, and whether the virtual machine ends without waiting for it.
pub fn thread_info(thread: jobject) -> Option<(String, bool)> {
    let mut about = NO_INFO;
    ask!(GetThreadInfo, thread, &mut about).then(|| (take_text(about.name), about.is_daemon != 0))
}

/// The class and the name that a `java.lang.reflect.Field` stands for.
pub fn reflected(env: *mut JNIEnv, field: jobject) -> Option<(jclass, String)> {
    let part = |name: &CStr, descriptor: &CStr| {
        let class = jni!(env, GetObjectClass, field);
        let id = jni!(env, GetFieldID, class, name.as_ptr(), descriptor.as_ptr());
        if id.is_null() {
            jni!(env, ExceptionClear);
            return None;
        }
        Some(jni!(env, GetObjectField, field, id))
    };
    let name = part(c"name", c"Ljava/lang/String;")?;
    Some((part(c"clazz", c"Ljava/lang/Class;")?, text(env, name)?))
}

/// What a `java.lang.String` says.
pub fn text(env: *mut JNIEnv, string: jobject) -> Option<String> {
    if string.is_null() {
        return None;
    }
    let letters = jni!(env, GetStringUTFChars, string, null_mut());
    if letters.is_null() {
        return None;
    }
    // SAFETY: the virtual machine's texts end in zero, and this one stays until it is released.
    let text = unsafe { CStr::from_ptr(letters) }.to_string_lossy().into_owned();
    jni!(env, ReleaseStringUTFChars, string, letters);
    Some(text)
}

/// Where the elements of an array begin and how far apart they are, as `Unsafe` counts; `kind` is the first letter of
/// their type.
pub fn array_layout(env: *mut JNIEnv, kind: u8) -> Option<(i64, i64)> {
    let kind = match kind {
        b'Z' => "BOOLEAN",
        b'B' => "BYTE",
        b'C' => "CHAR",
        b'S' => "SHORT",
        b'I' => "INT",
        b'J' => "LONG",
        b'F' => "FLOAT",
        b'D' => "DOUBLE",
        _ => "OBJECT",
    };
    let unsafe_class = jni!(env, FindClass, c"jdk/internal/misc/Unsafe".as_ptr());
    if unsafe_class.is_null() {
        jni!(env, ExceptionClear);
        return None;
    }
    let constant = |what: &str| {
        let (found, descriptor) = declared_by_name(unsafe_class, &format!("ARRAY_{kind}_{what}"))?;
        match descriptor.as_str() {
            "J" => Some(jni!(env, GetStaticLongField, unsafe_class, found.id)),
            _ => Some(jni!(env, GetStaticIntField, unsafe_class, found.id).into()),
        }
    };
    constant("BASE_OFFSET").zip(constant("INDEX_SCALE"))
}

/// The class above this one, null for none.
pub fn superclass(env: *mut JNIEnv, class: jclass) -> jclass {
    jni!(env, GetSuperclass, class)
}

/// The class of an object.
pub fn class_of(env: *mut JNIEnv, object: jobject) -> jclass {
    jni!(env, GetObjectClass, object)
}

/// The class that declares the method that a call on an object of this class gets to.
pub fn declaring_class(env: *mut JNIEnv, class: jclass, name: &str, descriptor: &str) -> Option<jclass> {
    let [name, descriptor] = [name, descriptor].map(|text| CString::new(text).unwrap_or_default());
    let method = jni!(env, GetMethodID, class, name.as_ptr(), descriptor.as_ptr());
    if jni!(env, ExceptionCheck) != 0 {
        jni!(env, ExceptionClear);
        return None;
    }
    let mut found = null_mut();
    ask!(GetMethodDeclaringClass, method, &mut found).then_some(found)
}

/// Keeps a class from being forgotten.
pub fn keep(env: *mut JNIEnv, class: jclass) -> jclass {
    jni!(env, NewGlobalRef, class)
}
