//! The hooks of handles: see [`crate::handles`].

use jvmti_bindings::sys::jni::{jclass, jint, jlong, jobject};

use super::{Env, ORDERED, arrive};
use crate::accesses::{self, How, Phase};
use crate::classfile::access;
use crate::fields::KnownField;
use crate::handles::{KeptClass, Known, Made, Target};
use crate::jvm;
use crate::places::Action;
use crate::process::{Process, read, with_thread, write};
use crate::recorder::Kind;

/// See [`crate::hook_class::HANDLE`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_handle(
    env: Env,
    _: jclass,
    handle: jobject,
    target: jobject,
    place_in: jlong,
    result: jint,
    site: jint,
) {
    with_thread(|process, thread| {
        let Some(place) = process.reach(thread, site) else { return };
        let Action::Handle { what, phase } = place.action else { return };
        let is_failed_attempt = phase == Phase::Done && what.known == Known::ByResult && result == 0;
        let how = How {
            phase,
            ..How::whole(
                if is_failed_attempt { Kind::Read } else { what.kind },
                if what.is_ordered { ORDERED } else { 0 },
                place.position,
            )
        };
        arrive(process, thread);
        let found = match what.is_by_offset {
            true if target.is_null() => None,
            true => at_offset(process, env, target, place_in),
            false => meant(process, env, handle, target, place_in),
        };
        match found {
            Some(Meant::Field(object_or_class, is_static, field)) => {
                accesses::known_field(process, thread, env, (object_or_class, is_static, &field), how);
            }
            Some(Meant::Element(index, kind)) => {
                accesses::element(process, thread, env, (target, index, kind), how);
            }
            None => {}
        }
    });
}

enum Meant {
    /// Of this object or class; is it static?
    Field(jobject, bool, KnownField),
    /// Its number and the first letter of its type.
    Element(i32, u8),
}

/// What a call of a handle is about. None if nobody saw where the handle comes from, or if the access will not happen.
fn meant(process: &Process, env: Env, handle: jobject, target: jobject, place_in: i64) -> Option<Meant> {
    let known = read(&process.handles).target(jvm::known_tag(handle)).cloned();
    match known {
        Some(Target::Static(field, KeptClass(class))) => Some(Meant::Field(class, true, field)),
        _ if target.is_null() => None,
        Some(Target::Field(field)) => Some(Meant::Field(target, false, field)),
        Some(Target::Elements) => {
            let kind = element_kind(env, target)?;
            element(env, target, i32::try_from(place_in).ok()?, kind)
        }
        None => None,
    }
}

fn element_kind(env: Env, array: jobject) -> Option<u8> {
    jvm::class_name_of(env, array).strip_prefix('[').and_then(|kind| kind.bytes().next())
}

fn element(env: Env, array: jobject, index: i32, kind: u8) -> Option<Meant> {
    (0..jvm::array_length(env, array)).contains(&index).then_some(Meant::Element(index, kind))
}

/// What `Unsafe` means by an offset.
fn at_offset(process: &Process, env: Env, target: jobject, offset: i64) -> Option<Meant> {
    if let Some(kind) = element_kind(env, target) {
        let (base, scale) = jvm::array_layout(env, kind)?;
        return element(env, target, i32::try_from((offset - base).checked_div(scale)?).ok()?, kind);
    }
    let handles = read(&process.handles);
    // A static field is at an offset of the class itself.
    if let Some(field) = handles.at_offset(jvm::known_tag(target), offset) {
        return Some(Meant::Field(target, true, field.clone()));
    }
    let mut class = jvm::class_of(env, target);
    while !class.is_null() {
        if let Some(field) = handles.at_offset(jvm::known_tag(class), offset) {
            return Some(Meant::Field(target, false, field.clone()));
        }
        class = jvm::superclass(env, class);
    }
    None
}

/// See [`crate::hook_class::HANDLE_MADE`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_handleMade(
    env: Env,
    _: jclass,
    handle: jobject,
    about: jobject,
    name: jobject,
    offset: jlong,
    site: jint,
) {
    with_thread(|process, _| {
        let Some(place) = process.site(site) else { return };
        let (class, name) = match place.action {
            Action::HandleMade(Made::ForElements) => {
                return write(&process.handles).add(jvm::tag(handle), Target::Elements);
            }
            Action::HandleMade(Made::ByReflection) if !about.is_null() => {
                let Some(named) = jvm::reflected(env, about) else { return };
                named
            }
            Action::HandleMade(Made::ByName) if !about.is_null() => {
                let Some(name) = jvm::text(env, name) else { return };
                (about, name)
            }
            _ => return,
        };
        let Some((found, type_name)) = declared_above(env, class, &name) else { return };
        let field = write(&process.fields).know(env, found, &name, &type_name);
        let is_static = found.modifiers & access::STATIC != 0;
        let mut handles = write(&process.handles);
        if handle.is_null() {
            handles.add_offset(field, offset);
        } else if is_static {
            handles.add(jvm::tag(handle), Target::Static(field, KeptClass(jvm::keep(env, found.class))));
        } else {
            handles.add(jvm::tag(handle), Target::Field(field));
        }
    });
}

/// A handle may be asked for by a class that inherits the field.
fn declared_above(env: Env, mut class: jclass, name: &str) -> Option<(jvm::FoundField, String)> {
    while !class.is_null() {
        if let Some(found) = jvm::declared_by_name(class, name) {
            return Some(found);
        }
        class = jvm::superclass(env, class);
    }
    None
}
