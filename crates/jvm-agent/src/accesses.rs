//! Accesses to fields, array elements and atomic variables, on their way into the recording.

use std::sync::Arc;

use jvmti_bindings::sys::jni::{JNIEnv, jobject};

use crate::collections::owner::{self, Owner};
use crate::control::{Marks, Operation};
use crate::fields::KnownField;
use crate::hooks::{self, ORDERED};
use crate::memory::{known, sites};
use crate::places::{Action, short_name};
use crate::process::{Process, read};
use crate::recorder::{Kind, LocationName, Recorder, Repeats, Touch};
use crate::thread::Thread;
use crate::{jvm, process};

/// Bytes of a value of this type.
fn size_of(kind: u8) -> u32 {
    match kind {
        b'Z' | b'B' => 1,
        b'C' | b'S' => 2,
        b'I' | b'F' => 4,
        _ => 8,
    }
}

/// How much of an access is told at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// All of it, just before it happens.
    Whole,
    /// It comes next: others may go first.
    Approach,
    /// It has happened, and nobody else has run since.
    Done,
}

/// How something is accessed.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// What is done to it.
    pub kind: Kind,
    /// [`recording::flag`] bits.
    pub flags: u8,
    /// Position of the instruction.
    pub position: u16,
    /// How much of it is told.
    pub phase: Phase,
    /// The object's part that is accessed by the same instruction, besides.
    pub also: Option<u32>,
    /// Can it be told before it happens whether it is a step of the plan?
    pub may_be_step: bool,
    /// The place of what comes of it, and cannot be held back any more.
    pub leads_to: Option<u16>,
}

impl How {
    /// Told as a whole.
    pub fn whole(kind: Kind, flags: u8, position: u16) -> How {
        How { kind, flags, position, phase: Phase::Whole, also: None, may_be_step: true, leads_to: None }
    }
}

/// Records an access, unless it repeats what is on record. `before` is asked for what the location holds, `room` is how
/// many parts the object has, if that is known. Gives the block in which the access is noted if the object is the
/// thread's own.
fn access(
    process: &Process,
    thread: &mut Thread,
    (part, room): ((i64, u32), u32),
    How { kind, flags, position, phase, also, may_be_step, leads_to }: How,
    (before, value_type): (impl FnOnce() -> Option<u64>, u8),
    name: impl FnOnce() -> String,
) -> Option<u64> {
    let mut marks = match phase != Phase::Done && may_be_step {
        true => process.marks_at(thread, position),
        false => Marks::default(),
    };
    marks.begun |= leads_to.map_or(0, |position| process.marks_at(thread, position).steps);
    let forgotten = std::mem::take(&mut *process::lock(&process.dead));
    let mut touch = Touch { kind, leaf: 0, flags, locks: 0 };
    let mut repeats = |recorder: &mut Recorder, thread: &Thread| {
        touch.leaf = recorder.leaf(thread.context(), position);
        match phase {
            Phase::Approach => Repeats::Yes,
            _ => recorder.repeats(thread.id, part, touch, room),
        }
    };
    let is_due = phase != Phase::Done && process.scheduler.is_due(&thread.seat);
    // None if others may go first.
    let at_once = process.record(|recorder| {
        recorder.forget(forgotten.iter().copied());
        let is_contested = phase != Phase::Done && recorder.is_contested(thread.id, part, kind);
        let is_point = is_contested || is_due || process.is_point(marks);
        if is_point && process.scheduler.is_controlled() {
            recorder.visited(thread.id, thread.context(), position);
        }
        (!is_point).then(|| repeats(recorder, thread))
    });
    let repeats = match at_once {
        Some(None) => {
            hooks::point(
                process,
                thread,
                Operation {
                    kind,
                    what: Some(part),
                    also: also.map(|also| (part.0, also)),
                    is_access: true,
                    ..Operation::NONE
                }
                .marked(marks),
            );
            process.record(|recorder| repeats(recorder, thread))
        }
        Some(known) => known,
        None => None,
    };
    if phase != Phase::Done {
        process.scheduler.goes_on(&mut thread.seat);
    }
    if !forgotten.is_empty() {
        process::write(&process.fields).forget(&forgotten);
    }
    if repeats == Some(Repeats::No) {
        // Asked without the recorder's lock: the virtual machine may stop all threads at any of its functions.
        let before = if phase == Phase::Whole { before() } else { None };
        process.record(|recorder| {
            let name = || LocationName { text: name(), value_type };
            recorder.access(thread.id, part, touch, (before, size_of(value_type)), name);
        });
    }
    match repeats {
        Some(Repeats::AsOwn(block)) => Some(block),
        _ => None,
    }
}

/// A field is accessed.
pub fn field(
    process: &Process,
    thread: &mut Thread,
    env: *mut JNIEnv,
    object_or_class: jobject,
    site: i32,
    is_static: bool,
) {
    let Some(place) = process.reach(thread, site) else { return };
    let Action::Field { field: number, writes } = place.action else { return };
    let known = read(&process.fields).known(number);
    let Some(field) = known.or_else(|| find(process, env, object_or_class, is_static, number)) else {
        return;
    };
    let kind = if writes { Kind::Write } else { Kind::Read };
    let how = How::whole(kind, if field.is_volatile { ORDERED } else { 0 }, place.position);
    let is_settled = || {
        let object = if is_static { field.class_tag } else { jvm::tag(object_or_class) };
        process.record(|recorder| recorder.is_settled(thread.id, (object, field.part))) == Some(true)
    };
    let own = match field.is_final && !writes && is_settled() {
        true => {
            process.scheduler.goes_on(&mut thread.seat);
            None
        }
        false => known_field(process, thread, env, (object_or_class, is_static, &field), how),
    };
    // Code may name a static field by a class that inherits it.
    let is_direct = || !is_static || jvm::tag(object_or_class) == field.class_tag;
    if let Some(block) = own.filter(|_| is_direct()) {
        known::tell(env, object_or_class, block);
        if process.marks_at(thread, place.position).is_empty() {
            let (position, part, names_its_value) = (place.position, field.part, field.names_its_value);
            sites::tell(site, sites::Plain { position, writes, names_its_value, part });
        }
    }
    if field.names_its_value && !writes {
        note_holder(process, env, object_or_class, &field, is_static);
    }
}

/// A field is accessed that was looked up before. Gives the block of an object that is the thread's own.
pub fn known_field(
    process: &Process,
    thread: &mut Thread,
    env: *mut JNIEnv,
    (object_or_class, is_static, field): (jobject, bool, &KnownField),
    how: How,
) -> Option<u64> {
    let object = if is_static { field.class_tag } else { jvm::tag(object_or_class) };
    let value = || match is_static {
        true => jvm::static_value(env, object_or_class, field.id.0, field.kind),
        false => Some(jvm::field_value(env, object_or_class, field.id.0, field.kind)),
    };
    access(process, thread, ((object, field.part), 0), how, (value, field.kind), || field.name.clone())
}

fn find(
    process: &Process,
    env: *mut JNIEnv,
    object_or_class: jobject,
    is_static: bool,
    number: u32,
) -> Option<Arc<KnownField>> {
    let named = read(&process.places).fields[number as usize].clone();
    let mut fields = process::write(&process.fields);
    fields.find(env, object_or_class, is_static, (number, &named))
}

/// Remembers in which field an array or lock was seen, to name it by.
fn note_holder(process: &Process, env: *mut JNIEnv, holder: jobject, field: &KnownField, is_static: bool) {
    let value = jvm::field_object(env, holder, field.id.0, is_static);
    let tag = jvm::tag(value);
    if tag != 0 && !read(&process.fields).has_holder(tag) {
        process::write(&process.fields).note_holder(tag, field.number);
        owner::lock(process, env, value);
    }
}

/// An array's element is accessed; its number is within the array. Gives the block of an array that is the thread's own.
pub fn element(
    process: &Process,
    thread: &mut Thread,
    env: *mut JNIEnv,
    (array, index, kind): (jobject, i32, u8),
    how: How,
) -> Option<u64> {
    let tag = jvm::tag(array);
    // The instructions are the same for bytes and booleans.
    let kind = match kind {
        b'B' if jvm::class_name_of(env, array) == "[Z" => b'Z',
        b'A' | b'[' => b'L',
        other => other,
    };
    let name = || {
        let held = read(&process.fields).holder(tag).map(str::to_owned);
        let array = held.unwrap_or_else(|| element_type(&jvm::class_name_of(env, array)));
        format!("{array}[{index}]")
    };
    let value = || Some(jvm::element_value(env, array, index, kind));
    let room = jvm::array_length(env, array) as u32;
    access(process, thread, ((tag, index as u32), room), how, (value, kind), name)
}

/// The type of an array's elements, as people write it.
fn element_type(array: &str) -> String {
    let element = array.trim_start_matches('[');
    match element {
        "Z" => "boolean".to_owned(),
        "B" => "byte".to_owned(),
        "C" => "char".to_owned(),
        "S" => "short".to_owned(),
        "I" => "int".to_owned(),
        "J" => "long".to_owned(),
        "F" => "float".to_owned(),
        "D" => "double".to_owned(),
        _ => short_name(element.trim_start_matches('L').trim_end_matches(';')),
    }
}

/// A part of a collection is accessed, which `key` calls for; the structure if it calls for none.
pub fn collection(
    process: &Process,
    thread: &mut Thread,
    env: *mut JNIEnv,
    (owner, part): (&Owner, u32),
    how: How,
    key: impl FnOnce() -> Option<String>,
) {
    let name = || {
        let held = read(&process.fields).holder(owner.tag).map(str::to_owned);
        let held = held.unwrap_or_else(|| short_name(&jvm::class_name_of(env, owner.object)));
        match key() {
            Some(key) => format!("{held}[{key}]"),
            None if owner.is_stateful => format!("{held} (state)"),
            None => format!("{held} (structure)"),
        }
    };
    access(process, thread, ((owner.tag, part), 0), how, (|| None, b'L'), name);
}

/// An atomic variable, or an element of an atomic array, is accessed.
pub fn atomic(
    process: &Process,
    thread: &mut Thread,
    env: *mut JNIEnv,
    (object, element): (jobject, Option<i32>),
    how: How,
) {
    let tag = jvm::tag(object);
    let class = jvm::class_name_of(env, object);
    let value_type = match class.rsplit('/').next() {
        Some("AtomicInteger" | "AtomicIntegerArray") => b'I',
        Some("AtomicLong" | "AtomicLongArray") => b'J',
        Some("AtomicBoolean") => b'Z',
        _ => b'L',
    };
    let name = || {
        let held = read(&process.fields).holder(tag).map(str::to_owned);
        let object = held.unwrap_or_else(|| short_name(&class));
        match element {
            Some(index) => format!("{object}[{index}]"),
            None => object,
        }
    };
    let part = element.unwrap_or(0) as u32;
    let value = || jvm::atomic_value(env, object, element, value_type);
    access(process, thread, ((tag, part), 0), How { flags: ORDERED, ..how }, (value, value_type), name);
}
