use runner::{Error, Manifest, Outcome, ProcessRecording, RunFile, RunNumber, RunRecord, Session, Store};

use crate::Workshop;

pub fn manifest() -> Manifest {
    Manifest::new(vec!["./test".to_owned(), "-v".to_owned()], Default::default(), 4711, Vec::new())
}

pub fn record(run: RunNumber, outcome: Outcome) -> RunRecord {
    RunRecord {
        run,
        plan: "seed=1".to_owned(),
        outcome,
        seconds: 0.5,
        processes: 1,
        warnings: Vec::new(),
        said: None,
    }
}

/// Adds a run like the campaign does: the file first.
pub fn add_run(session: &mut Session, outcome: Outcome, bytes: &[u8]) {
    let record = record(session.next_run(), outcome);
    let processes = vec![ProcessRecording { pid: 5, bytes: bytes.to_vec() }];
    RunFile { record: record.clone(), processes }.write(&session.run_path(record.run)).unwrap();
    session.add(record).unwrap();
}

fn three_runs(workshop: &Workshop) -> Session {
    let mut session = Store::new(workshop.path("store")).create("test", manifest()).unwrap();
    add_run(&mut session, Outcome::Pass, b"first");
    add_run(&mut session, Outcome::Fail { reason: "SIGSEGV".to_owned() }, b"second");
    add_run(&mut session, Outcome::hang(), b"third");
    session
}

#[test]
fn a_session_is_the_same_when_opened_again() {
    let workshop = Workshop::new();
    let session = three_runs(&workshop);
    let reopened = Session::open(session.folder()).unwrap();
    assert_eq!(reopened.name(), "test");
    assert_eq!(reopened.manifest(), session.manifest());
    assert_eq!(reopened.runs(), session.runs());
    assert_eq!(reopened.load(RunNumber(2)).unwrap().processes[0].bytes, b"second");
}

#[test]
fn runs_come_in_the_order_in_which_they_are_done_and_are_kept_by_number() {
    let workshop = Workshop::new();
    let mut session = Store::new(workshop.path("store")).create("test", manifest()).unwrap();
    let mut seen = Vec::new();
    for run in [2, 1, 4, 3] {
        session.add(record(RunNumber(run), Outcome::Pass)).unwrap();
        seen.extend(session.runs_since(seen.len()).map(|record| record.run.0).collect::<Vec<_>>());
    }
    assert_eq!(seen, [2, 1, 4, 3]);
    assert_eq!(session.runs_since(4).count(), 0);
    let by_number = |session: &Session| session.runs().iter().map(|record| record.run.0).collect::<Vec<_>>();
    assert_eq!(by_number(&session), [1, 2, 3, 4]);
    let reopened = Session::open(session.folder()).unwrap();
    assert_eq!(reopened.runs_since(0).count(), 4);
    assert_eq!(by_number(&reopened), [1, 2, 3, 4]);
}

#[test]
fn a_session_of_another_version_is_named() {
    let workshop = Workshop::new();
    let session = three_runs(&workshop);
    let path = session.folder().join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"schema\": 1", "\"schema\": 9")).unwrap();
    assert!(matches!(
        Session::open(session.folder()),
        Err(Error::OtherVersion { found: 9, supported: 1, .. })
    ));
    // Whatever else another version may contain.
    std::fs::write(&path, "{\"schema\": 2, \"runs\": []}").unwrap();
    assert!(matches!(Session::open(session.folder()), Err(Error::OtherVersion { found: 2, .. })));
}

#[test]
fn what_is_no_session_is_told_from_a_damaged_one() {
    let workshop = Workshop::new();
    assert!(matches!(Session::open(&workshop.path("nothing")), Err(Error::NotASession { .. })));
    let session = three_runs(&workshop);
    std::fs::write(session.folder().join("manifest.json"), "{\"sch").unwrap();
    assert!(matches!(Session::open(session.folder()), Err(Error::DamagedManifest { .. })));
}

#[test]
fn garbage_in_place_of_a_run_is_found_when_it_is_loaded() {
    let workshop = Workshop::new();
    let session = three_runs(&workshop);
    let path = session.run_path(RunNumber(2));
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 10]).unwrap();
    assert!(matches!(session.load(RunNumber(2)), Err(Error::DamagedRun { .. })));
    std::fs::write(&path, "garbage, and more than eight bytes of it").unwrap();
    let error = session.load(RunNumber(2)).unwrap_err().to_string();
    assert!(error.ends_with("000002.run is damaged at byte 0: this is not a run file"), "{error}");
    assert!(session.load(RunNumber(1)).is_ok());
}

#[test]
fn a_crash_while_listing_a_run_loses_nothing() {
    let workshop = Workshop::new();
    let session = three_runs(&workshop);
    let list = session.folder().join("runs.jsonl");
    let text = std::fs::read_to_string(&list).unwrap();
    std::fs::write(&list, &text[..text.len() - 20]).unwrap();

    let mut reopened = Session::open(session.folder()).unwrap();
    assert_eq!(reopened.runs(), session.runs(), "the run file knows what the list does not");
    assert_eq!(reopened.warnings().len(), 1);
    // A run without a file is known by its line alone.
    let damaged = Outcome::Damaged { why: "nothing recorded".to_owned() };
    reopened.add(record(RunNumber(4), damaged)).unwrap();
    let again = Session::open(session.folder()).unwrap();
    assert_eq!(again.runs().len(), 4);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let workshop = Workshop::new();
    let blocked = workshop.write("store", "a file in the way");
    match Store::new(blocked.join("inner")).create("test", manifest()) {
        Err(Error::Unwritable { path, .. }) => assert_eq!(path, blocked.join("inner")),
        other => panic!("{other:?}"),
    }
}

/// Runs on a thread of its own, since it changes what this thread sees of the file system.
#[test]
fn a_full_disk_is_told_from_other_trouble() {
    let workshop = Workshop::new();
    let folder = workshop.path("tiny");
    std::fs::create_dir(&folder).unwrap();
    if let Err(error) = mount_tiny_disk(&folder) {
        eprintln!("SKIPPED a_full_disk_is_told_from_other_trouble: cannot mount a small disk: {error}");
        return;
    }
    let mut session = Store::new(folder.join("store")).create("test", manifest()).unwrap();
    add_run(&mut session, Outcome::Pass, b"small enough");
    let run = session.next_run();
    let processes = vec![ProcessRecording { pid: 1, bytes: vec![7; 1 << 20] }];
    let path = session.run_path(run);
    let written = RunFile { record: record(run, Outcome::Pass), processes }.write(&path);
    assert!(matches!(&written, Err(Error::DiskFull { path: named }) if *named == path), "{written:?}");
    assert!(!path.exists());
    assert_eq!(Session::open(session.folder()).unwrap().runs().len(), 1);
}

/// Mounts 256 KiB of memory as a disk that only this thread sees.
fn mount_tiny_disk(folder: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = std::ffi::CString::new(folder.as_os_str().as_bytes())?;
    let check = |result: libc::c_int| {
        if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: all pointers are to C strings that live through the calls, or null where allowed.
    unsafe {
        check(libc::unshare(libc::CLONE_NEWNS))?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        check(libc::mount(std::ptr::null(), c"/".as_ptr(), std::ptr::null(), private, std::ptr::null()))?;
        let size = c"size=256k".as_ptr().cast();
        check(libc::mount(c"tiny".as_ptr(), folder.as_ptr(), c"tmpfs".as_ptr(), 0, size))
    }
}
