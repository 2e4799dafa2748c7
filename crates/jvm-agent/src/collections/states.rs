//! Objects of the Java library that are no collections but have a state, which calls depend on or change: a pool that
//! is shut down takes no more work.
//!
//! Adding a class is one line in the table.

use crate::recorder::Kind;

/// What calls of one class do to the state.
struct State {
    class: &'static str,
    reads: &'static [&'static str],
    updates: &'static [&'static str],
}

const SUBMIT: &[&str] = &[
    "execute",
    "invokeAll",
    "isShutdown",
    "isTerminated",
    "schedule",
    "scheduleAtFixedRate",
    "scheduleWithFixedDelay",
    "submit",
];
const SHUT_DOWN: &[&str] = &["close", "shutdown", "shutdownNow"];
const IS_DONE: &[&str] = &["getNow", "isCancelled", "isCompletedExceptionally", "isDone"];
const COMPLETE: &[&str] = &["cancel", "complete", "completeExceptionally"];
/// Those that wait are told by what they wait for.
const ARRIVE: &[&str] = &["arrive", "arriveAndDeregister", "bulkRegister", "register"];
const PERMITS: &[&str] = &["drainPermits", "release", "tryAcquire"];
const FORMAT: &[&str] = &["format", "parse"];

const STATES: &[State] = &[
    State { class: "java/text/DateFormat", reads: &[], updates: FORMAT },
    State { class: "java/text/SimpleDateFormat", reads: &[], updates: FORMAT },
    State { class: "java/util/Timer", reads: &["schedule", "scheduleAtFixedRate"], updates: &["cancel"] },
    State { class: "java/util/concurrent/CompletableFuture", reads: IS_DONE, updates: COMPLETE },
    State { class: "java/util/concurrent/Executor", reads: SUBMIT, updates: SHUT_DOWN },
    State { class: "java/util/concurrent/ExecutorService", reads: SUBMIT, updates: SHUT_DOWN },
    State { class: "java/util/concurrent/ForkJoinPool", reads: SUBMIT, updates: SHUT_DOWN },
    State { class: "java/util/concurrent/Future", reads: IS_DONE, updates: COMPLETE },
    State { class: "java/util/concurrent/FutureTask", reads: IS_DONE, updates: COMPLETE },
    State {
        class: "java/util/concurrent/Phaser",
        reads: &["getPhase", "getRegisteredParties"],
        updates: ARRIVE,
    },
    State { class: "java/util/concurrent/ScheduledExecutorService", reads: SUBMIT, updates: SHUT_DOWN },
    State { class: "java/util/concurrent/ScheduledThreadPoolExecutor", reads: SUBMIT, updates: SHUT_DOWN },
    State { class: "java/util/concurrent/Semaphore", reads: &["availablePermits"], updates: PERMITS },
    State { class: "java/util/concurrent/ThreadPoolExecutor", reads: SUBMIT, updates: SHUT_DOWN },
];

/// Is this one of the classes and interfaces through which such objects are called?
pub fn is_type(class: &str) -> bool {
    STATES.iter().any(|state| state.class == class)
}

/// What a call of this method does to the state of its object, if it does anything.
pub fn on_state(class: &str, method: &str) -> Option<Kind> {
    let state = STATES.iter().find(|state| state.class == class)?;
    if state.updates.contains(&method) {
        Some(Kind::Update)
    } else {
        state.reads.contains(&method).then_some(Kind::Read)
    }
}
