//! What functions of Rust's locks are called, and which role each has.

use recording::LockRole;

/// The role of a function with this linkage name; none if it has nothing to do with locks.
pub(super) fn role(linkage_name: &str) -> Option<LockRole> {
    // Nearly all names are none of ours, and demangling takes its time.
    const MARKS: [&str; 7] = ["3std", "4core", "5alloc", "parking_lot", "8lock_api", "8smallvec", "7dashmap"];
    if !MARKS.iter().any(|mark| linkage_name.contains(mark)) {
        return None;
    }
    let demangled = addr2line::demangle_auto(linkage_name.into(), Some(gimli::DW_LANG_Rust));
    role_of_path(&demangled)
}

/// By its path: `<std::sys::sync::mutex::futex::Mutex>::lock`, or the same without brackets from older compilers.
fn role_of_path(path: &str) -> Option<LockRole> {
    let (of_type, path) = (path.starts_with('<'), path.trim_start_matches('<'));
    let (owner, implemented) = path.split_once(" as ").unwrap_or((path, "core"));
    let owner = owner.split(">::").next().unwrap_or_default();
    // What pointers, slices and numbers can do is the crate's that has the trait.
    let is_primitive = of_type && (owner.starts_with(['*', '&', '[', '(']) || !owner.contains("::"));
    match if is_primitive { implemented } else { owner }.split("::").next().unwrap_or_default() {
        // `smallvec` is in the insides of parking_lot, but elsewhere too.
        "core" | "alloc" | "lock_api" | "smallvec" => Some(LockRole::Callers),
        "std" => Some(standard_library(path)),
        "parking_lot" => Some(parking_lot(path)),
        "parking_lot_core" => Some(LockRole::Inside),
        // Its shards have a lock like parking_lot's, made anew.
        "dashmap" if path.contains("::lock::RawRwLock") => Some(parking_lot(path)),
        _ => None,
    }
}

/// The type that a method belongs to, without module, arguments or trait, and the method: (`Mutex`, `lock`). Closures
/// within a method are part of it.
fn type_and_method(path: &str) -> Option<(&str, &str)> {
    let method_ends = ["::<", "::{"].iter().filter_map(|mark| path.find(mark)).min();
    let (owner, method) = path[..method_ends.unwrap_or(path.len())].rsplit_once("::")?;
    let owner = owner.split(" as ").next()?.rsplit("::").next()?;
    Some((owner.split(['<', '>']).next()?, method))
}

fn standard_library(path: &str) -> LockRole {
    // Whether a thread panicked with the lock held.
    if path.contains("::poison::Flag") || path.contains("::panic_count::") {
        return LockRole::Inside;
    }
    // `sys::sync::mutex::futex` today, `sys::unix::locks::futex_mutex` once.
    let is_lock = path.contains("::futex");
    let Some((owner, method)) = type_and_method(path).filter(|_| is_lock) else { return LockRole::Callers };
    match (owner, method) {
        ("Mutex", "lock") => LockRole::Lock,
        ("Mutex", "try_lock") => LockRole::TryLock,
        ("Mutex", "unlock") => LockRole::Unlock,
        ("RwLock", "read") => LockRole::LockShared,
        ("RwLock", "try_read") => LockRole::TryLockShared,
        ("RwLock", "write") => LockRole::LockExclusive,
        ("RwLock", "try_write") => LockRole::TryLockExclusive,
        ("RwLock", "read_unlock" | "write_unlock") => LockRole::UnlockEither,
        _ => LockRole::Inside,
    }
}

fn parking_lot(path: &str) -> LockRole {
    let Some((owner, method)) = type_and_method(path) else { return LockRole::Inside };
    match (owner, method) {
        ("RawMutex", "lock") => LockRole::Lock,
        ("RawMutex", "try_lock" | "try_lock_for" | "try_lock_until") => LockRole::TryLock,
        ("RawMutex", "unlock" | "unlock_fair" | "unlock_inner") => LockRole::Unlock,
        ("RawRwLock", "lock_shared" | "lock_shared_recursive" | "lock_upgradable") => LockRole::LockShared,
        ("RawRwLock", "lock_exclusive") => LockRole::LockExclusive,
        ("RawRwLock", method) if method.starts_with("try_lock_exclusive") => LockRole::TryLockExclusive,
        ("RawRwLock", "try_lock_shared_fast" | "try_lock_shared_slow") => LockRole::Callers,
        ("RawRwLock", method) if method.starts_with("try_lock") => LockRole::TryLockShared,
        // What these do is decided by who calls them.
        ("RawFairMutex", _) => LockRole::Callers,
        ("RawMutex" | "RawRwLock", "lock_common" | "wait_for_readers") => LockRole::Callers,
        ("RawMutex" | "RawRwLock", method) if method.ends_with("_slow") => LockRole::Callers,
        ("RawRwLock", method) if method.starts_with("unlock") => LockRole::UnlockEither,
        _ => LockRole::Inside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_of_functions() {
        use LockRole::*;
        let cases = [
            ("<std::sys::sync::mutex::futex::Mutex>::lock", Some(Lock)),
            ("std::sys::sync::mutex::futex::Mutex::lock", Some(Lock)),
            ("std::sys::unix::locks::futex_mutex::Mutex::try_lock", Some(TryLock)),
            ("<std::sys::sync::mutex::futex::Mutex>::unlock", Some(Unlock)),
            ("<std::sys::sync::rwlock::futex::RwLock>::read", Some(LockShared)),
            ("<std::sys::sync::rwlock::futex::RwLock>::try_read::{closure#0}", Some(TryLockShared)),
            ("<std::sys::sync::rwlock::futex::RwLock>::write_unlock", Some(UnlockEither)),
            ("<std::sys::sync::once::futex::Once>::is_completed", Some(Inside)),
            ("<std::sys::sync::thread_parking::futex::Parker>::unpark", Some(Inside)),
            ("<std::sync::poison::mutex::Mutex<u32>>::lock", Some(Callers)),
            ("<u32 as core::cmp::PartialOrd>::lt", Some(Callers)),
            ("<*mut queue::Item>::replace", Some(Callers)),
            ("<u32>::wrapping_add", Some(Callers)),
            ("<&queue::Item as core::fmt::Debug>::fmt", Some(Callers)),
            ("main", None),
            ("<queue::Item as core::cmp::PartialOrd>::lt", None),
            ("<smallvec::SmallVec<[u8; 8]>>::push", Some(Callers)),
            ("<std::sync::poison::Flag>::get", Some(Inside)),
            ("std::panicking::panic_count::count_is_zero", Some(Inside)),
            ("<core::sync::atomic::AtomicU32>::compare_exchange", Some(Callers)),
            ("core::sync::atomic::atomic_swap::<u32>", Some(Callers)),
            ("<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock", Some(Lock)),
            ("<parking_lot::raw_mutex::RawMutex>::lock_slow", Some(Callers)),
            ("<parking_lot::raw_mutex::RawMutex>::lock_slow::{closure#1}", Some(Callers)),
            (
                "<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutexTimed>::try_lock_for",
                Some(TryLock),
            ),
            (
                "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::lock_shared",
                Some(LockShared),
            ),
            ("<parking_lot::raw_rwlock::RawRwLock>::try_lock_shared_fast", Some(Callers)),
            ("<parking_lot::raw_rwlock::RawRwLock>::lock_common::<core::option::Option<u8>>", Some(Callers)),
            (
                "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLock>::unlock_exclusive",
                Some(UnlockEither),
            ),
            // Of parking_lot 0.13, whose lock has an argument and whose conditions have a way of their own to unlock.
            (
                "<parking_lot::raw_rwlock::RawRwLock<false> as lock_api::rwlock::RawRwLock>::lock_shared",
                Some(LockShared),
            ),
            (
                "<parking_lot::raw_rwlock::RawRwLock<_> as lock_api::rwlock::RawRwLock>::lock_shared::{closure#0}",
                Some(LockShared),
            ),
            ("<parking_lot::raw_rwlock::RawRwLock<false>>::try_lock_shared_fast", Some(Callers)),
            (
                "<parking_lot::raw_rwlock::RawRwLock<true> as lock_api::rwlock::RawRwLock>::unlock_exclusive",
                Some(UnlockEither),
            ),
            ("<parking_lot::raw_rwlock::RawRwLock<false>>::wait_for_readers", Some(Callers)),
            ("<parking_lot::raw_mutex::RawMutex>::unlock_inner", Some(Unlock)),
            ("<parking_lot::raw_condvar::RawCondvar>::wait_until_internal", Some(Inside)),
            ("parking_lot_core::parking_lot::lock_bucket", Some(Inside)),
            ("<parking_lot::condvar::Condvar>::wait_until_internal", Some(Inside)),
            ("<queue::Mutex>::lock", None),
            (
                "<dashmap::lock::RawRwLock as lock_api::rwlock::RawRwLock>::lock_exclusive",
                Some(LockExclusive),
            ),
            ("<dashmap::lock::RawRwLock>::try_lock_shared_fast", Some(Callers)),
            ("<dashmap::lock::RawRwLock>::unlock_exclusive_slow", Some(Callers)),
            ("<dashmap::DashMap<u32, u32>>::insert", None),
        ];
        for (path, expected) in cases {
            assert_eq!(role_of_path(path), expected, "{path}");
        }
    }
}
