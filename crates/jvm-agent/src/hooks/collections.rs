//! The hook at calls of collections.

use jvmti_bindings::sys::jni::{jclass, jint, jobject};

use super::{Env, ORDERED, arrive};
use crate::accesses::{self, How, Phase};
use crate::collections::owner::{self, Owner};
use crate::collections::{By, CollectionCall, keys};
use crate::places::Action;
use crate::process::{Process, Thread, with_thread};
use crate::recorder::Kind;

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
        let Action::Collection { call, phase } = place.action else { return };
        let Some(owner) = owner::find(process, env, collection) else { return };
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
    let flags = if owner.is_ordered { ORDERED } else { 0 };
    let part = match call.by {
        By::Key if owner.has_keys => keys::of_object(env, key),
        By::Index if !owner.has_keys => Some(keys::of_number(index)),
        _ => None,
    };
    // Without keys, what is done to one is done to the structure.
    let on_structure = call.on_structure.or(call.on_key.filter(|_| part.is_none()));
    let on_key = part.zip(call.on_key);
    let accessed = on_key.into_iter().chain(on_structure.map(|kind| (keys::STRUCTURE, kind)));
    let name = |part: u32| match call.by {
        _ if part == keys::STRUCTURE => None,
        By::Index => Some(index.to_string()),
        By::Key => Some(keys::text(env, key)),
        By::Nothing => Some("…".to_owned()),
    };
    // All of it happens in one step: others may come before the first access, but not between two of them.
    if phase != Phase::Done {
        let is_contested = |&(part, kind): &(u32, Kind)| {
            let contested =
                process.record(|recorder| recorder.is_contested(thread.id, (owner.tag, part), kind));
            contested == Some(true)
        };
        let Some((part, kind)) = accessed.clone().find(is_contested).or(accessed.clone().next()) else {
            return;
        };
        let also = on_structure.filter(|&other| other != Kind::Read && part != keys::STRUCTURE);
        let also = also.map(|_| keys::STRUCTURE);
        let how = How { kind, flags, position, phase: Phase::Approach, also };
        accesses::collection(process, thread, env, (owner, part), how, || None);
    }
    if phase != Phase::Approach {
        let all =
            call.on_all_keys.then(|| process.record(|recorder| recorder.parts_from(owner.tag, keys::FIRST)));
        let keys = all.flatten().unwrap_or_default().into_iter().filter(|&part| part != keys::STRUCTURE);
        for (part, kind) in keys.map(|part| (part, Kind::Update)).chain(accessed) {
            let how = How { kind, flags, position, phase: Phase::Done, also: None };
            accesses::collection(process, thread, env, (owner, part), how, || name(part));
        }
    }
}
