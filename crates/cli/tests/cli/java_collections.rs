//! Collections of the Java library, as code under test uses them.

use serde_json::Value;

use crate::java::{line, workplace};
use crate::kit::Workplace;

const SHELVES: &str = include_str!("programs/Shelves.java");

#[test]
fn what_calls_of_collections_do_is_told_by_key_and_by_structure() {
    let Some(place) = workplace("Shelves.java", SHELVES) else { return };
    place.write("expected", "16 16\n");
    // 10: no run failed. One thread uses them after the other, so that all is told of the second.
    let flags = "--noise off --seed 1 --runs 1 --session shelves --expect-stdout expected";
    place.call(&format!("run {flags} -- java -Xverify:all -cp classes Shelves")).exits(10);
    let trace = place.call("trace 1 --session shelves").exits(0).stdout;
    for (comment, kind, variable) in [
        ("// puts", "write", "Shelves.stock[\"pen\"]"),
        ("// puts", "read", "Shelves.stock (structure)"),
        ("// puts", "write", "Shelves.stock (structure)"),
        ("// gets", "read", "Shelves.stock[\"pen\"]"),
        ("// counts", "read", "Shelves.stock (structure)"),
        ("// merges", "update", "Shelves.stock[\"ink\"]"),
        ("// computes", "update", "Shelves.labels[7]"),
        ("// may put", "update", "Shelves.labels[8]"),
        ("// colors", "write", "Shelves.colors[RED]"),
        ("// places", "write", "Shelves.places[Place]"),
        ("// found", "read", "Shelves.places[Place]"),
        ("// adds", "write", "Shelves.tags[\"new\"]"),
        ("// contains", "read", "Shelves.tags[\"new\"]"),
        ("// appends", "write", "Shelves.items (structure)"),
        ("// sets", "write", "Shelves.items[0]"),
        ("// element", "read", "Shelves.items[0]"),
        ("// orders", "update", "Shelves.orders (structure)"),
        ("// takes", "write", "Shelves.orders (structure)"),
        ("// iterates", "read", "Shelves.items (structure)"),
        ("// views", "read", "Shelves.tags (structure)"),
        ("// steps", "read", "Shelves.tags (structure)"),
        ("// keys", "read", "Shelves.stock (structure)"),
        ("// inherited", "write", "Shelves.recent[\"last\"]"),
        ("// clears", "write", "Shelves.labels[7]"),
    ] {
        let told = format!("Shelves.java:{}  {kind}  {variable}", line(SHELVES, comment));
        assert!(trace.lines().any(|line| line.ends_with(&told)), "{comment}: no {told}: {trace}");
    }
    // A lookup says nothing about other keys.
    let lookup = format!("Shelves.java:{}  read  Shelves.stock (structure)", line(SHELVES, "// gets"));
    assert!(!trace.contains(&lookup), "{trace}");
}

/// Looked up and put in two steps, each of which is safe.
#[test]
fn a_key_that_two_threads_put_is_found() {
    let source = "import java.util.concurrent.*;
    public class Registry {
        static final ConcurrentHashMap<String, Object> sessions = new ConcurrentHashMap<>();
        static Object get(String user) {
            Object known = sessions.get(user); // looks
            if (known == null) {
                known = new Object();
                sessions.put(user, known); // puts
            }
            return known;
        }
        public static void main(String[] arguments) throws Exception {
            Object[] seen = new Object[2];
            Thread other = new Thread(() -> {
                get(\"bob\");
                seen[1] = get(\"alice\");
            });
            other.start();
            get(\"carol\");
            seen[0] = get(\"alice\");
            other.join();
            System.exit(seen[0] == seen[1] ? 0 : 1);
        }
    }";
    let Some(place) = workplace("Registry.java", source) else { return };
    // The seed decides which runs fail.
    place.call("run --schedule random --runs 16 --jobs 2 --seed 1 -- java -cp classes Registry").exits(0);
    let report = place.call("report --json").exits(0).json();
    let first = &report["findings"][0];
    let accesses = first["accesses"].as_array().unwrap();
    assert!(accesses.iter().all(|access| access["variable"] == "Registry.sessions[\"alice\"]"), "{first:#}");
    let lines: Vec<_> = accesses.iter().map(|access| access["line"].as_u64().unwrap()).collect();
    let [looks, puts] = ["// looks", "// puts"].map(|comment| line(source, comment));
    assert_eq!(lines, [looks, puts, puts]);
}

#[test]
fn a_list_that_changes_while_another_thread_iterates_is_found() {
    let source = "import java.util.*;
    public class Bus {
        private final List<Runnable> listeners = new ArrayList<>();
        void add(Runnable listener) {
            listeners.add(listener); // adds
        }
        void fire() {
            for (Runnable listener : listeners) { // iterates
                listener.run();
            }
        }
        public static void main(String[] arguments) throws Exception {
            Bus bus = new Bus();
            bus.add(() -> { });
            Thread registrar = new Thread(() -> bus.add(() -> { }));
            registrar.start();
            bus.fire();
            registrar.join();
        }
    }";
    let Some(place) = workplace("Bus.java", source) else { return };
    // The seed decides which runs fail.
    let run = "run --schedule random --runs 16 --jobs 2 --seed 1 -- java -cp classes Bus";
    place.call(run).exits(0).says(&["Bus.listeners (structure)"]);
    let report = place.call("report --json").exits(0).json();
    let first = &report["findings"][0];
    let accesses = first["accesses"].as_array().unwrap();
    assert!(accesses.iter().all(|access| access["variable"] == "Bus.listeners (structure)"), "{first:#}");
    let lines: Vec<_> = accesses.iter().map(|access| access["line"].as_u64().unwrap()).collect();
    let [adds, iterates] = ["// adds", "// iterates"].map(|comment| line(source, comment));
    assert!(lines.ends_with(&[adds, iterates]), "{lines:?}");
    // Whatever else was written when the iterator saw the change.
    assert_eq!(first["failed"], report["runs"]["failed"], "{first:#}");
}

/// Looking something up changes a map that keeps its entries in the order in which they were used.
#[test]
fn a_lookup_that_moves_entries_while_another_thread_iterates_is_found() {
    let source = "import java.util.*;
    public class Recent {
        static final Map<String, Integer> entries = new LinkedHashMap<>(16, 0.75f, true) {
            @Override protected boolean removeEldestEntry(Map.Entry<String, Integer> eldest) {
                return size() > 8;
            }
        };
        static Integer use(String key) {
            return entries.get(key); // uses
        }
        public static void main(String[] arguments) throws Exception {
            for (String key : List.of(\"a\", \"b\", \"c\")) {
                entries.put(key, 1);
            }
            Thread user = new Thread(() -> use(\"a\"));
            user.start();
            int sum = 0;
            for (int value : entries.values()) { // iterates
                sum += value;
            }
            user.join();
        }
    }";
    let Some(place) = workplace("Recent.java", source) else { return };
    // The seed decides which runs fail.
    let run = "run --schedule random --runs 12 --jobs 2 --seed 1 -- java -Xverify:all -cp classes Recent";
    place.call(run).exits(0);
    let lines: Vec<u64> =
        first_finding(&place, "Recent.entries (structure)").iter().map(|&(line, _)| line).collect();
    let [uses, iterates] = ["// uses", "// iterates"].map(|comment| line(source, comment));
    assert!(lines.contains(&uses) && lines.contains(&iterates), "{lines:?}");
}

/// Runs that fail found the work of the other thread done, and their recordings say so.
#[track_caller]
fn assert_order_is_true(call: &str, look: &str) {
    const RUNS: usize = 12;
    let source = format!(
        "import java.util.*;
    import java.util.concurrent.*;
    public class Order {{
        static final BlockingQueue<String> queue = new ArrayBlockingQueue<>(2);
        static final Map<String, String> map = new ConcurrentHashMap<>();
        static volatile int steps;
        static boolean seen;
        static void count() {{
            for (int step = 0; step < 4; step++) {{
                steps++;
            }}
        }}
        static String slowly() {{
            count();
            return \"done\";
        }}
        public static void main(String[] arguments) throws Exception {{
            queue.add(\"first\");
            map.size();
            Thread other = new Thread(() -> {{
                count();
                seen = {look}; // looks
            }});
            other.start();
            steps++;
            {call}; // calls
            steps++;
            other.join();
            System.exit(seen ? 1 : 0);
        }}
    }}"
    );
    let Some(place) = workplace("Order.java", &source) else { return };
    // The seed decides which runs fail.
    place.call(&format!("run --schedule random --runs {RUNS} --seed 1 -- java -cp classes Order")).exits(0);
    let mut failed = 0;
    for number in 1..=RUNS {
        let trace = place.call(&format!("trace {number}")).exits(0).stdout;
        let lines: Vec<&str> = trace.lines().collect();
        let last = |comment: &str| {
            let place = format!("Order.java:{} ", line(&source, comment));
            let is_told = |told: &&str| told.contains(&place) && told.contains(['(', '[']);
            lines.iter().rposition(is_told).unwrap_or_else(|| panic!("{comment}: {trace}"))
        };
        let found_done = last("// calls") < last("// looks");
        assert_eq!(lines[0].contains("failed"), found_done, "{trace}");
        failed += usize::from(found_done);
    }
    assert!((1..RUNS).contains(&failed), "{failed}");
}

#[test]
fn a_call_that_takes_a_lock_inside_is_told_in_order() {
    assert_order_is_true("queue.take()", "queue.isEmpty()");
}

#[test]
fn a_call_that_runs_code_under_test_is_told_when_it_is_done() {
    assert_order_is_true("map.computeIfAbsent(\"key\", key -> slowly())", "map.get(\"key\") != null");
}

/// The line and the kind of each access of the first finding, all of which are about this variable.
fn first_finding(place: &Workplace, variable: &str) -> Vec<(u64, String)> {
    let report = place.call("report --json").exits(0).json();
    let first = &report["findings"][0];
    let accesses = first["accesses"].as_array().unwrap();
    assert!(accesses.iter().all(|access| access["variable"] == variable), "{first:#}");
    let told =
        |access: &Value| (access["line"].as_u64().unwrap(), access["kind"].as_str().unwrap().to_owned());
    accesses.iter().map(told).collect()
}

/// One of the elements is lost, in the midst of the library's code.
#[test]
fn a_list_that_two_threads_add_to_is_found() {
    let source = "import java.util.*;
    public class Hits {
        final List<Integer> found = new ArrayList<>();
        void search() {
            for (int number = 0; number < 3; number++) {
                found.add(number); // adds
            }
        }
        public static void main(String[] arguments) throws Exception {
            Hits hits = new Hits();
            Thread other = new Thread(hits::search);
            other.start();
            hits.search();
            other.join();
            System.exit(hits.found.size() == 6 ? 0 : 1);
        }
    }";
    let Some(place) = workplace("Hits.java", source) else { return };
    // The seed decides which runs fail.
    place.call("run --schedule random --runs 16 --jobs 2 --seed 1 -- java -cp classes Hits").exits(0);
    let adds = line(source, "// adds");
    let told = first_finding(&place, "Hits.found (structure)");
    assert_eq!(told, ["read", "write", "write"].map(|kind| (adds, kind.to_owned())));
}

/// What it inherits is the library's, what it overrides is its own.
#[test]
fn a_class_that_extends_a_collection_is_seen() {
    let source = "import java.util.*;
    public class Log extends ArrayList<String> {
        @Override public boolean add(String text) {
            return super.add(text); // appends
        }
        public static void main(String[] arguments) throws Exception {
            Log log = new Log();
            log.add(\"first\"); // overridden
            log.get(0);
            Thread other = new Thread(() -> {
                log.clear(); // inherited
                log.add(\"second\");
            });
            other.start();
            other.join();
            System.out.println(log.size()); // counts
        }
    }";
    let Some(place) = workplace("Log.java", source) else { return };
    // 10: no run failed.
    place.call("run --noise off --seed 1 --runs 1 -- java -Xverify:all -cp classes Log").exits(10);
    let trace = place.call("trace 1").exits(0).stdout;
    let is_told = |comment: &str| trace.contains(&format!("Log.java:{} ", line(source, comment)));
    for comment in ["// appends", "// inherited", "// counts"] {
        assert!(is_told(comment), "{comment}: {trace}");
    }
    assert!(!is_told("// overridden"), "{trace}");
    assert!(trace.contains("update  Log[0]"), "{trace}");
}

#[test]
fn what_calls_of_a_pool_depend_on_and_change_is_told() {
    let source = "import java.util.concurrent.*;
    public class Desk {
        final ExecutorService pool = Executors.newSingleThreadExecutor();
        public static void main(String[] arguments) throws Exception {
            Desk desk = new Desk();
            Thread clerk = new Thread(() -> {
                desk.pool.submit(() -> { }); // submits
            });
            clerk.start();
            clerk.join();
            desk.pool.shutdown(); // shuts down
        }
    }";
    let Some(place) = workplace("Desk.java", source) else { return };
    // 10: no run failed.
    place.call("run --noise off --seed 1 --runs 1 -- java -Xverify:all -cp classes Desk").exits(10);
    let trace = place.call("trace 1").exits(0).stdout;
    for (comment, kind) in [("// submits", "read"), ("// shuts down", "update")] {
        let told = format!("Desk.java:{}  {kind}  Desk.pool (state)", line(source, comment));
        assert!(trace.contains(&told), "{comment}: {trace}");
    }
}
