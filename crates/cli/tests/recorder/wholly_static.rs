//! Programs without any shared library, by gcc and by clang, at addresses that are fixed and that are not.

use std::process::{Command, Stdio};

use crate::kit::{Compiler, Program};

/// Those that Debian has.
const COMPILERS: [(&str, &str); 3] = [("gcc", "g++"), ("clang-14", "clang++-14"), ("clang-19", "clang++-19")];

/// Calls `check` with the program in all of these forms.
fn in_each_form(compiler: fn() -> Compiler, source: &str, check: impl Fn(Program)) {
    for (c, cxx) in COMPILERS {
        let name = if compiler().is_c() { c } else { cxx };
        let question = Command::new(name).arg("--version").stdout(Stdio::null()).status();
        if question.is_err() {
            continue;
        }
        for flag in ["-static", "-static-pie"] {
            eprintln!("{name} {flag}");
            let program =
                compiler().flags("-Wno-unknown-warning-option").wholly_static(name, flag).program(source);
            let linked =
                Command::new("readelf").arg("-lW").arg(&program.path).output().expect("readelf runs");
            let headers = String::from_utf8_lossy(&linked.stdout);
            assert!(!headers.contains("INTERP"), "{headers}");
            check(program);
        }
    }
}

#[test]
fn threads_locks_conditions_and_semaphores_are_seen() {
    const SOURCE: &str = r#"
pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t own_condition = PTHREAD_COND_INITIALIZER;
sem_t own_semaphore;
volatile int x, ready;
__attribute__((noinline)) static void work(void) {
    x++; //@work
}
THREAD(worker) {
    sem_wait(&own_semaphore); //@down
    pthread_mutex_lock(&own_lock); //@lock
    work();
    ready = 1;
    pthread_cond_signal(&own_condition);
    pthread_mutex_unlock(&own_lock); //@unlock
    return NULL;
}
int main(void) {
    sem_init(&own_semaphore, 0, 0);
    x = 1; //@init
    pthread_t thread = start(worker, NULL);
    pthread_mutex_lock(&own_lock); //@first
    sem_post(&own_semaphore); //@up
    while (!ready)
        pthread_cond_wait(&own_condition, &own_lock); //@wait
    pthread_mutex_unlock(&own_lock);
    pthread_join(thread, NULL);
    return x != 2; //@end
}
"#;
    in_each_form(Compiler::c, SOURCE, |program| {
        let process = program.record();
        process.expect_whole();
        assert_eq!(process.history("x"), "main w@init | worker R@work W@work | main R@end");
        assert_eq!(process.stacks("x"), "init: main\nwork: work < worker\nend: main");
        assert_eq!(
            process.synchronization("own_semaphore"),
            "main SemaphorePost@up, worker SemaphoreWait@down"
        );
        assert_eq!(
            process.synchronization("own_lock"),
            "main Acquire@first, main Release@wait, worker Acquire@lock, worker Release@unlock, main Acquire@wait"
        );
    });
}

#[test]
fn what_the_c_library_does_to_memory_is_seen() {
    const SOURCE: &str = r#"
char text[16], copy[16];
const char *volatile word = "hello";
volatile size_t size = 6;
char *line;
THREAD(worker) {
    CHECK(strlen(text) == 5); //@length
    memcpy(copy, text, size); //@copy
    CHECK(strcmp(copy, text) == 0); //@compare
    return NULL;
}
THREAD(reader) {
    free(line); //@free
    return NULL;
}
int main(void) {
    strcpy(text, word); //@strcpy
    in_thread(worker);
    CHECK(copy[0] == 'h'); //@look
    FILE *file = tmpfile();
    CHECK(fputs("a line\n", file) >= 0);
    rewind(file);
    size_t room = 0;
    CHECK(getline(&line, &room, file) == 7);
    *(volatile long *)line = 1; //@change
    fclose(file);
    in_thread(reader);
    return 0;
}
"#;
    in_each_form(Compiler::c, SOURCE, |program| {
        let process = program.record();
        process.expect_whole();
        let text = process.history("text");
        assert!(text.contains("main w@strcpy | worker R@length"), "{text}");
        let copy = process.history("copy");
        assert!(copy.contains("worker r@compare w@copy | main R@look"), "{copy}");
        // Of a block that the C library has taken from the heap.
        let heap = process.heap();
        assert!(heap.contains("main w@change | reader W@free"), "{heap}");
    });
}

#[test]
fn cpp_threads_exceptions_atomics_and_containers_are_seen() {
    const SOURCE: &str = r#"
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
std::mutex own_mutex;
int count;
volatile int x;
std::_Rb_tree_node_base tree = {std::_S_red, nullptr, &tree, &tree}, node;
__attribute__((noinline)) static void thrower(int n) {
    if (n == 0)
        throw std::runtime_error("thrown");
    thrower(n - 1);
    x = x + 1;
}
static void worker() {
    std::lock_guard<std::mutex> guard(own_mutex);
    std::map<std::string, int> names;
    for (int i = 0; i < 100; i++)
        names[std::to_string(i)] = i;
    try {
        thrower(3);
    } catch (std::exception &) {
        x = x + 1; //@caught
    }
    std::_Rb_tree_insert_and_rebalance(true, &node, &tree, tree); //@insert
    __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST); //@count
}
int main() {
    x = 1; //@init
    __atomic_store_n(&count, 1, __ATOMIC_SEQ_CST); //@start
    CHECK(tree._M_parent == nullptr); //@look
    std::thread thread(worker);
    thread.join();
    std::lock_guard<std::mutex> guard(own_mutex);
    CHECK(__atomic_load_n(&count, __ATOMIC_SEQ_CST) == 2); //@counted
    return x != 2; //@end
}
"#;
    in_each_form(Compiler::cpp, SOURCE, |program| {
        let process = program.record();
        process.expect_whole();
        let (x, count) = (process.history("x"), process.history("count"));
        assert!(x.starts_with("main w@init | ") && x.contains("R@caught W@caught | main R@end"), "{x}");
        assert!(
            count.starts_with("main w@start | ") && count.ends_with("U@count | main R@counted"),
            "{count}"
        );
        assert!(process.stacks("x").contains("\ncaught: worker < "), "{}", process.stacks("x"));
        let tree = process.history("tree");
        assert!(tree.contains("+8:8 main r@look | ") && tree.contains("W@insert"), "{tree}");
        let taken = process.synchronization("own_mutex");
        assert!(taken.matches("Acquire").count() == 2 && taken.contains(", main Acquire@"), "{taken}");
    });
}

#[test]
fn forks_signals_jumps_and_early_ends_are_as_ever() {
    const SOURCE: &str = r#"
#include <setjmp.h>
volatile int x;
jmp_buf out;
__attribute__((noinline)) static void deep(int n) {
    if (n == 0)
        longjmp(out, 1);
    deep(n - 1);
    x++;
}
static void handler(int signal) {
    (void)signal;
    x++; //@handler
}
THREAD(worker) {
    if (setjmp(out) == 0)
        deep(5);
    x++; //@landed
    raise(SIGUSR1);
    return NULL;
}
int main(void) {
    x = 1; //@init
    signal(SIGUSR1, handler);
    in_thread(worker);
    pid_t child = fork();
    if (child == 0) {
        in_thread(worker);
        CHECK(x == 5); //@child
        _exit(7);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    return x != 3; //@parent
}
"#;
    in_each_form(Compiler::c, SOURCE, |program| {
        let processes = program.run_well().processes();
        let [parent, child] = &processes[..] else { panic!("{} recordings", processes.len()) };
        parent.expect_whole();
        let x = parent.history("x");
        assert!(x.starts_with("main w@init | worker R@landed W@landed "), "{x}");
        assert!(x.ends_with("w@handler | main R@parent"), "{x}");
        let stacks = parent.stacks("x");
        assert!(stacks.contains("landed: worker\n"), "{stacks}");
        assert!(stacks.contains("handler: handler < worker"), "{stacks}");
        let child = child.history("x");
        assert!(child.ends_with("w@handler | main R@child"), "{child}");
    });
}

#[test]
fn schedules_are_made_and_followed() {
    const SOURCE: &str = r#"
volatile int x;
pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
THREAD(worker) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&own_lock);
        int seen = x;
        pthread_mutex_unlock(&own_lock);
        pthread_mutex_lock(&own_lock);
        x = seen + 1;
        pthread_mutex_unlock(&own_lock);
    }
    return NULL;
}
int main(void) {
    pthread_t first = start(worker, NULL), second = start(worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("%d\n", x);
    return 0;
}
"#;
    in_each_form(Compiler::c, SOURCE, |program| {
        let program = program.plan("seed=4,schedule=random");
        let (first, second) = (program.run_well(), program.run_well());
        // Updates are lost, always the same ones.
        assert_ne!(first.stdout(), "40\n");
        assert_eq!(first.stdout(), second.stdout());
    });
}

#[test]
fn the_program_may_have_functions_of_the_librarys_names() {
    const SOURCE: &str = r#"
volatile int x;
static char blocks[1 << 20];
static size_t used;
void *malloc(size_t size) {
    size_t begin = __atomic_fetch_add(&used, (size + 31) / 16 * 16, __ATOMIC_SEQ_CST);
    *(size_t *)(blocks + begin) = size;
    return blocks + begin + 16;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
void *realloc(void *block, size_t size) {
    size_t old = block ? *(size_t *)((char *)block - 16) : 0;
    void *larger = malloc(size);
    return old ? memcpy(larger, block, old < size ? old : size) : larger;
}
char *strdup(const char *text) { (void)text; return NULL; }
THREAD(worker) {
    x++; //@worker
    return NULL;
}
int main(void) {
    x = 1; //@init
    in_thread(worker);
    char *line = malloc(10);
    CHECK(line > blocks && line < blocks + sizeof blocks && used > 0 && strdup("text") == NULL);
    return x != 2; //@end
}
"#;
    in_each_form(
        || Compiler::c().flags("-fno-builtin"),
        SOURCE,
        |program| {
            let process = program.record();
            process.expect_whole();
            assert_eq!(process.history("x"), "main w@init | worker R@worker W@worker | main R@end");
        },
    );
}

#[test]
fn nothing_is_said_about_functions_that_need_shared_libraries() {
    // The linker warns of those that look users and hosts up, if anything asks for them.
    let source = "int main(void) { return realpath(\".\", NULL) == NULL; }";
    in_each_form(Compiler::c, source, |program| {
        let symbols = Command::new("nm").arg(&program.path).output().expect("nm runs").stdout;
        let symbols = String::from_utf8_lossy(&symbols);
        assert!(!symbols.contains(" getpwnam"), "a user is looked up");
        program.record().expect_whole();
    });
}
