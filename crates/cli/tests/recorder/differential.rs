//! Generated programs in controlled runs, against a naive interpreter that is told nothing but the schedule.
//!
//! The interpreter knows the rules of scheduling points and of locks, and keeps every access. From these follow the
//! turns that a recording must have, site by site and value by value.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use recording::{EventKind, flag};

use crate::history::Process;
use crate::kit::c;

/// Uniform choices from a seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(bits ^ (bits >> 31)) * count as u128) >> 64) as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Read,
    Write,
    Update,
}

/// What a line of a generated program does. The register is the thread's own.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// register = variable
    Load(usize),
    /// variable = register + 1
    StoreNext(usize),
    /// variable = constant
    Store(usize, u64),
    AtomicLoad(usize),
    AtomicStore(usize, u64),
    AtomicAdd(usize, u64),
    /// From a constant to another.
    CompareExchange(usize, u64, u64),
    Lock(usize),
    Unlock(usize),
    /// The lines up to the matching end, so many times.
    Repeat(usize),
    EndRepeat,
    Create(usize),
    Join(usize),
}

const PLAIN: usize = 4;
const ATOMIC: usize = 2;
const LOCKS: usize = 2;

/// Plain variables come first, then atomic ones, then the handles of the threads.
fn variable(number: usize) -> String {
    match number {
        _ if number < PLAIN => format!("plain{number}"),
        _ if number < PLAIN + ATOMIC => format!("atomic{number}"),
        _ => format!("handles[{}]", number - PLAIN - ATOMIC),
    }
}

fn body(random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut held = Vec::new();
    let mut in_loop = None;
    for _ in 0..8 + random.below(16) {
        let plain = random.below(PLAIN);
        let atomic = PLAIN + random.below(ATOMIC);
        let value = 1 + random.below(3) as u64;
        match random.below(13) {
            0 | 1 => steps.push(Step::Load(plain)),
            2 => steps.extend([Step::Load(plain), Step::StoreNext(plain)]),
            3 => steps.push(Step::Store(plain, 10 * value)),
            4 => steps.push(Step::StoreNext(plain)),
            5 => steps.push(Step::AtomicLoad(atomic)),
            6 => steps.push(Step::AtomicStore(atomic, value)),
            7 => steps.push(Step::AtomicAdd(atomic, value)),
            8 => steps.push(Step::CompareExchange(atomic, value, value + 1)),
            // In ascending order, so that nobody waits for ever, and in pairs within a loop.
            9 if in_loop.is_none() => {
                let next = held.last().map_or(0, |lock| lock + 1);
                if next < LOCKS {
                    let lock = next + random.below(LOCKS - next);
                    steps.push(Step::Lock(lock));
                    held.push(lock);
                }
            }
            10 if in_loop.is_none() => steps.extend(held.pop().map(Step::Unlock)),
            11 if in_loop.is_none() => {
                in_loop = Some(());
                steps.push(Step::Repeat(2 + random.below(4)));
            }
            12 => steps.extend(in_loop.take().map(|()| Step::EndRepeat)),
            _ => {}
        }
    }
    steps.extend(in_loop.map(|()| Step::EndRepeat));
    steps.extend(held.into_iter().rev().map(Step::Unlock));
    steps
}

/// The main thread's steps come first.
fn program(random: &mut Random) -> Vec<Vec<Step>> {
    let threads = 2 + random.below(3);
    let mut main = Vec::new();
    for plain in 0..PLAIN {
        if random.below(2) == 0 {
            main.push(Step::Store(plain, 5));
        }
    }
    main.extend((1..=threads).map(Step::Create));
    main.extend(body(random));
    main.extend((1..=threads).flat_map(|thread| [Step::Load(PLAIN + ATOMIC + thread), Step::Join(thread)]));
    main.extend((0..PLAIN).map(Step::Load));
    let mut all = vec![main];
    all.extend((0..threads).map(|_| body(random)));
    all
}

/// Each step on a line of its own, marked `thread.step`.
fn source(program: &[Vec<Step>]) -> String {
    let mut text = String::new();
    let threads = program.len();
    for plain in 0..PLAIN {
        let _ = writeln!(text, "volatile int {};", variable(plain));
    }
    for atomic in PLAIN..PLAIN + ATOMIC {
        let _ = writeln!(text, "int {};", variable(atomic));
    }
    let _ = writeln!(text, "pthread_mutex_t locks[{LOCKS}];\npthread_t handles[{threads}];");
    for (thread, steps) in program.iter().enumerate().rev() {
        let head = if thread == 0 { "int main(void)".to_owned() } else { format!("THREAD(thread{thread})") };
        let _ = writeln!(text, "{head} {{\n    int value = 0, expected;");
        for (number, &step) in steps.iter().enumerate() {
            let line = match step {
                // A handle is read together with the joining.
                Step::Load(at) if at >= PLAIN + ATOMIC => String::new(),
                Step::Load(at) => format!("value = {};", variable(at)),
                Step::StoreNext(at) => format!("{} = value + 1;", variable(at)),
                Step::Store(at, new) => format!("{} = {new};", variable(at)),
                Step::AtomicLoad(at) => format!("value = __atomic_load_n(&{}, 5);", variable(at)),
                Step::AtomicStore(at, new) => format!("__atomic_store_n(&{}, {new}, 5);", variable(at)),
                Step::AtomicAdd(at, more) => format!("__atomic_fetch_add(&{}, {more}, 5);", variable(at)),
                Step::CompareExchange(at, old, new) => {
                    format!(
                        "expected = {old}; __atomic_compare_exchange_n(&{}, &expected, {new}, 0, 5, 5);",
                        variable(at)
                    )
                }
                Step::Lock(lock) => format!("pthread_mutex_lock(&locks[{lock}]);"),
                Step::Unlock(lock) => format!("pthread_mutex_unlock(&locks[{lock}]);"),
                Step::Repeat(times) => format!("for (int i = 0; i < {times}; i++) {{"),
                Step::EndRepeat => "}".to_owned(),
                Step::Create(of) => format!("pthread_create(&handles[{of}], NULL, thread{of}, NULL);"),
                Step::Join(of) => format!("pthread_join(handles[{of}], NULL);"),
            };
            let _ = writeln!(text, "    {line} //@{thread}.{number}");
        }
        let _ = writeln!(text, "    (void)value; (void)expected;\n    return 0;\n}}");
    }
    text
}

/// An access as it happened.
#[derive(Clone, Copy, Debug)]
struct Access {
    thread: usize,
    kind: Kind,
    step: usize,
    before: u64,
}

/// A thread of the interpreter.
#[derive(Default)]
struct Thread {
    next: usize,
    register: u64,
    /// Of the loop it is in: where it begins, and rounds left.
    repeat: Option<(usize, usize)>,
    /// The point before the next step is behind it.
    is_past_point: bool,
    ended: bool,
}

struct Interpreter<'a> {
    program: &'a [Vec<Step>],
    threads: Vec<Thread>,
    values: Vec<u64>,
    holders: [Option<usize>; LOCKS],
    accesses: Vec<Vec<Access>>,
    points: u64,
}

/// Why a thread does not go on.
#[derive(PartialEq, Eq, Debug)]
enum Stop {
    AtPoint,
    Waits,
    Ended,
}

impl Interpreter<'_> {
    fn new(program: &[Vec<Step>]) -> Interpreter<'_> {
        let variables = PLAIN + ATOMIC + program.len();
        Interpreter {
            program,
            threads: program.iter().map(|_| Thread::default()).collect(),
            values: vec![0; variables],
            holders: [None; LOCKS],
            accesses: vec![Vec::new(); variables],
            points: 0,
        }
    }

    /// Has only this thread touched the variable, and has it?
    fn is_own(&self, thread: usize, at: usize) -> bool {
        !self.accesses[at].is_empty() && self.accesses[at].iter().all(|access| access.thread == thread)
    }

    fn has_point_before(&self, thread: usize, step: Step) -> bool {
        match step {
            Step::Load(at) | Step::StoreNext(at) | Step::Store(at, _) => !self.is_own(thread, at),
            Step::Unlock(_) | Step::Repeat(_) | Step::EndRepeat | Step::Create(_) => false,
            _ => true,
        }
    }

    /// Runs a thread until the point with this number, or for ever.
    fn run(&mut self, thread: usize, until: Option<u64>) -> Stop {
        loop {
            let Some(&step) = self.program[thread].get(self.threads[thread].next) else {
                self.threads[thread].ended = true;
                return Stop::Ended;
            };
            if self.has_point_before(thread, step) && !self.threads[thread].is_past_point {
                self.threads[thread].is_past_point = true;
                self.points += 1;
                if Some(self.points) == until {
                    return Stop::AtPoint;
                }
            }
            if !self.perform(thread, step) {
                return Stop::Waits;
            }
            self.threads[thread].next += 1;
            self.threads[thread].is_past_point = false;
            if matches!(step, Step::Unlock(_) | Step::Create(_)) {
                self.points += 1;
                if Some(self.points) == until {
                    return Stop::AtPoint;
                }
            }
        }
    }

    /// False if the step has to wait.
    fn perform(&mut self, thread: usize, step: Step) -> bool {
        let number = self.threads[thread].next;
        match step {
            Step::Load(at) | Step::AtomicLoad(at) => {
                self.threads[thread].register = self.values[at];
                self.note(thread, at, Kind::Read, self.values[at]);
            }
            Step::StoreNext(at) => {
                self.note(thread, at, Kind::Write, (self.threads[thread].register + 1) & 0xffff_ffff);
            }
            Step::Store(at, new) | Step::AtomicStore(at, new) => self.note(thread, at, Kind::Write, new),
            Step::AtomicAdd(at, more) => self.note(thread, at, Kind::Update, self.values[at] + more),
            Step::CompareExchange(at, old, new) if self.values[at] == old => {
                self.note(thread, at, Kind::Update, new);
            }
            Step::CompareExchange(at, ..) => self.note(thread, at, Kind::Read, self.values[at]),
            Step::Lock(lock) if self.holders[lock].is_some() => return false,
            Step::Lock(lock) => self.holders[lock] = Some(thread),
            Step::Unlock(lock) => self.holders[lock] = None,
            Step::Repeat(times) => self.threads[thread].repeat = Some((number, times - 1)),
            Step::EndRepeat => match self.threads[thread].repeat {
                Some((start, left)) if left > 0 => {
                    self.threads[thread].repeat = Some((start, left - 1));
                    self.threads[thread].next = start;
                }
                _ => self.threads[thread].repeat = None,
            },
            Step::Create(_) => {}
            Step::Join(of) => return self.threads[of].ended,
        }
        true
    }

    fn note(&mut self, thread: usize, at: usize, kind: Kind, after: u64) {
        let step = self.threads[thread].next;
        self.accesses[at].push(Access { thread, kind, step, before: self.values[at] });
        self.values[at] = after;
    }
}

/// What one thread did to a variable between two changes of its owner.
#[derive(Default, PartialEq, Eq, Debug, Clone)]
struct Part {
    first_read: Option<usize>,
    last_read: Option<usize>,
    reads: BTreeSet<usize>,
    first_write: Option<usize>,
    last_write: Option<usize>,
}

impl Part {
    fn add(&mut self, kind: Kind, step: usize) {
        if kind != Kind::Write {
            self.first_read.get_or_insert(step);
            self.last_read = Some(step);
            self.reads.insert(step);
        }
        if kind != Kind::Read {
            self.first_write.get_or_insert(step);
            self.last_write = Some(step);
        }
    }
}

/// A variable's history: the turns of its versions, by thread. A version begins when a thread writes that did not own
/// the variable, which it does from its write on until another one touches it.
fn versions(accesses: impl Iterator<Item = (usize, Kind, usize)>) -> Vec<BTreeMap<usize, Part>> {
    let mut versions = vec![BTreeMap::new()];
    let mut owner = None;
    for (thread, kind, step) in accesses {
        if kind == Kind::Read {
            if owner != Some(thread) {
                owner = None;
            }
        } else if owner != Some(thread) {
            versions.push(BTreeMap::new());
            owner = Some(thread);
        }
        let version: &mut BTreeMap<usize, Part> = versions.last_mut().expect("one is always there");
        version.entry(thread).or_default().add(kind, step);
    }
    versions
}

/// A variable's history as a recording keeps it.
#[derive(PartialEq, Eq, Debug)]
struct History {
    /// The last read and write by the thread that had it to itself first.
    alone: (usize, Option<usize>, Option<usize>),
    shared: Vec<BTreeMap<usize, Part>>,
}

fn expected(accesses: &[Access]) -> History {
    let first = accesses[0].thread;
    let count = accesses.iter().take_while(|access| access.thread == first).count();
    let (alone, shared) = accesses.split_at(count);
    let last = |other: Kind| alone.iter().rfind(|access| access.kind != other).map(|access| access.step);
    History {
        alone: (first, last(Kind::Write), last(Kind::Read)),
        shared: versions(shared.iter().map(|access| (access.thread, access.kind, access.step))),
    }
}

fn recorded(process: &Process<'_>, location: u32) -> History {
    let events: Vec<_> = process.accesses(location).collect();
    let actor = |event: &recording::ThreadEvent| event.actor() as usize - 1;
    let step = |event: &recording::ThreadEvent| site(process, event.event.leaf).1;
    let first = actor(events[0]);
    let is_alone = |event: &&&recording::ThreadEvent| event.is_stamped() && actor(event) == first;
    let (alone, shared) = events.split_at(events.iter().take_while(is_alone).count());
    let last = |kind: EventKind| alone.iter().find(|event| event.kind == kind).map(|event| step(event));
    let kind = |event: &recording::ThreadEvent| match event.kind {
        EventKind::Read | EventKind::LastRead => Kind::Read,
        EventKind::Update => Kind::Update,
        _ => Kind::Write,
    };
    History {
        alone: (first, last(EventKind::LastRead), last(EventKind::LastWrite)),
        shared: versions(shared.iter().map(|event| (actor(event), kind(event), step(event)))),
    }
}

fn site(process: &Process<'_>, leaf: u32) -> (usize, usize) {
    let marker = process.site(leaf);
    let (thread, step) = marker.split_once('.').unwrap_or_else(|| panic!("no line of a step: {marker}"));
    (thread.parse().expect("a thread"), step.parse().expect("a step"))
}

/// Plays the recorded schedule, checking that it is one.
fn interpret<'a>(program: &'a [Vec<Step>], process: &Process<'_>) -> Interpreter<'a> {
    let mut interpreter = Interpreter::new(program);
    let schedule: Vec<_> = process
        .recording
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Switch | EventKind::ThreadEnd))
        .map(|event| (event.thread as usize - 1, event.kind, event.event.value))
        .collect();
    let mut begun = BTreeSet::from([0]);
    for (index, &(thread, kind, _)) in schedule.iter().enumerate() {
        if kind == EventKind::ThreadEnd {
            assert!(interpreter.threads[thread].ended, "thread {thread} has ended");
            continue;
        }
        let until = match schedule.get(index + 1) {
            Some(&(_, EventKind::Switch, point)) => Some(point),
            _ => None,
        };
        // A thread that has just begun comes to a point before its first step.
        if begun.insert(thread) {
            interpreter.points += 1;
            if Some(interpreter.points) == until {
                continue;
            }
        }
        let stop = interpreter.run(thread, until);
        assert!(
            until.is_none_or(|point| point == interpreter.points),
            "{stop:?} of {thread} at point {until:?}, not {}: {:?} of {schedule:?}",
            interpreter.points,
            interpreter.threads.iter().map(|thread| thread.next).collect::<Vec<_>>()
        );
    }
    assert!(interpreter.threads.iter().all(|thread| thread.ended), "the schedule is whole");
    interpreter
}

#[test]
fn turns_are_those_of_a_naive_interpreter_under_the_same_schedule() {
    let mut shared = 0;
    for number in 0..6 {
        let program = program(&mut Random(number));
        let text = source(&program);
        let mut compiled = c(&text);
        for seed in 0..4 {
            compiled = compiled.plan(&format!("seed={seed},schedule=random")).with_own_recordings();
            let process = compiled.record();
            process.expect_whole();
            let interpreter = interpret(&program, &process);
            for at in 0..PLAIN + ATOMIC {
                let accesses = &interpreter.accesses[at];
                let address = process.address(&variable(at));
                let location = process.lasting_locations().find(|(_, location)| location.address == address);
                let threads: BTreeSet<usize> = accesses.iter().map(|access| access.thread).collect();
                assert_eq!(location.is_some(), threads.len() > 1, "{} is shared", variable(at));
                let Some((location, _)) = location else { continue };
                shared += 1;
                let context =
                    || format!("program {number} seed {seed} {}\n{text}\n{accesses:?}", variable(at));
                assert_eq!(recorded(&process, location), expected(accesses), "{}", context());
                check_values(&process, location, accesses, &context);
            }
        }
    }
    assert!(shared > 50, "{shared} variables tell something");
}

/// Each recorded access found what the interpreter's did.
fn check_values(process: &Process<'_>, location: u32, accesses: &[Access], context: &dyn Fn() -> String) {
    let mut left = accesses.iter();
    for event in process.accesses(location).filter(|event| event.event.flags & flag::VALUE != 0) {
        let thread = event.actor() as usize - 1;
        let (_, step) = site(process, event.event.leaf);
        let found = left.any(|access| {
            access.thread == thread && access.step == step && access.before == event.event.value
        });
        assert!(found, "step {thread}.{step} with value {}: {}", event.event.value, context());
    }
}
