//! Reports to be shown: a queue whose workers ask for its size before they take an item, and variations of it.

use report::{
    Access, AccessKind, Confirmation, Excerpt, FailureGroup, Finding, Frame, Hang, HangKind, Kind,
    NeededOrder, NeededOrders, NeededStep, Report, Runs, SCHEMA, Session, Trial, Verdict,
};

use report::trace::{Deed, Trace, TraceObject, TraceStep};

/// A report with these findings, of 212 runs with 15 failures that look alike.
pub fn report(findings: Vec<Finding>) -> Report {
    Report {
        schema: SCHEMA,
        session: Session {
            name: "queue_test".into(),
            command: vec!["./queue_test".into(), "--items".into(), "2".into()],
            unsnarl_version: "0.1.0".into(),
            started: "2024-05-06T07:08:09Z".into(),
            seed: 4711,
            wall_seconds: 38.2,
        },
        runs: Runs { passed: 197, failed: 15, hung: 0, damaged: 0 },
        failures: vec![FailureGroup {
            description: "SIGABRT, assertion `item != NULL` at queue_test.c:88".into(),
            runs: 15,
        }],
        technique: "unicorn".into(),
        warnings: vec![],
        findings,
        causes: vec![],
        needs: None,
        repeated: None,
        hangs: vec![],
        outlooks: vec![],
        search: None,
        effort: None,
        excerpts: vec![],
        timelines: vec![],
    }
}

/// Check, other thread's write, act: the finding of the queue.
pub fn stale_check() -> Finding {
    let worker = [frame("worker", "src/queue_test.c", 20), frame("start", "src/queue_test.c", 9)];
    finding(
        Kind::AtomicityViolation,
        "RWR",
        vec![
            access(1, AccessKind::Read, "queue.size", "take_one", 41)
                .source("    if (queue_size(q) > 0)")
                .value("1")
                .locked_by("queue.lock")
                .called_from(&worker),
            access(2, AccessKind::Write, "queue.size", "take_one", 63)
                .source("\tq->size--;")
                .value("0")
                .locked_by("queue.lock")
                .called_from(&worker),
            access(1, AccessKind::Read, "queue.size", "take_one", 47)
                .source("        item = queue_pop(q);")
                .value("0")
                .locked_by("queue.lock")
                .called_from(&worker),
        ],
    )
}

/// Who waits for whom: a deadlock, one that might be, and two threads that wait in vain.
pub fn hangs() -> Vec<Hang> {
    let hang = |kind, runs, passed, threads: &[&str], advice: &str| Hang {
        kind,
        runs,
        passed,
        threads: threads.iter().map(|thread| (*thread).into()).collect(),
        advice: advice.into(),
    };
    let order = "Take `inbox.lock` and `archive.lock` in the same order everywhere.";
    vec![
        hang(
            HangKind::Deadlock,
            3,
            0,
            &[
                "thread 2 (archive) waits for `archive.lock` at folder.c:37, holding `inbox.lock` from folder.c:35",
                "thread 3 (restore) waits for `inbox.lock` at folder.c:37, holding `archive.lock` from folder.c:35",
            ],
            order,
        ),
        hang(HangKind::Waiting, 1, 0, &["thread 4 (reader) waits for a signal on `ready` at queue.c:12"], ""),
        hang(
            HangKind::PotentialDeadlock,
            9,
            8,
            &[
                "thread 2 (archive) takes `archive.lock` at folder.c:37 while it holds `inbox.lock` from folder.c:35",
            ],
            order,
        ),
        hang(
            HangKind::PotentialDeadlock,
            2,
            2,
            &["thread 5 (writer) takes `a` at log.c:1 while it holds `b`"],
            "",
        ),
    ]
}

/// The run of [`stale_check`], in the order that fails or in one that passes.
pub fn trace(failed: bool) -> Trace {
    let check = step(2, Deed::Read, "queue.size", 41).with("1", 0);
    let take = [
        step(3, Deed::Lock, "queue.lock", 61),
        step(3, Deed::Write, "queue.size", 63).with("0", 1),
        step(3, Deed::Unlock, "queue.lock", 64),
    ];
    let act = [
        step(2, Deed::Lock, "queue.lock", 46),
        step(2, Deed::Read, "queue.size", 47).with(if failed { "0" } else { "1" }, 2),
    ];
    let begin = [step(1, Deed::Create, "thread 2", 12), step(2, Deed::Start, "", 9), check];
    let steps = if failed {
        [begin.to_vec(), take.to_vec(), act.to_vec()]
    } else {
        [begin.to_vec(), act.to_vec(), take.to_vec()]
    };
    let steps = steps.concat().into_iter().zip(1..).map(|(step, number)| TraceStep { number, ..step });
    Trace {
        run: if failed { 4 } else { 1 },
        outcome: if failed { "failed: SIGABRT" } else { "passed" }.into(),
        failed,
        threads: ["", "main", "worker", "worker"].map(str::to_owned).to_vec(),
        steps: steps.collect(),
        left_out: 0,
    }
}

/// A trace that has the text wherever it can have text.
pub fn trace_made_of(text: &str) -> Trace {
    let mut trace = Trace { outcome: text.into(), threads: vec![text.into(); 4], ..trace(true) };
    for step in &mut trace.steps {
        (step.object, step.value) = (named(text), Some(text.into()));
        step.locks = Some(vec![named(text)]);
        (step.function, step.file, step.source) = (Some(text.into()), Some(text.into()), Some(text.into()));
    }
    trace
}

fn step(thread: usize, deed: Deed, object: &str, line: u32) -> TraceStep {
    TraceStep {
        number: 0,
        thread,
        deed,
        object: named(object),
        value: None,
        function: Some("take_one".into()),
        file: Some("src/queue.c".into()),
        line: Some(line),
        source: Some(format!("    line {line};")),
        locks: (deed == Deed::Write).then(|| vec![named("queue.lock")]),
        access: None,
    }
}

/// What has another name is something else.
pub fn named(name: &str) -> TraceObject {
    TraceObject { name: name.into(), identity: name.bytes().map(u64::from).sum() }
}

trait InFinding {
    /// With a value, as this access of the finding.
    fn with(self, value: &str, access: usize) -> Self;
}

impl InFinding for TraceStep {
    fn with(self, value: &str, access: usize) -> Self {
        TraceStep { value: Some(value.into()), access: Some(access), ..self }
    }
}

/// The source around the accesses of [`stale_check`].
pub fn excerpts() -> Vec<Excerpt> {
    let piece = |first: u32, lines: &[&str]| Excerpt {
        file: "src/queue.c".into(),
        first,
        lines: lines.iter().map(|line| (*line).into()).collect(),
    };
    vec![
        piece(
            39,
            &["    struct item *item = NULL;", "", "    if (queue_size(q) > 0)", "        log(\"take\");"],
        ),
        piece(46, &["    else", "        item = queue_pop(q);", "    return item;", "}"]),
        piece(62, &["\tlock(q);", "\tq->size--;", "\tunlock(q);"]),
    ]
}

/// Two accesses in the wrong order, less suspicious than [`stale_check`].
pub fn early_use() -> Finding {
    Finding {
        rank: 2,
        score: 0.8,
        failed: 12,
        pattern_id: None,
        ..finding(
            Kind::OrderViolation,
            "RW",
            vec![
                access(1, AccessKind::Read, "config", "serve", 17)
                    .source("if (config->verbose)")
                    .value("0x0"),
                access(2, AccessKind::Write, "config", "load", 90).source("config = parsed;"),
            ],
        )
    }
}

/// Two variables that belong together, seen half changed.
pub fn torn_pair() -> Finding {
    let accesses = vec![
        access(1, AccessKind::Write, "table.rows", "append", 30).source("t->rows = rows;").value("8"),
        access(2, AccessKind::Read, "table.rows", "scan", 55)
            .source("for (i = 0; i < t->rows; i++)")
            .value("8"),
        access(2, AccessKind::Read, "table.capacity", "scan", 56)
            .source("assert(i < t->capacity);")
            .value("4"),
        access(1, AccessKind::Write, "table.capacity", "grow", 31).source("t->capacity *= 2;").value("8"),
    ];
    Finding {
        rank: 3,
        pattern_id: Some("P12".into()),
        ..finding(Kind::MultiVariableAtomicityViolation, "WRRW", accesses)
    }
}

/// The finding with everything known that can be known.
pub fn confirmed(finding: Finding) -> Finding {
    Finding {
        cluster: Some(1),
        threads: Vec::new(),
        suspicious_functions: vec!["take_one".into()],
        evidence: vec![
            "both threads hold `queue.lock` at each access, but it is released between lines 41 and 47"
                .into(),
            "no passing run has another thread's write between these lines".into(),
        ],
        advice:
            "hold `queue.lock` over queue.c:41–47 in take_one(), or use queue_pop()'s own result instead of \
                 asking first"
                .into(),
        confirmation: Some(Confirmation {
            enforced: Trial { runs: 20, failed: 20 },
            forbidden: Trial { runs: 40, failed: 0 },
            verdict: Verdict::Confirmed,
            delayed: None,
            came_about: None,
            p_value: None,
            turned: None,
            explained_by: None,
            followed: None,
            narrowed: false,
            apart: None,
        }),
        needs: Some(NeededOrders { orders: vec![needed(44, 33), needed(33, 29)], runs: 10, failed: 9 }),
        ..finding
    }
}

/// An order of accesses to the size, by their lines in queue.c.
fn needed(first: u32, second: u32) -> NeededOrder {
    let step = |line: u32| NeededStep {
        thread: if line == 33 { 2 } else { 1 },
        kind: if line == 33 { AccessKind::Write } else { AccessKind::Read },
        variable: "queue.size".into(),
        function: Some("queue_pop".into()),
        file: Some("queue.c".into()),
        line: Some(line),
    };
    NeededOrder { first: step(first), second: step(second) }
}

pub fn finding(kind: Kind, pattern: &str, accesses: Vec<Access>) -> Finding {
    Finding {
        rank: 1,
        tied: 1,
        score: 1.0,
        confidence: None,
        chance: None,
        why: vec![],
        failed: 15,
        passed: 0,
        kind,
        pattern: pattern.into(),
        pattern_id: Some("P4".into()),
        accesses,
        threads: Vec::new(),
        suspicious_functions: vec![],
        cluster: None,
        failing_runs: vec![4, 17, 23],
        evidence: vec![],
        advice: String::new(),
        fix: None,
        story: String::new(),
        comparison: None,
        confirmation: None,
        window: None,
        needs: None,
    }
}

/// An access in `src/queue.c`, of which only the place is known.
pub fn access(thread: u32, kind: AccessKind, variable: &str, function: &str, line: u32) -> Access {
    Access {
        thread,
        kind,
        variable: variable.into(),
        function: Some(function.into()),
        file: Some("src/queue.c".into()),
        line: Some(line),
        column: Some(9),
        source: None,
        module: None,
        address: None,
        stack: vec![],
        value: None,
        shown: None,
        old: None,
        locks: Some(vec![]),
        frees: false,
    }
}

pub fn frame(function: &str, file: &str, line: u32) -> Frame {
    Frame {
        function: Some(function.into()),
        file: Some(file.into()),
        line: Some(line),
        column: None,
        module: None,
        address: None,
    }
}

/// What may be known of an access besides its place.
pub trait Known {
    fn source(self, text: &str) -> Self;
    fn value(self, value: &str) -> Self;
    fn locked_by(self, lock: &str) -> Self;
    /// Gives it a stack of its own frame and these callers.
    fn called_from(self, callers: &[Frame]) -> Self;
    /// Takes its names away, as in a stripped binary.
    fn stripped(self, module: &str, address: &str) -> Self;
}

impl Known for Access {
    fn source(self, text: &str) -> Self {
        Access { source: Some(text.into()), ..self }
    }

    fn value(self, value: &str) -> Self {
        Access { value: Some(value.into()), ..self }
    }

    fn locked_by(mut self, lock: &str) -> Self {
        self.locks.get_or_insert_default().push(lock.into());
        self
    }

    fn called_from(self, callers: &[Frame]) -> Self {
        let own = Frame {
            function: self.function.clone(),
            file: self.file.clone(),
            line: self.line,
            column: None,
            module: self.module.clone(),
            address: self.address.clone(),
        };
        Access { stack: [&[own], callers].concat(), ..self }
    }

    fn stripped(self, module: &str, address: &str) -> Self {
        let (module, address) = (Some(module.into()), Some(address.into()));
        Access { function: None, file: None, line: None, column: None, module, address, ..self }
    }
}
