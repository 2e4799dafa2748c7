//! One run step by step: what each thread did to shared variables, to locks and to other threads.

/// A run, or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The number of the run.
    pub run: u64,
    /// How it ended, in words.
    pub outcome: String,
    /// Whether it counts as failing.
    pub failed: bool,
    /// The threads by their names. The first is nobody: threads count from 1.
    pub threads: Vec<String>,
    /// What they did, in the order of time.
    pub steps: Vec<TraceStep>,
    /// How many steps of the run are not among these.
    pub left_out: u64,
}

/// What a thread did at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// Its place in the run, from 1.
    pub number: u64,
    /// The thread, by its index.
    pub thread: usize,
    /// What it did.
    pub deed: Deed,
    /// To what: a variable, a lock or a thread.
    pub object: TraceObject,
    /// The value read or written, if known.
    pub value: Option<String>,
    /// The function, if known.
    pub function: Option<String>,
    /// The source file as the debug info gives it, if known.
    pub file: Option<String>,
    /// The line there, from 1.
    pub line: Option<u32>,
    /// The text of that line, where it could be read.
    pub source: Option<String>,
    /// The locks that the thread holds then; none where that is unknown.
    pub locks: Option<Vec<TraceObject>>,
    /// Which access of the finding it is, by its index, if the trace is shown for one.
    pub access: Option<usize>,
}

/// A variable, a lock or a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TraceObject {
    /// Its name; empty if there is nothing to name.
    pub name: String,
    /// Tells it from others of the same name in the run.
    pub identity: u64,
}

/// What a step does to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    /// Reads a variable.
    Read,
    /// Writes it.
    Write,
    /// Reads and writes it in one atomic step.
    Update,
    /// Gives its memory back.
    Free,
    /// Takes a lock.
    Lock,
    /// Gives it back.
    Unlock,
    /// Takes a lock that others may share.
    LockShared,
    /// Gives it back.
    UnlockShared,
    /// Begins to wait for a condition.
    Wait,
    /// Waits no longer.
    Wake,
    /// Wakes one waiter.
    Signal,
    /// Wakes all waiters.
    Broadcast,
    /// Raises a semaphore.
    Post,
    /// Lowers it.
    Lower,
    /// Comes to a barrier.
    Arrive,
    /// Leaves it.
    Leave,
    /// Creates a thread.
    Create,
    /// Begins.
    Start,
    /// Ends.
    End,
    /// Sees the end of another thread.
    Join,
    /// Sleeps, for as long as its object says.
    Sleep,
    /// Waits for this when the run ends.
    Stuck,
}

impl Deed {
    /// The verb for it.
    pub fn verb(self) -> &'static str {
        match self {
            Deed::Read => "read",
            Deed::Write => "write",
            Deed::Update => "update",
            Deed::Free => "free",
            Deed::Lock => "lock",
            Deed::Unlock => "unlock",
            Deed::LockShared => "lock shared",
            Deed::UnlockShared => "unlock shared",
            Deed::Wait => "wait",
            Deed::Wake => "wake from",
            Deed::Signal => "signal",
            Deed::Broadcast => "broadcast",
            Deed::Post => "post",
            Deed::Lower => "lower",
            Deed::Arrive => "arrive at",
            Deed::Leave => "leave",
            Deed::Create => "create",
            Deed::Start => "start",
            Deed::End => "end",
            Deed::Join => "join",
            Deed::Sleep => "sleep",
            Deed::Stuck => "waits for",
        }
    }

    /// Whether it changes a variable.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Deed::Write | Deed::Update | Deed::Free)
    }
}

impl TraceStep {
    /// What it does: `read 1  queue.size`, `lock  queue.lock`, `start`.
    pub(crate) fn words(&self) -> String {
        let verb = self.deed.verb();
        let did = self.value.as_ref().map_or_else(|| verb.to_owned(), |value| format!("{verb} {value}"));
        if self.object.name.is_empty() { did } else { format!("{did}  {}", self.object.name) }
    }

    /// Where it is, with the file's own name only; empty if unknown.
    pub(crate) fn place(&self) -> String {
        let file = self.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
        match (file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file.to_owned(),
            (None, _) => self.function.clone().unwrap_or_default(),
        }
    }
}

/// Which steps of a trace to show. Of each list one entry must match, if it has any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Threads by number, as the trace shows it, or by a part of the name.
    pub threads: Vec<String>,
    /// Variables and locks by a part of their names.
    pub objects: Vec<String>,
    /// Files by a part of their paths.
    pub files: Vec<String>,
    /// The first and the last step to show.
    pub steps: Option<[u64; 2]>,
}

impl Trace {
    /// The trace without the steps that the filter does not want.
    pub fn filtered(self, filter: &Filter) -> Trace {
        let is_thread = |index: usize, wanted: &String| match wanted.parse::<usize>() {
            Ok(number) => number == index,
            Err(_) => self.threads[index].contains(wanted.as_str()),
        };
        let any = |wanted: &[String], matches: &dyn Fn(&String) -> bool| {
            wanted.is_empty() || wanted.iter().any(matches)
        };
        let all = self.steps.len();
        let keeps = |step: &TraceStep| {
            let file = step.file.as_deref().unwrap_or_default();
            any(&filter.threads, &|wanted| is_thread(step.thread, wanted))
                && any(&filter.objects, &|wanted| step.object.name.contains(wanted.as_str()))
                && any(&filter.files, &|wanted| file.contains(wanted.as_str()))
                && filter.steps.is_none_or(|[first, last]| (first..=last).contains(&step.number))
        };
        let steps: Vec<TraceStep> = self.steps.iter().filter(|step| keeps(step)).cloned().collect();
        let left_out = self.left_out + (all - steps.len()) as u64;
        Trace { steps, left_out, ..self }
    }

    /// The titles of the threads: their numbers and names.
    pub fn titles(&self) -> Vec<String> {
        self.threads.iter().enumerate().map(|(index, name)| format!("{index} {name}")).collect()
    }

    /// The threads that act, by their index, in order.
    pub(crate) fn acting(&self) -> Vec<usize> {
        let mut acting: Vec<usize> = self.steps.iter().map(|step| step.thread).collect();
        acting.sort_unstable();
        acting.dedup();
        acting
    }
}

/// A run that failed beside one that passed, for a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// The finding's place in the list, from 1.
    pub finding: u64,
    /// The run that the finding is shown in.
    pub failing: Trace,
    /// The run that it is compared with.
    pub passing: Option<Trace>,
}
