//! Where in the code some accesses of one thread come together.

use crate::model::{Access, Finding, FixPlace, Frame};
use crate::wording::distinct;

/// The innermost function that encloses these accesses of one thread, and its lines from the first to the last of
/// them. None where lines are not known, or where somebody else's code runs the program's in pieces, as an executor does with tasks: nobody mends that.
pub fn region(finding: &Finding, accesses: &[usize]) -> Option<FixPlace> {
    enclosing(&accesses.iter().map(|&index| &finding.accesses[index]).collect::<Vec<_>>())
}

fn enclosing(own: &[&Access]) -> Option<FixPlace> {
    let depth = common_depth(own)?;
    let frames: Vec<&Frame> = own.iter().map(|access| frame_at(access, depth)).collect::<Option<_>>()?;
    let lines: Vec<u32> = frames.iter().map(|frame| frame.line).collect::<Option<_>>()?;
    let is_of_program = |access: &&Access| own_frame(&access.stack).is_some_and(|own| !own.is_fetched());
    if frames[0].is_fetched() && own.iter().all(is_of_program) {
        return None;
    }
    Some(FixPlace {
        function: frames[0].function.clone(),
        file: frames[0].file.clone()?,
        first_line: *lines.iter().min()?,
        last_line: *lines.iter().max()?,
    })
}

/// In the innermost function that encloses these accesses of one thread, does the first stand before the second?
pub fn comes_first(first: &Access, second: &Access) -> bool {
    let line = |access: &Access, depth: usize| frame_at(access, depth).and_then(|frame| frame.line);
    let lines = common_depth(&[first, second]).map(|depth| (line(first, depth), line(second, depth)));
    matches!(lines, Some((Some(first), Some(second))) if first < second)
}

/// How many frames, from the outermost one on, lead to where the calls begin to differ that come to these accesses of one thread in one
/// function. None if they do not.
pub fn apart(one: &Access, other: &Access) -> Option<usize> {
    let depth =
        common_depth(&[one, other]).filter(|&depth| depth < one.stack.len().min(other.stack.len()))?;
    let line = |access: &Access| frame_at(access, depth).and_then(|frame| frame.line);
    (line(one) != line(other)).then_some(depth)
}

/// For each thread of a finding the innermost function of the program's own that encloses all its accesses.
pub fn enclosing_functions(accesses: &[Access]) -> Vec<String> {
    let threads = distinct(accesses.iter().map(|access| access.thread));
    let function = |thread: u32| {
        let own: Vec<&Access> = accesses.iter().filter(|access| access.thread == thread).collect();
        frame_at(own[0], common_depth(&own)?)?.function.clone()
    };
    distinct(threads.into_iter().filter_map(function))
}

/// How many frames, from the outermost one on, lead to the innermost function that all these accesses share. What one thread calls from two
/// places are two calls, even of one function; two threads are in calls of their own anyway.
fn common_depth(accesses: &[&Access]) -> Option<usize> {
    let (first, rest) = accesses.split_first()?;
    let are_calls_apart = rest.iter().all(|access| access.thread == first.thread);
    let shared = rest.iter().fold(first.stack.len(), |shared, access| {
        let pairs = first.stack.iter().rev().zip(access.stack.iter().rev());
        let mut is_one_call = true;
        let is_shared = |(one, other): &(&Frame, &Frame)| {
            is_one_call && one.function == other.function && {
                is_one_call = !are_calls_apart || (one.line, one.column) == (other.line, other.column);
                true
            }
        };
        shared.min(pairs.take_while(is_shared).count())
    });
    // Nobody mends the standard library, nor what stands for an atomic of it.
    let is_mended = |&depth: &usize| {
        let passes_on =
            |frame: &Frame| frame_at(first, depth + 1).is_some_and(|inner| frame.passes_on(inner));
        frame_at(first, depth).is_some_and(|frame| !frame.is_library() && (depth == 1 || !passes_on(frame)))
    };
    (1..=shared).rev().find(is_mended)
}

fn frame_at(access: &Access, depth: usize) -> Option<&Frame> {
    access.stack.get(access.stack.len().checked_sub(depth)?)
}

/// The innermost frame of a stack with a line in the program's own sources. What merely passes an atomic's operation on under a type of
/// its own says nothing of who wanted it, and is left out where its caller is known.
pub fn own_frame(stack: &[Frame]) -> Option<&Frame> {
    let is_own = |frame: &&Frame| frame.line.is_some() && !frame.is_library();
    let innermost = stack.iter().position(|frame| is_own(&frame))?;
    let passes_on = innermost.checked_sub(1).is_some_and(|inner| stack[innermost].passes_on(&stack[inner]));
    let caller = stack.get(innermost + 1).filter(|_| passes_on).filter(is_own);
    Some(caller.unwrap_or(&stack[innermost]))
}

/// The innermost frame of a stack in the program's own sources, where packages that cargo has fetched are not, or else in theirs: who waits in
/// a package waits for it to do what it was called for.
pub fn calling_frame(stack: &[Frame]) -> Option<&Frame> {
    let is_own = |frame: &&Frame| frame.line.is_some() && !frame.is_library() && !frame.is_fetched();
    stack.iter().find(is_own).or_else(|| own_frame(stack))
}

/// Tells accesses by where the program's own code calls the packages that make them, if none of its threads makes two of them in one call:
/// what goes wrong between two calls is a matter of who calls. What goes wrong within one is told where it is.
pub fn tell_by_calls(accesses: &mut [Access]) {
    let is_own = |frame: &&Frame| frame.line.is_some() && !frame.is_library() && !frame.is_fetched();
    let own: Option<Vec<Frame>> =
        accesses.iter().map(|access| access.stack.iter().find(is_own).cloned()).collect();
    let Some(own) = own else { return };
    let place = |frame: &Frame| (frame.file.clone(), frame.line, frame.column);
    let mut between_calls = false;
    for (at, access) in accesses.iter().enumerate() {
        for (other, _) in
            accesses.iter().enumerate().skip(at + 1).filter(|(_, one)| one.thread == access.thread)
        {
            if place(&own[at]) == place(&own[other]) {
                return;
            }
            between_calls = true;
        }
    }
    if !between_calls {
        return;
    }
    for (access, own) in accesses.iter_mut().zip(own) {
        (access.function, access.file) = (own.function, own.file);
        (access.line, access.column) = (own.line, own.column);
    }
}

impl Access {
    /// Whether a collection makes it, for whoever has called that: which of its bytes it is about is the collection's own matter.
    pub fn is_within_a_collection(&self) -> bool {
        self.stack.iter().take_while(|frame| frame.is_library()).any(Frame::keeps_elements)
    }
}

impl Frame {
    /// Whether it is a method that has its name, or its type's, from that of an atomic which it calls, or its name from that of a lock's.
    fn passes_on(&self, called: &Frame) -> bool {
        let name = |frame: &Frame| {
            let mut parts = frame.function.as_deref().unwrap_or_default().rsplit("::");
            [parts.next(), parts.next()].map(|part| part.map(str::to_owned))
        };
        let ([own_method, own_type], [method, atomic]) = (name(self), name(called));
        let is_alike = own_method == method || own_type == atomic;
        let is_of_atomic = called.is_in(&["/core/src/sync/atomic"]) && is_alike;
        let is_of_lock = called.is_in(&["/std/src/sync/"]) && own_method == method;
        own_type.is_some() && (is_of_atomic || is_of_lock)
    }

    /// Whether it is code of a library that comes with the system or the compiler.
    pub fn is_library(&self) -> bool {
        self.is_of_rust()
            || self.is_of_locks()
            || self.is_of_cells()
            || self.is_of_collections()
            || self.is_in(&["/usr/include/", "/usr/lib/"])
    }

    /// Whether it is code of a package that locks and conditions are taken from the way those of Rust's own library are.
    fn is_of_locks(&self) -> bool {
        let is_of_condition = self.is_of_package(&["/tokio-"]) && self.is_in(&["/src/sync/notify.rs"]);
        is_of_condition || self.is_of_package(&["/lock_api-", "/parking_lot-", "/parking_lot_core-"])
    }

    /// Whether it is code of a package that keeps a program's values for it the way the collections and cells of Rust's own library do,
    /// the first of which is in that library too.
    fn is_of_collections(&self) -> bool {
        self.is_of_package(&[
            "/hashbrown-",
            "/dashmap-",
            "/indexmap-",
            "/arc-swap-",
            "/once_cell-",
            "/smallvec-",
            "/arrayvec-",
            "/slab-",
        ])
    }

    /// Whether it is code that keeps the elements of a map, a queue or the like.
    fn keeps_elements(&self) -> bool {
        const OF_RUST: [&str; 4] =
            ["/hashbrown-", "/alloc/src/collections/", "/alloc/src/vec/", "/std/src/collections/"];
        const OF_CXX: [&str; 5] =
            ["/bits/hashtable", "/bits/stl_", "/bits/vector.tcc", "/bits/deque.tcc", "/bits/list.tcc"];
        self.is_of_collections() || self.is_in(&OF_RUST) || self.is_in(&OF_CXX)
    }

    /// Whether it is code of a map that locks itself.
    pub(super) fn is_of_locked_map(&self) -> bool {
        self.is_of_package(&["/dashmap-"])
    }

    fn is_of_package(&self, packages: &[&str]) -> bool {
        self.is_in(&["/registry/src/", "/vendor/"]) && self.is_in(packages)
    }

    /// Whether it is code that stands for an atomic of whatever size: who reads or writes by it means its caller's variable.
    fn is_of_cells(&self) -> bool {
        let file =
            self.file.as_deref().filter(|file| file.contains("/registry/src/") || file.contains("/vendor/"));
        let path = file.and_then(|file| file.split_once("/crossbeam-utils-"));
        path.is_some_and(|(_, path)| path.contains("/src/atomic/"))
    }

    /// Whether it is code of a library that comes with Rust.
    pub fn is_of_rust(&self) -> bool {
        self.is_in(&["/rustc/", "/rustlib/src/", "/rust/deps/"])
    }

    /// Whether it is code of `Arc`.
    pub fn is_of_arc(&self) -> bool {
        self.is_of_rust() && self.is_in(&["/alloc/src/sync.rs"])
    }

    /// Whether it is code of a channel of Rust's own library.
    pub fn is_of_channel(&self) -> bool {
        self.is_of_rust()
            && self.is_in(&["/std/src/sync/mpmc/", "/std/src/sync/mpsc/", "/std/src/sync/mpsc.rs"])
    }

    /// Whether it is code that allocates a task of an asynchronous runtime, in the packages that runtimes are made of.
    pub fn makes_task(&self) -> bool {
        const MAKERS: [(&str, &str); 2] =
            [("/tokio-", "/src/runtime/task/"), ("/async-task-", "/src/raw.rs")];
        const FUNCTIONS: [&str; 4] = ["Cell::new", "RawTask::new", "task::new_task", "RawTask::allocate"];
        self.is_fetched()
            && self.function.as_deref().is_some_and(|function| FUNCTIONS.contains(&function))
            && MAKERS.iter().any(|(package, path)| self.is_in(&[package]) && self.is_in(&[path]))
    }

    /// Whether it is code that somebody else has written: it comes with Rust, or in a package that cargo has fetched.
    pub fn is_fetched(&self) -> bool {
        self.is_of_rust() || self.file.as_deref().is_some_and(is_in_cargos_keeping)
    }

    /// Whether it is code by which C++'s own library makes threads wait for each other, or tokio tasks, or crossbeam's cells who reads them: with it, what one thread does
    /// there is for the others to see, in whatever order.
    pub fn synchronizes(&self) -> bool {
        const HEADERS: [&str; 4] = ["/barrier", "/latch", "/semaphore", "/bits/semaphore_base.h"];
        // The last has those who wait, for whatever.
        const TOKIO: [&str; 4] =
            ["/src/sync/mutex.rs", "/src/sync/rwlock", "/src/sync/barrier.rs", "/src/util/linked_list.rs"];
        self.is_of_cpp(&HEADERS)
            || self.is_of_package(&["/tokio-"]) && self.is_in(&TOKIO)
            || self.is_of_cells() && self.is_in(&["/seq_lock"])
    }

    /// Whether these calls, innermost first, are how `ArcSwap` keeps account of who reads what it has: by its own means, or by the count of
    /// what it has; or how crossbeam's epochs do of whoever reads anything.
    pub fn count_readers(calls: &[Frame]) -> bool {
        // Its pointers are the program's data; what it frees for others, and how it came to that, is theirs.
        const EPOCHS: [&str; 5] = ["/internal.rs", "/epoch.rs", "/collector.rs", "/default.rs", "/src/sync/"];
        let is_epochs = |frame: &Frame| frame.is_of_package(&["/crossbeam-epoch-"]);
        let mut within = calls
            .iter()
            .skip_while(|frame| frame.is_of_rust() || is_epochs(frame) && frame.is_in(&["/src/atomic.rs"]));
        if within.next().is_some_and(|frame| is_epochs(frame) && frame.is_in(&EPOCHS)) {
            return true;
        }
        let made = calls.iter().find(|frame| !frame.is_in(&["/core/src/sync/atomic"]));
        let maker = calls.iter().find(|frame| !frame.is_of_rust());
        maker
            .filter(|frame| frame.is_of_package(&["/arc-swap-"]))
            .is_some_and(|maker| maker.is_in(&["/src/debt/"]) || made.is_some_and(Frame::is_of_arc))
    }

    /// Whether it is code by which C++'s own library keeps account of those who wait for an atomic.
    pub fn counts_waiters(&self) -> bool {
        self.is_of_cpp(&["/bits/atomic_wait.h", "/bits/atomic_timed_wait.h"])
    }

    fn is_of_cpp(&self, headers: &[&str]) -> bool {
        let file = self.file.as_deref().filter(|file| file.contains("/include/c++/"));
        file.is_some_and(|file| headers.iter().any(|header| file.ends_with(header)))
    }

    fn is_in(&self, folders: &[&str]) -> bool {
        self.file.as_deref().is_some_and(|file| folders.iter().any(|folder| file.contains(folder)))
    }
}

/// Whether a file is where cargo keeps what it has fetched: in a folder whose name ends in a hash of where that came from. A
/// project of somebody's own may well be called `registry`.
fn is_in_cargos_keeping(file: &str) -> bool {
    let has_hash = |folder: &str| {
        let hash = folder.rsplit_once('-').map_or("", |(_, hash)| hash);
        hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    ["/registry/src/", "/git/checkouts/"].iter().any(|keeping| {
        let mut inside = file.match_indices(keeping).map(|(at, _)| &file[at + keeping.len()..]);
        inside.any(|inside| inside.split_once('/').is_some_and(|(folder, _)| has_hash(folder)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An access with this stack, the innermost frame first.
    fn access(stack: &[(&str, u32)]) -> Access {
        let frame = |&(function, line): &(&str, u32)| serde_json::json!({ "function": function, "file": "a.c", "line": line, "column": null });
        let stack: Vec<serde_json::Value> = stack.iter().map(frame).collect();
        serde_json::from_value(serde_json::json!({
            "thread": 1, "kind": "read", "variable": "", "function": null, "file": "a.c", "line": null,
            "column": null, "source": null, "stack": stack, "value": null, "locks": null,
        }))
        .unwrap()
    }

    #[test]
    fn a_look_stands_before_what_is_done_about_it() {
        let look = access(&[("find", 6), ("open", 12), ("serve", 44), ("main", 9)]);
        assert!(comes_first(&look, &access(&[("open", 16), ("serve", 44), ("main", 9)])));
        let earlier_round = access(&[("count", 30), ("serve", 46), ("main", 9)]);
        assert!(!comes_first(&earlier_round, &access(&[("open", 16), ("serve", 44), ("main", 9)])));
        let same_line = access(&[("count", 30), ("main", 9)]);
        assert!(!comes_first(&same_line, &access(&[("open", 16), ("main", 9)])));
        assert!(!comes_first(&look, &access(&[])), "nothing encloses both");
    }

    #[test]
    fn two_calls_of_one_function_come_together_in_their_caller() {
        let look = access(&[("is_closed", 12), ("enter", 16), ("main", 9)]);
        let again = access(&[("is_closed", 12), ("enter", 18), ("main", 9)]);
        assert_eq!(enclosing_functions(&[look.clone(), again]), ["enter"]);
        let same_call = access(&[("is_closed", 13), ("enter", 16), ("main", 9)]);
        assert_eq!(enclosing_functions(&[look, same_call]), ["is_closed"]);
    }

    /// Both look for a handler and register one if there is none, each from a call of its own.
    #[test]
    fn two_threads_in_one_function_come_together_there() {
        let look = access(&[("handler", 50), ("emit", 13), ("main", 9)]);
        let act = access(&[("handler", 54), ("emit", 14), ("main", 9)]);
        let lines = |act: Access| enclosing(&[&look, &act]).map(|place| (place.first_line, place.last_line));
        assert_eq!(lines(Access { thread: 2, ..act.clone() }), Some((50, 54)));
        assert_eq!(lines(act), Some((13, 14)), "two calls by one thread");
    }

    #[test]
    fn an_executor_encloses_nothing_of_the_programs() {
        const EXECUTOR: &str =
            "/home/me/.cargo/registry/src/index-0123456789abcdef/tokio-1.54.1/src/worker.rs";
        let polled = |own: &str, executor: &str, line: u32| {
            let mut polled = access(&[("Connection::ready", 51), ("Context::run", line)]);
            polled.stack[0].file = Some(own.to_owned());
            polled.stack[1].file = Some(executor.to_owned());
            polled
        };
        let lines = |own: &str, executor: &str| {
            let place = enclosing(&[&polled(own, executor, 595), &polled(own, executor, 610)])?;
            Some((place.first_line, place.last_line))
        };
        assert_eq!(lines("connection.rs", EXECUTOR), None);
        assert_eq!(lines("connection.rs", "pool.rs"), Some((595, 610)));
        assert_eq!(lines(EXECUTOR, EXECUTOR), Some((595, 610)), "its own mistake");
    }

    #[test]
    fn what_passes_an_atomics_operation_on_is_not_who_wanted_it() {
        const ATOMICS: &str = "/rustc/1f2/library/core/src/sync/atomic.rs";
        let frame = |function: &str, file: &str| Frame {
            file: Some(file.to_owned()),
            ..access(&[(function, 1)]).stack.remove(0)
        };
        let told = |called: &str, functions: &[&str]| {
            let mut stack = vec![frame("atomic::atomic_op", ATOMICS), frame(called, ATOMICS)];
            stack.extend(functions.iter().map(|function| frame(function, "src/once.rs")));
            own_frame(&stack).and_then(|frame| frame.function.clone()).unwrap()
        };
        assert_eq!(told("AtomicU8::load", &["AtomicStatus::load", "Once::poll", "main"]), "Once::poll");
        assert_eq!(told("AtomicU64::fetch_add", &["AtomicU64::inc_by", "observe"]), "observe");
        assert_eq!(told("AtomicU8::load", &["Once::poll", "main"]), "Once::poll");
        assert_eq!(told("AtomicU8::load", &["AtomicStatus::load"]), "AtomicStatus::load", "no caller");
        assert_eq!(told("AtomicU8::load", &["load", "main"]), "load", "a function that does more");
        // A lock of the package's own around that of the standard library.
        let lock = |wrapper: &str| {
            let taken = frame("RwLock::read", "/rustc/1f2/library/std/src/sync/poison/rwlock.rs");
            own_frame(&[taken, frame(wrapper, "src/loom.rs"), frame("Receiver::recv", "src/broadcast.rs")])
                .and_then(|frame| frame.function.clone())
        };
        assert_eq!(lock("RwLock::read").as_deref(), Some("Receiver::recv"));
        assert_eq!(lock("Cache::get").as_deref(), Some("Cache::get"));
        let vector =
            [frame("Vec::push", "/rustc/1f2/library/alloc/src/vec/mod.rs"), frame("Log::push", "a.rs")];
        let stack = [&vector[..], &[frame("main", "a.rs")]].concat();
        assert_eq!(own_frame(&stack).unwrap().function.as_deref(), Some("Log::push"), "no atomic");
        let load = Access {
            stack: vec![
                frame("AtomicU8::load", ATOMICS),
                frame("Status::load", "a.rs"),
                frame("poll", "a.rs"),
            ],
            ..access(&[])
        };
        assert_eq!(enclosing_functions(&[load]), ["poll"]);
    }

    #[test]
    fn what_goes_wrong_between_two_calls_of_a_package_is_told_by_the_calls() {
        let package = "/home/me/.cargo/registry/src/index-0123456789abcdef/tokio-1.54.1/src/sync/watch.rs";
        let told = |calls: &[(u32, u32)]| {
            let mut accesses: Vec<Access> = calls
                .iter()
                .map(|&(thread, line)| {
                    let mut access = access(&[("version", 508), ("pump", line)]);
                    access.stack[0].file = Some(package.to_owned());
                    (access.file, access.line) = (Some(package.to_owned()), Some(508));
                    Access { thread, ..access }
                })
                .collect();
            tell_by_calls(&mut accesses);
            accesses.iter().filter_map(|access| access.line).collect::<Vec<_>>()
        };
        assert_eq!(told(&[(1, 24), (2, 60), (1, 35)]), [24, 60, 35]);
        assert_eq!(told(&[(1, 24), (2, 60), (1, 24)]), [508; 3], "within one call");
        assert_eq!(told(&[(1, 24), (2, 60)]), [508; 2], "no two by one thread");
    }

    #[test]
    fn what_makes_threads_wait_is_known_by_its_header() {
        let frame =
            |file: &str| Frame { file: Some(file.to_owned()), ..access(&[("wait", 1)]).stack.remove(0) };
        assert!(frame("/usr/include/c++/12/barrier").synchronizes());
        assert!(frame("/usr/include/c++/12/bits/semaphore_base.h").synchronizes());
        assert!(!frame("/usr/include/c++/12/bits/atomic_base.h").synchronizes());
        assert!(!frame("/home/me/include/barrier").synchronizes());
        assert!(frame("/usr/include/c++/12/bits/atomic_wait.h").counts_waiters());
        let cells = "/home/me/.cargo/registry/src/index-0123456789abcdef/crossbeam-utils-0.8.23/src/atomic";
        assert!(frame(&format!("{cells}/seq_lock.rs")).synchronizes());
        assert!(!frame(&format!("{cells}/atomic_cell.rs")).synchronizes());
        let tokio = "/home/me/.cargo/registry/src/index-0123456789abcdef/tokio-1.54.1/src";
        assert!(frame(&format!("{tokio}/sync/mutex.rs")).synchronizes());
        assert!(frame(&format!("{tokio}/sync/rwlock/read_guard.rs")).synchronizes());
        assert!(!frame(&format!("{tokio}/sync/oneshot.rs")).synchronizes());
        assert!(frame(&format!("{tokio}/util/linked_list.rs")).synchronizes());
        assert!(!frame("/home/me/src/sync/mutex.rs").synchronizes());
    }

    #[test]
    fn who_reads_what_a_cell_has_is_counted_by_the_cell() {
        let cell = "/home/me/.cargo/registry/src/index-0123456789abcdef/arc-swap-1.9.3/src";
        let [debt, strategy, atomics, arc] = [
            format!("{cell}/debt/list.rs"),
            format!("{cell}/strategy/hybrid.rs"),
            "/rustc/1f2/library/core/src/sync/atomic.rs".to_owned(),
            "/rustc/1f2/library/alloc/src/sync.rs".to_owned(),
        ];
        let counts = |files: &[&str]| {
            let frame = |file: &&str| Frame {
                file: Some((*file).to_owned()),
                ..access(&[("call", 1)]).stack.remove(0)
            };
            Frame::count_readers(&files.iter().map(frame).collect::<Vec<_>>())
        };
        assert!(counts(&[&atomics, &debt, "routes.rs"]));
        assert!(counts(&[&atomics, &arc, &strategy, "routes.rs"]));
        assert!(!counts(&[&atomics, &strategy, &debt, "routes.rs"]), "the pointer itself");
        assert!(!counts(&[&atomics, &arc, "routes.rs", &debt]), "the program's own count");
        assert!(
            !counts(&["/rustc/1f2/library/alloc/src/vec/mod.rs", &arc, &strategy]),
            "what is dropped with it"
        );
        let epochs = "/home/me/.cargo/registry/src/index-0123456789abcdef/crossbeam-epoch-0.9.18/src";
        let [pointer, pinned, listed, freed] =
            ["atomic.rs", "internal.rs", "sync/list.rs", "guard.rs"].map(|file| format!("{epochs}/{file}"));
        assert!(counts(&[&atomics, &pinned, "steal.rs"]));
        assert!(counts(&[&atomics, &pointer, &listed, &pinned, "steal.rs"]));
        assert!(!counts(&[&atomics, &pointer, "steal.rs", &pinned]), "the program's own pointer");
        assert!(!counts(&[&pointer, &freed, &pinned, "steal.rs"]), "what is freed for somebody");
    }

    #[test]
    fn where_a_collection_keeps_its_elements_is_its_own_matter() {
        let is_within = |files: &[&str]| {
            let frame = |file: &&str| Frame {
                file: Some((*file).to_owned()),
                ..access(&[("call", 1)]).stack.remove(0)
            };
            let stack = files.iter().map(frame).collect();
            Access { stack, ..access(&[("call", 1)]) }.is_within_a_collection()
        };
        assert!(is_within(&[
            "/rustc/1f2/library/core/src/ptr/mod.rs",
            "/rust/deps/hashbrown-0.16.1/src/raw/mod.rs"
        ]));
        assert!(is_within(&["/usr/include/c++/12/bits/hashtable.h", "shop.cpp"]));
        assert!(!is_within(&["/usr/include/c++/12/bits/atomic_base.h", "shop.cpp"]), "an element by itself");
        assert!(!is_within(&["shop.cpp", "/usr/include/c++/12/bits/stl_algo.h"]), "what a library calls");
    }

    #[test]
    fn who_waits_in_a_package_is_told_by_the_call() {
        let mut access = access(&[("wait", 60), ("with", 52), ("queue", 42)]);
        for frame in &mut access.stack[..2] {
            frame.file = Some(
                "/me/.cargo/registry/src/index-0123456789abcdef/channel-0.5.15/src/context.rs".to_owned(),
            );
        }
        let line = |stack: &[Frame]| calling_frame(stack).and_then(|frame| frame.line);
        assert_eq!(line(&access.stack), Some(42));
        assert_eq!(line(&access.stack[..2]), Some(60), "a thread of the package's own");
    }

    #[test]
    fn what_comes_with_the_locks_is_not_the_programs_own() {
        let frame =
            |file: &str| Frame { file: Some(file.to_owned()), ..access(&[("lock", 1)]).stack.remove(0) };
        let registry = "/home/me/.cargo/registry/src/index-0123456789abcdef/";
        assert!(frame(&format!("{registry}parking_lot-0.12.5/src/raw_rwlock.rs")).is_library());
        assert!(!frame(&format!("{registry}crossbeam-0.8.5/src/lib.rs")).is_library());
        assert!(frame(&format!("{registry}crossbeam-utils-0.8.23/src/atomic/seq_lock.rs")).is_library());
        assert!(!frame(&format!("{registry}crossbeam-utils-0.8.23/src/sync/parker.rs")).is_library());
        assert!(!frame("/home/me/crossbeam-utils-mine/src/atomic/seq_lock.rs").is_library());
        assert!(!frame("/home/me/parking_lot-like/src/lib.rs").is_library());
        assert!(frame(&format!("{registry}dashmap-6.2.1/src/lib.rs")).is_library());
        assert!(frame(&format!("{registry}arc-swap-1.9.3/src/lib.rs")).is_library());
        assert!(frame(&format!("{registry}tokio-1.54.1/src/sync/notify.rs")).is_library());
        assert!(!frame(&format!("{registry}tokio-1.54.1/src/sync/broadcast.rs")).is_library());
        assert!(!frame(&format!("{registry}lasso-0.4.1/src/lib.rs")).is_library());
        assert!(!frame("/home/me/dashmap-like/src/lib.rs").is_library());
        assert!(frame(&format!("{registry}rayon-core-1.13.0/src/job.rs")).is_fetched());
        assert!(frame("/home/me/.cargo/git/checkouts/tokio-0123456789abcdef/2a/src/lib.rs").is_fetched());
        assert!(frame("/rustc/1f2/library/std/src/thread/mod.rs").is_fetched());
        assert!(!frame("/home/me/registry/src/cache/lru-cache.rs").is_fetched(), "a project of that name");
        assert!(!frame("/home/me/git/checkouts/pool/src/lib.rs").is_fetched());
        assert!(!access(&[("main", 1)]).stack[0].is_fetched());
    }
}
