//! What can be done about a finding.

use serde::{Deserialize, Serialize};

/// What kind of change a finding asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Keep a lock that is held already, instead of releasing it in between.
    ExtendLock,
    /// Take a lock that others take for the same data.
    TakeLock,
    /// Guard the accesses by one lock; there is none yet that all could use.
    AddLock,
    /// Guard the accesses by the same lock, instead of each by another.
    UseOneLock,
    /// Make a load and a store one atomic operation.
    AtomicOperation,
    /// Make a look at an entry of a map and its change one call.
    MapOperation,
    /// Read once and keep what was found, instead of looking again.
    ReadOnce,
    /// Wait for the end of a thread first.
    Join,
    /// Construct what is destroyed when the process ends before what waits for a thread that uses it.
    ConstructFirst,
    /// Create a thread only when all is ready for it.
    CreateLater,
    /// Make something known to other threads only when all is ready for them.
    PublishLater,
    /// Wait until another thread has done its part.
    Wait,
    /// Take locks in the same order everywhere.
    LockOrder,
    /// Test a condition in a loop around the wait for it, without giving the lock back in between.
    WaitInLoop,
    /// Test anew after a wait what was tested before it.
    TestAgain,
    /// Look whether another thread has changed it before it is written over, since a lock was given back.
    LookAgain,
    /// Look once more after a lock was given back that others do not wait for, since they leave their part to its holder.
    LookAfterUnlock,
    /// Signal a condition only when what it is about was done.
    SignalLater,
    /// Wait for a number of rounds to change, not for what is so for a moment.
    CountRounds,
    /// Give a lock back on every way out.
    Unlock,
    /// Do not take a lock that the thread holds already.
    TakeOnce,
    /// Do not wait for what another thread does only with the lock that the waiting one holds.
    WaitUnlocked,
    /// Wake all threads that wait for a condition.
    WakeAll,
    /// Signal a condition after each change that somebody waits for.
    SignalEach,
}
