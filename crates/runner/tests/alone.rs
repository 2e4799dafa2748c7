//! What can only be seen while no other run goes on: a process's descriptors, and orphans without a mark.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runner::process::{End, Finished, Launch, run};

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shell(script: &str) -> Finished {
    let arguments = ["-c".into(), script.into()];
    let launch = Launch {
        program: Path::new("/bin/sh"),
        arguments: &arguments,
        input: None,
        environment: &[],
        timeout: Some(Duration::from_secs(60)),
        pattern: None,
        fixed_addresses: false,
        recordings: None,
        pace: None,
    };
    run(&launch, &AtomicBool::new(false)).unwrap()
}

fn own_children() -> Vec<String> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn an_orphan_without_group_and_environment_is_ended() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let finished = shell(&format!(
        "env -i PATH=\"$PATH\" setsid sh -c ': > {0}; exec sleep 1000' & while ! [ -e {0} ]; do sleep 0.01; done",
        started.display()
    ));
    assert_eq!(finished.end, End::Exited(0));
    assert_eq!(own_children(), [""; 0]);
}

#[test]
fn orphans_that_ended_by_themselves_do_not_stay_as_zombies() {
    let _alone = alone();
    // The outer shell waits until the orphan, which hangs on us by then, has said its last word.
    let finished = shell("(setsid sh -c 'sleep 0.05; echo bye' &) | cat; sleep 0.2");
    assert_eq!(finished.stdout.text(), b"bye\n".as_slice());
    assert_eq!(own_children(), [""; 0]);
}

#[test]
fn no_descriptor_leaks_into_the_target_or_stays_with_us() {
    let _alone = alone();
    let _open = std::fs::File::open("/dev/null").unwrap();
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let list = "for fd in /proc/$$/fd/*; do echo ${fd##*/}; done";
    // What we inherited ourselves goes on to every child and is not ours to close.
    let unavoidable =
        Command::new("/bin/sh").args(["-c", list]).stdin(Stdio::null()).output().unwrap().stdout;
    shell("exit 0");
    let before = descriptors();
    for _ in 0..10 {
        assert_eq!(shell(list).stdout.text(), unavoidable);
    }
    assert_eq!(descriptors(), before);
}
