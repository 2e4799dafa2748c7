//! Loading and the virtual machine's events.

use std::ffi::{CStr, c_char, c_uchar, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use jvmti_bindings::sys::jni::{JNIEnv, JavaVM, jboolean, jclass, jint, jlong, jobject};
use jvmti_bindings::sys::jvmti::{
    JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER, JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, JVMTI_EVENT_MONITOR_WAIT,
    JVMTI_EVENT_MONITOR_WAITED, JVMTI_EVENT_OBJECT_FREE, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_THREAD_START,
    JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_VM_INIT, JVMTI_VERSION_11, jvmtiCapabilities, jvmtiEnv, jvmtiEvent,
    jvmtiEventCallbacks,
};
use recording::{ENV_DIR, ENV_PLAN, EventKind, RunPlan};

use crate::classfile::{NEWEST_JAVA, Refusal};
use crate::jvm::{self, ask, jni};
use crate::process::{Process, begin, detach, lock, with_thread};
use crate::recorder::{Recorder, lock_address};
use crate::scope::{self, Included};
use crate::thread::Thread;
use crate::{hook_class, hooks, memory, naming, rewrite};

/// Environment variable with what to look at besides the classes under test: see [`Included::parse`].
pub const ENV_INCLUDE: &str = "UNSNARL_JVM_INCLUDE";

/// Environment variable that is set if iterations of loops are to be told apart.
pub const ENV_LOOPS: &str = "UNSNARL_JVM_LOOPS";

/// Environment variable that is set if every access is to have an event of its own: to see what that would cost.
pub const ENV_EVERY_ACCESS: &str = "UNSNARL_JVM_EVERY_ACCESS";

/// Wanted from the virtual machine's start.
const EVENTS: [jvmtiEvent; 11] = [
    JVMTI_EVENT_VM_INIT,
    JVMTI_EVENT_VM_DEATH,
    JVMTI_EVENT_THREAD_START,
    JVMTI_EVENT_THREAD_END,
    JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
    JVMTI_EVENT_MONITOR_WAIT,
    JVMTI_EVENT_MONITOR_WAITED,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
    JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
    JVMTI_EVENT_OBJECT_FREE,
    JVMTI_EVENT_GARBAGE_COLLECTION_FINISH,
];

/// Called by the virtual machine when it has loaded this library. Always succeeds: the program matters more than its
/// recording.
///
/// # Safety
/// `vm` is the virtual machine's interface.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(vm: *mut JavaVM, _: *mut c_char, _: *mut c_void) -> jint {
    if let Err(why) = load(vm) {
        eprintln!("unsnarl: this process is not recorded: {why}");
    }
    0
}

fn load(vm: *mut JavaVM) -> Result<(), String> {
    let Some(folder) = std::env::var_os(ENV_DIR).map(PathBuf::from) else { return Ok(()) };
    let plan = std::env::var(ENV_PLAN).unwrap_or_default();
    let plan: RunPlan = plan.parse().map_err(|_| {
        "it does not understand the run plan (runner and recorder are of different versions)".to_owned()
    })?;
    let mut included = Included::parse(&std::env::var(ENV_INCLUDE).unwrap_or_default());
    included.loops = std::env::var_os(ENV_LOOPS).is_some();
    included.unlocked = plan.interleaving.is_some();
    included.every_access = std::env::var_os(ENV_EVERY_ACCESS).is_some();
    let mut environment: *mut c_void = null_mut();
    // SAFETY: the interface was passed to us by the virtual machine.
    let found = unsafe { ((**vm).GetEnv)(vm, &mut environment, JVMTI_VERSION_11) };
    if found != 0 || environment.is_null() {
        return Err("the Java virtual machine is too old (Java 11 is the first that works)".to_owned());
    }
    jvm::set_environment(environment.cast::<jvmtiEnv>());
    is_known(&jvm::system_property(c"java.vm.specification.version"))?;
    // A second copy of the agent, from JAVA_TOOL_OPTIONS and the command line both, does nothing.
    if !Process::begin(folder, plan, included) {
        return Ok(());
    }
    if scope::is_build_tool(&jvm::system_property(c"sun.java.command")) {
        return Ok(());
    }
    let mut wanted = jvmtiCapabilities::default();
    wanted.set_can_generate_all_class_hook_events(true);
    wanted.set_can_retransform_classes(true);
    wanted.set_can_retransform_any_class(true);
    wanted.set_can_generate_monitor_events(true);
    wanted.set_can_tag_objects(true);
    wanted.set_can_generate_object_free_events(true);
    wanted.set_can_generate_garbage_collection_events(true);
    if !ask!(AddCapabilities, &wanted) {
        return Err("the Java virtual machine lacks what the agent needs".to_owned());
    }
    let mut callbacks = jvmtiEventCallbacks::default();
    callbacks.VMInit = Some(on_start);
    callbacks.VMDeath = Some(on_death);
    callbacks.ThreadStart = Some(on_thread_start);
    callbacks.ThreadEnd = Some(on_thread_end);
    callbacks.ClassFileLoadHook = Some(on_class);
    callbacks.MonitorWait = Some(on_wait);
    callbacks.MonitorWaited = Some(on_waited);
    callbacks.MonitorContendedEnter = Some(on_contended);
    callbacks.MonitorContendedEntered = Some(on_entered);
    callbacks.ObjectFree = Some(on_free);
    callbacks.GarbageCollectionFinish = Some(on_collected);
    let size = size_of::<jvmtiEventCallbacks>() as jint;
    if !ask!(SetEventCallbacks, &callbacks, size) {
        return Err("the Java virtual machine does not take the agent's callbacks".to_owned());
    }
    const ENABLE: u32 = 1;
    for event in EVENTS {
        ask!(SetEventNotificationMode, ENABLE, event, null_mut());
    }
    Ok(())
}

/// A newer virtual machine's own classes cannot get hooks: threads and locks would go unseen, and what is recorded would
/// mislead.
fn is_known(version: &str) -> Result<(), String> {
    match version.parse::<u16>() {
        Ok(version) if version > NEWEST_JAVA => Err(format!(
            "Java {version} is newer than this unsnarl knows (Java {NEWEST_JAVA} is the newest); run the test on an older \
             one, or get a newer unsnarl"
        )),
        _ => Ok(()),
    }
}

/// The virtual machine can run Java code: defines the hooks, and gives the classes that are loaded already theirs.
unsafe extern "system" fn on_start(_: *mut jvmtiEnv, env: *mut JNIEnv, _: jobject) {
    let Some(process) = Process::get() else { return };
    if let Err(why) = start(process, env) {
        eprintln!("unsnarl: this process is not recorded: {why}");
    }
}

fn start(process: &'static Process, env: *mut JNIEnv) -> Result<(), String> {
    let bytes = hook_class::CLASS_FILE;
    let name = c"java/lang/UnsnarlHooks";
    let class = jni!(env, DefineClass, name.as_ptr(), null_mut(), bytes.as_ptr().cast(), bytes.len() as i32);
    if class.is_null() {
        jni!(env, ExceptionClear);
        return Err("the Java virtual machine does not accept the agent's class".to_owned());
    }
    // The virtual machine looks natives up at their first call, which may not come amidst code that it needs for that.
    for hook in hook_class::ALL {
        call_once(env, class, hook);
    }
    process.activate();
    retransform(process, env);
    std::thread::Builder::new()
        .name("unsnarl-watchdog".to_owned())
        .spawn(|| {
            process.scheduler.watch(|counts| {
                process.record_if_any(|recorder| recorder.stands_still(counts));
            });
        })
        .map_err(|error| error.to_string())?;
    Ok(())
}

/// Calls a hook, which does nothing yet.
fn call_once(env: *mut JNIEnv, class: jclass, hook: hook_class::Hook) {
    let text = |text: &str| std::ffi::CString::new(text).unwrap_or_default();
    let (name, descriptor) = (text(hook.name), text(hook.descriptor));
    let method = jni!(env, GetStaticMethodID, class, name.as_ptr(), descriptor.as_ptr());
    if !method.is_null() {
        // Null and zero for all parameters.
        let zeros = [0i64; 8];
        jni!(env, CallStaticVoidMethodA, class, method, zeros.as_ptr().cast());
    }
    jni!(env, ExceptionClear);
}

/// Gives loaded classes their hooks. One at a time: a class that cannot be changed does not keep the others from it.
fn retransform(process: &Process, env: *mut JNIEnv) {
    let mut count: jint = 0;
    let mut classes = null_mut();
    if !ask!(GetLoadedClasses, &mut count, &mut classes) {
        return;
    }
    for index in 0..count as usize {
        // SAFETY: the interface filled in as many.
        let class = unsafe { *classes.add(index) };
        let name = jvm::class_name(class);
        if !name.starts_with('[') && process.included.scope(&name).is_some() {
            ask!(RetransformClasses, 1, &class);
        }
        jni!(env, DeleteLocalRef, class);
    }
    jvm::free(classes);
}

unsafe extern "system" fn on_death(_: *mut jvmtiEnv, _: *mut JNIEnv) {
    if let Some(process) = Process::get() {
        hooks::note_decisions(process);
        process.deactivate();
        process.record_if_any(Recorder::end);
    }
}

unsafe extern "system" fn on_thread_start(_: *mut jvmtiEnv, env: *mut JNIEnv, _: jobject) {
    begin(env);
}

unsafe extern "system" fn on_thread_end(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jobject) {
    detach();
}

unsafe extern "system" fn on_class(
    _: *mut jvmtiEnv,
    _: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _: jobject,
    length: jint,
    data: *const c_uchar,
    new_length: *mut jint,
    new_data: *mut *mut c_uchar,
) {
    let Some(process) = Process::get() else { return };
    // A class without a name is made at run time to link code together.
    if name.is_null() || data.is_null() {
        return;
    }
    // SAFETY: the virtual machine passes a name that ends in zero, and as many bytes as it says.
    let (name, bytes) = unsafe { (CStr::from_ptr(name), std::slice::from_raw_parts(data, length as usize)) };
    let name = name.to_string_lossy();
    // Hooks are defined at the start; what is loaded before that gets its hooks then.
    if redefined.is_null() && loader.is_null() && !process.is_active() {
        return;
    }
    let Some(mut scope) = process.included.scope(&name) else { return };
    scope.unlocked &= redefined.is_null();
    let rewritten = std::panic::catch_unwind(|| {
        let mut places = process.places.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        rewrite::rewrite(bytes, scope, &mut places)
    });
    let rewritten = match rewritten {
        Ok(Ok(rewritten)) => rewritten,
        Ok(Err(refusal)) => return process.complain(&name, &refusal),
        Err(_) => return process.complain(&name, &Refusal::Malformed),
    };
    for (method, refusal) in &rewritten.skipped {
        process.complain(&format!("{name}.{method}"), refusal);
    }
    let mut memory: *mut c_uchar = null_mut();
    if ask!(Allocate, rewritten.bytes.len() as jlong, &mut memory) {
        // SAFETY: the virtual machine allocated as many bytes, and both pointers are its own.
        unsafe {
            std::ptr::copy_nonoverlapping(rewritten.bytes.as_ptr(), memory, rewritten.bytes.len());
            *new_length = rewritten.bytes.len() as jint;
            *new_data = memory;
        }
    }
}

/// The thread begins to wait, in the call that it has announced.
fn tell_wait(process: &Process, thread: &Thread, monitor: u64) {
    let position = thread.call(process).map_or(0, |call| call.position);
    hooks::tell(process, thread, monitor, position, true);
}

/// The thread gives a monitor back and waits for it to be notified.
unsafe extern "system" fn on_wait(
    _: *mut jvmtiEnv,
    env: *mut JNIEnv,
    _: jobject,
    object: jobject,
    milliseconds: jlong,
) {
    with_thread(|process, thread| {
        hooks::arrive(process, thread);
        let monitor = naming::lock(process, env, object);
        let times = process.record(|recorder| {
            let leaf = thread.call_leaf(process, recorder);
            recorder.event(thread.id, EventKind::WaitBegin, leaf, (0, 0, monitor));
            let times = recorder.released(thread.id, monitor, leaf, true);
            // The end of a thread is notified at its own object.
            match thread.joins.filter(|&(tag, _)| tag == jvm::known_tag(object)) {
                Some((_, id)) => recorder.waits_for(thread.id, id.into(), EventKind::ThreadJoin, leaf),
                None => recorder.waits_for(thread.id, monitor, EventKind::WaitBegin, leaf),
            }
            times
        });
        thread.waits_for = Some((monitor, times.unwrap_or(0)));
        tell_wait(process, thread, monitor);
        process.scheduler.waits(&mut thread.seat, monitor, milliseconds != 0);
    });
}

/// The wait is over; the monitor is entered again next.
unsafe extern "system" fn on_waited(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jobject, _: jobject, _: jboolean) {
    with_thread(|process, thread| {
        let Some((monitor, times)) = thread.waits_for.take() else { return };
        let switched = process.scheduler.waited(&mut thread.seat, monitor);
        hooks::note_switch(process, thread, switched);
        process.record(|recorder| {
            recorder.waits_for(thread.id, 0, EventKind::WaitEnd, 0);
            let leaf = thread.call_leaf(process, recorder);
            recorder.event(thread.id, EventKind::WaitEnd, leaf, (0, 0, monitor));
            if times > 0 {
                recorder.acquired_again(thread.id, (EventKind::Acquire, times), monitor, leaf);
            }
        });
    });
}

/// The thread waits for a monitor that another one holds.
unsafe extern "system" fn on_contended(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jobject, object: jobject) {
    with_thread(|process, thread| {
        let monitor = lock_address(jvm::tag(object));
        process.record(|recorder| {
            let leaf = thread.call_leaf(process, recorder);
            recorder.waits_for(thread.id, monitor, EventKind::Acquire, leaf);
        });
        tell_wait(process, thread, monitor);
        let switched = process.scheduler.finds_taken(&mut thread.seat, monitor);
        hooks::note_switch(process, thread, switched);
    });
}

unsafe extern "system" fn on_entered(_: *mut jvmtiEnv, _: *mut JNIEnv, _: jobject, _: jobject) {
    with_thread(|process, thread| {
        process.record(|recorder| recorder.waits_for(thread.id, 0, EventKind::Acquire, 0));
    });
}

/// An object is no more. Nothing may be asked of the virtual machine here.
unsafe extern "system" fn on_free(_: *mut jvmtiEnv, tag: jlong) {
    if let Some(process) = Process::get() {
        lock(&process.dead).push(tag);
    }
}

/// Objects may be dead but for the hook class, which knows some. Nothing may be asked of the virtual machine here either.
unsafe extern "system" fn on_collected(_: *mut jvmtiEnv) {
    memory::COLLECTED.store(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_machine_that_is_too_new_is_told() {
        for version in ["11", "17", "25", "1.8", ""] {
            assert_eq!(is_known(version), Ok(()), "{version}");
        }
        let why = is_known("26").unwrap_err();
        assert!(why.contains("Java 26 is newer") && why.contains("Java 25 is the newest"), "{why}");
    }

    const WRONG_VERSION: jint = -3;

    /// As a virtual machine of Java 8 answers when asked for an interface that it does not have yet.
    unsafe extern "system" fn is_too_old(_: *mut JavaVM, _: *mut *mut c_void, version: jint) -> jint {
        assert_eq!(version, JVMTI_VERSION_11);
        WRONG_VERSION
    }

    #[test]
    fn a_virtual_machine_that_is_too_old_is_told_and_runs_on() {
        // The interface has three words that mean nothing, then five functions, of which this is the fourth.
        let mut functions = [null_mut::<c_void>(); 8];
        functions[6] = is_too_old as *mut c_void;
        let mut machine: JavaVM = functions.as_ptr().cast();
        // SAFETY: no other test of this crate looks at the environment.
        unsafe { std::env::set_var(ENV_DIR, "unused") };
        let why = load(&mut machine).unwrap_err();
        assert!(why.contains("too old") && why.contains("Java 11"), "{why}");
        // SAFETY: the one function that is asked for is there.
        assert_eq!(unsafe { Agent_OnLoad(&mut machine, null_mut(), null_mut()) }, 0);
    }
}
