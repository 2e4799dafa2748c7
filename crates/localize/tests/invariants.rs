//! AVIO, DefUse and PSet on traces whose findings are known: what passing runs show is allowed.

mod support;

use localize::{Options, Technique};

#[track_caller]
fn check(technique: Technique, traces: &str, expected: &str) {
    support::check(technique, &Options::default(), traces, expected);
}

/// Each of the eight triples by itself; the four others are serializable.
#[test]
fn avio_knows_four_unserializable_triples() {
    let found = |kinds: &str| {
        let [a, b, c] = [0, 1, 2].map(|nth| &kinds[nth..=nth]);
        let session = support::parse(&format!("F: {a}1(x)@a {b}2(x)@b {c}1(x)@c"));
        localize::localize(Technique::Avio, &session.runs, &Options::default()).len()
    };
    for kinds in ["RWR", "WWR", "WRW", "RWW"] {
        assert_eq!(found(kinds), 1, "{kinds}");
    }
    for kinds in ["RRR", "RRW", "WRR", "WWW"] {
        assert_eq!(found(kinds), 0, "{kinds}");
    }
}

/// A check and its use, with the pointer taken away in between. The passing runs show another thread's
/// harmless write in the same place, so that it is allowed.
#[test]
fn avio_reports_what_passing_runs_never_show() {
    check(
        Technique::Avio,
        "
        P: R1(p)@check R1(p)@use W2(p)@clear
        P: R1(p)@check W3(p)@refresh R1(p)@use W2(p)@clear
        F: R1(p)@check W3(p)@refresh W2(p)@clear R1(p)@use
        H: R1(p)@check W2(p)@clear R1(p)@use
        ",
        "1/1 1.00 f=2 p=0 P4 R1(x)@check W2(x)@clear R1(x)@use",
    );
}

#[test]
fn avio_pairs_a_threads_successive_accesses() {
    // Between c and e there is another access of thread 1, so (c, e) is no pair of its own.
    check(
        Technique::Avio,
        "F: R1(x)@a W2(x)@b R1(x)@c R2(x)@d W1(x)@e R2(y)@f",
        "1/1 1.00 f=1 p=0 P4 R1(x)@a W2(x)@b R1(x)@c",
    );
    // All accesses that come between count.
    check(
        Technique::Avio,
        "F: W1(x)@a R2(x)@b W3(x)@c R1(x)@d W1(x)@e",
        "1/1 1.00 f=1 p=0 P5 W1(x)@a W2(x)@c R1(x)@d",
    );
    check(
        Technique::Avio,
        "F: W1(x)@a R2(x)@b R3(x)@c W1(x)@d",
        "
        1/2 1.00 f=1 p=0 P6 W1(x)@a R2(x)@b W1(x)@d
        1/2 1.00 f=1 p=0 P6 W1(x)@a R2(x)@c W1(x)@d
        ",
    );
}

/// Its read comes first, its write is what follows.
#[test]
fn avio_takes_an_update_as_a_read_and_a_write() {
    check(Technique::Avio, "F: U1(x)@a U2(x)@b U1(x)@c", "1/1 1.00 f=1 p=0 P5 W1(x)@a W2(x)@b R1(x)@c");
    check(Technique::Avio, "F: W1(x)@a U2(x)@b W1(x)@c", "1/1 1.00 f=1 p=0 P6 W1(x)@a R2(x)@b W1(x)@c");
}

/// The log is closed while it is still in use.
#[test]
fn defuse_reports_a_value_from_the_wrong_place() {
    let traces = "
        P: W1(log)@init R2(log)@use W1(log)@close
        P: W1(log)@init R2(log)@use R2(log)@again W1(log)@close
        F: W1(log)@init R2(log)@use W1(log)@close R2(log)@again
        F: W1(log)@init W1(log)@close R2(log)@use R2(log)@again
    ";
    check(
        Technique::Defuse,
        traces,
        "
        1/1 1.00 f=2 p=0 P2 W1(x)@close R2(x)@again
        2/1 0.50 f=1 p=0 P2 W1(x)@close R2(x)@use
        ",
    );
}

#[test]
fn defuse_looks_at_other_threads_definitions_only() {
    check(Technique::Defuse, "F: W1(x)@a R1(x)@b W2(x)@c", "");
    // An update uses and defines.
    check(
        Technique::Defuse,
        "F: W1(x)@a U2(x)@b U1(x)@c",
        "
        1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b
        2/1 1.00 f=1 p=0 P2 W1(x)@b R2(x)@c
        ",
    );
}

#[test]
fn pset_learns_whom_an_access_may_follow() {
    check(
        Technique::Pset,
        "
        P: R1(x)@a W2(x)@b R1(x)@c
        P: W2(x)@b R1(x)@a R1(x)@c
        F: R1(x)@a R1(x)@c W2(x)@b
        F: R3(x)@d R1(x)@c W2(x)@b W1(x)@e W3(x)@f
        ",
        "
        1/1 1.00 f=2 p=0 P1 R1(x)@c W2(x)@b
        2/1 0.50 f=1 p=0 P1 R1(x)@d W2(x)@b
        3/1 0.50 f=1 p=0 P3 W1(x)@b W2(x)@e
        4/1 0.50 f=1 p=0 P3 W1(x)@e W2(x)@f
        ",
    );
}

/// A thread's second read follows its first, and a write that comes after a reader's last read follows that.
#[test]
fn pset_has_immediate_predecessors_only() {
    check(
        Technique::Pset,
        "F: W1(x)@a R2(x)@b R2(x)@c W1(x)@d",
        "
        1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b
        2/1 1.00 f=1 p=0 P1 R1(x)@c W2(x)@d
        ",
    );
    // A third thread's read is no reason not to follow the write, but one's own is.
    check(
        Technique::Pset,
        "F: W1(x)@a R3(x)@b W2(x)@c W1(y)@d R2(y)@e W2(y)@f",
        "
        1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b
        2/2 1.00 f=1 p=0 P3 W1(x)@a W2(x)@c
        2/2 1.00 f=1 p=0 P1 R1(x)@b W2(x)@c
        4/1 1.00 f=1 p=0 P2 W1(x)@d R2(x)@e
        ",
    );
}

#[test]
fn nothing_is_concluded_across_a_gap() {
    for technique in [Technique::Avio, Technique::Defuse, Technique::Pset] {
        check(technique, "F: W1(x)@a gap(x) R2(x)@b gap(x) W1(x)@c gap(x) R1(x)@d", "");
    }
}
