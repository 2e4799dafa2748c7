//! The report as data. The fields, in this order, are the keys of the JSON report: they are stable, and new ones
//! are added only with a default.

mod action;
mod effort;
mod window;

use serde::{Deserialize, Serialize};

pub use action::Action;
pub use effort::{Effort, Spent};
pub use window::Window;

use crate::hang::Hang;
use crate::outlook::Outlook;
use crate::search::Search;
use crate::trace::Timeline;

/// The version of the JSON keys that this crate writes and reads.
pub const SCHEMA: u32 = 1;

/// Everything a session has to say, ready to be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of the keys: [`SCHEMA`].
    pub schema: u32,
    /// What was run, and how.
    pub session: Session,
    /// How the runs ended.
    pub runs: Runs,
    /// The failing runs by what their failure looks like, most frequent first.
    #[serde(default)]
    pub failures: Vec<FailureGroup>,
    /// The technique that ranked the findings.
    pub technique: String,
    /// What may make the findings less trustworthy, as sentences.
    pub warnings: Vec<String>,
    /// Failing runs whose threads took the same turns once more, and how many of these failed again; none if that was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Trial>,
    /// How many more runs would probably settle which cause comes first; none if that cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
    /// The suspects, best first.
    pub findings: Vec<Finding>,
    /// The causes that the findings tell apart, each with its failing runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// What the threads of hung runs wait for, and locks that threads take in a circle: each with how many runs show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hangs: Vec<Hang>,
    /// How likely failing runs were to fail along their way, where that was tried out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlooks: Vec<Outlook>,
    /// How the runs were made, and what came of each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// What it took; none where a session was merely looked at again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The source around the accesses, where it could be read: each line once, however many findings have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excerpts: Vec<Excerpt>,
    /// Runs of the first findings step by step, for the page. `unsnarl trace` shows any run; JSON has none.
    #[serde(skip)]
    pub timelines: Vec<Timeline>,
}

impl Report {
    /// What it would probably take to settle which cause comes first; none if that is settled. One that was confirmed by trying it out is.
    pub fn unsettled(&self) -> Option<Needs> {
        let confirmation = self.findings.first().and_then(|finding| finding.confirmation.as_ref());
        let is_confirmed = confirmation.is_some_and(|known| known.verdict == Verdict::Confirmed);
        self.needs.filter(|needs| *needs != Needs::default() && !is_confirmed)
    }

    /// Whether the first finding needs no passing run to be believed: threads that wait for each other never go on.
    pub fn is_evident(&self) -> bool {
        self.findings.first().is_some_and(|first| first.kind == Kind::Deadlock)
    }
}

/// How many more runs it would probably take; no more of either kind if the runs are enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// Failing ones.
    pub failing: u64,
    /// Passing ones.
    pub passing: u64,
}

impl Finding {
    /// What to do about it, for a reader; nothing about what trials spoke against.
    pub(crate) fn told_advice(&self) -> Option<&str> {
        let is_refuted = self.confirmation.is_some_and(|one| one.verdict == Verdict::Refuted);
        (!self.advice.is_empty() && !is_refuted).then_some(&self.advice)
    }

    /// The finding as the passing run shows it, and the run's number.
    pub(crate) fn in_passing_run(&self) -> Option<(u64, Finding)> {
        let comparison = self.comparison.as_ref()?;
        let accesses = comparison.accesses.clone();
        Some((comparison.run, Finding { accesses, comparison: None, ..self.clone() }))
    }

    /// Which of the finding's accesses those of the passing run are, by index: the same thread does the same there, at
    /// the same place if it can be told. `None` if one has no counterpart.
    pub(crate) fn in_failing_order(&self) -> Option<Vec<usize>> {
        let deed = |access: &Access| (access.thread, access.kind);
        let place = |access: &Access| (deed(access), access.file.clone(), access.line, access.column);
        let mut left: Vec<usize> = (0..self.accesses.len()).collect();
        let same = |access: &Access| {
            let there = left.iter().position(|&index| place(&self.accesses[index]) == place(access));
            let alike = || left.iter().position(|&index| deed(&self.accesses[index]) == deed(access));
            let at = there.or_else(alike)?;
            Some(left.remove(at))
        };
        self.comparison.as_ref()?.accesses.iter().map(same).collect()
    }
}

/// Findings that are one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Its number, from 1: the `cluster` of its findings.
    pub number: u64,
    /// Which group of failing runs it explains. Several causes may be offered for one group.
    pub group: u64,
    /// The failing runs of that group.
    pub failing_runs: Vec<u64>,
    /// Its findings by their place in the list, from 1, the most suspicious first.
    pub findings: Vec<u64>,
    /// For each of its threads the innermost function that encloses all its accesses.
    pub suspicious_functions: Vec<String>,
    /// All accesses of its findings in one picture.
    pub graph: Graph,
}

/// The accesses of a cause: those of one thread that nothing separates are one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// In time order.
    pub nodes: Vec<GraphNode>,
    /// From node to node, by their index.
    pub edges: Vec<[usize; 2]>,
}

/// Accesses of one thread with none of another in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphNode {
    /// The role of the thread within the cause: 1 is the one that begins.
    pub thread: u32,
    /// Its accesses in time order: the finding's place in the list, from 1, and the access's in the finding, from 0.
    pub accesses: Vec<[u64; 2]>,
}

/// Some lines of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The file as the debug info gives it.
    pub file: String,
    /// The number of the first line, from 1.
    pub first: u32,
    /// The text of the lines.
    pub lines: Vec<String>,
}

/// Many runs of one test, with what made them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// A short name, as a rule that of the tested program.
    pub name: String,
    /// The command that was run, one element per argument.
    pub command: Vec<String>,
    /// The version of unsnarl that made the report.
    pub unsnarl_version: String,
    /// When the first run started, as RFC 3339.
    pub started: String,
    /// The seed from which every random choice of the session came.
    pub seed: u64,
    /// How long all runs took together, by the wall clock.
    pub wall_seconds: f64,
}

/// How many runs ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// Runs that passed.
    pub passed: u64,
    /// Runs that failed, hung ones included.
    pub failed: u64,
    /// Those of the failed runs that hung.
    pub hung: u64,
    /// Runs spoilt by unsnarl's own trouble: neither passed nor failed.
    pub damaged: u64,
}

impl Runs {
    /// All runs that were started.
    pub fn total(&self) -> u64 {
        self.judged().saturating_add(self.damaged)
    }

    /// The runs that count: those that passed or failed.
    pub fn judged(&self) -> u64 {
        self.passed.saturating_add(self.failed)
    }
}

/// Failing runs that look alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureGroup {
    /// What a person would say of them, such as ``SIGABRT, assertion `item` at test.c:88``.
    pub description: String,
    /// How many runs failed like that.
    pub runs: u64,
}

/// A ranked suspect with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The place in the ranking; findings with the same score share it.
    pub rank: u64,
    /// How many findings share this rank, this one included.
    pub tied: u64,
    /// How suspicious the technique finds it. An infinite score (DStar knows one) is `null` in JSON.
    #[serde(with = "score")]
    pub score: f64,
    /// The probability that this is the cause, where the technique gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The share of trials with outcomes dealt at random that give as good a clue; of the one that explains most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// Why it ranks where it does, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
    /// The failing runs that show it.
    pub failed: u64,
    /// The passing runs that show it.
    pub passed: u64,
    /// What sort of mistake it looks like.
    pub kind: Kind,
    /// The accesses in short, such as `RWR`.
    pub pattern: String,
    /// The row of the pattern table it belongs to, such as `P4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern_id: Option<String>,
    /// The accesses, in the order in which they happened.
    pub accesses: Vec<Access>,
    /// The threads, by their roles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadRole>,
    /// Where each thread was on the way to its accesses, one function per thread.
    pub suspicious_functions: Vec<String>,
    /// The cause it belongs to, once causes were told apart.
    pub cluster: Option<u64>,
    /// The numbers of the failing runs that show it.
    pub failing_runs: Vec<u64>,
    /// What else speaks for it, as sentences.
    pub evidence: Vec<String>,
    /// What to do about it; empty if unknown.
    pub advice: String,
    /// The same, structured; `null` if unknown.
    #[serde(default)]
    pub fix: Option<Fix>,
    /// What happened in the run that is shown, in plain English; empty if it cannot be told.
    #[serde(default)]
    pub story: String,
    /// The same accesses in a run that passed, if one was found.
    #[serde(default)]
    pub comparison: Option<Comparison>,
    /// What came of forcing and forbidding it; `null` if that was not tried.
    pub confirmation: Option<Confirmation>,
    /// How little of a failing run makes it fail, where that was found out and this is what happens there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// The orders that make the test fail, if they were looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<NeededOrders>,
}

/// A thread of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRole {
    /// Its role within the finding.
    pub thread: u32,
    /// As the program named it, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The function of the program's own that it began with, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Where it was created, such as `queue.c:41`; none for the first thread of a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The calls that created it, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub creation: Vec<Frame>,
}

/// What to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What to do.
    pub action: Action,
    /// The locks that it is about, by name.
    pub locks: Vec<String>,
    /// Whether it is not enough to hold them for reading.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_writing: bool,
    /// Locks that are held already where another one is to be taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// Functions called there that take the lock themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_by: Vec<String>,
    /// Where: first for the thread that must change.
    pub places: Vec<FixPlace>,
    /// The lines to change, like a patch, where they leave no doubt: `@@ ids.rs:22`, `-` and the old line, `+` and the new one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<String>,
}

/// Some lines of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixPlace {
    /// The function, if known.
    pub function: Option<String>,
    /// The source file as the debug info gives it.
    pub file: String,
    /// The first line.
    pub first_line: u32,
    /// The last line.
    pub last_line: u32,
}

/// A run that passed, beside the one that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The number of the run.
    pub run: u64,
    /// The finding's accesses, in the order in which they happened there.
    pub accesses: Vec<Access>,
}

/// What sort of mistake a finding looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Two accesses in the wrong order.
    OrderViolation,
    /// Accesses to one variable, meant to be one step, with another thread's access in between.
    AtomicityViolation,
    /// The same over several variables that belong together.
    MultiVariableAtomicityViolation,
    /// Threads that wait for one another.
    Deadlock,
    /// A wait that began after its signal.
    MissedSignal,
    /// Data passed between threads in a way that only failing runs show.
    Communication,
}

/// One access of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The role of the thread within the finding: 1 is the thread of the first access.
    pub thread: u32,
    /// What it did.
    pub kind: AccessKind,
    /// The location, named as a person would.
    pub variable: String,
    /// The innermost function of the program's own, or of a library if there is none, if known.
    pub function: Option<String>,
    /// Its source file as the debug info gives it, if known.
    pub file: Option<String>,
    /// The line there, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The text of that line, where it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The program or library, given where the function is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The place within the module, such as `0x1f40`, given where the function is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The call stack, innermost frame first; its first frame is the access itself, which may be in a library.
    pub stack: Vec<Frame>,
    /// The value read or written as a number, if recorded.
    pub value: Option<String>,
    /// The same as its type writes it, such as `true`, `NULL` or the name of a constant, if the type is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// The value that a write found before it, as its type writes it, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The locks held, outermost first; `null` where that is unknown.
    pub locks: Option<Vec<String>>,
    /// Whether it gives the memory back; left out where it does not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub frees: bool,
}

impl Access {
    /// The value read or written as a person would write it.
    pub fn value_in_words(&self) -> Option<&str> {
        self.shown.as_deref().or(self.value.as_deref())
    }
}

/// What an access did to its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// It read.
    Read,
    /// It wrote.
    Write,
    /// It did both in one atomic step.
    Update,
    /// It took a lock, or waits for it.
    Lock,
    /// It signalled a condition.
    Signal,
    /// It waits for a condition.
    Wait,
}

/// One frame of a call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The function, if known.
    pub function: Option<String>,
    /// The source file as the debug info gives it, if known.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The program or library, given where the function is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The place within the module, given where the function is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// What came of forcing and forbidding a finding's order of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Runs in which the order was forced.
    pub enforced: Trial,
    /// Runs in which it was made impossible.
    pub forbidden: Trial,
    /// What follows from both.
    pub verdict: Verdict,
    /// Runs with delays at the same places but without any order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed: Option<Trial>,
    /// Runs in which the forced order came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came_about: Option<u64>,
    /// The chance of so clear a difference between forced and forbidden runs if the order did not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// Runs in which it was forced but for one of its variables, whose accesses came in the other order: given where
    /// these failed all the same, so that the variable is no part of the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turned: Option<Trial>,
    /// The number of the finding that it merely goes along with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained_by: Option<u64>,
    /// Runs in which it came about while that one did not: given where these hardly failed, or there were hardly any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Trial>,
    /// So many failing runs were followed: until it had come about in place of forcing it, and to right before it, to forbid
    /// it from there on. Given where forcing it from the start proved nothing. Zero if those that were followed were not lost at
    /// a step of it, so that it may be no more than what has to come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed: Option<u64>,
    /// A failing run was made as short as it can be: in place of forcing it, a thread was held right in it, and in place of
    /// forbidding it, one step earlier and one step later. Given where forcing it from the start proved nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub narrowed: bool,
}

/// Some runs, and how many of them failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// All of them.
    pub runs: u64,
    /// Those that failed.
    pub failed: u64,
}

/// Whether a finding is the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Forcing it makes runs fail, forbidding it makes them pass.
    Confirmed,
    /// Forcing it does not make runs fail, or forbidding it does not help.
    Refuted,
    /// The trials do not tell.
    Inconclusive,
}

/// The smallest set of orders that makes the test fail: without any of them it does not, with all of them it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeededOrders {
    /// None if the test fails as often without.
    pub orders: Vec<NeededOrder>,
    /// Runs with these orders.
    pub runs: u64,
    /// Those of them that failed.
    pub failed: u64,
}

/// One thing that has to happen before another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeededOrder {
    /// What happens first.
    pub first: NeededStep,
    /// What happens after it.
    pub second: NeededStep,
}

/// What a thread does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeededStep {
    /// The role of the thread, from 1.
    pub thread: u32,
    /// What it does.
    pub kind: AccessKind,
    /// To what.
    pub variable: String,
    /// The function, if known.
    pub function: Option<String>,
    /// The source file as the debug info gives it, if known.
    pub file: Option<String>,
    /// The line there, from 1.
    pub line: Option<u32>,
}

impl From<&Access> for NeededStep {
    fn from(access: &Access) -> NeededStep {
        NeededStep {
            thread: access.thread,
            kind: access.kind,
            variable: access.variable.clone(),
            function: access.function.clone(),
            file: access.file.clone(),
            line: access.line,
        }
    }
}

/// JSON has no infinity, so an infinite score travels as `null`.
mod score {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(score: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        score.is_finite().then_some(*score).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}
