//! Ranks, ties, counts and examples.

mod support;

use localize::*;

/// What is read at b is seen in all failing runs alone, at c in a passing run too, at d in one failing run.
const SESSION: &str = "
    P: W1(x)@a R2(x)@c
    F: W1(x)@a R2(x)@b W1(y)@a R2(y)@c
    H: W1(x)@a R2(x)@c W1(y)@a R2(y)@b W1(z)@a R2(z)@d
";

#[test]
fn better_scores_come_first_and_equal_ones_share_a_rank() {
    support::check(
        Technique::Falcon,
        &Options::default(),
        SESSION,
        "
        1/1 1.00 f=2 p=0 P2 W1(x)@a R2(x)@b
        2/1 0.67 f=2 p=1 P2 W1(x)@a R2(x)@c
        3/1 0.50 f=1 p=0 P2 W1(x)@a R2(x)@d
        ",
    );
    let barinel = Options { formula: Formula::Barinel, ..Options::default() };
    support::check(
        Technique::Falcon,
        &barinel,
        SESSION,
        "
        1/2 1.00 f=2 p=0 P2 W1(x)@a R2(x)@b
        1/2 1.00 f=1 p=0 P2 W1(x)@a R2(x)@d
        3/1 0.67 f=2 p=1 P2 W1(x)@a R2(x)@c
        ",
    );
    let dstar = Options { formula: Formula::DStar, ..Options::default() };
    support::check(
        Technique::Falcon,
        &dstar,
        SESSION,
        "
        1/1 inf f=2 p=0 P2 W1(x)@a R2(x)@b
        2/1 4.00 f=2 p=1 P2 W1(x)@a R2(x)@c
        3/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@d
        ",
    );
}

#[test]
fn the_example_is_the_earliest_in_the_first_failing_run() {
    let session = support::parse(
        "
        P: W1(x)@a R2(x)@b
        F: W1(y)@e W1(x)@a R2(x)@b W1(x)@a R2(x)@b
        F: W1(x)@a R2(x)@b
    ",
    );
    let findings = localize(Technique::Unicorn, &session.runs, &Options::default());
    let pair = Pattern::new(PatternId::P2, &[SiteId(0), SiteId(1)]);
    let finding = findings.iter().find(|finding| finding.pattern == pair).unwrap();
    assert_eq!(finding.example, Example { run: RunId(2), id: PatternId::P2.into(), accesses: vec![1, 2] });
    assert_eq!(finding.failing_runs, [RunId(2), RunId(3)]);
}

#[test]
fn a_session_without_failing_runs_has_no_suspicion() {
    support::check(
        Technique::Unicorn,
        &Options::default(),
        "P: W1(x)@a R2(x)@b",
        "1/1 0.00 f=0 p=1 P2 W1(x)@a R2(x)@b",
    );
    support::check(Technique::Unicorn, &Options::default(), "", "");
    support::check(Technique::Unicorn, &Options::default(), "F:", "");
}
