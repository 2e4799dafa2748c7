use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use runner::process::{End, Launch, run};

use crate::{PATIENCE, Workshop, shell, shell_within, text};

const SOON: Duration = Duration::from_secs(1);

/// A zombie counts as dead: nobody has to wait for it but us.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.starts_with(" Z"))
}

#[test]
fn output_and_exit_code_are_reported() {
    let finished = shell("echo out; echo err >&2; exit 7");
    assert_eq!(finished.end, End::Exited(7));
    assert_eq!((text(&finished.stdout), text(&finished.stderr)), ("out\n".into(), "err\n".into()));
}

#[test]
fn a_signal_is_told_from_an_exit_code() {
    assert_eq!(shell("kill -SEGV $$").end, End::Signaled(libc::SIGSEGV));
    assert_eq!(shell("exit 139").end, End::Exited(139));
}

#[test]
fn standard_input_is_empty() {
    assert_eq!(shell("cat; exit 3").end, End::Exited(3));
}

#[test]
fn a_flood_of_output_neither_blocks_the_process_nor_fills_the_memory() {
    let finished = shell("(yes | head -c 20000000) & yes | head -c 20000000 >&2; wait; echo done");
    assert_eq!(finished.end, End::Exited(0));
    assert_eq!((finished.stdout.total_bytes(), finished.stderr.total_bytes()), (20_000_005, 20_000_000));
    assert!(finished.stdout.text().ends_with(b"done\n"));
    assert!(finished.stdout.text().len() < 200_000);
}

#[test]
fn what_is_still_in_the_pipe_at_the_end_is_read() {
    let workshop = Workshop::new();
    let source = "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <unistd.h>\nstatic char text[500000];\n\
                  int main(void) { fcntl(1, F_SETPIPE_SZ, 1 << 20); return write(1, text, sizeof text) < 0; }\n";
    workshop.write("burst.c", source);
    workshop.tool("gcc burst.c -o burst");
    let finished = shell(&format!("exec {}", workshop.path("burst").display()));
    assert_eq!((finished.end, finished.stdout.total_bytes()), (End::Exited(0), 500_000));
}

#[test]
fn a_process_that_takes_too_long_is_asked_to_end() {
    let finished = shell_within("trap 'echo asked; exit 0' TERM; while :; do sleep 0.05; done", SOON);
    assert_eq!(finished.end, End::TimedOut);
    assert_eq!(text(&finished.stdout), "asked\n");
}

#[test]
fn a_process_that_ignores_sigterm_is_ended() {
    let finished = shell_within("trap '' TERM; echo $$; while :; do sleep 0.05; done", SOON);
    assert_eq!(finished.end, End::TimedOut);
    assert!(!is_alive(&text(&finished.stdout)));
}

#[test]
fn a_stopped_process_is_asked_too() {
    let finished = shell_within("trap 'echo asked; exit 0' TERM; kill -STOP $$", SOON);
    assert_eq!(finished.end, End::TimedOut);
    assert_eq!(text(&finished.stdout), "asked\n");
}

/// Builds a program and runs it with an eye on whether it stands still. Says how it ended before its time was up.
fn run_watched(source: &str) -> End {
    let workshop = Workshop::new();
    workshop.write("program.c", source);
    workshop.tool("gcc -pthread program.c -o program");
    let recordings = workshop.path("recordings");
    std::fs::create_dir(&recordings).unwrap();
    let launch = Launch {
        program: &workshop.path("program"),
        arguments: &[],
        input: None,
        environment: &[],
        timeout: Some(2 * PATIENCE),
        pattern: None,
        fixed_addresses: false,
        recordings: Some(&recordings),
        pace: None,
    };
    let finished = run(&launch, &AtomicBool::new(false)).unwrap();
    assert!(finished.duration < PATIENCE);
    finished.end
}

#[test]
fn nobody_waits_for_threads_that_wait_for_one_another() {
    let end = run_watched(
        "#include <pthread.h>\n#include <sys/wait.h>\n#include <unistd.h>
        static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
        static pthread_barrier_t both;
        static void *other(void *unused) {
            pthread_mutex_lock(&b); pthread_barrier_wait(&both); pthread_mutex_lock(&a); return unused;
        }
        int main(void) {
            pthread_t thread;
            if (fork()) return wait(NULL) < 0;
            pthread_barrier_init(&both, NULL, 2);
            pthread_create(&thread, NULL, other, NULL);
            pthread_mutex_lock(&a); pthread_barrier_wait(&both); pthread_mutex_lock(&b);
        }",
    );
    assert_eq!(end, End::TimedOut);
}

#[test]
fn threads_that_somebody_will_wake_are_waited_for() {
    // Both wait much longer than it takes to be sure: the one for a thread that sleeps, the other for a timer.
    let end = run_watched(
        "#include <pthread.h>\n#include <unistd.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static void *other(void *unused) { pthread_mutex_lock(&lock); return unused; }
        int main(void) {
            pthread_t thread;
            pthread_mutex_lock(&lock);
            pthread_create(&thread, NULL, other, NULL);
            sleep(1);
            pthread_mutex_unlock(&lock);
            return pthread_join(thread, NULL);
        }",
    );
    assert_eq!(end, End::Exited(0));
    let end = run_watched(
        "#include <semaphore.h>\n#include <signal.h>\n#include <unistd.h>
        static sem_t rung;
        static void ring(int unused) { (void)unused; sem_post(&rung); }
        int main(void) {
            sem_init(&rung, 0, 0);
            signal(SIGALRM, ring);
            alarm(1);
            while (sem_wait(&rung)) ;
        }",
    );
    assert_eq!(end, End::Exited(0));
}

#[test]
fn children_left_behind_are_ended_and_not_waited_for() {
    let started = Instant::now();
    let finished = shell("sleep 1000 & echo $!");
    assert_eq!(finished.end, End::Exited(0));
    assert!(!is_alive(&text(&finished.stdout)));
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn children_that_left_the_process_group_are_ended_too() {
    let workshop = Workshop::new();
    let pid = workshop.path("pid");
    // The grandchild's parent is a session leader of its own; neither is in our process group.
    let finished = shell(&format!(
        "setsid sh -c 'sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait' & while ! [ -e {0} ]; do sleep 0.01; done",
        pid.display()
    ));
    assert_eq!(finished.end, End::Exited(0));
    assert!(!is_alive(&std::fs::read_to_string(pid).unwrap()));
}

#[test]
fn runs_side_by_side_do_not_end_each_others_daemons() {
    let workshop = Workshop::new();
    let pid = workshop.path("pid");
    let done = workshop.path("done");
    let with_daemon = format!(
        "(setsid sh -c 'echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000' &); \
         while ! [ -e {1} ]; do sleep 0.01; done; kill -0 $(cat {0})",
        pid.display(),
        done.display()
    );
    thread::scope(|scope| {
        let daemon_run = scope.spawn(|| shell(&with_daemon));
        let started = Instant::now();
        while !pid.exists() && started.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(5));
        }
        shell("sleep 1000 & setsid sleep 1000 &");
        std::fs::write(&done, "").unwrap();
        assert_eq!(daemon_run.join().unwrap().end, End::Exited(0), "the daemon was ended by another run");
    });
    assert!(!is_alive(&std::fs::read_to_string(pid).unwrap()));
}

#[test]
fn a_cancelled_run_ends_at_once() {
    let cancelled = AtomicBool::new(false);
    let arguments = ["-c".into(), "trap '' TERM; while :; do sleep 0.05; done".into()];
    let launch = Launch {
        program: Path::new("/bin/sh"),
        arguments: &arguments,
        input: None,
        environment: &[],
        timeout: None,
        pattern: None,
        fixed_addresses: false,
        recordings: None,
        pace: None,
    };
    thread::scope(|scope| {
        let running = scope.spawn(|| run(&launch, &cancelled).unwrap());
        thread::sleep(SOON);
        cancelled.store(true, Ordering::Relaxed);
        assert_eq!(running.join().unwrap().end, End::Cancelled);
    });
}

#[test]
fn a_program_that_cannot_be_started_is_an_error_of_ours() {
    let launch = Launch {
        program: Path::new("/nonexistent/program"),
        arguments: &[],
        input: None,
        environment: &[],
        timeout: None,
        pattern: None,
        fixed_addresses: false,
        recordings: None,
        pace: None,
    };
    let error = run(&launch, &AtomicBool::new(false)).unwrap_err().to_string();
    assert!(error.starts_with("cannot start /nonexistent/program: "), "{error}");
}

#[test]
fn a_run_has_fixed_addresses_if_that_is_wanted_and_whoever_starts_it_has_not() {
    let own = || std::fs::read_to_string("/proc/thread-self/personality").unwrap();
    let before = own();
    let arguments = ["/proc/self/personality".into()];
    let personality = |fixed_addresses| {
        let launch = Launch {
            program: Path::new("/bin/cat"),
            arguments: &arguments,
            input: None,
            environment: &[],
            timeout: None,
            pattern: None,
            fixed_addresses,
            recordings: None,
            pace: None,
        };
        let stdout = run(&launch, &AtomicBool::new(false)).unwrap().stdout;
        String::from_utf8(stdout.text().into_owned()).unwrap()
    };
    let flags = |text: &str| u64::from_str_radix(text.trim(), 16).unwrap();
    let no_randomize = libc::ADDR_NO_RANDOMIZE as u64;
    assert_eq!(flags(&personality(true)), flags(&before) | no_randomize);
    assert_eq!(personality(false), before);
    assert_eq!(own(), before);
}
