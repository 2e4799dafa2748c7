//! Targets that change what is around the recorder, and places that have no room for it: the target goes on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use recording::fault;

use crate::kit::{c, skip};

const BODY: &str = r#"
volatile long x[4000];
THREAD(worker) {
    for (int i = 0; i < 4000; i++) {
        errno = 1234;
        x[i]++; //@worker
        // Whatever trouble the recorder has with this access, it keeps to itself.
        CHECK(errno == 1234);
    }
    return NULL;
}
static int handovers(void) {
    for (int i = 0; i < 4000; i++)
        x[i] = 1; //@init
    in_thread(worker);
    in_thread(worker);
    return 0;
}
"#;

/// Handovers of 4,000 locations after `change`, all of which must be there.
fn check_change(change: &str) {
    let program = c(&format!(
        "#include <dirent.h>\n#include <linux/filter.h>\n#include <linux/seccomp.h>\n#include <stddef.h>\n#include <sys/prctl.h>\n{BODY}\nint main(void) {{ x[0] = 1; {change} return handovers(); }}"
    ));
    let process = program.record();
    process.expect_whole();
    let complete = "main w@init | worker R@worker W@worker | worker2 R@worker W@worker";
    let history = process.history("x");
    assert_eq!(history.lines().filter(|line| line.ends_with(complete)).count(), 4_000, "{change}");
}

#[test]
fn descriptors_closed() {
    check_change("for (int i = 3; i < 2000; i++) close(i);");
}

#[test]
fn descriptors_closed_and_their_numbers_reused() {
    check_change(
        "for (int i = 3; i < 2000; i++) { close(i); } for (int i = 3; i < 900; i++) { open(\"/dev/null\", O_RDWR); }",
    );
}

#[test]
fn working_directory_and_environment_changed() {
    check_change("CHECK(chdir(\"/\") == 0); clearenv();");
}

#[test]
fn root_changed() {
    // SAFETY: no arguments.
    if unsafe { libc::geteuid() } != 0 {
        skip("only root can change the root");
        return;
    }
    check_change(
        "CHECK(chroot(\"recordings\") == 0 && chdir(\"/\") == 0); for (int i = 3; i < 2000; i++) close(i);",
    );
}

#[test]
fn few_descriptors_allowed() {
    check_change("struct rlimit few = {16, 16}; setrlimit(RLIMIT_NOFILE, &few);");
}

#[test]
fn a_relative_directory_outlives_a_change_of_directory() {
    let program = c(r#"
volatile int x;
THREAD(worker) { x++; return NULL; }
int main(void) {
    CHECK(chdir("/") == 0);
    pid_t child = fork();
    in_thread(worker);
    if (child == 0)
        return 0;
    CHECK(waitpid(child, NULL, 0) == child);
    return 0;
}
"#)
    .env("UNSNARL_DIR", "recordings");
    // The kit makes the folder when it first asks for it; the program gets its name relative to where it starts.
    let finished = program.run_well();
    assert_eq!(finished.recordings.len(), 2);
}

/// A filter that answers system calls that the target itself does not need with `verdict`.
fn sandbox(verdict: &str) -> String {
    format!(
        r#"
        {{
            #define FORBID(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, {verdict})
            struct sock_filter filter[] = {{
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                FORBID(fallocate), FORBID(ftruncate), FORBID(fstat), FORBID(newfstatat), FORBID(openat),
                FORBID(mincore), FORBID(gettid), FORBID(nanosleep), FORBID(clock_nanosleep), FORBID(getrlimit),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
            }};
            struct sock_fprog program = {{sizeof filter / sizeof *filter, filter}};
            CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
            CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
        }}
        "#
    )
}

#[test]
fn a_sandbox_that_refuses_what_only_the_recorder_needs() {
    check_change(&sandbox("SECCOMP_RET_ERRNO | EPERM"));
}

#[test]
fn a_sandbox_that_kills_for_what_only_the_recorder_needs() {
    check_change(&sandbox("SECCOMP_RET_KILL_PROCESS"));
}

/// Runs it under the shell's limit, and expects success, this message, and no recording.
fn check_limit(limit: &str, message: &str) {
    let program = c(&format!("{BODY}\nint main(void) {{ return handovers(); }}"));
    let directory = program.folder().join("limited");
    fs::create_dir(&directory).expect("a folder");
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit {limit} && exec \"$0\""))
        .arg(&program.path)
        .env("LD_LIBRARY_PATH", crate::kit::RECORDERS)
        .env("UNSNARL_DIR", &directory)
        .output()
        .expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}: {stderr}", output.status);
    assert!(
        stderr.starts_with("unsnarl: this process is not recorded: ") && stderr.contains(message),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert_eq!(fs::read_dir(&directory).expect("a folder").count(), 0, "no file stays behind");
}

#[test]
fn too_little_address_space() {
    check_limit("-v 300000", "ulimit -v");
}

/// What the target leaves itself is enough for its thread, but not for what the recorder has to know about it.
#[test]
fn address_space_that_the_target_takes_from_itself() {
    let program = c(&format!(
        r#"{BODY}
int main(void) {{
    handovers();
    unsigned long pages = 0;
    FILE *sizes = fopen("/proc/self/statm", "r");
    CHECK(sizes != NULL && fscanf(sizes, "%lu", &pages) == 1);
    fclose(sizes);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    struct rlimit tiny = {{(pages << 12) + (2 << 20), RLIM_INFINITY}};
    CHECK(setrlimit(RLIMIT_AS, &tiny) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, &small, worker, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return x[0] != 4;
}}
"#
    ));
    let finished = program.run_well();
    assert_eq!(finished.recordings[0].header.fault, fault::MEMORY);
}

#[test]
fn too_small_files() {
    check_limit("-f 1000", "cannot create its file");
}

#[test]
fn less_address_space_than_usual_is_enough() {
    let program = c(&format!("{BODY}\nint main(void) {{ return handovers(); }}"));
    let directory = program.folder().join("limited");
    fs::create_dir(&directory).expect("a folder");
    let program = program.record_into(&directory);
    let output = Command::new("sh")
        .arg("-c")
        .arg("ulimit -v 1500000 && exec \"$0\"")
        .arg(&program.path)
        .env("LD_LIBRARY_PATH", crate::kit::RECORDERS)
        .env("UNSNARL_DIR", &directory)
        .output()
        .expect("the program starts");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(fs::read_dir(&directory).expect("a folder").count(), 1);
}

#[test]
fn a_directory_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let missing = folder.path().join("missing");
    let program =
        c(&format!("{BODY}\nint main(void) {{ return handovers(); }}")).env("UNSNARL_DIR", &missing);
    let finished = program.run();
    finished.expect_success();
    assert!(
        finished.stderr().contains("not recorded: UNSNARL_DIR cannot be used (error 2)"),
        "{}",
        finished.stderr()
    );

    let closed = folder.path().join("closed");
    fs::create_dir(&closed).expect("a folder");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("permissions");
    // SAFETY: no arguments.
    if unsafe { libc::geteuid() } == 0 {
        skip("root can write everywhere");
        return;
    }
    let program = c(&format!("{BODY}\nint main(void) {{ return handovers(); }}")).env("UNSNARL_DIR", &closed);
    let finished = program.run();
    finished.expect_success();
    assert!(finished.stderr().contains("cannot create its file"), "{}", finished.stderr());
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_target() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(folder.path()).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        skip("cannot mount a small file system here");
        return;
    }
    struct Mounted<'a>(&'a std::path::Path);
    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg("-l").arg(self.0).status();
        }
    }
    let mounted = Mounted(folder.path());
    let program = c(&format!("{BODY}\nint main(void) {{ return handovers(); }}")).record_into(mounted.0);
    let finished = program.run_well();
    let recording = &finished.recordings[0];
    assert_eq!(
        (recording.header.fault, recording.header.fault_detail),
        (fault::STORAGE, libc::ENOSPC as u32)
    );
    assert!(recording.events.len() > 1000, "what was recorded before is there");

    // The same with the descriptor gone.
    let program = c(&format!(
        "{BODY}\nint main(void) {{ for (int i = 3; i < 2000; i++) close(i); return handovers(); }}"
    ))
    .record_into(mounted.0);
    for old in fs::read_dir(mounted.0).expect("recordings") {
        fs::remove_file(old.expect("an entry").path()).expect("removed");
    }
    let finished = program.run_well();
    assert_eq!(finished.recordings[0].header.fault, fault::STORAGE);
}

#[test]
fn a_plan_of_another_version() {
    let program = c("int main(void) { return 0; }").plan("seed=1,later=2");
    let finished = program.run();
    finished.expect_success();
    assert!(finished.stderr().contains("does not understand the run plan"), "{}", finished.stderr());
    assert_eq!(finished.recordings.len(), 0);
}

/// gcc's runtime offers these functions, so that a program linked to it asks for no version of them; the C library's
/// oldest ones would crash or fail here.
#[test]
fn functions_of_many_versions_are_the_newest() {
    let program = c(r#"
#include <time.h>
int main(void) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    CHECK(pthread_cond_init(&condition, NULL) == 0);
    struct timespec past = { 0, 0 };
    pthread_mutex_lock(&mutex);
    CHECK(pthread_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    CHECK(pthread_cond_destroy(&condition) == 0);

    char *path = realpath("/", NULL);
    CHECK(path != NULL && strcmp(path, "/") == 0);
    free(path);

    cpu_set_t processors;
    CHECK(sched_getaffinity(0, sizeof processors, &processors) == 0);
    CHECK(CPU_COUNT(&processors) > 0);
    return 0;
}
"#);
    program.run_well();
}
