//! Call stacks are exact at each recorded access, however the program got there.

use crate::kit::{Compiler, Link, c, cpp};

#[test]
fn indirect_calls_and_different_callers() {
    let program = c(r#"
volatile int x;
__attribute__((noinline)) static void touch(void) {
    x++; //@touch
}
__attribute__((noinline)) static void left(void) { touch(); x++; /*keeps the call from being a jump*/ } //@left
__attribute__((noinline)) static void right(void) { touch(); x++; } //@right
void (*volatile table[])(void) = {left, right};
THREAD(worker) {
    for (int i = 0; i < 2; i++)
        table[i]();
    return NULL;
}
int main(void) {
    x = 0; //@init
    in_thread(worker);
    return x != 4; //@end
}
"#);
    assert_eq!(
        program.record().stacks("x"),
        "init: main\ntouch: touch < left < worker\nleft: left < worker\ntouch: touch < right < worker\n\
         right: right < worker\nend: main"
    );
}

#[test]
fn deep_recursion() {
    let program = c(r#"
volatile int x;
volatile int depth = 100000;
__attribute__((noinline)) static int down(int n) {
    if (n == 0) {
        x++; //@bottom
        return 0;
    }
    return 1 + down(n - 1);
}
static void *deep(void *argument) {
    CHECK(down(depth) == depth);
    x++; //@after
    return argument;
}
int main(void) {
    x = 1; //@init
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 20);
    pthread_t thread;
    CHECK(pthread_create(&thread, &attributes, deep, NULL) == 0);
    pthread_join(thread, NULL);
    return x != 3;
}
"#);
    let process = program.record();
    process.expect_whole();
    let stacks = process.stacks("x");
    let bottom = stacks.lines().find(|line| line.starts_with("bottom: ")).expect("the bottom was reached");
    assert_eq!(bottom.matches("down").count(), 100_001);
    assert!(bottom.ends_with(" < deep"));
    assert!(stacks.contains("\nafter: deep\n"), "the way back up is exact");
}

#[test]
fn deeper_than_the_shadow_stack_comes_back_right() {
    let program = c(r#"
volatile int x;
volatile int depth = 400000;
__attribute__((noinline)) static int down(int n) {
    return n == 0 ? x : 1 + down(n - 1);
}
__attribute__((noinline)) static void middle(void) {
    CHECK(down(depth) == depth + 1);
    x++; //@after
}
static void *deep(void *argument) {
    middle();
    return argument;
}
int main(void) {
    x = 1; //@init
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 20);
    pthread_t thread;
    CHECK(pthread_create(&thread, &attributes, deep, NULL) == 0);
    pthread_join(thread, NULL);
    return x != 2;
}
"#);
    let process = program.record();
    assert_eq!(process.recording.header.fault, 0);
    assert!(process.stacks("x").contains("after: middle < deep\n"));
}

#[test]
fn calls_are_known_again_among_very_many() {
    let program = c(r#"
volatile int leaf;
__attribute__((noinline)) static int walk(int depth) {
    if (depth == 0)
        return leaf; //@leaf
    int left = walk(depth - 1);
    int right = walk(depth - 1);
    return left + right;
}
int main(void) {
    leaf = 1;
    for (int i = 0; i < 3; i++)
        CHECK(walk(15) == 1 << 15);
    return 0;
}
"#);
    let process = program.record();
    process.expect_whole();
    // The tree of all calls has 65,535 nodes, however often it is walked; a compiler may leave out the last level.
    let contexts = process.recording.contexts.len();
    assert!((32_000..66_000).contains(&contexts), "{contexts} contexts");
}

#[test]
fn branching_recursion_is_folded_before_it_explodes() {
    let program = c(r#"
volatile int calls;
volatile int n = 27;
__attribute__((noinline)) static int fib(int n) {
    calls++; //@call
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
THREAD(worker) {
    CHECK(fib(n) == 196418);
    calls++; //@after
    return NULL;
}
int main(void) {
    calls = 0; //@init
    in_thread(worker);
    return calls != 635622; //@end
}
"#);
    let process = program.record();
    process.expect_whole();
    // The tree of all calls has 635,621 nodes; folding begins at 2^18 contexts at the latest.
    let contexts = &process.recording.contexts;
    assert!(contexts.len() < 270_000, "{} contexts", contexts.len());
    assert!(contexts.iter().any(|context| context.flags & 1 != 0), "folded contexts are marked");
    assert!(process.stacks("calls").contains("\nafter: worker\n"));
}

#[test]
fn parts_that_the_compiler_moved_away() {
    let program = Compiler::c().flags("-O2").program(
        r#"
volatile int x;
__attribute__((cold, noinline)) static void report(void) { x += 2; } //@report
volatile int bad = 1;
__attribute__((noinline)) static void work(void) {
    if (__builtin_expect(bad, 0)) {
        x++; //@cold
        report();
        x++; //@cold2
    }
    x++; //@hot
}
THREAD(worker) {
    work();
    x++; //@after
    return NULL;
}
int main(void) {
    x = 1; //@init
    in_thread(worker);
    return x != 7;
}
"#,
    );
    let stacks = program.record().stacks("x");
    assert!(stacks.contains("cold: work.cold <"), "the compiler did move it away:\n{stacks}");
    let stacks = stacks.replace("work.cold", "work");
    for line in
        ["cold: work < worker", "report: report < work < worker", "hot: work < worker", "after: worker"]
    {
        assert!(stacks.lines().any(|found| found == line), "{line} in\n{stacks}");
    }
}

#[test]
fn exceptions_unwind_the_stack() {
    let program = cpp(r#"
#include <stdexcept>
volatile int x;
struct Guard { ~Guard() { x++; } }; //@guard
__attribute__((noinline)) static void thrower() {
    x++; //@throw
    throw std::runtime_error("over");
}
__attribute__((noinline)) static void middle() {
    Guard guard;
    thrower();
}
__attribute__((noinline)) static void catcher() {
    try {
        middle();
    } catch (const std::exception &) {
        x++; //@catch
    }
    x++; //@after-catch
}
THREAD(worker) {
    catcher();
    x++; //@end
    return NULL;
}
int main() {
    x = 0; //@init
    in_thread(worker);
    return x != 5;
}
"#);
    let stacks = program.record().stacks("x");
    for line in [
        "throw: thrower < middle < catcher < worker",
        "catch: catcher < worker",
        "after-catch: catcher < worker",
        "end: worker",
    ] {
        assert!(stacks.lines().any(|found| found == line), "{line} in\n{stacks}");
    }
}

#[test]
fn long_jumps_unwind_the_stack() {
    const SOURCE: &str = r#"
#include <setjmp.h>
volatile int x;
jmp_buf out;
sigjmp_buf signal_out;
__attribute__((noinline)) static void deep(int n) {
    if (n == 0) {
        x++; //@jump
        longjmp(out, 1);
    }
    deep(n - 1);
    x++;
}
__attribute__((noinline)) static void catcher(void) {
    if (setjmp(out) == 0)
        deep(5);
    x++; //@landed
}
static void handler(int signal) {
    (void)signal;
    siglongjmp(signal_out, 1);
}
__attribute__((noinline)) static void signalled(void) {
    if (sigsetjmp(signal_out, 1) == 0)
        raise(SIGUSR1);
    x++; //@back
}
THREAD(worker) {
    catcher();
    signalled();
    x++; //@end
    return NULL;
}
int main(void) {
    x = 0; //@init
    signal(SIGUSR1, handler);
    in_thread(worker);
    return x != 4;
}
"#;
    for link in [Link::Shared, Link::Static] {
        let program = Compiler::c().link(link).program(SOURCE);
        let stacks = program.record().stacks("x");
        for line in ["landed: catcher < worker", "back: signalled < worker", "end: worker"] {
            assert!(stacks.lines().any(|found| found == line), "{line} in\n{stacks}");
        }
    }
}

#[test]
fn before_main_and_after_it() {
    const SOURCE: &str = r#"
#include <cstdlib>
volatile int x;
THREAD(early) { x++; return NULL; } //@early
THREAD(late) { x++; return NULL; } //@late
THREAD(latest) { x++; return NULL; } //@latest
static void at_exit() {
    in_thread(late);
}
struct Static {
    Static() { x = 1; in_thread(early); atexit(at_exit); } //@constructor
    ~Static() { in_thread(latest); }
} object;
int main() {
    x++; //@main
    return 0;
}
"#;
    for link in [Link::Shared, Link::Static] {
        assert_eq!(
            Compiler::cpp().link(link).program(SOURCE).record().history("x"),
            "main w@constructor | early R@early W@early | main R@main W@main | latest R@latest W@latest | late R@late W@late"
        );
    }
}

#[test]
fn signal_handlers_are_recorded() {
    let program = c(r#"
volatile int x;
static void handler(int signal) {
    (void)signal;
    x++; //@handler
}
THREAD(worker) {
    raise(SIGUSR1);
    x++; //@worker
    return NULL;
}
int main(void) {
    x = 1; //@init
    signal(SIGUSR1, handler);
    in_thread(worker);
    return x != 3;
}
"#);
    let process = program.record();
    process.expect_whole();
    assert_eq!(
        process.history("x"),
        "main w@init | worker R@handler W@handler R@worker w@worker | main R@program.c:16"
    );
    let stacks = process.stacks("x");
    assert!(stacks.contains("handler: handler < worker\nworker: worker\n"), "{stacks}");
}

#[test]
fn tail_calls_leave_the_stack_as_it_was() {
    let source = r#"
volatile int x;
__attribute__((noinline, noclone)) static int last(int n) { x += n; return n; } //@last
__attribute__((noinline, noclone)) static int middle(int n) { x += n; return last(n + 1); } //@middle
__attribute__((noinline, noclone)) static int first(int n) { x += n; return middle(n + 1); } //@first
// A loop in disguise.
__attribute__((noinline, noclone)) static int down(int n) { return n == 0 ? first(1) : down((x += 1, n - 1)); } //@down
THREAD(worker) {
    for (int i = 0; i < 1000; i++)
        down(3);
    x++; //@after
    return NULL;
}
int main(void) {
    x = 1; //@init
    in_thread(worker);
    return 0;
}
"#;
    for flags in ["-O2", "-O2 -fno-optimize-sibling-calls"] {
        let program = Compiler::c().flags(flags).program(source);
        let stacks = program.record().stacks("x");
        // A function that ends in a call may have left the stack before it.
        let of_last = stacks.lines().find(|line| line.starts_with("last: ")).expect("last was called");
        assert!(of_last.starts_with("last: last") && of_last.ends_with("worker"), "{flags}: {stacks}");
        assert!(stacks.lines().any(|line| line == "after: worker"), "{flags}: {stacks}");
    }
}

#[test]
fn a_storm_of_signals_does_no_harm() {
    let program = c(r#"
#include <sys/time.h>
volatile int hits;
volatile long shared[64];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static int recurse(int n) {
    shared[n] += n;
    return n == 0 ? 0 : recurse(n - 1) + 1;
}
static void handler(int signal) {
    (void)signal;
    hits++;
    recurse(20);
}
static void *work(void *argument) {
    while (hits < 2000) {
        pthread_mutex_lock(&lock);
        recurse(40);
        pthread_mutex_unlock(&lock);
        free(malloc(100));
    }
    return argument;
}
int main(void) {
    signal(SIGALRM, handler);
    struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = start(work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#);
    let process = program.record();
    assert_eq!(process.recording.header.fault, 0);
}

#[test]
fn contexts_have_call_stacks_of_their_own() {
    let program = c(r#"
#include <ucontext.h>
volatile int x;
ucontext_t outside, inside;
char stack[64 << 10];
__attribute__((noinline)) static void inner(void) {
    x++; //@inner
    swapcontext(&inside, &outside);
    x++; //@resumed
}
static void fiber(int a, int b, int c, int d, int e, int f, int g) {
    CHECK(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7);
    inner();
    x++; //@fiber
}
__attribute__((noinline)) static void outer(void) {
    swapcontext(&outside, &inside);
    x++; //@outer
}
THREAD(worker) {
    CHECK(getcontext(&inside) == 0);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, (void (*)(void))fiber, 7, 1, 2, 3, 4, 5, 6, 7);
    outer();
    // Until the fiber ends.
    swapcontext(&outside, &inside);
    x++; //@worker
    return NULL;
}
int main(void) {
    x = 0; //@init
    in_thread(worker);
    return x != 5;
}
"#);
    let stacks = program.record().stacks("x");
    for line in [
        "inner: inner < fiber",
        "outer: outer < worker",
        "resumed: inner < fiber",
        "fiber: fiber",
        "worker: worker",
    ] {
        assert!(stacks.lines().any(|found| found == line), "{line} in\n{stacks}");
    }
}

#[test]
fn announced_fibers_have_call_stacks_of_their_own() {
    let program = c(r#"
volatile int x;
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned);
void __tsan_switch_to_fiber(void *, unsigned);
void __tsan_destroy_fiber(void *);
void *own, *fiber;
// Only what is announced counts, so that the stack itself need not be switched.
__attribute__((noinline)) static void in_fiber(void) {
    x++; //@fiber
    __tsan_switch_to_fiber(own, 0);
    x++; //@own
    __tsan_switch_to_fiber(fiber, 0);
}
THREAD(worker) {
    own = __tsan_get_current_fiber();
    fiber = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(fiber, 0);
    in_fiber();
    __tsan_switch_to_fiber(own, 0);
    x++; //@worker
    __tsan_destroy_fiber(fiber);
    return NULL;
}
int main(void) {
    x = 0; //@init
    in_thread(worker);
    return x != 3;
}
"#);
    let stacks = program.record().stacks("x");
    for line in ["fiber: in_fiber < worker", "own: in_fiber", "worker: worker"] {
        assert!(stacks.lines().any(|found| found == line), "{line} in\n{stacks}");
    }
}
