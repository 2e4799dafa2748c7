//! What the recorder asks of the virtual machine. None of these calls runs Java code.

use std::ffi::{CStr, CString, c_char};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jfieldID, jint, jlong, jobject};
use jvmti_bindings::sys::jvmti::{jvmtiEnv, jvmtiInterface_1_, jvmtiThreadInfo};

use crate::classfile::access;
use crate::places::Field;

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

/// A thread's name.
pub fn thread_name(thread: jobject) -> String {
    let mut about = jvmtiThreadInfo {
        name: null_mut(),
        priority: 0,
        is_daemon: 0,
        thread_group: null_mut(),
        context_class_loader: null_mut(),
    };
    if ask!(GetThreadInfo, thread, &mut about) { take_text(about.name) } else { String::new() }
}

/// A field, found in the class that declares it.
#[derive(Clone, Copy, Debug)]
pub struct FoundField {
    /// The virtual machine's name for it.
    pub id: jfieldID,
    /// The class that declares it.
    pub class: jclass,
    /// See [`access`].
    pub modifiers: u16,
    /// Its number among the static or the other fields that its class declares.
    pub index: u32,
}

impl FoundField {
    /// Which part of an object it is, or of its class.
    pub fn part(&self, env: *mut JNIEnv) -> u32 {
        /// Room for the fields that a class has as an object.
        const FIRST_STATIC: u32 = 64;
        match self.modifiers & access::STATIC {
            0 => inherited(env, self.class) + self.index,
            _ => FIRST_STATIC + self.index,
        }
    }
}

/// Looks for a field as code that names it would.
pub fn find_field(
    env: *mut JNIEnv,
    object_or_class: jobject,
    is_static: bool,
    field: &Field,
) -> Option<FoundField> {
    if is_static {
        return find_static(env, object_or_class, field);
    }
    let mut class = jni!(env, GetObjectClass, object_or_class);
    // The object's class may have a field of the same name that is not meant.
    while !class.is_null() && class_name(class) != field.class {
        class = jni!(env, GetSuperclass, class);
    }
    while !class.is_null() {
        if let Some(found) = declared(class, field, false) {
            return Some(found);
        }
        class = jni!(env, GetSuperclass, class);
    }
    None
}

fn find_static(env: *mut JNIEnv, class: jclass, field: &Field) -> Option<FoundField> {
    if class.is_null() {
        return None;
    }
    if let Some(found) = declared(class, field, true) {
        return Some(found);
    }
    let mut count: jint = 0;
    let mut interfaces = null_mut();
    if ask!(GetImplementedInterfaces, class, &mut count, &mut interfaces) {
        // SAFETY: the interface filled in as many.
        let list: Vec<jclass> = (0..count as usize).map(|index| unsafe { *interfaces.add(index) }).collect();
        free(interfaces);
        if let Some(found) = list.into_iter().find_map(|interface| find_static(env, interface, field)) {
            return Some(found);
        }
    }
    find_static(env, jni!(env, GetSuperclass, class), field)
}

/// The field if this very class declares it.
fn declared(class: jclass, field: &Field, is_static: bool) -> Option<FoundField> {
    let is_meant = |name: &str, descriptor: &str, modifiers: u16| {
        name == field.name && descriptor == field.descriptor && (modifiers & access::STATIC != 0) == is_static
    };
    declared_where(class, is_meant).map(|(found, _)| found)
}

/// How many fields objects have because of the classes above this one.
fn inherited(env: *mut JNIEnv, class: jclass) -> u32 {
    let mut count = 0;
    let mut class = superclass(env, class);
    while !class.is_null() {
        let counted = std::cell::Cell::new(0);
        declared_where(class, |_, _, modifiers| {
            counted.set(counted.get() + u32::from(modifiers & access::STATIC == 0));
            false
        });
        count += counted.get();
        class = superclass(env, class);
    }
    count
}

/// The field of this name that this very class declares, and its type.
pub fn declared_by_name(class: jclass, name: &str) -> Option<(FoundField, String)> {
    declared_where(class, |other, _, _| other == name)
}

/// Does not initialize the class.
fn declared_where(class: jclass, is_meant: impl Fn(&str, &str, u16) -> bool) -> Option<(FoundField, String)> {
    let mut count: jint = 0;
    let mut fields = null_mut();
    if !ask!(GetClassFields, class, &mut count, &mut fields) {
        return None;
    }
    let mut found = None;
    // Those before it, by whether they are static.
    let mut before = [0, 0];
    for index in 0..count as usize {
        // SAFETY: the interface filled in as many.
        let id = unsafe { *fields.add(index) };
        let (mut name, mut signature) = (null_mut(), null_mut());
        let mut modifiers: jint = 0;
        if !ask!(GetFieldName, class, id, &mut name, &mut signature, null_mut())
            || !ask!(GetFieldModifiers, class, id, &mut modifiers)
        {
            continue;
        }
        let (name, signature, modifiers) = (take_text(name), take_text(signature), modifiers as u16);
        let before = &mut before[usize::from(modifiers & access::STATIC != 0)];
        if is_meant(&name, &signature, modifiers) {
            found = Some((FoundField { id, class, modifiers, index: *before }, signature));
            break;
        }
        *before += 1;
    }
    free(fields);
    found
}

/// What a field holds; `kind` is the first letter of its type. Objects are given by their number.
pub fn field_value(env: *mut JNIEnv, object: jobject, id: jfieldID, kind: u8) -> u64 {
    match kind {
        b'Z' => jni!(env, GetBooleanField, object, id).into(),
        b'B' => jni!(env, GetByteField, object, id) as u64,
        b'C' => jni!(env, GetCharField, object, id).into(),
        b'S' => jni!(env, GetShortField, object, id) as u64,
        b'I' => jni!(env, GetIntField, object, id) as u64,
        b'J' => jni!(env, GetLongField, object, id) as u64,
        b'F' => jni!(env, GetFloatField, object, id).to_bits().into(),
        b'D' => jni!(env, GetDoubleField, object, id).to_bits(),
        _ => tag(jni!(env, GetObjectField, object, id)) as u64,
    }
}

/// The object that a field holds.
pub fn field_object(env: *mut JNIEnv, holder: jobject, id: jfieldID, is_static: bool) -> jobject {
    match is_static {
        true => jni!(env, GetStaticObjectField, holder, id),
        false => jni!(env, GetObjectField, holder, id),
    }
}

/// What a static field holds, once its class is initialized.
pub fn static_value(env: *mut JNIEnv, class: jclass, id: jfieldID, kind: u8) -> Option<u64> {
    const INITIALIZED: jint = 4;
    let mut status: jint = 0;
    if !ask!(GetClassStatus, class, &mut status) || status & INITIALIZED == 0 {
        return None;
    }
    Some(match kind {
        b'Z' => jni!(env, GetStaticBooleanField, class, id).into(),
        b'B' => jni!(env, GetStaticByteField, class, id) as u64,
        b'C' => jni!(env, GetStaticCharField, class, id).into(),
        b'S' => jni!(env, GetStaticShortField, class, id) as u64,
        b'I' => jni!(env, GetStaticIntField, class, id) as u64,
        b'J' => jni!(env, GetStaticLongField, class, id) as u64,
        b'F' => jni!(env, GetStaticFloatField, class, id).to_bits().into(),
        b'D' => jni!(env, GetStaticDoubleField, class, id).to_bits(),
        _ => tag(jni!(env, GetStaticObjectField, class, id)) as u64,
    })
}

/// Number of an array's elements.
pub fn array_length(env: *mut JNIEnv, array: jobject) -> i32 {
    jni!(env, GetArrayLength, array)
}

/// What an element holds, whose number is within the array. `kind` as in [`crate::places::Action::Element`].
pub fn element_value(env: *mut JNIEnv, array: jobject, index: i32, kind: u8) -> u64 {
    macro_rules! region {
        ($function:ident, $zero:expr) => {{
            let mut value = $zero;
            jni!(env, $function, array, index, 1, &mut value);
            value
        }};
    }
    match kind {
        b'I' => region!(GetIntArrayRegion, 0) as u64,
        b'J' => region!(GetLongArrayRegion, 0) as u64,
        b'F' => region!(GetFloatArrayRegion, 0.0).to_bits().into(),
        b'D' => region!(GetDoubleArrayRegion, 0.0).to_bits(),
        b'C' => region!(GetCharArrayRegion, 0).into(),
        b'S' => region!(GetShortArrayRegion, 0) as u64,
        b'Z' => region!(GetBooleanArrayRegion, 0).into(),
        b'B' => region!(GetByteArrayRegion, 0) as u64,
        _ => tag(jni!(env, GetObjectArrayElement, array, index)) as u64,
    }
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
