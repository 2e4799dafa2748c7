//! What rewritten code calls: the natives of [`crate::hook_class`], by the names under which the virtual machine looks
//! for them.

mod collections;
mod handles;
mod intercepted;

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jint, jlong, jobject};
use recording::{EventKind, flag};

use crate::accesses::{self, How};
use crate::collections::owner;
use crate::control::{Marks, Operation};
use crate::intercept::COLLECTION;
use crate::memory::desk::Frame;
use crate::memory::{self, sites};
use crate::places::{Action, Site};
use crate::process::{self, Process, with_thread};
use crate::recorder::Kind;
use crate::thread::Thread;
use crate::{jvm, naming};

/// The environment and the hook class, which every native method is passed.
type Env = *mut JNIEnv;

/// Of a longer array, only so many elements are looked at: it would take longer than the whole test.
const MOST_ELEMENTS: i32 = 4096;

/// Everything a hook does first: waits for its turn.
pub(crate) fn arrive(process: &Process, thread: &mut Thread) {
    let switched = process.scheduler.arrive(&mut thread.seat);
    note_switch(process, thread, switched);
}

/// The thread is about to do something that counts as progress: a point if it is to lose the token here.
pub(crate) fn come(process: &Process, thread: &mut Thread) {
    if process.scheduler.is_due(&thread.seat) {
        point(process, thread, Operation::NONE);
    }
}

/// A point at which another thread may run first.
pub(crate) fn point(process: &Process, thread: &mut Thread, operation: Operation) {
    let switched = process.scheduler.point(&mut thread.seat, operation);
    note_switch(process, thread, switched);
}

/// Says how far the run has come and that the thread goes on after others ran: under noise, too, threads run one at a time.
pub(crate) fn note_switch(process: &Process, thread: &mut Thread, switched: bool) {
    note_decisions(process);
    if switched {
        let (counts, predecessor) = (process.scheduler.counts(), process.scheduler.predecessor());
        process.record(|recorder| {
            recorder.note_progress(counts);
            let leaf = thread.call_leaf(process, recorder);
            recorder.switched(thread.id, leaf, predecessor, counts.0);
        });
    }
}

/// In a bounded run, says which choices there were.
pub(crate) fn note_decisions(process: &Process) {
    let decisions = process.scheduler.take_decisions();
    if !decisions.is_empty() {
        process.record(|recorder| recorder.decided(&decisions));
    }
}

/// Where the hook class finds what it looks at.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_table(_: Env, _: jclass, number: jint) -> jlong {
    let address = match (number, Process::get()) {
        (0, _) => memory::desk::table(),
        (1, _) => sites::table(),
        (2, _) => memory::known::table(),
        (3, Some(process)) => std::ptr::from_ref(process.scheduler.running()) as u64,
        (5, _) => std::ptr::from_ref(&memory::TORN) as u64,
        _ => std::ptr::from_ref(&memory::COLLECTED) as u64,
    };
    address as jlong
}

/// The hook class is there, with this array for the objects that it knows.
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_begin(env: Env, _: jclass, known: jobject) {
    memory::known::begin(env, known);
}

/// See [`crate::hook_class::ENTER`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_recordEnter(env: Env, _: jclass, site: jint) {
    process::attach(env);
    with_thread(|process, thread| {
        if thread.desk.depth() == 0 {
            arrive(process, thread);
        }
        thread.enter(process, site, 0);
    });
}

/// See [`crate::hook_class::ENTER_LOCKED`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_enterLocked(
    env: Env,
    _: jclass,
    object: jobject,
    site: jint,
) {
    process::attach(env);
    with_thread(|process, thread| {
        arrive(process, thread);
        let lock = naming::lock(process, env, object);
        thread.enter(process, site, lock);
        process.record(|recorder| {
            let leaf = recorder.leaf(thread.context(), 0);
            recorder.acquired(thread.id, EventKind::Acquire, lock, leaf);
        });
        process.scheduler.entered(&thread.seat, lock);
        process.scheduler.goes_on(&mut thread.seat);
        took(process, thread, (jvm::tag(object), lock), 0);
    });
}

/// See [`crate::hook_class::EXIT`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_recordExit(_: Env, _: jclass, site: jint) {
    with_thread(|process, thread| {
        // Methods above it were left without a word, by an exception before they were under way.
        let Some(above) = thread.desk.frames().position(|frame| frame.site == site) else { return };
        let depth = thread.desk.depth();
        let left: Vec<Frame> = thread.desk.frames().take(above + 1).filter(|frame| frame.lock != 0).collect();
        thread.desk.cut(depth - above - 1);
        for frame in left {
            arrive(process, thread);
            come(process, thread);
            process.scheduler.goes_on(&mut thread.seat);
            process.record(|recorder| {
                let leaf = recorder.leaf(frame.context, 0);
                recorder.released(thread.id, frame.lock, leaf, false);
            });
            leaves(process, thread, frame.lock);
        }
        if process.included.loops {
            process.record(|recorder| recorder.leave_loops(thread.id, thread.desk.depth()));
        }
    });
}

/// See [`crate::hook_class::LOOP`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_loop(_: Env, _: jclass, site: jint) {
    with_thread(|process, thread| {
        process.reach(thread, site);
    });
}

/// See [`crate::hook_class::CALL`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_recordCall(_: Env, _: jclass, site: jint) {
    with_thread(|process, thread| {
        let place = process.reach(thread, site);
        let is_collection = |place: Site| place.action == Action::Call { receiver: COLLECTION };
        // What is called may take the lock again at once. Of a collection, the hook before this one has told what is given.
        if thread.seat.has_given_back() && !place.is_some_and(is_collection) {
            arrive(process, thread);
        }
        thread.desk.set_call(Some(site));
    });
}

/// See [`crate::hook_class::FIELD`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_recordField(
    env: Env,
    _: jclass,
    object: jobject,
    site: jint,
) {
    with_thread(|process, thread| {
        arrive(process, thread);
        // Null: the access will not happen.
        if !object.is_null() {
            accesses::field(process, thread, env, object, site, false);
        }
    });
}

/// See [`crate::hook_class::STATIC_FIELD`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_recordStaticField(
    env: Env,
    _: jclass,
    class: jobject,
    site: jint,
) {
    with_thread(|process, thread| {
        arrive(process, thread);
        accesses::field(process, thread, env, class, site, true);
    });
}

/// See [`crate::hook_class::ELEMENT`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_recordElement(
    env: Env,
    _: jclass,
    array: jobject,
    index: jint,
    site: jint,
) {
    with_thread(|process, thread| {
        arrive(process, thread);
        let Some(place) = process.reach(thread, site) else { return };
        if let Action::Element { writes, kind } = place.action
            && !array.is_null()
            && (0..jvm::array_length(env, array)).contains(&index)
        {
            let how = How::whole(if writes { Kind::Write } else { Kind::Read }, 0, place.position);
            let own = accesses::element(process, thread, env, (array, index, kind), how);
            let Some(block) = own else { return };
            memory::known::tell(env, array, block);
            if process.marks_at(thread, place.position).is_empty() {
                let position = place.position;
                sites::tell(site, sites::Plain { position, writes, names_its_value: false, part: 0 });
            }
        }
    });
}

/// See [`crate::hook_class::COPY`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_copy(
    env: Env,
    _: jclass,
    from: jobject,
    from_index: jint,
    to: jobject,
    to_index: jint,
    count: jint,
    site: jint,
) {
    with_thread(|process, thread| {
        arrive(process, thread);
        let Some(place) = process.reach(thread, site) else { return };
        if from.is_null() || to.is_null() || count <= 0 {
            return;
        }
        for (array, first, access) in [(from, from_index, Kind::Read), (to, to_index, Kind::Write)] {
            let name = jvm::class_name_of(env, array);
            let Some(kind) = name.strip_prefix('[').and_then(|kind| kind.bytes().next()) else { return };
            let end = first.saturating_add(count.min(MOST_ELEMENTS)).min(jvm::array_length(env, array));
            let how = How::whole(access, 0, place.position);
            for index in first.max(0)..end {
                accesses::element(process, thread, env, (array, index, kind), how);
            }
        }
    });
}

/// See [`crate::hook_class::ELEMENTS`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_elements(env: Env, _: jclass, array: jobject, site: jint) {
    with_thread(|process, thread| {
        arrive(process, thread);
        let Some(place) = process.reach(thread, site).filter(|_| !array.is_null()) else { return };
        let Action::Elements(access) = place.action else { return };
        let class = jvm::class_name_of(env, array);
        let Some(kind) = class.strip_prefix('[').and_then(|kind| kind.bytes().next()) else { return };
        for index in 0..jvm::array_length(env, array).min(MOST_ELEMENTS) {
            let how = How::whole(access, 0, place.position);
            accesses::element(process, thread, env, (array, index, kind), how);
        }
    });
}

/// See [`crate::hook_class::BORN`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_born(env: Env, _: jclass, object: jobject, site: jint) {
    with_thread(|process, thread| {
        arrive(process, thread);
        let Some(place) = process.reach(thread, site) else { return };
        let collection = match place.action {
            Action::CollectionBorn => owner::find(process, env, object).map(|owner| owner.tag),
            _ => None,
        };
        let tag = collection.unwrap_or_else(|| jvm::tag(object));
        process.record(|recorder| {
            if !recorder.is_born(tag) {
                let leaf = thread.birthplace(process, recorder, place.position);
                recorder.born(thread.id, tag, leaf);
            }
        });
    });
}

/// A lock was taken by the instruction at this position: a point, unless nobody else knows it.
fn took(process: &Process, thread: &mut Thread, (tag, address): (i64, u64), position: u16) {
    let marks = tell(process, thread, address, position, false);
    if marks.guarded != 0 {
        process.scheduler.took_guard(&thread.seat, Operation::about(address).marked(marks));
    }
    let is_known = process.record(|recorder| recorder.is_known_to_others(thread.id, tag)) == Some(true);
    if is_known || process.is_point(marks) {
        point(process, thread, Operation { is_told: true, ..Operation::about(address).marked(marks) });
    }
}

/// The instruction at this position has done something about a lock or condition, or begins to wait for it, which may be a
/// step of the plan's interleaving. Gives what the plan says about it.
pub(crate) fn tell(process: &Process, thread: &Thread, address: u64, position: u16, waits: bool) -> Marks {
    let marks = process.marks_at(thread, position);
    did(process, thread, Operation::about(address).marked(marks), waits);
    marks
}

/// The thread has done this just now, or begins to wait in the midst of it.
pub(crate) fn did(process: &Process, thread: &Thread, operation: Operation, waits: bool) {
    if operation.marks.has_steps() {
        let came_about = process.scheduler.did(&thread.seat, operation, waits);
        came_about.into_iter().for_each(|counts| {
            process.record(|recorder| recorder.note_progress(counts));
        });
    }
}

/// A lock is about to be taken, at a place about which the plan says this. If its interleaving knows it, others may go first; and where
/// something was accessed since the last point, which may have been a look at what the lock does not guard.
fn approach(process: &Process, thread: &mut Thread, address: u64, marks: Marks) {
    let is_guard = marks.guarded != 0 && !process.scheduler.follows();
    if is_guard || thread.seat.has_accessed() {
        let guarded = if is_guard { marks.guarded } else { 0 };
        let marks = Marks { steps: 0, avoided: 0, guarded, ..marks };
        point(process, thread, Operation::about(address).marked(marks));
    }
}

/// A monitor is about to be left, which others may be waiting for.
fn leaves(process: &Process, thread: &mut Thread, monitor: u64) {
    let tag = crate::recorder::object_of(monitor);
    let is_known = process.record(|recorder| recorder.is_known_to_others(thread.id, tag)) == Some(true);
    process.scheduler.leaves_monitor(&mut thread.seat, monitor, is_known);
}

/// See [`crate::hook_class::MONITOR`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_monitor(env: Env, _: jclass, object: jobject, site: jint) {
    with_thread(|process, thread| {
        let of_method = Action::MonitorApproach { of_method: true };
        let is_of_trial = process.site(site).is_some_and(|site| site.action == of_method);
        // A run that is followed had no such hook: a thread's share of hooks must not be used up earlier than in that one.
        if is_of_trial && process.scheduler.follows() {
            return;
        }
        arrive(process, thread);
        let Some(place) = process.reach(thread, site).filter(|_| !object.is_null()) else { return };
        // By then it has the monitor.
        if place.action != Action::MonitorEnter {
            come(process, thread);
        }
        process.scheduler.goes_on(&mut thread.seat);
        let lock = naming::lock(process, env, object);
        process.record(|recorder| {
            let leaf = recorder.leaf(thread.context(), place.position);
            match place.action {
                Action::MonitorEnter => recorder.acquired(thread.id, EventKind::Acquire, lock, leaf),
                Action::MonitorExit => {
                    recorder.released(thread.id, lock, leaf, false);
                }
                Action::Notify { all } => {
                    let kind = if all { EventKind::Broadcast } else { EventKind::Signal };
                    recorder.event(thread.id, kind, leaf, (0, 0, lock));
                }
                _ => {}
            }
        });
        match place.action {
            // Of a synchronized method, before that is the current one.
            Action::MonitorApproach { .. } => {
                approach(process, thread, lock, process.marks_in(place.method, place.position));
            }
            Action::MonitorExit => leaves(process, thread, lock),
            Action::MonitorEnter => {
                process.scheduler.entered(&thread.seat, lock);
                took(process, thread, (jvm::tag(object), lock), place.position);
            }
            Action::Notify { all } => {
                tell(process, thread, lock, place.position, false);
                process.scheduler.notifies(lock, all);
            }
            _ => {}
        }
    });
}

/// See [`crate::hook_class::PAUSE`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_pause(_: Env, _: jclass, _site: jint) {
    with_thread(|process, thread| {
        arrive(process, thread);
        let switched = process.scheduler.yields(&mut thread.seat);
        process.scheduler.goes_on(&mut thread.seat);
        note_switch(process, thread, switched);
    });
}

/// See [`crate::hook_class::SLEEP`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_sleep(
    _: Env,
    _: jclass,
    milliseconds: jlong,
    site: jint,
) -> jlong {
    let mut left = milliseconds;
    with_thread(|process, thread| {
        arrive(process, thread);
        if let Some(place) = process.reach(thread, site) {
            process.record(|recorder| {
                let leaf = recorder.leaf(thread.context(), place.position);
                let nanoseconds = (milliseconds.max(0) as u64).saturating_mul(1_000_000);
                recorder.event(thread.id, EventKind::Sleep, leaf, (0, 0, nanoseconds));
            });
        }
        let (rest, switched) = process.scheduler.sleeps(&mut thread.seat, milliseconds);
        process.scheduler.goes_on(&mut thread.seat);
        note_switch(process, thread, switched);
        left = rest;
    });
    left
}

/// The kinds of accesses that are ordered among themselves carry this flag.
pub(crate) const ORDERED: u8 = flag::ATOMIC;
