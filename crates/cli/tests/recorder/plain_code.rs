//! Code without instrumentation among code with it: what it calls is seen, and it is on the stack.

use recording::EventKind;

use crate::kit::{Compiler, Link, c};

#[test]
fn callbacks_through_a_library_keep_their_caller() {
    let program = c(r#"
volatile int x;
static int compare(const void *a, const void *b) {
    x++; //@compare
    return *(const int *)a - *(const int *)b;
}
__attribute__((noinline)) static void sort(void) {
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof *numbers, compare);
    x++; //@sort
}
THREAD(worker) {
    sort();
    return NULL;
}
int main(void) {
    x = 1; //@init
    in_thread(worker);
    return 0;
}
"#);
    assert_eq!(
        program.record().stacks("x"),
        "init: main\ncompare: compare < sort < worker\nsort: sort < worker"
    );
}

/// A library sleeps for whoever calls it, as Rust's does: where that was is what counts.
#[test]
fn a_sleep_in_code_without_instrumentation_is_told_where_it_was_called() {
    let program = c(r#"
#define PLAIN __attribute__((noinline, noclone, no_sanitize("thread")))
#define BARRIER __asm__ volatile("" ::: "memory")
volatile int x;
PLAIN static void inner(int time) {
    usleep(time);
    BARRIER;
}
PLAIN static void outer(int time) {
    volatile char room[200] = {0};
    inner(time + room[time % 200]);
    BARRIER;
}
THREAD(worker) {
    x = 1;
    return NULL;
}
int main(void) {
    outer(2000); //@first
    x = 2;
    in_thread(worker);
    inner(3000); //@second
    return x - 1;
}
"#);
    let recorded = program.record();
    let sleeps = recorded.recording.events.iter().filter(|event| event.kind == EventKind::Sleep);
    let told: Vec<String> = sleeps.map(|event| recorded.site(event.event.leaf)).collect();
    assert_eq!(told, ["first", "second"]);
}

#[test]
fn functions_without_instrumentation_are_on_the_stack() {
    let source = r#"
#define PLAIN __attribute__((noinline, noclone, no_sanitize("thread")))
#define BARRIER __asm__ volatile("" ::: "memory")
volatile int x;
volatile int count = 3;
typedef void routine(void);
__attribute__((noinline)) static void callback(void) { x++; } //@callback
PLAIN static void inner(routine *call) {
    call();
    BARRIER;
}
// Its frame is found by the frame pointer, and it keeps values in registers that it has to save.
PLAIN static void outer(routine *call) {
    volatile char *room = __builtin_alloca(count * 16);
    for (int i = 0; i < count; i++)
        room[i] = i;
    inner(call);
    BARRIER;
}
__attribute__((noinline)) static void work(void) {
    x++; //@work
    outer(callback);
    x++; //@work
    inner(callback);
    x++; //@work
}
THREAD(worker) {
    work();
    return NULL;
}
int main(void) {
    x = 1; //@init
    in_thread(worker);
    return 0;
}
"#;
    for flags in ["-O2 -fomit-frame-pointer", "-O0", "-O1 -fno-omit-frame-pointer"] {
        let program = Compiler::c().flags(flags).program(source);
        let stacks = program.record().stacks("x");
        for line in [
            "callback: callback < inner < outer < work < worker",
            "callback: callback < inner < work < worker",
            "work: work < worker",
        ] {
            assert!(stacks.lines().any(|found| found == line), "{flags}: {line} in\n{stacks}");
        }
        assert!(!stacks.contains("callback < work"), "{flags}:\n{stacks}");
    }
}

/// What a library does by functions that the recorder stands in front of is seen, and on the stack the library comes
/// after the function that called it.
#[test]
fn a_library_without_instrumentation_locks_and_copies() {
    let library = r#"
void put(pthread_mutex_t *lock, volatile int *to, const int *from, size_t bytes) {
    pthread_mutex_lock(lock);
    memcpy((void *)to, from, bytes);
    pthread_mutex_unlock(lock);
}
"#;
    let source = r#"
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile int x;
void put(pthread_mutex_t *lock, volatile int *to, const int *from, size_t bytes);
__attribute__((noinline)) static void work(void) {
    int y = 2;
    put(&lock, &x, &y, sizeof y);
    __asm__ volatile("" ::: "memory");
}
THREAD(worker) {
    work();
    return NULL;
}
int main(void) {
    work();
    in_thread(worker);
    return x - 2; //@main
}
"#;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("plain.so");
    Compiler::c().flags("-shared -fPIC -fno-sanitize=thread").build(library, folder.path(), &path, &[]);
    for link in [Link::Shared, Link::Static] {
        let flags = format!("-Wl,--no-as-needed {}", path.display());
        let program = Compiler::c().link(link).flags(&flags).program(source);
        let process = program.record();
        let stacks = process.stacks("x");
        for frames in [": put < work < worker", ": put < work < main", "main: main"] {
            assert!(stacks.lines().any(|line| line.ends_with(frames)), "{frames} in\n{stacks}");
        }
        let locks = process.synchronization("lock");
        assert!(locks.contains("main Release") && locks.contains("worker Acquire"), "{locks}");
    }
}
