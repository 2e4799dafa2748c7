//! The hooks at calls of collections, and in the midst of them.

use jvmti_bindings::sys::jni::{jclass, jint, jobject};

use super::{Env, ORDERED, arrive, did, point};
use crate::accesses::{self, How, Phase};
use crate::collections::owner::{self, Owner};
use crate::collections::torn::Torn;
use crate::collections::{By, CollectionCall, Iteration, keys};
use crate::control::Operation;
use crate::jvm;
use crate::places::Action;
use crate::process::{Process, with_thread};
use crate::recorder::Kind;
use crate::thread::Thread;

/// See [`crate::hook_class::COLLECTION`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_collection(
    env: Env,
    _: jclass,
    collection: jobject,
    key: jobject,
    index: jint,
    site: jint,
) {
    with_thread(|process, thread| {
        arrive(process, thread);
        let Some(place) = process.reach(thread, site) else { return };
        let Action::Collection { call, method, phase } = place.action else { return };
        let Some(owner) = owner::find(process, env, collection) else { return };
        if method.is_some_and(|method| !owner::is_inherited(process, env, collection, method)) {
            return;
        }
        called(process, thread, env, (&owner, key, index), (call, phase, place.position));
    });
}

/// A call is about to be made, or was made just now.
fn called(
    process: &Process,
    thread: &mut Thread,
    env: Env,
    (owner, key, index): (&Owner, jobject, jint),
    (call, phase, position): (CollectionCall, Phase, u16),
) {
    let call = if owner.is_in_order_of_use { call.in_order_of_use() } else { call };
    let flags = if owner.is_ordered { ORDERED } else { 0 };
    let part = match call.by {
        By::Key if owner.has_keys => keys::of_object(env, key),
        By::Index if !owner.has_keys => Some(keys::of_number(index)),
        _ => None,
    };
    let is_torn = call.may_be_torn()
        && !owner.is_ordered
        && process.record(|recorder| recorder.is_known_to_others(thread.id, owner.tag)) == Some(true);
    let torn = Torn { tag: owner.tag, position, depth: thread.desk.depth(), is_written: false };
    // Without keys, what is done to one is done to the structure.
    let on_structure = match is_torn {
        true => Some(Kind::Read),
        false => call.on_structure.or(call.on_key.filter(|_| part.is_none())),
    };
    let on_key = part.zip(call.on_key);
    let iterates = call.iterates.filter(|_| !owner.is_ordered);
    let on_changes = iterates.map(|_| (keys::CHANGES, Kind::Read));
    let on_structure_part = on_structure.map(|kind| (keys::STRUCTURE, kind));
    let accessed = on_key.into_iter().chain(on_structure_part).chain(on_changes);
    let name = |part: u32| match call.by {
        _ if part >= keys::CHANGES => None,
        By::Index => Some(index.to_string()),
        By::Key => Some(keys::text(env, key)),
        By::Nothing if owner.has_keys => Some("…".to_owned()),
        By::Nothing => Some(keys::number_of(part).to_string()),
    };
    // All of it happens in one step: others may come before the first access, but not between two of them.
    if phase != Phase::Done {
        let is_contested = |&(part, kind): &(u32, Kind)| {
            let contested =
                process.record(|recorder| recorder.is_contested(thread.id, (owner.tag, part), kind));
            contested == Some(true)
        };
        let first = match iterates {
            // What comes of it is decided here.
            Some(Iteration::Begins) => on_changes,
            _ => accessed.clone().find(is_contested).or(accessed.clone().next()),
        };
        let Some((part, kind)) = first else { return };
        let also = on_structure.filter(|&other| other != Kind::Read && part < keys::CHANGES);
        let also = also.map(|_| keys::STRUCTURE);
        // An iteration that goes on fails only if there was a change.
        let may_be_step = iterates != Some(Iteration::GoesOn);
        let leads_to = is_torn.then_some(torn.write_position());
        let how =
            How { phase: Phase::Approach, also, may_be_step, leads_to, ..How::whole(kind, flags, position) };
        accesses::collection(process, thread, env, (owner, part), how, || None);
    }
    if phase != Phase::Approach {
        let all =
            call.on_all_keys.then(|| process.record(|recorder| recorder.parts_from(owner.tag, keys::FIRST)));
        let keys = all.flatten().unwrap_or_default().into_iter().filter(|&part| part < keys::CHANGES);
        // That all is as it was is no news.
        let is_told = |&(part, _): &(u32, Kind)| {
            part != keys::CHANGES
                || iterates == Some(Iteration::Begins)
                || has_changed(process, thread, owner)
        };
        let accessed: Vec<_> = accessed.filter(is_told).collect();
        for (part, kind) in keys.map(|part| (part, Kind::Update)).chain(accessed) {
            let how = How { phase: Phase::Done, ..How::whole(kind, flags, position) };
            accesses::collection(process, thread, env, (owner, part), how, || name(part));
            if iterates == Some(Iteration::GoesOn) && part == keys::CHANGES {
                let marks = process.marks_at(thread, position);
                let what = Some((owner.tag, part));
                did(
                    process,
                    thread,
                    Operation { kind, what, is_access: true, ..Operation::NONE }.marked(marks),
                    false,
                );
            }
        }
    }
    thread.begin_torn(is_torn.then_some(torn));
    if phase != Phase::Approach && owner.is_ordered && call.on_structure == Some(Kind::Update) {
        publish(process, thread, owner);
    }
}

/// What was put into this collection is others' from now on, whatever the thread goes on doing to it.
fn publish(process: &Process, thread: &mut Thread, owner: &Owner) {
    let is_known = process.record(|recorder| recorder.is_known_to_others(thread.id, owner.tag));
    if is_known == Some(true) {
        let what = Some((owner.tag, keys::STRUCTURE));
        process.scheduler.publishes(&mut thread.seat, Operation { what, ..Operation::NONE });
    }
}

/// Has another thread changed it since this one looked?
fn has_changed(process: &Process, thread: &Thread, owner: &Owner) -> bool {
    process.record(|recorder| recorder.is_new_to(thread.id, (owner.tag, keys::CHANGES))) == Some(true)
}

/// See [`crate::hook_class::INSIDE`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_recordInside(
    env: Env,
    _: jclass,
    object: jobject,
    site: jint,
) {
    with_thread(|process, thread| {
        if process.site(site).is_some_and(|site| site.action == Action::Counts) {
            let Some(torn) = thread.torn(jvm::known_tag(object)).copied() else { return };
            arrive(process, thread);
            return written_at_once(process, thread, env, object, (torn, keys::CHANGES));
        }
        let Some(torn) = thread.is_torn_here(process, jvm::known_tag(object)) else { return };
        arrive(process, thread);
        let operation = write(process, thread, (torn, keys::STRUCTURE));
        point(process, thread, operation);
        written(process, thread, env, object, (torn, keys::STRUCTURE));
    });
}

/// See [`crate::hook_class::OVER`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_recordOver(
    env: Env,
    _: jclass,
    collection: jobject,
    _site: jint,
) {
    with_thread(|process, thread| {
        let Some(torn) = thread.end_torn().filter(|torn| !torn.is_written) else { return };
        arrive(process, thread);
        written_at_once(process, thread, env, collection, (torn, keys::STRUCTURE));
    });
}

/// This part is written to, and nobody comes first.
fn written_at_once(
    process: &Process,
    thread: &mut Thread,
    env: Env,
    collection: jobject,
    written_to: (Torn, u32),
) {
    did(process, thread, write(process, thread, written_to), false);
    written(process, thread, env, collection, written_to);
}

/// The write to this part in the midst of this call.
fn write(process: &Process, thread: &Thread, (torn, part): (Torn, u32)) -> Operation {
    let marks = process.marks_at(thread, torn.write_position());
    let what = Some((torn.tag, part));
    // As an access of its own it would be in the way of what is done to keys by the same call.
    Operation { kind: Kind::Write, what, is_access: marks.has_steps(), ..Operation::NONE }.marked(marks)
}

/// This part was written to, in the midst of this call.
fn written(process: &Process, thread: &mut Thread, env: Env, collection: jobject, (torn, part): (Torn, u32)) {
    let Some(owner) = owner::find(process, env, collection) else { return };
    let position = torn.write_position();
    let how = How { phase: Phase::Done, ..How::whole(Kind::Write, 0, position) };
    accesses::collection(process, thread, env, (&owner, part), how, || None);
}
