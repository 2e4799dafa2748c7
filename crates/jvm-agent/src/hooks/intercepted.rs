//! The hook of intercepted methods: locks, waiting, threads, atomic variables.

use std::time::{Duration, Instant};

use jvmti_bindings::sys::jni::{jclass, jint, jobject};
use recording::EventKind;

use super::{Env, approach, arrive, come, point, tell, took};
use crate::accesses::{self, How, Phase};
use crate::collections::owner;
use crate::control::Operation;
use crate::intercept::{COLLECTION, Meaning};
use crate::places::Action;
use crate::process::{CARRIER_THREAD, Process, lock, read, with_thread};
use crate::recorder::{Kind, lock_address};
use crate::thread::Thread;
use crate::{jvm, naming};

/// See [`crate::hook_class::INTERCEPTED`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_java_lang_UnsnarlHooks_intercepted(
    env: Env,
    _: jclass,
    object: jobject,
    number: jint,
    site: jint,
) {
    with_thread(|process, thread| {
        let Some(place) = process.site(site) else { return };
        let Action::Intercepted(meaning) = place.action else { return };
        if meaning == Meaning::Blocks {
            return process.scheduler.leaves(&mut thread.seat);
        }
        if meaning.is_park() {
            note_park(process, thread, env, object);
            return process.scheduler.parks(&mut thread.seat, meaning == Meaning::ParksForTime);
        }
        if meaning == Meaning::Started {
            return point(process, thread, Operation::NONE);
        }
        if meaning == Meaning::Joins {
            let tag = jvm::known_tag(object);
            thread.joins = lock(&process.threads).get(&tag).map(|&id| (tag, id));
            return joins(process, object);
        }
        if meaning == Meaning::Dies {
            return process.scheduler.dies();
        }
        if meaning == Meaning::Parked {
            arrive(process, thread);
            process.record(|recorder| recorder.waits_no_more(thread.id, EventKind::SemaphoreWait));
            return;
        }
        if meaning == Meaning::Wakes {
            let woken = lock(&process.threads).get(&jvm::tag(object)).copied();
            return woken.into_iter().for_each(|woken| process.scheduler.wakes(woken));
        }
        if meaning.is_access() {
            return intercepted_access(process, thread, env, (object, number), meaning, place.method);
        }
        arrive(process, thread);
        synchronized(process, thread, env, object, number, meaning);
    });
}

/// The thread is about to park because of this object, in a call of code under test. There may be a new one each time: what is told is
/// its kind.
fn note_park(process: &Process, thread: &Thread, env: Env, blocker: jobject) {
    if blocker.is_null() || thread.call(process).is_none() {
        return;
    }
    let address = naming::kind_of_wait(process, env, blocker);
    process.record(|recorder| {
        let leaf = thread.call_leaf(process, recorder);
        recorder.waits_for_also(thread.id, address, EventKind::SemaphoreWait, leaf);
    });
}

/// A thread is about to be waited for. If it has done all that it had to do, it will be gone in a moment, and whether it
/// has to be waited for must not depend on when.
fn joins(process: &Process, thread: jobject) {
    const LONGEST: Duration = Duration::from_millis(20);
    let tag = jvm::known_tag(thread);
    if process.scheduler.is_controlled() && lock(&process.ended).contains(&tag) {
        let begin = Instant::now();
        while jvm::is_alive(thread) && begin.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

/// An atomic variable is accessed. Only what code under test does itself counts: the library's classes use atomic
/// variables too.
fn intercepted_access(
    process: &Process,
    thread: &mut Thread,
    env: Env,
    (object, number): (jobject, jint),
    meaning: Meaning,
    method: u32,
) {
    let phase = meaning.phase();
    let call = match phase {
        Phase::Done => thread.approached(method),
        Phase::Whole | Phase::Approach => {
            let receiver = {
                let places = read(&process.places);
                let class = places.methods[method as usize].class;
                crate::intercept::class_number(&places.classes[class as usize].name)
            };
            let call = thread.call(process).filter(|call| call.receiver == receiver);
            if call.is_some() {
                thread.desk.set_call(None);
            }
            call
        }
    };
    let Some(call) = call else { return };
    arrive(process, thread);
    let kind = match meaning {
        Meaning::Reads | Meaning::ReadsElement => Kind::Read,
        Meaning::Writes | Meaning::WritesElement => Kind::Write,
        Meaning::UpdatedIfTrue if number == 0 => Kind::Read,
        _ => Kind::Update,
    };
    let element = meaning.takes_element().then_some(number);
    let how = How { phase, ..How::whole(kind, 0, call.position) };
    accesses::atomic(process, thread, env, (object, element), how);
    if phase == Phase::Approach {
        thread.approach(call, method);
    }
}

fn synchronized(
    process: &Process,
    thread: &mut Thread,
    env: Env,
    object: jobject,
    number: jint,
    meaning: Meaning,
) {
    let is_thread = matches!(meaning, Meaning::Starts | Meaning::Joined);
    let awaited = object;
    let object = if is_thread { object } else { owner::lock(process, env, object) };
    let tag = jvm::tag(object);
    let address = if is_thread { lock_address(tag) } else { naming::lock(process, env, object) };
    let call = thread.call(process);
    let position = call.map_or(0, |call| call.position);
    // The locks that collections are made of are no places for others to come in: the call is one step.
    let is_inside = call.is_some_and(|call| call.receiver == COLLECTION);
    // How often the library waits, and takes its own locks, depends on others.
    if call.is_some() && !is_inside && !meaning.is_wait() {
        if !meaning.has_happened() {
            come(process, thread);
        }
        if meaning != Meaning::Wants {
            process.scheduler.goes_on(&mut thread.seat);
        }
    }
    // One lock may have several conditions, and who is told of one waits for another in vain.
    let signalled = if meaning.is_about_condition() { naming::lock(process, env, awaited) } else { address };
    let tells = |thread: &Thread, waits: bool| {
        if !is_inside {
            tell(process, thread, signalled, position, waits);
        }
    };
    let happened = |kind: EventKind, object: u32| {
        process.record(|recorder| {
            let leaf = thread.call_leaf(process, recorder);
            recorder.event(thread.id, kind, leaf, (object, 0, signalled));
        });
    };
    match meaning {
        _ if meaning.takes_result() && number == 0 => {}
        Meaning::ConvertedIfTrue | Meaning::ConvertedSharedIfTrue => {
            let is_shared = meaning == Meaning::ConvertedSharedIfTrue;
            let kind = if is_shared { EventKind::AcquireShared } else { EventKind::Acquire };
            process.record(|recorder| {
                let leaf = thread.call_leaf(process, recorder);
                recorder.released(thread.id, address, leaf, true);
                recorder.acquired(thread.id, kind, address, leaf);
            });
        }
        Meaning::Acquired
        | Meaning::AcquiredIfTrue
        | Meaning::AcquiredShared
        | Meaning::AcquiredSharedIfTrue => {
            let is_shared = matches!(meaning, Meaning::AcquiredShared | Meaning::AcquiredSharedIfTrue);
            let kind = if is_shared { EventKind::AcquireShared } else { EventKind::Acquire };
            process.record(|recorder| {
                let leaf = thread.call_leaf(process, recorder);
                recorder.acquired(thread.id, kind, address, leaf);
                recorder.waits_for(thread.id, 0, EventKind::Acquire, 0);
            });
            process.scheduler.took_lock(&thread.seat, address, is_shared);
            if !is_inside {
                took(process, thread, (tag, address), position);
            }
        }
        Meaning::Wants => {
            process.record(|recorder| {
                let leaf = thread.call_leaf(process, recorder);
                recorder.waits_for(thread.id, address, EventKind::Acquire, leaf);
            });
            process.scheduler.wants_lock(&thread.seat, address);
            if !is_inside {
                approach(process, thread, address, process.marks_at(thread, position));
                tells(thread, true);
            }
        }
        Meaning::Released | Meaning::ReleasedShared | Meaning::ReleasedIfTrue => {
            process.record(|recorder| {
                let leaf = thread.call_leaf(process, recorder);
                recorder.released(thread.id, address, leaf, false);
            });
            process.scheduler.gives_back(&mut thread.seat, address, !is_inside);
        }
        Meaning::WaitBegins => {
            if is_inside {
                note_park(process, thread, env, awaited);
            }
            happened(EventKind::WaitBegin, 0);
            tells(thread, true);
            // The lock is given back meanwhile, however often it was taken.
            let times = process.record(|recorder| {
                let leaf = thread.call_leaf(process, recorder);
                if !is_inside && call.is_some() {
                    recorder.waits_for(thread.id, signalled, EventKind::WaitBegin, leaf);
                }
                recorder.released(thread.id, address, leaf, true)
            });
            let times = times.unwrap_or(0);
            (0..times).for_each(|_| process.scheduler.gives_back(&mut thread.seat, address, false));
            thread.waits_for = Some((address, times));
        }
        Meaning::WaitEnds => {
            happened(EventKind::WaitEnd, 0);
            process.record(|recorder| recorder.waits_no_more(thread.id, EventKind::WaitBegin));
            let given_back = thread.waits_for.take().filter(|&(lock, times)| lock == address && times > 0);
            let Some((_, times)) = given_back else { return };
            process.record(|recorder| {
                let leaf = thread.call_leaf(process, recorder);
                recorder.acquired_again(thread.id, (EventKind::Acquire, times), address, leaf);
            });
            (0..times).for_each(|_| process.scheduler.took_lock(&thread.seat, address, false));
        }
        Meaning::Signals | Meaning::SignalsAll => {
            let is_one = meaning == Meaning::Signals;
            happened(if is_one { EventKind::Signal } else { EventKind::Broadcast }, 0);
            tells(thread, false);
        }
        Meaning::SemaphoreTaken | Meaning::SemaphoreTakenIfTrue => {
            happened(EventKind::SemaphoreWait, 0);
            if !is_inside {
                took(process, thread, (tag, address), position);
            }
        }
        Meaning::SemaphoreGiven => {
            happened(EventKind::SemaphorePost, 0);
            if !is_inside {
                process.scheduler.publishes(&mut thread.seat, Operation::about(address));
            }
        }
        // It will run code of virtual threads only.
        Meaning::Starts if jvm::class_name_of(env, object) == CARRIER_THREAD => {}
        Meaning::Starts => {
            let origin = process.record(|recorder| {
                let leaf = thread.call_leaf(process, recorder);
                recorder.reserve_thread(thread.id, leaf)
            });
            if let Some(Some(origin)) = origin {
                lock(&process.starting).insert(tag, origin);
                lock(&process.threads).insert(tag, origin.id);
                process.scheduler.starts(origin.id, address);
            }
        }
        Meaning::Joined => {
            let joined = lock(&process.threads).get(&tag).copied();
            if let Some(joined) = joined {
                happened(EventKind::ThreadJoin, joined);
            }
            thread.joins = None;
        }
        _ => {}
    }
}
