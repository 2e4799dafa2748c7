//! Whatever ends the process, what it recorded is there, the last accesses of open turns included.

use crate::kit::{Compiler, Finished, Program, c};

/// A program in which main and a worker have open turns when `end` comes.
fn ending(end: &str) -> Program {
    c(&ending_source(end))
}

fn ending_source(end: &str) -> String {
    format!(
        r#"
volatile int mine, theirs, *nowhere;
sem_t ready;
THREAD(worker) {{
    mine = 2; //@take
    for (int i = 0; i < 1000; i++)
        mine = i; //@worker-last
    theirs++; //@worker-theirs
    sem_post(&ready);
    for (;;)
        pause();
    return NULL;
}}
int main(int argc, char **argv) {{
    (void)argc, (void)argv;
    mine = 1; //@init
    theirs = 1; //@init
    sem_init(&ready, 0, 0);
    start(worker, NULL);
    sem_wait(&ready);
    theirs = 3; //@back
    for (int i = 0; i < 1000; i++)
        theirs = i; //@main-last
    {end}; //@end
    return 0;
}}
"#
    )
}

const MINE: &str = "main w@init | worker W@take w@worker-last";
const THEIRS: &str = "main w@init | worker R@worker-theirs W@worker-theirs | main W@back w@main-last";

fn expect_all(finished: Finished<'_>) {
    let process = finished.only_process();
    process.expect_whole();
    assert_eq!(process.history("mine"), MINE);
    assert_eq!(process.history("theirs"), THEIRS);
}

#[test]
fn killed_outright() {
    let program = ending("kill(getpid(), SIGKILL)");
    let finished = program.run();
    finished.expect_signal(libc::SIGKILL);
    expect_all(finished);
}

#[test]
fn killed_outright_with_the_recorder_inside() {
    let program =
        Compiler::c().link(crate::kit::Link::Static).program(&ending_source("kill(getpid(), SIGKILL)"));
    let finished = program.run();
    finished.expect_signal(libc::SIGKILL);
    expect_all(finished);
}

#[test]
fn aborted() {
    let program = ending("abort()");
    let finished = program.run();
    finished.expect_signal(libc::SIGABRT);
    expect_all(finished);
}

#[test]
fn crashed() {
    let program = ending("*nowhere = 1");
    let finished = program.run();
    finished.expect_signal(libc::SIGSEGV);
    let process = finished.only_process();
    assert_eq!(process.history("mine"), MINE);
    assert_eq!(process.history("theirs"), THEIRS);
}

#[test]
fn exited_without_cleaning_up() {
    let program = ending("_exit(0)");
    let finished = program.run_well();
    assert_eq!(finished.recordings[0].header.ended, 0);
    expect_all(finished);
}

#[test]
fn returned_from_main() {
    let program = ending("(void)0");
    let finished = program.run_well();
    assert_eq!(finished.recordings[0].header.ended, 1, "the orderly end is noted");
    expect_all(finished);
}

#[test]
fn executed_another_program() {
    let program = ending(r#"argc == 1 ? execl("/proc/self/exe", argv[0], "again", NULL) : 0"#);
    let finished = program.run_well();
    let processes = finished.processes();
    assert_eq!(processes.len(), 2, "one recording for each program of the process");
    for process in processes {
        assert_eq!(process.history("mine"), MINE);
        assert_eq!(process.history("theirs"), THEIRS);
    }
}

#[test]
fn aborted_in_a_signal_handler_of_a_crash() {
    let program = c(r#"
volatile int shared, *nowhere;
static void handler(int signal) {
    (void)signal;
    shared = 3; //@handler
    abort();
}
THREAD(worker) {
    shared = 2; //@worker
    *nowhere = 1;
    return NULL;
}
int main(void) {
    shared = 1; //@init
    signal(SIGSEGV, handler);
    in_thread(worker);
    return 0;
}
"#);
    let finished = program.run();
    finished.expect_signal(libc::SIGABRT);
    assert_eq!(finished.only_process().history("shared"), "main w@init | worker W@worker w@handler");
}
