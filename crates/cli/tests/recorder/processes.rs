//! Forks, other programs, and every way to link.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use recording::EventKind;

use crate::kit::{Compiler, Link, c, skip};

#[test]
fn a_forked_child_has_its_own_recording() {
    let program = c(r#"
volatile int x;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
THREAD(worker) {
    x++; //@worker
    return NULL;
}
THREAD(child_worker) {
    x += 10; //@child-worker
    return NULL;
}
int main(void) {
    x = 1; //@init
    in_thread(worker);
    pthread_mutex_lock(&lock); //@lock
    pid_t child = fork();
    if (child == 0) {
        CHECK(x == 2); //@child
        in_thread(child_worker);
        CHECK(x == 12); //@child-end
        exit(7);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    in_thread(worker);
    return x != 3; //@parent-end
}
"#);
    let processes = program.run_well().processes();
    let [parent, child] = &processes[..] else { panic!("{} recordings", processes.len()) };
    parent.expect_whole();
    child.expect_whole();
    assert_eq!(child.recording.header.parent_pid, parent.recording.header.pid);
    assert_eq!(
        parent.history("x"),
        "main w@init | worker R@worker W@worker | worker2 R@worker W@worker | main R@parent-end"
    );
    assert_eq!(
        child.history("x"),
        "main r@child | child_worker R@child-worker W@child-worker | main R@child-end"
    );
    let last = child.recording.events.iter().rfind(|event| event.kind == EventKind::Read).expect("a read");
    assert_eq!(child.locks(last.event.other), "lock@lock", "taken before the fork, held after it");
}

#[test]
fn a_daemon_is_recorded_though_it_left_everything_behind() {
    let program = c(r#"
volatile int x;
THREAD(worker) {
    x++; //@worker
    return NULL;
}
int main(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        x = 1; //@before
        CHECK(daemon(0, 0) == 0);
        x = 2; //@init
        in_thread(worker);
        return x != 3; //@end
    }
    close(ends[1]);
    char nothing;
    // The end of the file is the end of the daemon.
    CHECK(read(ends[0], &nothing, 1) == 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 0);
    return 0;
}
"#);
    let processes = program.run_well().processes();
    assert_eq!(processes.len(), 3, "the launcher, its child, the daemon");
    let histories = processes.iter().filter(|process| process.lasting_locations().count() > 0);
    let daemons: Vec<_> = histories.collect();
    let [daemon] = &daemons[..] else { panic!("{} processes have shared memory", daemons.len()) };
    daemon.expect_whole();
    assert_eq!(daemon.history("x"), "main w@init | worker R@worker W@worker | main R@end");
}

#[test]
fn forks_from_busy_threads_do_not_hang() {
    let program = c(r#"
volatile long shared[512];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int stop;
__attribute__((noinline)) static long recurse(int n) {
    shared[n % 512]++;
    return n == 0 ? 0 : recurse(n - 1) + 1;
}
static void *work(void *argument) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        for (int i = 0; i < 50; i++)
            recurse(i);
        pthread_mutex_lock(&lock);
        shared[0]++;
        pthread_mutex_unlock(&lock);
        free(malloc(64));
    }
    return argument;
}
static void *forker(void *argument) {
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            recurse(200);
            _exit(3);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    }
    return argument;
}
int main(void) {
    pthread_t workers[2] = {start(work, NULL), start(work, NULL)};
    pthread_t forkers[2] = {start(forker, NULL), start(forker, NULL)};
    for (int i = 0; i < 2; i++)
        pthread_join(forkers[i], NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
"#)
    .plan("seed=1,noise=off,budget=1000000");
    let finished = program.run_well();
    assert_eq!(finished.recordings.len(), 21);
    assert!(finished.recordings.iter().all(|recording| recording.header.fault == 0));
}

#[test]
fn other_programs_started_any_way_are_recorded_apart() {
    let program = c(r#"
#include <spawn.h>
extern char **environ;
volatile int x;
THREAD(worker) {
    x++; //@worker
    return NULL;
}
static void expect_five(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
}
int main(int argc, char **argv) {
    x = 1; //@init
    in_thread(worker);
    if (argc > 1)
        return 5;
    char *arguments[] = {argv[0], "child", NULL};
    pid_t child;
    CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
    expect_five(child);
    child = vfork();
    if (child == 0) {
        execv("/proc/self/exe", arguments);
        _exit(1);
    }
    expect_five(child);
    CHECK(WEXITSTATUS(system("exit 6")) == 6);
    in_thread(worker);
    return x != 3;
}
"#);
    let processes = program.run_well().processes();
    assert_eq!(processes.len(), 3);
    let histories: Vec<String> = processes.iter().map(|process| process.history("x")).collect();
    let once = "main w@init | worker R@worker W@worker";
    assert!(histories[0].starts_with(once) && histories[0].contains("worker2"), "{histories:?}");
    assert_eq!(histories[1..], [once, once]);
}

pub const ONE_HANDOVER: &str = r#"
volatile int x;
THREAD(worker) {
    x++; //@worker
    return NULL;
}
int main(void) {
    x = 1; //@init
    in_thread(worker);
    return x != 2; //@end
}
"#;
pub const HANDED_OVER: &str = "main w@init | worker R@worker W@worker | main R@end";

#[test]
fn every_way_to_link() {
    for link in [Link::Shared, Link::Static] {
        for flags in ["-fPIE -pie", "-fno-pie -no-pie", "-O0", "-O3"] {
            let program = Compiler::c().link(link).flags(flags).program(ONE_HANDOVER);
            let process = program.record();
            process.expect_whole();
            assert_eq!(process.history("x"), HANDED_OVER, "{flags}");
        }
    }
}

#[test]
fn a_stripped_program_is_recorded_with_addresses() {
    let program = c(ONE_HANDOVER);
    let status = Command::new("strip").arg(&program.path).status().expect("strip runs");
    assert!(status.success());
    let process = program.record();
    process.expect_whole();
    let shared: Vec<_> = process.lasting_locations().collect();
    assert_eq!(shared.len(), 1);
    let in_program = |address: u64| {
        process.recording.module_of_code(address).map(|module| &process.recording.modules[module].path)
            == Some(&program.path.to_string_lossy().into_owned())
    };
    for event in process.accesses(shared[0].0) {
        let (_, address) = process.recording.resolve_leaf(event.event.leaf).expect("a known leaf");
        assert!(in_program(address));
    }
}

const LIBRARY: &str = r#"
volatile int x;
THREAD(library_worker) {
    x++;
    return NULL;
}
int use(void) {
    x = 1;
    in_thread(library_worker);
    return x;
}
"#;

#[test]
fn an_instrumented_library_opened_at_run_time() {
    let program = c(r#"
#include <dlfcn.h>
int main(void) {
    for (int i = 0; i < 2; i++) {
        void *library = dlopen("./library.so", RTLD_NOW);
        CHECK(library != NULL);
        int (*use)(void) = (int (*)(void))dlsym(library, "use");
        CHECK(use() == 2);
        dlclose(library);
    }
    return 0;
}
"#);
    let library = program.folder().join("library.so");
    Compiler::c().flags("-shared -fPIC").build(LIBRARY, program.folder(), &library, &[]);
    let process = program.record();
    process.expect_whole();
    let in_library = process.recording.modules.iter().any(|module| module.path.ends_with("library.so"));
    assert!(in_library, "the library is among the modules");
    let workers = (1..process.recording.threads.len() as u32).map(|id| process.thread(id));
    assert_eq!(workers.collect::<Vec<_>>(), ["main", "library_worker", "library_worker2"]);
    assert!(process.lasting_locations().count() >= 1, "x was shared");
}

#[test]
fn a_library_at_another_ones_place_keeps_its_names() {
    let program = c(r#"
#include <dlfcn.h>
void *use_of(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library != NULL);
    void *use = dlsym(library, "use");
    CHECK(((int (*)(void))use)() == 2);
    dlclose(library);
    return use;
}
int main(void) {
    void *first = use_of("./first.so"), *second = use_of("./second.so");
    CHECK(use_of("./first.so") == first);
    return first != second ? 77 : 0;
}
"#);
    let library = |name: &str| {
        let source = LIBRARY
            .replace("library_worker", name)
            .replace("volatile int x", &format!("int before_{name};\nvolatile int x"));
        let path = program.folder().join(format!("{name}.so"));
        Compiler::c().flags("-shared -fPIC").build(&source, program.folder(), &path, &[]);
    };
    library("first");
    library("second");
    let finished = program.run();
    if finished.status.code() == Some(77) {
        // The loader's choice.
        return skip("the loader put the libraries at different addresses");
    }
    finished.expect_success();
    let process = finished.only_process();
    process.expect_whole();
    // In each a worker increments x, at some line of it; main's thread comes by `use`.
    let mut seen = Vec::new();
    for event in process.recording.events.iter().filter(|event| event.kind.is_access()) {
        let stack = process.stack(event.event.leaf);
        if let Some(worker) = ["first", "second"].iter().find(|name| stack == **name) {
            let frame = process.recording.frames(event.event.leaf).next().unwrap();
            let path = &process.recording.modules[frame.module.expect("a module")].path;
            assert!(path.ends_with(&format!("{worker}.so")), "{stack} in {path}");
            seen.push(*worker);
        }
    }
    seen.dedup();
    assert_eq!(seen, ["first", "second", "first"]);
    let modules = process.recording.modules_of_locations();
    let paths = process.lasting_locations().filter_map(|(id, _)| modules[id as usize]);
    let paths: BTreeSet<&str> =
        paths.map(|module| process.recording.modules[module].path.rsplit('/').next().unwrap()).collect();
    assert!(paths.contains("first.so") && paths.contains("second.so"), "{paths:?}");
}

#[test]
fn the_recorder_inside_the_program_serves_its_instrumented_libraries() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = folder.path().join("library.so");
    Compiler::c().flags("-shared -fPIC -Wl,-soname,library.so").build(LIBRARY, folder.path(), &library, &[]);
    let source = "int use(void); int main(void) { return use() != 2; }";
    let mut program =
        Compiler::c().link(Link::Static).flags("-Wl,-rpath,$ORIGIN").program("int main(void){return 0;}");
    let linked = folder.path().join("program");
    Compiler::c().link(Link::Static).flags("-Wl,-rpath,$ORIGIN").build(
        source,
        folder.path(),
        &linked,
        &[&library],
    );
    // The library itself asks for gcc's runtime by name; it finds the recorder's shared form, which must give
    // way to the one inside the program.
    program.path = linked;
    let finished = program.run_well();
    assert_eq!(finished.recordings.len(), 1, "one recorder at work, not two");
    let recording = &finished.recordings[0];
    assert_eq!(recording.threads.len(), 3);
    assert!(recording.locations.len() > 1, "the library's accesses were recorded");
}

/// The first memory that the program frees is what the loader last complained about, while it looks for something else.
#[test]
fn a_program_that_asks_the_loader_in_vain() {
    for link in [Link::Shared, Link::Static] {
        let program = Compiler::c().link(link).program(
            r#"
#include <dlfcn.h>
int main(void) {
    for (int i = 0; i < 3; i++) {
        CHECK(dlsym(RTLD_DEFAULT, "no_such_function") == NULL);
        CHECK(dlopen("./no-such-library.so", RTLD_NOW) == NULL);
    }
    return 0;
}
"#,
        );
        program.run_well();
    }
}

#[test]
fn a_program_with_an_allocator_of_its_own() {
    const SOURCE: &str = r#"
static char arena[1 << 20] __attribute__((aligned(16)));
static size_t used;
int allocations;
__attribute__((no_sanitize("thread"))) void *malloc(size_t size) {
    size_t place = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
    __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
    if (place + size + 16 > sizeof arena)
        return NULL;
    *(size_t *)(arena + place) = size;
    return arena + place + 16;
}
__attribute__((no_sanitize("thread"))) void free(void *block) { (void)block; }
__attribute__((no_sanitize("thread"))) void *calloc(size_t count, size_t size) {
    return malloc(count * size); // The arena starts out as zeros and is never reused.
}
__attribute__((no_sanitize("thread"))) void *realloc(void *block, size_t size) {
    char *new = malloc(size);
    for (size_t i = 0; block && new && i < ((size_t *)block)[-2] && i < size; i++)
        new[i] = ((char *)block)[i];
    return new;
}
volatile int *volatile x;
THREAD(worker) {
    (*x)++; //@worker
    return NULL;
}
int main(void) {
    x = malloc(4);
    CHECK((char *)x > arena && (char *)x < arena + sizeof arena);
    *x = 1; //@init
    in_thread(worker);
    CHECK(*x == 2);
    free((void *)x);
    return 0;
}
"#;
    for link in [Link::Shared, Link::Static] {
        let program = Compiler::c().link(link).flags("-fno-builtin").program(SOURCE);
        let process = program.record();
        process.expect_whole();
        let history = process.history("arena");
        assert!(history.contains("main w@init | worker R@worker W@worker"), "{history}");
    }
}

#[test]
fn without_the_runner_the_program_just_runs() {
    let program = c(ONE_HANDOVER);
    let output = Command::new(&program.path)
        .env("LD_LIBRARY_PATH", crate::kit::RECORDERS)
        .env_remove("UNSNARL_DIR")
        .current_dir(program.folder())
        .output()
        .expect("the program starts");
    assert!(output.status.success());
    assert!(output.stderr.is_empty() && output.stdout.is_empty());
    let files: Vec<_> = fs::read_dir(program.folder()).expect("its folder").collect();
    assert_eq!(files.len(), 2, "source and program: {files:?}");
}
