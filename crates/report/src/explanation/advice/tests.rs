use super::*;

fn place(function: &str, first_line: u32, last_line: u32) -> FixPlace {
    FixPlace { function: Some(function.to_owned()), file: "src/bank.c".to_owned(), first_line, last_line }
}

fn fix(action: Action, locks: &[&str], places: &[FixPlace]) -> Fix {
    let locks = locks.iter().map(|&lock| lock.to_owned()).collect();
    let (held, taken_by) = (Vec::new(), Vec::new());
    Fix { action, locks, for_writing: false, held, taken_by, places: places.to_vec(), patch: Vec::new() }
}

#[test]
fn locks_of_an_array_are_told_by_one_name() {
    let each =
        fix(Action::UseOneLock, &["accounts[0].lock", "accounts[1].lock"], &[place("withdraw", 10, 12)]);
    let said = "Guard bank.c:10–12 in withdraw() by a lock that all threads share; at present each variable has \
    a `accounts[i].lock` of its own.";
    assert_eq!(advice(&each), said);
    let objects = fix(Action::UseOneLock, &["Account #1", "Account #2"], &[place("withdraw", 10, 12)]);
    let said = advice(&objects);
    assert!(said.ends_with("; at present they do not hold the same `Account`."), "{said}");
}

#[test]
fn what_is_published_too_early_is_to_be_published_later() {
    let later = fix(Action::PublishLater, &[], &[place("get", 19, 19), place("discover", 29, 29)]);
    let said = "Publish at bank.c:19 in get() only after bank.c:29 in discover() is done: a thread that comes \
    in between finds something that is not ready yet.";
    assert_eq!(advice(&later), said);
}

#[test]
fn what_java_has_for_it_is_named() {
    let at = FixPlace { file: "src/Words.java".to_owned(), ..place("Words.add", 17, 18) };
    let map = advice(&fix(Action::MapOperation, &[], std::slice::from_ref(&at)));
    assert!(
        map.starts_with(
            "Make the check and the change at Words.java:17–18 in Words.add() one call: `compute"
        ),
        "{map}"
    );
    assert!(advice(&fix(Action::AtomicOperation, &[], &[at])).contains("`compareAndSet`"));
    let native = advice(&fix(Action::AtomicOperation, &[], &[place("add", 17, 18)]));
    assert!(
        native.ends_with(
            "a fetch-and-add or the like, or a compare-and-exchange that is retried when it fails."
        ),
        "{native}"
    );
}

#[test]
fn a_lock_is_held_longer() {
    let extended = fix(Action::ExtendLock, &["accounts[3].lock"], &[place("transfer", 41, 47)]);
    let said = "Hold `accounts[i].lock` from bank.c:41 to bank.c:47 in transfer() without releasing it in \
        between. Others wait that much longer for it.";
    assert_eq!(advice(&extended), said);
    let taken_by = vec!["balance".to_owned(), "post(int)".to_owned()];
    let inside = "balance() and post() take it too: unless the lock is recursive, call versions there that \
    expect it to be held.";
    assert_eq!(advice(&Fix { taken_by, ..extended.clone() }), format!("{said} {inside}"));
    let upgraded = advice(&Fix { for_writing: true, ..extended });
    assert!(upgraded.starts_with("Hold `accounts[i].lock` for writing from bank.c:41"), "{upgraded}");
    let on_one_line = fix(Action::ExtendLock, &["lock"], &[place("transfer", 41, 41)]);
    assert!(advice(&on_one_line).starts_with("Hold `lock` over all of bank.c:41 in transfer() without"));
}

#[test]
fn who_changes_something_holds_the_lock_for_writing() {
    let places = [place("keys", 24, 24), place("get", 12, 12)];
    let read_only = Fix { for_writing: true, ..fix(Action::UseOneLock, &["cache.lock"], &places) };
    assert_eq!(
        advice(&read_only),
        "Hold `cache.lock` for writing over bank.c:24 in keys() and over bank.c:12 in get(): for reading, other threads \
         have it too."
    );
}

#[test]
fn a_second_lock_is_taken_in_a_fixed_order() {
    let taken = fix(Action::TakeLock, &["accounts[3].lock"], &[place("post", 16, 16)]);
    let held = vec!["payroll.lock".to_owned()];
    assert_eq!(
        advice(&Fix { held, ..taken }),
        "Take `accounts[i].lock` over bank.c:16 in post(), as the other thread does. `payroll.lock` is held there \
         already: take both in the same order everywhere."
    );
}

#[test]
fn what_is_destroyed_may_be_kept_alive() {
    let places = [place("Routes::~Routes", 29, 29), place("Router::route", 58, 58)];
    assert_eq!(
        advice(&fix(Action::Wait, &[], &places)),
        "Let bank.c:29 in Routes::~Routes() wait until bank.c:58 in Router::route() is done, or let Router::route() hold \
         a reference of its own to what it uses, such as a copy of the shared pointer."
    );
}

#[test]
fn to_sleep_is_not_to_wait() {
    let mut places = vec![place("check", 24, 24), place("work", 13, 13)];
    let said = "Let bank.c:24 in check() wait until bank.c:13 in work() is done";
    assert_eq!(advice(&fix(Action::Wait, &[], &places)), format!("{said}."));
    places.push(place("check", 22, 22));
    assert_eq!(
        advice(&fix(Action::Wait, &[], &places)),
        format!(
            "{said}, for the end of that thread or for a condition that it signals, and do not sleep at bank.c:22 in \
             the hope that it will be."
        )
    );
}

#[test]
fn threads_that_wait_for_ever() {
    let order = fix(Action::LockOrder, &["a.lock", "b.lock"], &[place("move", 3, 5), place("move", 3, 5)]);
    assert_eq!(
        advice(&order),
        "Take `a.lock` and `b.lock` in the same order everywhere, for example by their addresses: see \
         bank.c:3–5 in move()."
    );
    let unlock = fix(Action::Unlock, &["a.lock"], &[place("append", 48, 48)]);
    assert_eq!(
        advice(&unlock),
        "Release `a.lock` on every path out of append(), which takes it at bank.c:48."
    );
    let again = fix(Action::TakeOnce, &["a.lock"], &[place("get", 11, 11), place("show", 24, 24)]);
    assert_eq!(
        advice(&again),
        "Do not take `a.lock` at bank.c:11 in get() where it is held from bank.c:24 in show() already: call a \
         version there that expects it to be held, or release it first."
    );
    let by_itself = fix(Action::TakeOnce, &["a.lock"], &[place("add", 15, 15), place("add", 15, 15)]);
    let said = "Do not return to bank.c:15 in add() while `a.lock` is held: release it first.";
    assert_eq!(advice(&by_itself), said);
    let unlocked = fix(Action::WaitUnlocked, &["a.lock"], &[place("stop", 34, 34), place("stop", 37, 37)]);
    assert_eq!(
        advice(&unlocked),
        "Release `a.lock`, taken at bank.c:34, before the wait at bank.c:37 in stop(): what is waited for \
         cannot happen while it is held."
    );
    let later = fix(Action::SignalLater, &[], &[place("pass", 15, 15), place("open", 21, 21)]);
    assert_eq!(
        advice(&later),
        "Signal only after bank.c:21 in open(): bank.c:15 in pass() looked before that, has waited ever since, \
         and no further signal comes."
    );
    assert_eq!(
        advice(&fix(Action::ReadOnce, &[], &[place("get", 15, 17)])),
        "Look once at bank.c:15–17 in get() and go on with what was found, or guard both looks, and whatever \
         changes it, by one lock."
    );
    assert_eq!(
        advice(&fix(Action::CountRounds, &[], &[place("meet", 31, 31)])),
        "Count how often it has happened, and wait at bank.c:31 in meet() until that number has changed: what is waited for \
         may be over again before the thread that was woken looks."
    );
    let all = fix(Action::WakeAll, &["q.ready"], &[place("close", 30, 30)]);
    assert_eq!(
        advice(&all),
        "Wake all threads that wait for `q.ready` at bank.c:30 in close(), not just one of them: others may \
         wait for the same, or for \
         something else."
    );
    let each = fix(Action::SignalEach, &["q.ready"], &[place("put", 30, 30)]);
    assert_eq!(
        advice(&each),
        "Signal `q.ready` after each change at bank.c:30 in put(), whatever was there before, or wake all \
         waiting threads where it is signalled: each change lets one more of them go on."
    );
    let again = fix(Action::TestAgain, &["a.lock"], &[place("pop", 18, 18), place("pop", 19, 19)]);
    assert_eq!(
        advice(&again),
        "Test in a loop, `while` instead of `if`: what bank.c:18 in pop() tested before the wait may no longer \
         be true at bank.c:19 in pop() after it."
    );
    let outlived =
        fix(Action::ConstructFirst, &[], &[place("Bank::~Bank()", 31, 31), place("Bank::post()", 21, 21)]);
    assert_eq!(
        advice(&outlived),
        "The process ends: bank.c:31 in Bank::~Bank() destroys what the thread in Bank::post() still uses. Objects are destroyed \
         in the reverse order of their construction, so construct this one before the one that waits for the end of that thread, \
         or never destroy it."
    );
    let left =
        fix(Action::LookAfterUnlock, &["journal.lock"], &[place("append", 19, 19), place("append", 16, 16)]);
    assert_eq!(
        advice(&left),
        "Look once more after bank.c:19 in append() has released `journal.lock`: a thread that finds it taken \
         at bank.c:16 in append() leaves its part to the thread that holds it, which may have looked for the last time."
    );
    let over = fix(Action::LookAgain, &["timer.lock"], &[place("fire", 57, 57), place("fire", 53, 53)]);
    assert_eq!(
        advice(&over),
        "Before the write at bank.c:57 in fire(), check that all is still as bank.c:53 left it: `timer.lock` is \
         released in between, and what another thread writes in that time must not be overwritten. Or hold it \
         throughout."
    );
    let loops = fix(Action::TestAgain, &["a.lock"], &[place("pop", 18, 18), place("pop", 18, 18)]);
    assert_eq!(advice(&loops), "");
    let places = [place("receive", 60, 63), place("wait", 52, 52)];
    assert_eq!(
        advice(&fix(Action::WaitInLoop, &["box.lock"], &places)),
        "Hold `box.lock` from the test to the wait, bank.c:60–63 in receive(), and test in a loop: wait only while \
         it is needed."
    );
    assert!(
        advice(&fix(Action::WaitInLoop, &[], &places[1..])).starts_with("Before bank.c:52 in wait(), test")
    );
}

#[test]
fn an_order_that_most_passing_runs_have_is_not_turned_round() {
    let order = |kinds: [&str; 2], passed: u64| {
        let access = |(at, kind): (usize, &str)| {
            let function = if at == 0 { "pop" } else { "post" };
            serde_json::json!({
                "thread": at, "kind": kind, "variable": "v", "stack": [], "file": "a.c", "line": 10 + at,
                "function": function,
            })
        };
        let accesses: Vec<_> = kinds.into_iter().enumerate().map(access).collect();
        let finding: Finding = serde_json::from_value(serde_json::json!({
            "rank": 1, "tied": 1, "score": 1.0, "failed": 1, "passed": passed, "kind": "order-violation",
            "pattern": "RW", "pattern_id": null, "accesses": accesses, "suspicious_functions": [],
            "cluster": null, "failing_runs": [], "evidence": [], "advice": "", "confirmation": null,
        }))
        .unwrap();
        other_order(&finding, 10).unwrap_or_default()
    };
    assert_eq!(order(["read", "write"], 2), "Make sure that a.c:11 comes before a.c:10.");
    let often = order(["read", "write"], 8);
    assert!(often.contains("what pop() does after a.c:10 that goes with it"), "{often}");
    let turned = order(["write", "read"], 8);
    assert!(turned.contains("what post() does before a.c:11 that goes with it"), "{turned}");
    assert_eq!(order(["write", "write"], 8), "");
}

#[test]
fn who_looks_before_it_changes_cannot_change_first() {
    let told = |kinds: [&str; 2]| {
        let access = |(at, kind): (usize, &str)| {
            let frame = serde_json::json!({ "function": "open", "file": "a.rs", "line": 35 + 5 * at });
            let mut access = frame.clone();
            access["stack"] = serde_json::json!([frame]);
            (access["thread"], access["kind"], access["variable"]) = (at.into(), kind.into(), "v".into());
            access
        };
        let accesses: Vec<_> = kinds.into_iter().enumerate().map(access).collect();
        let finding: Finding = serde_json::from_value(serde_json::json!({
            "rank": 1, "tied": 1, "score": 1.0, "failed": 1, "passed": 0, "kind": "order-violation",
            "pattern": "RW", "pattern_id": null, "accesses": accesses, "suspicious_functions": [],
            "cluster": null, "failing_runs": [], "evidence": [], "advice": "", "confirmation": null,
        }))
        .unwrap();
        other_order(&finding, 10).unwrap_or_default()
    };
    let whole = told(["read", "write"]);
    assert!(whole.starts_with("Keep a.rs:35–40 in open() atomic: "), "{whole}");
    assert_eq!(told(["write", "read"]), "Make sure that a.rs:40 comes before a.rs:35.");
}

#[test]
fn places_in_one_function_are_one() {
    let both = [place("order", 26, 30), place("order", 31, 31)];
    assert_eq!(
        advice(&fix(Action::AddLock, &[], &both)),
        "Guard bank.c:26–31 in order() by a lock, so that no other thread comes in between."
    );
    let two = [place("order", 26, 30), place("swap", 31, 31)];
    assert_eq!(
        advice(&fix(Action::AddLock, &[], &two)),
        "Guard bank.c:26–30 in order() and bank.c:31 in swap() by one lock."
    );
    let waits = [place("order", 26, 26), place("order", 31, 31)];
    assert_eq!(
        advice(&fix(Action::Wait, &[], &waits)),
        "Let bank.c:26 in order() wait until bank.c:31 in order() is done."
    );
    let forks = fix(Action::LockOrder, &["forks[1].mutex", "forks[2].mutex"], &[]);
    assert!(advice(&forks).starts_with("Take locks like `forks[i].mutex` in the same order everywhere"));
}

#[test]
fn only_numbers_in_brackets_are_general() {
    assert_eq!(any_of_array("`a[12].b[3]` and `c[n]`, d[4"), "`a[i].b[i]` and `c[n]`, d[4");
}

#[test]
fn a_change_at_one_place_is_made_by_one_thread_at_a_time() {
    let told = |kind: &str, locks: [&[&str]; 2]| {
        let access = |locks: &[&str], thread: u32| {
            serde_json::json!({
                "thread": thread, "kind": kind, "variable": "requests", "function": "serve", "file": "a.c", "line": 5,
                "stack": [], "locks": locks,
            })
        };
        let finding: Finding = serde_json::from_value(serde_json::json!({
            "rank": 1, "tied": 1, "score": 1.0, "failed": 1, "passed": 0, "kind": "order-violation",
            "pattern": "WW", "pattern_id": null, "accesses": [access(locks[0], 1), access(locks[1], 2)],
            "suspicious_functions": [], "cluster": null, "failing_runs": [], "evidence": [], "advice": "",
            "confirmation": null,
        }))
        .unwrap();
        one_at_a_time(&finding)
    };
    let said = told("write", [&[], &["b"]]).unwrap();
    assert!(
        said.starts_with("Let only one thread at a time do what ends in the write at a.c:5, with"),
        "{said}"
    );
    assert_eq!(told("write", [&["a"], &["b", "a"]]), None, "they do already");
    assert_eq!(told("read", [&[], &[]]), None);
}
