//! What the hooks and events of one process share, and what each thread has for itself.

use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use jvmti_bindings::sys::jni::JNIEnv;
use policies::Random;
use recording::{Interleaving, InterleavingStep, RunPlan};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::classfile::Refusal;
use crate::collections::owner::Owners;
use crate::collections::torn::Torn;
use crate::control::{Marks, Scheduler, Seat};
use crate::fields::Fields;
use crate::handles::Handles;
use crate::hooks;
use crate::jvm;
use crate::memory::TORN;
use crate::memory::desk::{Desk, Frame};
use crate::places::{Action, Places, Site};
use crate::recorder::{Origin, ROOT, Recorder, lock_address};
use crate::scope::Included;

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

    /// What the plan says about this place.
    pub fn marks_at(&self, thread: &Thread, position: u16) -> Marks {
        let is_controlled = self.scheduler.is_controlled();
        if self.plan.interleaving.is_none() && (self.plan.sites.is_empty() || !is_controlled) {
            return Marks::default();
        }
        let Some(site) = thread.desk.frames().next().and_then(|frame| self.site(frame.site)) else {
            return Marks::default();
        };
        let places = read(&self.places);
        let method = &places.methods[site.method as usize];
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

/// A call that the current method is about to make.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Position of the instruction.
    pub position: u16,
    /// See [`crate::places::Action::Call`].
    pub receiver: u16,
}

/// A call of the library that will have accessed an atomic variable when it is done.
#[derive(Clone, Copy, Debug)]
struct Approached {
    /// The call.
    call: Call,
    /// The method that was called.
    method: u32,
    /// In how many methods under test the thread was.
    depth: usize,
}

/// What a thread has for itself.
pub struct Thread {
    /// Its id in the recording.
    pub id: u32,
    /// The number of its object.
    tag: i64,
    /// Its part in the scheduling.
    pub seat: Seat,
    /// Methods that it is in, and the last call that the current one has announced.
    pub desk: &'static Desk,
    /// Calls of the library under way whose access is told when they are done.
    approached: Vec<Approached>,
    /// The call under way that others may get into.
    torn: Option<Torn>,
    /// Where they do.
    random: Random,
    /// It waits for this object to be notified, whose monitor it had entered so many times.
    pub waits_for: Option<(u64, u32)>,
}

impl Thread {
    /// The current context.
    pub fn context(&self) -> u32 {
        self.desk.context()
    }

    /// The last call that the current method has announced.
    pub fn call(&self, process: &Process) -> Option<Call> {
        let site = process.site(self.desk.call()?)?;
        match site.action {
            Action::Call { receiver } => Some(Call { position: site.position, receiver }),
            _ => None,
        }
    }

    /// A method begins, which has this site and holds this lock or zero.
    pub fn enter(&mut self, process: &Process, site: i32, lock: u64) {
        let Some(method) = process.site(site).map(|place| place.method) else { return };
        let (parent, call) = (self.context(), self.desk.call());
        let position = call.and_then(|call| process.site(call)).map(|place| place.position);
        let places = read(&process.places);
        let entered = process.record(|recorder| {
            let context = recorder.enter(&places, parent, position, method).unwrap_or(parent);
            (context, recorder.leaf(context, 0))
        });
        let (context, leaf) = entered.unwrap_or((parent, 0));
        let frame = Frame { context, leaf, site, call: call.map_or(0, |call| call as u32 + 1), lock };
        self.desk.push(frame);
        if entered.is_some() && lock == 0 {
            self.desk.remember(parent, &frame);
        }
    }

    /// Remembers a call until its method is done. What was remembered here before was left by an exception.
    pub fn approach(&mut self, call: Call, method: u32) {
        let depth = self.desk.depth();
        self.approached.retain(|other| other.depth < depth);
        self.approached.push(Approached { call, method, depth });
    }

    /// The remembered call of a method that is done.
    pub fn approached(&mut self, method: u32) -> Option<Call> {
        let depth = self.desk.depth();
        let is_done = |other: &Approached| other.method == method && other.depth == depth;
        let position = self.approached.iter().rposition(is_done)?;
        let call = self.approached[position].call;
        self.approached.truncate(position);
        Some(call)
    }

    /// A call begins that others may get into, or none of the kind.
    pub fn begin_torn(&mut self, torn: Option<Torn>) {
        // One that is still there was left by an exception.
        self.end_torn();
        TORN.fetch_add(u32::from(torn.is_some()), Ordering::Relaxed);
        self.torn = torn;
    }

    /// It is over.
    pub fn end_torn(&mut self) -> Option<Torn> {
        let torn = self.torn.take();
        if torn.is_some() {
            TORN.fetch_sub(1, Ordering::Relaxed);
        }
        torn
    }

    /// The library is about to write to this object. Is this where others get into its call?
    pub fn is_torn_here(&mut self, tag: i64) -> Option<Torn> {
        let depth = self.desk.depth();
        let torn = self.torn.as_mut().filter(|torn| {
            (torn.tag, torn.depth, torn.is_written) == (tag, depth, false) && self.random.below(2) == 0
        })?;
        torn.is_written = true;
        Some(*torn)
    }

    /// The leaf at which an object was made: where its constructor was called, or that of a class derived from its own.
    pub fn birthplace(&self, process: &Process, recorder: &Recorder, position: u16) -> u32 {
        let places = read(&process.places);
        let is_constructor = |frame: &Frame| {
            let site = places.sites.get(frame.site as usize);
            site.is_some_and(|site| places.methods[site.method as usize].name == "<init>")
        };
        let mut at = Some(position);
        for frame in self.desk.frames() {
            if !is_constructor(&frame) {
                return at.map_or(0, |at| recorder.leaf(frame.context, at));
            }
            let call = frame.call.checked_sub(1);
            at = call.and_then(|call| places.sites.get(call as usize)).map(|site| site.position);
        }
        0
    }

    /// The leaf of the call that the current method has announced, or of its start.
    pub fn call_leaf(&self, process: &Process, recorder: &Recorder) -> u32 {
        match self.context() {
            ROOT => 0,
            context => recorder.leaf(context, self.call(process).map_or(0, |call| call.position)),
        }
    }
}

enum Presence {
    /// Has not run code under test.
    Unknown,
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
        if !matches!(*presence, Presence::Unknown) {
            return;
        }
        let object = jvm::current_thread();
        let tag = jvm::tag(object);
        let Some(desk) = Desk::new() else { return };
        let origin = lock(&process.starting).remove(&tag).unwrap_or_default();
        let name = jvm::thread_name(object);
        // What was announced begins when it gets to run; of others nobody knew.
        let mut seat = (origin.id != 0).then(|| process.scheduler.seat(origin.id, desk));
        let switched = seat.as_mut().is_some_and(|seat| process.scheduler.arrive(seat));
        let Some(Some(id)) = process.record(|recorder| recorder.begin_thread(origin, &name, desk)) else {
            return;
        };
        lock(&process.threads).insert(tag, id);
        let mut thread = Box::new(Thread {
            id,
            tag,
            seat: seat.unwrap_or_else(|| process.scheduler.seat(id, desk)),
            desk,
            approached: Vec::new(),
            torn: None,
            random: Random::with_seed(process.plan.seed ^ u64::from(id) << 32),
            waits_for: None,
        });
        hooks::note_switch(process, &mut thread, switched);
        // Where loops are looked at, each hook tells which iteration it is in.
        if !process.included.loops && !process.included.every_access {
            desk.show(jvm::thread_number(env, object) as u64, id);
        }
        *presence = Presence::Here(thread);
    });
}

/// The calling thread begins. If it was started by code under test, it waits for its turn.
pub fn begin(env: *mut JNIEnv) {
    let is_announced = Process::get().is_some_and(|process| {
        // Numbers are given out where the order of threads is known: not here.
        let tag = jvm::known_tag(jvm::current_thread());
        process.is_active() && lock(&process.starting).contains_key(&tag)
    });
    if is_announced {
        attach(env);
    }
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
            *presence = Presence::Gone;
        }
    });
}
