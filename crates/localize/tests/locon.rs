//! Locon on traces whose findings are known: the paper's figures and its whole Table 1.

mod support;

use localize::*;
use support::Session;

const SITE: Procedure = Procedure::NeverTogether(Level::Site);
const THREAD: Procedure = Procedure::NeverTogether(Level::Thread);
const LOOP: Procedure = Procedure::NeverTogether(Level::Loop);

/// With the procedures in their order.
#[track_caller]
fn check(traces: &str, expected: &str) {
    support::check(Technique::Locon, &Options::default(), traces, expected);
}

/// With one procedure.
#[track_caller]
fn check_by(procedure: Procedure, traces: &str, expected: &str) {
    let session = support::parse(traces);
    session.check(&find_by(procedure, &session), expected);
}

fn find_by(procedure: Procedure, session: &Session) -> Vec<Finding> {
    let mut collector = Collector::new(Technique::Locon, &Options::default());
    session.runs.iter().for_each(|run| collector.observe(run));
    collector.findings_by(procedure)
}

/// Transmission: the assertion reads before the session has written, and the run ends there.
#[test]
fn figure_1() {
    let traces = "
        P: W1(h)@new W1(peers)@peers W1(bandwidth)@init R2(peers)@use R2(bandwidth)@assert
        P: W1(h)@new W1(peers)@peers R2(peers)@use W1(bandwidth)@init R2(bandwidth)@assert
        F: W1(h)@new W1(peers)@peers R2(peers)@use R2(bandwidth)@assert
    ";
    check(traces, "1/1 1.00 f=1 p=0 P1 R1(x)@assert W2(x)@init II");
    check_by(Procedure::OnlyInFailing, traces, "");
    for level in [SITE, THREAD, LOOP] {
        check_by(level, traces, "");
    }
}

/// y is null only if 3 comes before 2, whatever happens to x.
#[test]
fn figure_3() {
    let passing = "P: W1(x)@1 R1(y)@2 W2(y)@3 R2(x)@4";
    check(&format!("{passing}\nF: W2(y)@3 R2(x)@4 W1(x)@1 R1(y)@2"), "1/1 1.00 f=1 p=0 P2 W1(x)@3 R2(x)@2 I");
    check(&format!("{passing}\nF: W2(y)@3 W1(x)@1 R1(y)@2 R2(x)@4"), "1/1 1.00 f=1 p=0 P2 W1(x)@3 R2(x)@2 I");
}

/// Only the iterations tell the couple of the failing run from that of the second passing one. The second
/// procedure, which comes before, has half of it already: with these three passing runs, 2→5 and 3→6 are
/// always together.
#[test]
fn figure_4() {
    let traces = "
        P: R2(x)@5 R2(y)@6 W1(x)@2[1.0] W1(y)@3[1.0] W1(x)@2[1.1] W1(y)@3[1.1]
        P: W1(x)@2[1.0] W1(y)@3[1.0] R2(x)@5 R2(y)@6 W1(x)@2[1.1] W1(y)@3[1.1]
        P: W1(x)@2[1.0] W1(y)@3[1.0] W1(x)@2[1.1] W1(y)@3[1.1] R2(x)@5 R2(y)@6
        F: R2(x)@5 W1(x)@2[1.0] W1(y)@3[1.0] R2(y)@6 W1(x)@2[1.1] W1(y)@3[1.1]
    ";
    for procedure in [Procedure::OnlyInFailing, SITE, THREAD] {
        check_by(procedure, traces, "");
    }
    let couple = "1/1 1.00 f=1 p=0 P14 R1(x)@5 W2(x)@2 W2(y)@3 R1(y)@6 III-loop";
    check_by(LOOP, traces, couple);
    check(traces, "1/1 1.00 f=1 p=2 P1 R1(x)@5 W2(x)@2 II");
}

#[test]
fn without_known_iterations_the_level_of_loops_finds_nothing() {
    check_by(
        LOOP,
        "
        P: W1(x)@2 W1(y)@3 R2(x)@5 R2(y)@6 W1(x)@2 W1(y)@3
        F: R2(x)@5 W1(x)@2[1.0] W1(y)@3[1.0] R2(y)@6 W1(x)@2[1.1] W1(y)@3[1.1]
        ",
        "",
    );
}

/// Each run of the failing threads' pairs is in some passing run, and both are in one, but between other
/// threads there.
#[test]
fn threads_tell_couples_apart_that_sites_do_not() {
    let traces = "
        P: W1(x)@a W2(x)@b W1(y)@d W2(y)@c
        P: W2(y)@c W1(y)@d W2(x)@b W1(x)@a
        P: W1(x)@a W2(x)@b W3(y)@c W4(y)@d
        F: W1(x)@a W2(x)@b W2(y)@c W1(y)@d
    ";
    check_by(SITE, traces, "");
    check_by(THREAD, traces, "1/1 1.00 f=1 p=0 P9 W1(x)@a W2(x)@b W2(y)@c W1(y)@d III-thread");
    // Within one iteration of nothing known the level of loops says nothing.
    check_by(LOOP, traces, "");
}

/// Two locks taken in opposite orders by the same code: the two pairs of the couple have the same sites.
#[test]
fn a_couple_may_be_of_one_pair_of_sites() {
    check_by(
        THREAD,
        "
        P: W1(x)@a W2(x)@a W1(y)@a W2(y)@a
        F: W1(x)@a W2(x)@a W2(y)@a W1(y)@a
        ",
        "1/1 1.00 f=1 p=0 P9 W1(x)@a W2(x)@a W2(y)@a W1(y)@a III-thread",
    );
}

/// At the level of sites a couple may also run in one direction.
#[test]
fn sites_tell_couples_of_one_direction_apart() {
    check_by(
        SITE,
        "
        P: W1(x)@a R2(x)@b
        P: W1(y)@c R2(y)@d
        F: W1(x)@a R2(x)@b W1(y)@c R2(y)@d
        ",
        "1/1 1.00 f=1 p=0 W1x-R2x-W1y-R2y W1(x)@a R2(x)@b W1(y)@c R2(y)@d III-site",
    );
}

#[test]
fn couples_are_on_different_variables_and_between_the_same_threads() {
    for failing in ["W1(x)@a R2(x)@b W2(x)@c R1(x)@d", "W1(x)@a R2(x)@b W3(y)@c R1(y)@d"] {
        check_by(SITE, &format!("P: W1(x)@a R2(x)@b\nP: W2(x)@c R1(x)@d\nF: {failing}"), "");
    }
    // The first occurrences are on one variable, later ones are not.
    check_by(
        SITE,
        "
        P: W1(x)@a R2(x)@b
        P: W2(x)@c R1(x)@d
        F: W1(x)@a R2(x)@b W2(x)@c R1(x)@d W2(y)@c R1(y)@d
        ",
        "1/1 1.00 f=1 p=0 W1x-R2x-W2y-R1y W1(x)@a R2(x)@b W2(y)@c R1(y)@d III-site",
    );
}

/// Threads 1 and 2 have the couple on two variables later than threads 3 and 4 do.
#[test]
fn the_example_is_the_couple_that_is_complete_first() {
    let session = support::parse(
        "
        P: W1(x)@a R2(x)@b
        P: W2(x)@c R1(x)@d
        F: W1(x)@a R2(x)@b W2(x)@c R1(x)@d W3(y)@a R4(y)@b W4(z)@c R3(z)@d W2(v)@c R1(v)@d
        ",
    );
    let findings = find_by(SITE, &session);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].example.accesses, [4, 5, 6, 7]);
}

/// 40 pairs of one passing run and 40 of another make 1600 couples.
#[test]
fn of_too_many_couples_those_complete_first_are_looked_at() {
    let pairs = |name: &str| {
        (0..40).map(|n| format!(" W1({name}{n})@w{name}{n} R2({name}{n})@r{name}{n}")).collect::<String>()
    };
    let (one, other) = (pairs("a"), pairs("b"));
    let session = support::parse(&format!("P:{one}\nP:{other}\nF:{one}{other}"));
    let findings = find_by(SITE, &session);
    assert_eq!(findings.len(), 1000);
    // Each further pair of the second run makes 40 couples.
    let last = |nth: usize| findings[nth].example.accesses[3];
    assert_eq!((last(0), last(999)), (81, 81 + 2 * 24));
    assert_eq!((findings[0].rank, findings[0].tied, findings[999].rank), (1, 40, 961));
}

/// Figure 3 for couples: that of 3→2 stays, that of the enclosed 4→1 goes.
#[test]
fn couples_are_dropped_by_which_others_are_predicted() {
    check_by(
        SITE,
        "
        P: W1(z)@6 R2(z)@5
        P: W2(y)@3 R2(x)@4 W1(x)@1 R1(y)@2
        F: W1(z)@6 R2(z)@5 W2(y)@3 R2(x)@4 W1(x)@1 R1(y)@2
        ",
        "1/1 1.00 f=1 p=0 W1x-R2x-W2y-R1y W1(x)@6 R2(x)@5 W2(y)@3 R1(y)@2 III-site",
    );
}

/// The pair is missing from the first failing run, which ended before, and occurs in the second.
#[test]
fn failing_runs_add_up_and_show_the_best_example() {
    check(
        "
        P: W2(x)@init R1(x)@use
        F: R1(x)@use
        F: R1(x)@use W2(x)@init W3(y)@c R1(y)@d
        ",
        "
        1/1 1.00 f=2 p=0 P1 R1(x)@use W2(x)@init I
        2/1 0.50 f=1 p=0 P2 W1(x)@c R2(x)@d I
        ",
    );
}

/// Where accesses are missing from a run, absence proves nothing.
#[test]
fn absence_is_judged_by_runs_without_gaps() {
    let expected = "1/1 1.00 f=1 p=0 P1 R1(x)@use W2(x)@init II";
    check_by(II, "P: W2(x)@init R1(x)@use\nP: gap(y) W1(z)@z\nF: R1(x)@use", expected);
    check_by(II, "P: W2(x)@init R1(x)@use\nP: W1(z)@z\nF: R1(x)@use", "");
    check_by(II, "P: W2(x)@init R1(x)@use\nF: gap(y) R1(x)@use", "");
    check_by(II, "P: gap(y) W2(x)@init R1(x)@use\nF: R1(x)@use", "");
    // But presence does.
    check_by(I, "P: gap(y) W2(x)@init R1(x)@use\nF: W2(x)@init R1(x)@use", "");
    check_by(SITE, "P: W1(x)@a R2(x)@b W1(y)@c R2(y)@d gap(z)\nF: W1(x)@a R2(x)@b W1(y)@c R2(y)@d", "");
}

/// A thread is created after a write, or has ended before a read: no run can show these the other way round, however early
/// it ends.
#[test]
fn what_threads_keep_in_order_is_not_turned_around() {
    let orders = |events: &[(usize, u32, SyncKind, u32)]| {
        let mut session = support::parse("P: W2(x)@work R1(x)@print\nF: W2(y)@work");
        for &(before, thread, kind, other) in events {
            session.runs[0].synchronization.push(SyncEvent {
                before,
                thread: ThreadId(thread),
                kind,
                target: SyncTarget::Thread(ThreadId(other)),
                site: SiteId(9),
                stack: StackId(0),
            });
        }
        let mut collector = Collector::new(Technique::Locon, &Options::default());
        session.runs.iter().for_each(|run| collector.observe(run));
        collector.findings_by(II).len()
    };
    assert_eq!(orders(&[]), 1);
    assert_eq!(orders(&[(1, 2, SyncKind::End, 2), (1, 1, SyncKind::Join, 2)]), 0);
    assert_eq!(orders(&[(1, 2, SyncKind::Create, 1), (1, 1, SyncKind::Start, 2)]), 0);
    // The end of another thread, and a creation before the write, order nothing.
    assert_eq!(orders(&[(1, 3, SyncKind::End, 3), (1, 1, SyncKind::Join, 3)]), 1);
    assert_eq!(orders(&[(0, 2, SyncKind::Create, 1), (0, 1, SyncKind::Start, 2)]), 1);
}

/// What all passing runs show on one variable is nothing that belongs together.
#[test]
fn missing_couples_are_on_different_variables() {
    let passing =
        |location| format!("P: W1(x)@a R2(x)@b W1({location})@c R2({location})@d\nP: W3(v)@e R4(v)@f");
    let failing = "F: W1(x)@a R2(x)@b";
    check_by(II, &format!("{}\n{failing}", passing("x")), "");
    let expected = "1/1 1.00 f=1 p=0 P1 R1(x)@d W2(x)@c II";
    check_by(II, &format!("{}\n{failing}", passing("y")), expected);
}

/// A case of Table 1: the accesses of thread 1, those of thread 2, and the illegal interleavings with the
/// procedure that must find them and what it must find. Sites are the letters of the paper. A failing run
/// that lacks accesses was ended by an error-triggering read; where that pair is half of a couple, a passing
/// run shows it.
struct BugType {
    id: u32,
    threads: [&'static str; 2],
    /// Serial runs; of order violations there is only one legal order.
    legal: &'static [&'static str],
    illegal: &'static [(&'static str, Procedure, &'static str)],
}

const I: Procedure = Procedure::OnlyInFailing;
const II: Procedure = Procedure::MissingFromFailing;

const TABLE_1: [BugType; 15] = [
    BugType {
        id: 1,
        threads: ["a:Wx", "b:Rx"],
        legal: &["ba"],
        illegal: &[("ab", I, "1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b I")],
    },
    BugType {
        id: 2,
        threads: ["a:Rx", "b:Wx"],
        legal: &["ba"],
        illegal: &[
            ("ab", I, "1/1 1.00 f=1 p=0 P1 R1(x)@a W2(x)@b I"),
            ("a", II, "1/1 1.00 f=1 p=0 P1 R1(x)@a W2(x)@b II"),
        ],
    },
    BugType {
        id: 3,
        threads: ["a:Wx", "b:Wx"],
        legal: &["ba"],
        illegal: &[("ab", I, "1/1 1.00 f=1 p=0 P3 W1(x)@a W2(x)@b I")],
    },
    BugType {
        id: 4,
        threads: ["a:Wx c:Rx", "b:Wx"],
        legal: &["acb", "bac"],
        illegal: &[(
            "abc",
            I,
            "1/1 1.00 f=1 p=0 P3 W1(x)@a W2(x)@b I\n2/1 1.00 f=1 p=0 P2 W1(x)@b R2(x)@c I",
        )],
    },
    BugType {
        id: 5,
        threads: ["a:Rx c:Wx", "b:Wx"],
        legal: &["acb", "bac"],
        illegal: &[(
            "abc",
            I,
            "1/1 1.00 f=1 p=0 P1 R1(x)@a W2(x)@b I\n2/1 1.00 f=1 p=0 P3 W1(x)@b W2(x)@c I",
        )],
    },
    BugType {
        id: 6,
        threads: ["a:Rx c:Rx", "b:Wx"],
        legal: &["acb", "bac"],
        illegal: &[(
            "abc",
            I,
            "1/1 1.00 f=1 p=0 P1 R1(x)@a W2(x)@b I\n2/1 1.00 f=1 p=0 P2 W1(x)@b R2(x)@c I",
        )],
    },
    BugType {
        id: 7,
        threads: ["a:Wx c:Wx", "b:Rx"],
        legal: &["acb", "bac"],
        illegal: &[
            ("abc", I, "1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b I\n2/1 1.00 f=1 p=0 P1 R1(x)@b W2(x)@c I"),
            ("ab", I, "1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b I"),
        ],
    },
    BugType {
        id: 8,
        threads: ["a:Rx d:Wy", "b:Wx c:Ry"],
        legal: &["adbc", "bcad"],
        illegal: &[
            ("abcd", SITE, "1/1 1.00 f=1 p=0 P18 R1(x)@a W2(x)@b R2(y)@c W1(y)@d III-site"),
            ("badc", SITE, "1/1 1.00 f=1 p=0 W1x-R2x-W2y-R1y W1(x)@b R2(x)@a W2(y)@d R1(y)@c III-site"),
            ("abc", II, "1/1 1.00 f=1 p=1 P1 R1(x)@c W2(x)@d II"),
        ],
    },
    BugType {
        id: 9,
        threads: ["a:Rx d:Wy", "b:Ry c:Wx"],
        legal: &["adbc", "bcad"],
        illegal: &[
            ("abcd", SITE, "1/1 1.00 f=1 p=0 P19 R1(x)@a R2(y)@b W2(x)@c W1(y)@d III-site"),
            ("badc", SITE, "1/1 1.00 f=1 p=0 P19 R1(x)@b R2(y)@a W2(x)@d W1(y)@c III-site"),
        ],
    },
    BugType {
        id: 10,
        threads: ["a:Wx d:Wy", "b:Rx c:Ry"],
        legal: &["adbc", "bcad"],
        illegal: &[
            ("abcd", SITE, "1/1 1.00 f=1 p=0 P12 W1(x)@a R2(x)@b R2(y)@c W1(y)@d III-site"),
            ("badc", SITE, "1/1 1.00 f=1 p=0 P14 R1(x)@b W2(x)@a W2(y)@d R1(y)@c III-site"),
            ("abc", II, "1/1 1.00 f=1 p=1 P1 R1(x)@c W2(x)@d II"),
        ],
    },
    BugType {
        id: 11,
        threads: ["a:Wx d:Wy", "b:Wx c:Ry"],
        legal: &["adbc", "bcad"],
        illegal: &[
            ("abcd", SITE, "1/1 1.00 f=1 p=0 W1x-W2x-R2y-W1y W1(x)@a W2(x)@b R2(y)@c W1(y)@d III-site"),
            ("badc", SITE, "1/1 1.00 f=1 p=0 W1x-W2x-W2y-R1y W1(x)@b W2(x)@a W2(y)@d R1(y)@c III-site"),
            ("abc", II, "1/1 1.00 f=1 p=1 P1 R1(x)@c W2(x)@d II"),
        ],
    },
    BugType {
        id: 12,
        threads: ["a:Wx d:Wy", "b:Wx c:Wy"],
        legal: &["adbc", "bcad"],
        illegal: &[
            ("abcd", SITE, "1/1 1.00 f=1 p=0 P9 W1(x)@a W2(x)@b W2(y)@c W1(y)@d III-site"),
            ("badc", SITE, "1/1 1.00 f=1 p=0 P9 W1(x)@b W2(x)@a W2(y)@d W1(y)@c III-site"),
        ],
    },
    BugType {
        id: 13,
        threads: ["a:Wx d:Wy", "b:Ry c:Rx"],
        legal: &["adbc", "bcad"],
        illegal: &[
            ("abcd", SITE, "1/1 1.00 f=1 p=0 P13 W1(x)@a R2(y)@b R2(x)@c W1(y)@d III-site"),
            ("badc", SITE, "1/1 1.00 f=1 p=0 P15 R1(x)@b W2(y)@a W2(x)@d R1(y)@c III-site"),
            ("abc", II, "1/1 1.00 f=1 p=1 P1 R1(x)@b W2(x)@d II"),
        ],
    },
    BugType {
        id: 14,
        threads: ["a:Wx d:Wy", "b:Ry c:Wx"],
        legal: &["adbc", "bcad"],
        illegal: &[(
            "abcd",
            SITE,
            "1/1 1.00 f=1 p=0 W1x-R2y-W2x-W1y W1(x)@a R2(y)@b W2(x)@c W1(y)@d III-site",
        )],
    },
    BugType {
        id: 15,
        threads: ["a:Wx d:Wy", "b:Wy c:Wx"],
        legal: &["adbc", "bcad"],
        illegal: &[("abcd", SITE, "1/1 1.00 f=1 p=0 P10 W1(x)@a W2(y)@b W2(x)@c W1(y)@d III-site")],
    },
];

#[test]
fn table_1() {
    for bug in TABLE_1 {
        let access = |letter: char| {
            let of_thread = |accesses: &str| {
                let mut words = accesses.split(' ').map(|word| word.split_once(':').unwrap());
                words.find(|(name, _)| *name == letter.to_string()).map(|(_, what)| what.to_owned())
            };
            let (thread, what) =
                (1..).zip(bug.threads).find_map(|(nth, t)| Some((nth, of_thread(t)?))).unwrap();
            format!(" {}{thread}({})@{letter}", &what[..1], &what[1..])
        };
        let run = |outcome: char, order: &str| {
            format!("{outcome}:{}\n", order.chars().map(access).collect::<String>())
        };
        let passing: String = bug.legal.iter().map(|order| run('P', order)).collect();
        for (order, procedure, expected) in bug.illegal {
            println!("bug type {}, {order}", bug.id);
            check_by(*procedure, &(passing.clone() + &run('F', order)), expected);
            // A second failing run of the same kind confirms the first.
            let twice = passing.clone() + &run('F', order) + &run('F', order);
            check_by(*procedure, &twice, &expected.replace("f=1", "f=2"));
        }
    }
}
