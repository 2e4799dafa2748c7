use runner::{Binary, BuildId, Error, Manifest, Outcome, RunNumber, Store};

use crate::Workshop;
use crate::session::{add_run, manifest};

fn manifest_of(build: &[(&str, u8)]) -> Manifest {
    let binary =
        |&(path, id): &(&str, u8)| Binary { path: path.into(), build_id: BuildId::from_bytes(&[id]) };
    Manifest::new(vec!["./test".to_owned()], Default::default(), 1, build.iter().map(binary).collect())
}

#[test]
fn a_taken_name_gets_a_number_and_the_latest_is_known() {
    let workshop = Workshop::new();
    let store = Store::new(workshop.path("store"));
    assert!(store.latest().unwrap().is_none());
    assert!(store.list().unwrap().is_empty());
    for expected in ["test", "test-2", "test-3"] {
        assert_eq!(store.create("test", manifest()).unwrap().name(), expected);
    }
    assert_eq!(store.latest().unwrap().unwrap().name(), "test-3");
    let names: Vec<String> = store.list().unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["test", "test-2", "test-3"]);
}

#[test]
fn sessions_that_cannot_be_opened_are_listed_with_the_reason() {
    let workshop = Workshop::new();
    let store = Store::new(workshop.path("store"));
    let session = store.create("old", manifest()).unwrap();
    std::fs::write(session.folder().join("manifest.json"), "{\"schema\": 0}").unwrap();
    std::fs::create_dir(workshop.path("store").join("no-session")).unwrap();
    let entries = store.list().unwrap();
    assert_eq!(entries.len(), 1);
    assert!(matches!(entries[0].session, Err(Error::OtherVersion { found: 0, .. })));
}

#[test]
fn only_sessions_are_deleted() {
    let workshop = Workshop::new();
    let store = Store::new(workshop.path("store"));
    let folder = store.create("test", manifest()).unwrap().folder().to_owned();
    let precious = workshop.path("store").join("precious");
    std::fs::create_dir(&precious).unwrap();
    assert!(matches!(store.delete("precious"), Err(Error::NotASession { .. })));
    for name in ["", ".", "..", "../store/test", "a/b", ".hidden"] {
        assert!(matches!(store.delete(name), Err(Error::BadSessionName { .. })), "{name}");
    }
    store.delete("test").unwrap();
    assert!(precious.exists() && !folder.exists());
}

#[test]
fn sessions_of_the_same_build_are_merged() {
    let workshop = Workshop::new();
    let store = Store::new(workshop.path("store"));
    let mut first = store.create("first", manifest_of(&[("/a/test", 1)])).unwrap();
    add_run(&mut first, Outcome::Pass, b"1.1");
    add_run(&mut first, Outcome::hang(), b"1.2");
    // Built alike, only elsewhere.
    let mut second = store.create("second", manifest_of(&[("/b/test", 1)])).unwrap();
    add_run(&mut second, Outcome::Fail { reason: "exit code 1".to_owned() }, b"2.1");
    add_run(&mut second, Outcome::Pass, b"damaged below");
    std::fs::write(second.run_path(RunNumber(2)), "garbage").unwrap();
    let merged = store.merge("both", &first, &[second]).unwrap();

    let merged = store.open(&merged.name()).unwrap();
    let content: Vec<(u32, String)> = merged
        .runs()
        .iter()
        .map(|record| {
            (
                record.run.0,
                String::from_utf8(merged.load(record.run).unwrap().processes[0].bytes.clone()).unwrap(),
            )
        })
        .collect();
    assert_eq!(content, [(1, "1.1".to_owned()), (2, "1.2".to_owned()), (3, "2.1".to_owned())]);
    assert_eq!(merged.load(RunNumber(3)).unwrap().record, merged.runs()[2]);
}

#[test]
fn sessions_of_different_builds_are_not_merged() {
    let workshop = Workshop::new();
    let store = Store::new(workshop.path("store"));
    let old = store.create("old", manifest_of(&[("/a/test", 0xaa), ("/a/lib.so", 0x11)])).unwrap();
    let new = store.create("new", manifest_of(&[("/a/test", 0xbb), ("/a/lib.so", 0x11)])).unwrap();
    let error = store.merge("both", &old, &[new]).unwrap_err().to_string();
    assert_eq!(
        error,
        "sessions `old` and `new` ran different programs: /a/test has build id aa in `old`, build id bb in `new`"
    );
    let names: Vec<String> = store.list().unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["new", "old"], "nothing is left of the attempt");

    let less = store.create("less", manifest_of(&[("/a/test", 0xaa)])).unwrap();
    let error = store.merge("both", &less, &[store.open("old").unwrap()]).unwrap_err().to_string();
    assert!(error.ends_with("/a/lib.so has build id 11 in `old`, is not part of `less`"), "{error}");
}

#[test]
fn an_exported_session_can_be_imported_elsewhere() {
    let workshop = Workshop::new();
    let store = Store::new(workshop.path("store"));
    let mut session = store.create("test", manifest()).unwrap();
    add_run(&mut session, Outcome::Pass, b"one");
    add_run(&mut session, Outcome::hang(), b"two");
    let archive = workshop.path("test.tar");
    session.export(&archive).unwrap();
    let first = std::fs::read(&archive).unwrap();
    let manifest = std::fs::File::open(session.folder().join("manifest.json")).unwrap();
    manifest.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    session.export(&archive).unwrap();
    assert_eq!(std::fs::read(&archive).unwrap(), first, "the same session gives the same bytes");

    let elsewhere = Store::new(workshop.path("elsewhere"));
    let imported = elsewhere.import(&archive).unwrap();
    assert_eq!(imported.name(), "test");
    assert_eq!(imported.runs(), session.runs());
    assert_eq!(imported.load(RunNumber(2)).unwrap(), session.load(RunNumber(2)).unwrap());
    assert_eq!(elsewhere.import(&archive).unwrap().name(), "test-2");
    assert_eq!(elsewhere.list().unwrap().len(), 2);

    let garbage = workshop.write("garbage.tar", "");
    assert!(matches!(elsewhere.import(&garbage), Err(Error::NotASession { path }) if path == garbage));
}
