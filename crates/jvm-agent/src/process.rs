//! What the hooks and events of one process share, and which of its threads are known.

use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jvmti_bindings::sys::jni::JNIEnv;
use recording::{Interleaving, InterleavingStep, RunPlan};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::classfile::Refusal;
use crate::collections::owner::Owners;
use crate::control::{Marks, Scheduler};
use crate::fields::Fields;
use crate::handles::Handles;
use crate::hooks;
use crate::jvm;
use crate::memory::desk::Desk;
use crate::places::{Action, Places, Site};
use crate::recorder::{Origin, Recorder, lock_address};
use crate::scope::Included;
use crate::thread::Thread;

/// All of it.
pub struct Process {
    /// Where recordings go.
    pub folder: PathBuf,
    /// What the runner asks for.
    pub plan: RunPlan,
    /// Which classes are looked at.
    pub included: Included,
    /// What hooks' numbers stand for.
    pub places: RwLock<Places>,
    /// Fields that have been accessed.
    pub fields: RwLock<Fields>,
    /// Other ways to reach them.
    pub handles: RwLock<Handles>,
    /// What is known about classes of collections.
    pub owners: RwLock<Owners>,
    /// Who runs.
    pub scheduler: Scheduler,
    /// Made when the first thread runs code under test: a virtual machine that runs none leaves no recording.
    recorder: Mutex<Option<Recorder>>,
    /// Threads that were started but have not begun, by the number of their object.
    pub starting: Mutex<FxHashMap<i64, Origin>>,
    /// Ids of threads that have begun, likewise.
    pub threads: Mutex<FxHashMap<i64, u32>>,
    /// Threads that are over, likewise.
    pub ended: Mutex<FxHashSet<i64>>,
    /// Objects that the garbage collector has found dead. Filled where nothing else may be locked.
    pub dead: Mutex<Vec<i64>>,
    active: AtomicBool,
    complaints: Mutex<HashSet<String>>,
}

static PROCESS: OnceLock<Process> = OnceLock::new();

/// Locks; what a panic left behind is still the best there is.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for writing to what many read.
pub fn write<T>(shared: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    shared.write().unwrap_or_else(PoisonError::into_inner)
}

/// The same for reading.
pub fn read<T>(shared: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    shared.read().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    /// Sets up the process; false if it is already.
    pub fn begin(folder: PathBuf, plan: RunPlan, included: Included) -> bool {
        let process = Process {
            folder,
            plan,
            included,
            places: RwLock::default(),
            fields: RwLock::default(),
            handles: RwLock::default(),
            owners: RwLock::default(),
            scheduler: Scheduler::new(&plan),
            recorder: Mutex::new(None),
            starting: Mutex::default(),
            threads: Mutex::default(),
            ended: Mutex::default(),
            dead: Mutex::default(),
            active: AtomicBool::new(false),
            complaints: Mutex::default(),
        };
        PROCESS.set(process).is_ok()
    }

    /// The process, once it is set up.
    pub fn get() -> Option<&'static Process> {
        PROCESS.get()
    }

    /// Hooks do something from now on.
    pub fn activate(&self) {
        self.active.store(true, Ordering::Release);
    }

    /// Hooks do nothing any more, and nobody waits for a turn.
    pub fn deactivate(&self) {
        self.active.store(false, Ordering::Release);
        self.scheduler.set_free();
    }

    /// Do hooks do something?
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }

    /// Says once for each kind of trouble that some code is not looked at.
    pub fn complain(&self, what: &str, refusal: &Refusal) {
        let what = what.replace('/', ".");
        if lock(&self.complaints).insert(refusal.to_string()) {
            eprintln!("unsnarl: {what} is not looked at (nor are others like it): {refusal}");
        }
    }

    fn say_once(&self, what: &str) {
        if lock(&self.complaints).insert(what.to_owned()) {
            eprintln!("unsnarl: {what}");
        }
    }

    /// Calls `with` with the recorder, which is made if there is none yet. None once it cannot record any more.
    pub fn record<T>(&self, with: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
        let mut guard = lock(&self.recorder);
        if guard.is_none() {
            match Recorder::create(&self.folder, &self.plan, self.included.every_access) {
                Ok(recorder) => {
                    *guard = Some(recorder);
                    self.scheduler.begins();
                }
                Err(error) => {
                    self.deactivate();
                    eprintln!("unsnarl: this process is not recorded: it cannot create its file: {error}");
                }
            }
        }
        let recorder = guard.as_mut()?;
        if recorder.is_full() {
            self.deactivate();
            return None;
        }
        Some(with(recorder))
    }

    /// The same, without making one.
    pub fn record_if_any<T>(&self, with: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
        lock(&self.recorder).as_mut().map(with)
    }

    /// What the plan says about this place in the current method.
    pub fn marks_at(&self, thread: &Thread, position: u16) -> Marks {
        if !self.has_marks() {
            return Marks::default();
        }
        let site = thread.desk.frames().next().and_then(|frame| self.site(frame.site));
        site.map(|site| self.marks_in(site.method, position)).unwrap_or_default()
    }

    fn has_marks(&self) -> bool {
        self.plan.interleaving.is_some() || !self.plan.sites.is_empty() && self.scheduler.is_controlled()
    }

    /// Does what the plan says about a place make it a point? Not by what is to be tried out, as long as an earlier run is followed
    /// that knew nothing of it.
    pub fn is_point(&self, marks: Marks) -> bool {
        marks.is_site || !marks.is_empty() && !self.scheduler.follows()
    }

    /// The same in this method.
    pub fn marks_in(&self, method: u32, position: u16) -> Marks {
        if !self.has_marks() {
            return Marks::default();
        }
        let is_controlled = self.scheduler.is_controlled();
        let places = read(&self.places);
        let method = &places.methods[method as usize];
        let fingerprint = places.classes[method.class as usize].fingerprint;
        // The address behind the instruction's first byte, as in the recording.
        let address = u64::from(method.offset) + u64::from(position) + 1;
        let is_here = |build_id: &[u8], other: u64| other == address && build_id.starts_with(&fingerprint);
        let bits = |of: Option<Interleaving>, address: fn(&InterleavingStep) -> u64| {
            let of = of.as_ref();
            let steps = of.iter().flat_map(|interleaving| interleaving.steps()).enumerate();
            steps.fold(0, |bits, (number, step)| {
                bits | u16::from(is_here(&step.build_id, address(step))) << number
            })
        };
        Marks {
            steps: bits(self.plan.interleaving, |step| step.address),
            guarded: bits(self.plan.interleaving, |step| step.guard),
            begun: 0,
            avoided: bits(self.plan.avoided, |step| step.address),
            is_site: is_controlled
                && self.plan.sites.iter().any(|site| is_here(&site.build_id, site.address)),
        }
    }

    /// The site with this number, at which the thread is.
    pub fn reach(&self, thread: &Thread, number: i32) -> Option<Site> {
        let site = self.site(number)?;
        if self.included.loops {
            let block = if site.action == Action::Loop { site.block } else { site.block.within() };
            self.record(|recorder| recorder.visit(thread.id, thread.desk.depth(), block));
        }
        Some(site)
    }

    /// The site with this number.
    pub fn site(&self, number: i32) -> Option<Site> {
        read(&self.places).sites.get(number as usize).copied()
    }
}

/// These come and go on threads of the virtual machine's own ([`CARRIER_THREAD`]), between any two hooks.
const VIRTUAL_THREAD: &str = "java/lang/VirtualThread";
/// What they run on.
pub const CARRIER_THREAD: &str = "jdk/internal/misc/CarrierThread";

enum Presence {
    /// Has not run code under test.
    Unknown,
    /// The same, and was not started by one that has.
    Stranger,
    Here(Box<Thread>),
    /// Is over; late events are ignored.
    Gone,
}

thread_local! {
    static THREAD: RefCell<Presence> = const { RefCell::new(Presence::Unknown) };
}

/// Calls `hook` with the calling thread, if it has run code under test. A hook within a hook is ignored, and so is
/// whatever goes wrong in the recorder: the program goes on without it.
pub fn with_thread(hook: impl FnOnce(&Process, &mut Thread)) {
    let Some(process) = Process::get() else { return };
    if !process.is_active() {
        return;
    }
    let inside = AssertUnwindSafe(|| {
        // Fails while a thread's own storage is taken down.
        let _ = THREAD.try_with(|presence| {
            if let Ok(mut presence) = presence.try_borrow_mut()
                && let Presence::Here(thread) = &mut *presence
            {
                hook(process, thread);
            }
        });
    });
    if catch_unwind(inside).is_err() {
        process.deactivate();
        process.record_if_any(Recorder::fail);
    }
}

/// The calling thread is about to run code under test: makes it known, if it is not.
pub fn attach(env: *mut JNIEnv) {
    let Some(process) = Process::get() else { return };
    if !process.is_active() {
        return;
    }
    let _ = THREAD.try_with(|presence| {
        let Ok(mut presence) = presence.try_borrow_mut() else { return };
        if !matches!(*presence, Presence::Unknown | Presence::Stranger) {
            return;
        }
        let object = jvm::current_thread();
        if object.is_null() {
            return;
        }
        let tag = jvm::tag(object);
        let is_announced = lock(&process.starting).contains_key(&tag);
        if !is_announced && jvm::is_systems_own(object) {
            *presence = Presence::Gone;
            return;
        }
        // The operating system's thread is there for all of them, and for nothing else.
        if [VIRTUAL_THREAD, CARRIER_THREAD].contains(&jvm::class_name_of(env, object).as_str()) {
            // Once a stranger, always one: it may wake others.
            *presence = Presence::Gone;
            return process.say_once("virtual threads are not looked at");
        }
        let Some(desk) = Desk::new() else { return };
        let origin = lock(&process.starting).remove(&tag).unwrap_or_default();
        let (name, is_daemon) = jvm::thread_info(object).unwrap_or_default();
        let take_seat = |id| process.scheduler.seat(id, is_daemon, desk);
        // What was announced begins when it gets to run; of others nobody knew.
        let mut seat = (origin.id != 0).then(|| take_seat(origin.id));
        let switched = seat.as_mut().is_some_and(|seat| process.scheduler.arrive(seat));
        let Some(Some(id)) = process.record(|recorder| recorder.begin_thread(origin, &name, desk)) else {
            return;
        };
        lock(&process.threads).insert(tag, id);
        let seat = seat.unwrap_or_else(|| take_seat(id));
        let mut thread = Box::new(Thread::new(id, tag, seat, desk));
        hooks::note_switch(process, &mut thread, switched);
        // Where loops are looked at, each hook tells which iteration it is in.
        if !process.included.loops && !process.included.every_access {
            desk.show(jvm::thread_number(env, object) as u64, id);
        }
        let was = std::mem::replace(&mut *presence, Presence::Here(thread));
        if matches!(was, Presence::Stranger) {
            process.scheduler.stranger(false);
        }
    });
}

/// The calling thread begins. If it was started by code under test, it waits for its turn.
pub fn begin(env: *mut JNIEnv) {
    let Some(process) = Process::get().filter(|process| process.is_active()) else { return };
    // Numbers are given out where the order of threads is known: not here.
    let own = jvm::current_thread();
    if lock(&process.starting).contains_key(&jvm::known_tag(own)) {
        return attach(env);
    }
    if jvm::is_systems_own(own) {
        return;
    }
    process.scheduler.stranger(true);
    let _ = THREAD.try_with(|presence| {
        if let Ok(mut presence) = presence.try_borrow_mut() {
            *presence = Presence::Stranger;
        }
    });
}

/// The calling thread is over.
pub fn detach() {
    with_thread(|process, thread| {
        process.record(|recorder| recorder.end_thread(thread.id));
        lock(&process.ended).insert(thread.tag);
        process.scheduler.ends(&mut thread.seat, lock_address(thread.tag));
        thread.end_torn();
        thread.desk.clear();
    });
    let _ = THREAD.try_with(|presence| {
        if let Ok(mut presence) = presence.try_borrow_mut() {
            let was = std::mem::replace(&mut *presence, Presence::Gone);
            if let (Presence::Stranger, Some(process)) = (was, Process::get()) {
                process.scheduler.stranger(false);
            }
        }
    });
}
