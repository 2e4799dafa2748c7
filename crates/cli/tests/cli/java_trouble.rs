//! Java programs that are out of the ordinary, and what is said about trouble.

use crate::java::{BANK, workplace};
use crate::kit::{Workplace, present};

/// Its runs were recorded, whatever became of them.
#[track_caller]
fn assert_recorded(place: &Workplace, session: &str) {
    let runs = place.runs(session);
    assert!(!runs.is_empty() && runs.iter().all(|run| run["processes"] == 1), "{runs:?}");
}

#[test]
fn without_java_it_says_what_is_missing() {
    let place = Workplace::new();
    let mut command = place.unsnarl("run -- java -version");
    command.env("PATH", place.scratch());
    crate::kit::Seen::of("run -- java -version", command.output().unwrap()).exits(4).complains(&["java"]);
}

/// As the agent does on a virtual machine that is too old or too new for it.
#[test]
fn why_a_recorder_leaves_its_process_alone_is_told() {
    let place = Workplace::new();
    let says = "unsnarl: this process is not recorded: Java 99 is newer than this unsnarl knows";
    place.script("test.sh", &format!("#!/bin/sh\necho '{says}' >&2\n"));
    // 13: nothing recorded.
    let seen = place.call("run --runs 2 --session newer -- ./test.sh").exits(13);
    seen.says(&["a process was not recorded: Java 99 is newer than this unsnarl knows"]);
}

#[test]
fn modules_and_security_managers_hide_nothing() {
    let Some(place) = workplace("module/shop/Bank.java", BANK) else { return };
    place.write("module/module-info.java", "module shop { }\n");
    place.shell("javac -g -d mods/shop module/module-info.java module/shop/Bank.java");
    place.call("run --runs 1 --noise off --session module -- java -p mods -m shop/shop.Bank");
    assert_recorded(&place, "module");
    // What code under test is not allowed, hooks in it are.
    let manager = "-Djava.security.policy==policy -Djava.security.manager";
    place.write("policy", "grant { permission java.lang.RuntimePermission \"exitVM.*\"; };\n");
    place
        .call(&format!("run --runs 1 --noise off --session manager -- java {manager} -cp classes shop.Bank"));
    assert_recorded(&place, "manager");
}

#[test]
fn a_virtual_machine_that_crashes_leaves_its_recording() {
    let source = "public class Crash {
        static int state;
        public static void main(String[] arguments) throws Exception {
            Thread other = new Thread(() -> state++);
            other.start();
            state++;
            other.join();
            new ProcessBuilder(\"kill\", \"-SEGV\", \"\" + ProcessHandle.current().pid()).start();
            while (true) {
                Thread.sleep(100);
            }
        }
    }";
    let Some(place) = workplace("Crash.java", source) else { return };
    // 11: no run passed.
    let crashes = "run --runs 1 --session crash -- java -cp classes Crash";
    place.call(crashes).exits(11).says(&["SIGABRT"]);
    assert_recorded(&place, "crash");
}

#[test]
fn a_method_that_would_grow_too_large_is_left_alone_and_said() {
    if !present("javac") {
        return;
    }
    let stores: String = (0..5500).map(|index| format!("            a[{index}] = n;\n")).collect();
    let source = format!(
        "public class Large {{
        static int shared;
        static void fill(int[] a, int n) {{
{stores}        }}
        public static void main(String[] arguments) throws Exception {{
            Thread other = new Thread(() -> shared++);
            other.start();
            fill(new int[6000], shared++);
            other.join();
        }}
    }}"
    );
    let Some(place) = workplace("Large.java", &source) else { return };
    // 11: all runs fail, since they all say it.
    let flags = "--runs 1 --session large --fail-regex Large.fill.*not.looked.at.*too.large";
    place.call(&format!("run {flags} -- java -cp classes Large")).exits(11);
    assert_recorded(&place, "large");
}

/// They are the virtual machine's business; the agent says once that it cannot look at them.
#[test]
fn class_files_of_an_unknown_version_are_left_alone_and_said_once() {
    let source = "public class Loader {
        static int loads;
        static class One { }
        static class Two { }
        public static void main(String[] arguments) throws Exception {
            for (String name : new String[] {\"Loader$One\", \"Loader$Two\"}) {
                try {
                    Class.forName(name);
                } catch (UnsupportedClassVersionError newer) {
                    loads++;
                }
            }
            System.out.println(loads);
        }
    }";
    let Some(place) = workplace("Loader.java", source) else { return };
    for class in ["classes/Loader$One.class", "classes/Loader$Two.class"] {
        let mut bytes = std::fs::read(place.path(class)).unwrap();
        bytes[6..8].copy_from_slice(&200u16.to_be_bytes());
        std::fs::write(place.path(class), bytes).unwrap();
    }
    place.write("expected", "2\n");
    place.script("test.sh", "#!/bin/sh\nexec java -cp classes Loader 2> said\n");
    // 10: no run failed.
    place.call("run --runs 1 --session newer --expect-stdout expected -- ./test.sh").exits(10);
    assert_recorded(&place, "newer");
    let said = std::fs::read_to_string(place.path("said")).unwrap();
    let told: Vec<&str> = said.lines().filter(|line| line.contains("not looked at")).collect();
    let [told] = told[..] else { panic!("{said}") };
    assert!(told.contains("Loader$One") && told.contains("version 200"), "{told}");
}

const KNOT: &str = include_str!("programs/Knot.java");
const MISSED: &str = include_str!("programs/Missed.java");

/// Two locks, taken in opposite orders.
#[track_caller]
fn assert_deadlock_is_found(arguments: &str, locks: [&str; 2]) {
    let Some(place) = workplace("Knot.java", KNOT) else { return };
    let flags = "--schedule random --runs 4 --jobs 2 --timeout 10m --seed 1";
    let seen = place.call(&format!("run {flags} -- java -cp classes Knot {arguments}")).exits(0);
    let waits = |other: &str| format!("waits for `{other}` at Knot.java");
    let [one, other] = locks;
    seen.says(&["Deadlock", &format!("`{one}`"), &format!("`{other}`")]);
    let report = place.call("report --json").exits(0).json();
    assert_eq!(report["findings"][0]["kind"], "deadlock");
    let hang = report["hangs"][0].to_string();
    for told in [waits(one), waits(other), format!("holding `{one}`")] {
        assert!(hang.contains(&told), "`{told}` is missing: {hang}");
    }
    // Whatever the seeds: who has its first lock waits for the other to have its own, or runs alone until it has both.
    let seen = place.call("confirm 1 --runs 5").exits(0);
    seen.says(&["confirmed", "forced: 5 of 5", "forbidden: 0 of 5"]);
}

/// Before the wait for it begins.
#[test]
fn a_signal_that_came_too_early_is_found_forced_and_forbidden() {
    let Some(place) = workplace("Missed.java", MISSED) else { return };
    // The seed decides which runs hang.
    let flags = "--schedule random --runs 3 --jobs 3 --timeout 5s --seed 3";
    let seen = place.call(&format!("run {flags} -- java -cp classes Missed")).exits(0);
    seen.says(&["Missed signal on `Missed.ready`"]);
    // Whatever the seeds; that is too few to be sure, but each run that hangs takes its time. 16: undecided.
    let seen = place.call("confirm 1 --runs 1").exits(16);
    seen.says(&["forced: 1 of 1", "forbidden: 0 of 1"]);
}

#[test]
fn threads_that_wait_for_each_others_monitors_are_told() {
    assert_deadlock_is_found("", ["Knot.left", "Knot.right"]);
}

#[test]
fn who_waits_to_write_waits_for_who_reads() {
    assert_deadlock_is_found("shared", ["Knot.shared", "Knot.right"]);
}

#[test]
fn threads_that_wait_for_each_others_locks_are_told() {
    assert_deadlock_is_found("locks", ["Knot.first", "Knot.second"]);
}

/// The pool's thread waits for work for ever: nobody has to wait for the time-out to know.
#[test]
fn a_pool_that_an_exception_leaves_behind_ends_the_run() {
    let source = "import java.util.concurrent.*;
    public class Left {
        public static void main(String[] arguments) throws Exception {
            ExecutorService pool = Executors.newFixedThreadPool(1);
            pool.submit(() -> { }).get();
            throw new IllegalStateException(\"lost\");
        }
    }";
    let Some(place) = workplace("Left.java", source) else { return };
    for schedule in ["free", "random"] {
        let flags = format!("--schedule {schedule} --runs 1 --timeout 10m --seed 1");
        // 11: no run passed.
        place.call(&format!("run {flags} -- java -cp classes Left")).exits(11);
    }
}

/// Whoever is to go second must not have the lock that the first one needs.
#[test]
fn what_is_done_under_a_methods_lock_is_held_back_before_that_is_taken() {
    let source = "public class Box {
        private static int opened;
        private String value;
        synchronized void set(String text) {
            value = text; // writes
            notifyAll();
        }
        synchronized String get() {
            return value; // reads
        }
        synchronized int parsed(String text, long unused) {
            return Integer.parseInt(text);
        }
        static synchronized Box open() {
            opened++;
            return new Box();
        }
        public static void main(String[] arguments) throws Exception {
            Box box = open();
            try {
                box.parsed(\"none\", 1);
            } catch (NumberFormatException expected) {
                opened = box.parsed(\"1\", 1);
            }
            Thread other = new Thread(() -> box.set(\"full\"));
            other.start();
            int length = box.get().length();
            other.join();
            System.exit(length == 4 && open() != null ? 0 : 1);
        }
    }";
    let Some(place) = workplace("Box.java", source) else { return };
    // The seed decides which runs fail.
    place
        .call("run --schedule random --runs 8 --jobs 2 --seed 1 -- java -Xverify:all -cp classes Box")
        .exits(0);
    // Whatever the seeds. Delays alone make most runs fail, so that it may take more of them to decide.
    place.call("confirm 1 --runs 5").says(&["forced: 5 of 5", "forbidden: 0 of 5"]);
}

/// Where a Java of at least this version is installed, if anywhere.
fn java_from(version: u32) -> Option<String> {
    let installed = std::fs::read_dir("/usr/lib/jvm").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let is_new = |home: &std::path::PathBuf| {
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let number =
            release.split_once("JAVA_VERSION=\"").and_then(|(_, rest)| rest.split(['.', '"']).next());
        number.and_then(|number| number.parse().ok()).is_some_and(|number: u32| number >= version)
    };
    let home = installed.filter(is_new).find(|home| home.join("bin/java").exists())?;
    Some(home.join("bin/java").display().to_string())
}

/// They come and go on threads that are there for all of them, and wait for each other where nobody sees it.
#[test]
fn virtual_threads_are_left_alone() {
    let source = "import java.util.concurrent.*;
    public class Light {
        static int count;
        static synchronized void add() throws InterruptedException {
            count++;
            Thread.sleep(1);
        }
        public static void main(String[] arguments) throws Exception {
            var start = Thread.class.getMethod(\"startVirtualThread\", Runnable.class);
            BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(1);
            for (int each = 0; each < 20; each++) {
                Runnable work = () -> {
                    try {
                        add();
                        queue.put(1);
                    } catch (InterruptedException never) {
                        throw new IllegalStateException(never);
                    }
                };
                start.invoke(null, work);
            }
            for (int each = 0; each < 20; each++) {
                queue.take();
                add();
            }
            System.exit(count == 40 ? 0 : 1);
        }
    }";
    let Some(place) = workplace("Light.java", source) else { return };
    let Some(java) = java_from(21) else { return };
    // 10: no run failed, and none hung.
    for flags in ["--noise medium", "--schedule random", "--schedule random --include java.util.**"] {
        let run = format!("run --runs 2 --timeout 1m --seed 2 {flags} -- {java} -cp classes Light");
        place.call(&run).exits(10).says(&["2 passed"]);
    }
}

/// Nobody has to wait for the time-out to know, and each says what it waits for.
#[test]
fn threads_that_nobody_can_wake_are_told() {
    let source = "import java.util.concurrent.*;
    public class Vain {
        public static void main(String[] arguments) throws Exception {
            CountDownLatch latch = new CountDownLatch(1);
            BlockingQueue<String> queue = new LinkedBlockingQueue<>();
            Thread reader = new Thread(() -> {
                try {
                    latch.await();
                } catch (InterruptedException never) {
                    throw new IllegalStateException(never);
                }
            }, \"reader\");
            reader.start();
            Thread taker = new Thread(() -> {
                try {
                    queue.take();
                } catch (InterruptedException never) {
                    throw new IllegalStateException(never);
                }
            }, \"taker\");
            taker.start();
            reader.join();
        }
    }";
    let Some(place) = workplace("Vain.java", source) else { return };
    // 11: no run passed.
    let run = "run --schedule random --runs 1 --timeout 10m --seed 1 -- java -cp classes Vain";
    let seen = place.call(run).exits(11).says(&[
        "(main) waits for the end of thread 2 (reader)",
        "(reader) waits for `CountDownLatch` at Vain.java:8",
        "(taker) waits for `Condition` at Vain.java:16",
    ]);
    assert!(!seen.stdout.contains("holding"), "who waits for a condition has given its lock back: {seen}");
}

/// Two wait for a condition, and of two changes only the first is signalled, since the second finds what the first has left.
#[test]
fn a_condition_that_is_signalled_for_the_first_change_only_is_told() {
    let source = "import java.util.ArrayDeque;
    import java.util.concurrent.locks.*;
    public class Once {
        static final ReentrantLock lock = new ReentrantLock();
        static final Condition filled = lock.newCondition();
        static final ArrayDeque<Integer> queue = new ArrayDeque<>();
        static void put(int item) {
            lock.lock();
            boolean was_empty = queue.isEmpty();
            queue.add(item);
            if (was_empty) filled.signal();
            lock.unlock();
        }
        static void take() {
            lock.lock();
            while (queue.isEmpty()) filled.awaitUninterruptibly();
            queue.remove();
            lock.unlock();
        }
        public static void main(String[] arguments) throws Exception {
            Thread[] takers = {new Thread(Once::take), new Thread(Once::take)};
            for (Thread taker : takers) taker.start();
            put(1);
            put(2);
            for (Thread taker : takers) taker.join();
        }
    }";
    let Some(place) = workplace("Once.java", source) else { return };
    let run = "run --runs 60 --timeout 10s --seed 1 -- java -cp classes Once";
    place.call(run).exits(0).says(&[
        "1  Missed signal on `Once.queue (structure)` and `Once.filled`",
        "Once.put() writes `Once.queue (structure)` at Once.java:10 and does not signal `Once.filled`",
        "Signal `Once.filled` after each change at Once.java:10 in Once.put()",
    ]);
}

#[test]
fn who_waits_for_the_end_of_one_that_needs_its_lock_is_told() {
    let source = "public class Ending {
        static synchronized void work() {
        }
        static synchronized void stop(Thread worker) throws InterruptedException {
            worker.start();
            worker.join();
        }
        public static void main(String[] arguments) throws Exception {
            stop(new Thread(Ending::work, \"worker\"));
        }
    }";
    let Some(place) = workplace("Ending.java", source) else { return };
    let run = "run --schedule random --runs 1 --timeout 10m --seed 1 -- java -cp classes Ending";
    place.call(run).exits(0).says(&[
        "before another thread locks it.",
        "Deadlock: threads wait for locks and for each other's end in 1 run",
        "(main) waits for the end of thread 2 (worker)",
        "(worker) waits for `Ending.class`",
        "Give `Ending.class` back before waiting for the end of a thread that takes it.",
    ]);
}

/// Its sleep is long enough, unless the machine has other things to do.
#[test]
fn who_sleeps_in_place_of_waiting_is_found() {
    let source = "public class Nap {
        static int steps;
        static synchronized void step() {
            steps++;
        }
        static synchronized int steps() {
            return steps;
        }
        public static void main(String[] arguments) throws Exception {
            Thread other = new Thread(() -> {
                for (int each = 0; each < 4; each++) {
                    step();
                }
            });
            other.start();
            Thread.sleep(2);
            int seen = steps();
            other.join();
            System.exit(seen == 4 ? 0 : 1);
        }
    }";
    let Some(place) = workplace("Nap.java", source) else { return };
    // The seed decides which runs fail.
    let flags = "--schedule random --runs 8 --jobs 2 --seed 1 --skip-sleeps";
    place.call(&format!("run {flags} -- java -cp classes Nap")).exits(0).says(&[
        "`Nap.steps`",
        "slept at Nap.java:16 for 2ms",
        "do not sleep at Nap.java:16",
    ]);
    // Whatever the seeds: whoever is to come first is woken.
    place.call("confirm 1 --runs 3").says(&["forced: 3 of 3", "forbidden: 0 of 3"]);
}

/// Each place has a whole call stack: that of all calls would take gigabytes to read.
#[test]
fn deep_recursion_is_recorded_and_read() {
    let source = "public class Deep {
        static int count;
        static synchronized int down(int left) {
            count++;
            return left == 0 ? 0 : 1 + down(left - 1);
        }
        public static void main(String[] arguments) throws Exception {
            Thread[] both = new Thread[2];
            for (int each = 0; each < 2; each++) {
                both[each] = new Thread(null, () -> down(50000), \"deep\", 1 << 29);
                both[each].start();
            }
            for (Thread one : both) {
                one.join();
            }
            System.exit(count == 100002 ? 0 : 1);
        }
    }";
    let Some(place) = workplace("Deep.java", source) else { return };
    // 10: no run failed.
    place.call("run --runs 2 --seed 1 --schedule random -- java -cp classes Deep").exits(10);
    assert_recorded(&place, "Deep");
}
