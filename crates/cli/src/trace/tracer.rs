//! A run in words.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use localize::profile::Location;
use localize::{
    Access, AccessKind, Code, LocationId, LocksetId, ObjectId, Profile, SiteId, StackId, SyncEvent, SyncKind,
    SyncTarget, ThreadId,
};
use report::Frame;
use report::expression::{Place, shared_expression};
use report::source::Sources;
use report::trace::{Deed, Trace, TraceObject, TraceStep};

use super::moments::Moment;
use crate::names::Names;

/// Puts a run into words, each place and each variable once.
pub struct Tracer<'a> {
    profile: &'a Profile,
    code: &'a Code,
    /// To read debug info takes longer than all else: whoever has read it hands it on.
    names: &'a mut Names,
    sources: Sources,
    accesses: HashMap<(SiteId, StackId, LocationId, Option<u64>), report::Access>,
    locations: HashMap<LocationId, String>,
    objects: HashMap<ObjectId, String>,
    /// The functions of the program's own in which threads begin, as far as their accesses tell.
    beginnings: HashMap<ThreadId, String>,
}

impl<'a> Tracer<'a> {
    /// `locations` are the names of those that have one already.
    pub fn new(
        profile: &'a Profile,
        code: &'a Code,
        names: &'a mut Names,
        locations: HashMap<LocationId, String>,
    ) -> Self {
        let sources = Sources::new(std::env::current_dir());
        Tracer {
            profile,
            code,
            names,
            sources,
            accesses: HashMap::new(),
            locations,
            objects: HashMap::new(),
            beginnings: HashMap::new(),
        }
    }

    /// The moments of the run that are `shown`, by their index among all. Marked are accesses by their index in the run,
    /// with that in the finding.
    pub fn trace(
        mut self,
        outcome: String,
        moments: &[Moment<'_>],
        shown: &[usize],
        marks: &[(usize, usize)],
    ) -> Trace {
        let run = &self.profile.run;
        self.name_locations(shown.iter().map(|&index| moments[index]));
        self.name_beginnings();
        let mut steps = Vec::with_capacity(shown.len());
        for &index in shown {
            let step = match moments[index] {
                Moment::Access(access) => {
                    let mark = marks.iter().find(|(marked, _)| *marked == access).map(|(_, nth)| *nth);
                    TraceStep { access: mark, ..self.access(&run.accesses[access]) }
                }
                Moment::Synchronization(event) => self.synchronization(event),
                Moment::Sleep(sleep) => {
                    let time = Duration::from_nanos(sleep.nanoseconds);
                    let name = format!("for {}", humantime::format_duration(time));
                    let object = TraceObject { name, ..TraceObject::default() };
                    self.step(sleep.thread, Deed::Sleep, object, sleep.stack)
                }
                Moment::Stuck(wait) => {
                    let object = self.target(wait.target);
                    let locks = self.locks(wait.locks);
                    TraceStep {
                        locks: Some(locks),
                        ..self.step(wait.thread, Deed::Stuck, object, wait.stack)
                    }
                }
            };
            steps.push(TraceStep { number: index as u64 + 1, ..step });
        }
        let threads = (0..self.profile.threads.len()).map(|thread| self.thread(thread)).collect();
        Trace {
            run: u64::from(run.id.0),
            outcome,
            failed: run.outcome.is_failing(),
            threads,
            left_out: (moments.len() - steps.len()) as u64,
            steps,
        }
    }

    /// Where threads begin, by one of their first accesses.
    fn name_beginnings(&mut self) {
        const LOOKED_AT: usize = 8;
        let mut looks: HashMap<ThreadId, usize> = HashMap::new();
        for access in &self.profile.run.accesses {
            let looked = looks.entry(access.thread).or_default();
            if *looked < LOOKED_AT {
                *looked += 1;
                let stack = self.describe(access).stack;
                if let Some(function) = beginning(&stack) {
                    *looked = LOOKED_AT;
                    self.beginnings.insert(access.thread, function.to_owned());
                }
            }
        }
    }

    /// Names the locations of some moments. Those that debug info has no name for go by what the source calls them wherever
    /// they are used.
    fn name_locations<'m>(&mut self, moments: impl Iterator<Item = Moment<'m>>) {
        const DIFFERENT: usize = 6;
        let accesses = &self.profile.run.accesses;
        let location = |moment| match moment {
            Moment::Access(index) => Some(accesses[index].location),
            _ => None,
        };
        let wanted: HashSet<LocationId> = moments.filter_map(location).collect();
        let mut unnamed: HashMap<LocationId, Vec<report::Access>> = HashMap::new();
        for access in accesses.iter().filter(|access| wanted.contains(&access.location)) {
            let is_known = |places: &Vec<report::Access>| places.len() >= DIFFERENT;
            if self.locations.contains_key(&access.location)
                || unnamed.get(&access.location).is_some_and(is_known)
            {
                continue;
            }
            let described = self.describe(access);
            if !described.variable.is_empty() {
                self.locations.insert(access.location, described.variable);
                continue;
            }
            let places = unnamed.entry(access.location).or_default();
            let place = |access: &report::Access| (access.file.clone(), access.line, access.column);
            if places.iter().all(|other| place(other) != place(&described)) {
                places.push(described);
            }
        }
        for (location, accesses) in unnamed {
            let lines: Vec<Option<String>> =
                accesses.iter().map(|access| self.line(access.file.as_deref(), access.line)).collect();
            let places: Vec<Place<'_>> = accesses
                .iter()
                .zip(&lines)
                .filter_map(|(access, line)| {
                    let writes = access.kind == report::AccessKind::Write;
                    Some(Place { line: line.as_deref()?, column: access.column, writes })
                })
                .collect();
            let by_source = if places.len() == accesses.len() { shared_expression(&places) } else { None };
            let Location { size, block, .. } = self.profile.locations[location.0 as usize];
            let by_block = || block.and_then(|block| self.names.block(block, self.code));
            let name = by_source.or_else(by_block).unwrap_or_else(|| format!("{size} bytes"));
            self.locations.insert(location, name);
        }
    }

    fn describe(&mut self, access: &Access) -> report::Access {
        let key = (access.site, access.stack, access.location, access.value);
        let described = self.accesses.entry(key);
        described.or_insert_with(|| self.names.access(access, 1, self.profile, self.code)).clone()
    }

    fn access(&mut self, access: &Access) -> TraceStep {
        let described = self.describe(access);
        let deed = match access.kind {
            _ if access.frees => Deed::Free,
            AccessKind::Read => Deed::Read,
            AccessKind::Write => Deed::Write,
            AccessKind::Update => Deed::Update,
        };
        TraceStep {
            number: 0,
            thread: access.thread.0 as usize,
            deed,
            object: TraceObject {
                name: self.locations.get(&access.location).cloned().unwrap_or_default(),
                identity: identity(0, access.location.0),
            },
            value: described.value.filter(|_| !access.frees),
            source: self.line(described.file.as_deref(), described.line),
            function: described.function,
            file: described.file,
            line: described.line,
            locks: access.locks.map(|locks| self.locks(locks)),
            access: None,
        }
    }

    fn synchronization(&mut self, event: &SyncEvent) -> TraceStep {
        let deed = match event.kind {
            SyncKind::Acquire => Deed::Lock,
            SyncKind::Release => Deed::Unlock,
            SyncKind::AcquireShared => Deed::LockShared,
            SyncKind::ReleaseShared => Deed::UnlockShared,
            SyncKind::WaitBegin => Deed::Wait,
            SyncKind::WaitEnd => Deed::Wake,
            SyncKind::Signal => Deed::Signal,
            SyncKind::Broadcast => Deed::Broadcast,
            SyncKind::Post => Deed::Post,
            SyncKind::Lower => Deed::Lower,
            SyncKind::Arrive => Deed::Arrive,
            SyncKind::Leave => Deed::Leave,
            SyncKind::Create => Deed::Create,
            SyncKind::Start => Deed::Start,
            SyncKind::End => Deed::End,
            SyncKind::Join => Deed::Join,
        };
        let object = if matches!(deed, Deed::Start | Deed::End) {
            TraceObject::default()
        } else {
            self.target(event.target)
        };
        self.step(event.thread, deed, object, event.stack)
    }

    fn target(&mut self, target: SyncTarget) -> TraceObject {
        match target {
            SyncTarget::Thread(thread) => {
                TraceObject { name: format!("thread {}", thread.0), identity: identity(1, thread.0) }
            }
            SyncTarget::Object(object) => self.lock(object),
        }
    }

    fn locks(&mut self, locks: LocksetId) -> Vec<TraceObject> {
        let held = &self.profile.run.locksets[locks.0 as usize];
        held.iter().map(|lock| self.lock(lock.object)).collect()
    }

    fn lock(&mut self, object: ObjectId) -> TraceObject {
        let named = self.objects.entry(object);
        let name = named.or_insert_with(|| self.names.object(object, self.profile, self.code)).clone();
        TraceObject { name, identity: identity(2, object.0) }
    }

    fn step(&mut self, thread: ThreadId, deed: Deed, object: TraceObject, stack: StackId) -> TraceStep {
        let frame = self.names.own_frame(stack, self.code);
        let (function, file, line) =
            frame.map_or((None, None, None), |frame| (frame.function, frame.file, frame.line));
        TraceStep {
            number: 0,
            thread: thread.0 as usize,
            deed,
            object,
            value: None,
            source: self.line(file.as_deref(), line),
            function,
            file,
            line,
            locks: None,
            access: None,
        }
    }

    fn line(&mut self, file: Option<&str>, line: Option<u32>) -> Option<String> {
        self.sources.line(file?, line?)
    }

    /// A thread by its name, or by the function it runs: a library that starts threads has one for all of them.
    fn thread(&mut self, thread: usize) -> String {
        let known = &self.profile.threads[thread];
        let beginning = self.beginnings.get(&ThreadId(thread as u32));
        match (known.name.as_str(), known.entry, beginning) {
            ("", Some(_), Some(function)) => function.clone(),
            ("", Some(entry), None) => self.names.function_at(entry, self.code),
            ("", None, _) => "main".to_owned(),
            (name, ..) => name.to_owned(),
        }
    }
}

/// The outermost function of the program's own that has a name: those without only pass the call on.
fn beginning(stack: &[Frame]) -> Option<&str> {
    let own = stack.iter().filter(|frame| frame.line.is_some() && !frame.is_library());
    let functions: Vec<&str> = own.filter_map(|frame| frame.function.as_deref()).collect();
    let is_named =
        |function: &&&str| !["operator()", "{closure", "lambda"].iter().any(|no| function.contains(no));
    functions.iter().rfind(is_named).or(functions.last()).copied()
}

/// Different for things of different sorts.
pub fn identity(sort: u64, number: u32) -> u64 {
    sort << 32 | u64::from(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_named_by_where_they_enter_the_program() {
        let frame = |function: &str, file: &str| Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            line: Some(1),
            ..Frame::default()
        };
        let mut stack = vec![
            frame("buy", "/src/shop.cpp"),
            frame("walk_upwards", "/src/shop.cpp"),
            frame("operator()", "/src/shop.cpp"),
            frame("_M_run", "/usr/include/c++/12/bits/std_thread.h"),
        ];
        assert_eq!(beginning(&stack), Some("walk_upwards"));
        stack.drain(..2);
        assert_eq!(beginning(&stack), Some("operator()"));
        assert_eq!(beginning(&stack[1..]), None);
    }
}
