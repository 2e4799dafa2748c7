//! Fields and elements: where they are declared, and what they hold.

use std::ptr::null_mut;

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jfieldID, jint, jobject};

use super::{ask, class_name, free, jni, superclass, tag, take_text};
use crate::classfile::access;
use crate::places::Field;

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

/// What one of these functions gives, in the order of kinds; `kind` is the first letter of a type. Objects are given by their number.
macro_rules! value {
    ($env:expr, $holder:expr, $id:expr, $kind:expr, [$z:ident, $b:ident, $c:ident, $s:ident, $i:ident, $j:ident, $f:ident, $d:ident, $l:ident]) => {
        match $kind {
            b'Z' => jni!($env, $z, $holder, $id).into(),
            b'B' => jni!($env, $b, $holder, $id) as u64,
            b'C' => jni!($env, $c, $holder, $id).into(),
            b'S' => jni!($env, $s, $holder, $id) as u64,
            b'I' => jni!($env, $i, $holder, $id) as u64,
            b'J' => jni!($env, $j, $holder, $id) as u64,
            b'F' => jni!($env, $f, $holder, $id).to_bits().into(),
            b'D' => jni!($env, $d, $holder, $id).to_bits(),
            _ => tag(jni!($env, $l, $holder, $id)) as u64,
        }
    };
}

/// What a field holds.
pub fn field_value(env: *mut JNIEnv, object: jobject, id: jfieldID, kind: u8) -> u64 {
    value!(
        env,
        object,
        id,
        kind,
        [
            GetBooleanField,
            GetByteField,
            GetCharField,
            GetShortField,
            GetIntField,
            GetLongField,
            GetFloatField,
            GetDoubleField,
            GetObjectField
        ]
    )
}

/// What an atomic variable holds, or an element of an atomic array: that is in a field of its own.
pub fn atomic_value(env: *mut JNIEnv, object: jobject, element: Option<i32>, kind: u8) -> Option<u64> {
    let (name, descriptor) = match (element, kind) {
        (None, b'J') => (c"value", c"J"),
        (None, b'L') => (c"value", c"Ljava/lang/Object;"),
        (None, _) => (c"value", c"I"),
        (Some(_), b'J') => (c"array", c"[J"),
        (Some(_), b'L') => (c"array", c"[Ljava/lang/Object;"),
        (Some(_), _) => (c"array", c"[I"),
    };
    let class = jni!(env, GetObjectClass, object);
    let id = jni!(env, GetFieldID, class, name.as_ptr(), descriptor.as_ptr());
    if id.is_null() {
        jni!(env, ExceptionClear);
        return None;
    }
    // Truth values are kept as integers.
    let kept_as = if kind == b'Z' { b'I' } else { kind };
    let Some(index) = element else { return Some(field_value(env, object, id, kept_as)) };
    let array = jni!(env, GetObjectField, object, id);
    (0..array_length(env, array)).contains(&index).then(|| element_value(env, array, index, kind))
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
    Some(value!(
        env,
        class,
        id,
        kind,
        [
            GetStaticBooleanField,
            GetStaticByteField,
            GetStaticCharField,
            GetStaticShortField,
            GetStaticIntField,
            GetStaticLongField,
            GetStaticFloatField,
            GetStaticDoubleField,
            GetStaticObjectField
        ]
    ))
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
