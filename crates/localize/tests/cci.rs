//! CCI on traces whose findings are known.

mod support;

use localize::{Options, Technique, localize};

#[track_caller]
fn check(traces: &str, expected: &str) {
    support::check(Technique::Cci, &Options::default(), traces, expected);
}

/// The use comes just after another thread in both failing runs, and just after its own in passing ones.
#[test]
fn a_remote_predecessor_in_failing_runs_only() {
    check(
        "
        P: R1(p)@check R1(p)@use W2(p)@clear
        P: R1(p)@check R1(p)@use W2(p)@clear
        F: R1(p)@check W2(p)@clear R1(p)@use
        F: R1(p)@check W2(p)@clear R1(p)@use
        ",
        "
        1/1 0.67 f=2 p=0 R1x R1(x)@use remote
        2/2 0.00 f=2 p=2 W1x W1(x)@clear remote
        2/2 0.00 f=0 p=2 R1x R1(x)@use local
        ",
    );
}

/// A run may show both predicates of a site; it is observed once.
#[test]
fn a_site_may_be_local_and_remote_in_one_run() {
    check(
        "
        P: R1(x)@a R1(x)@a
        F: R1(x)@a R1(x)@a R2(x)@a
        ",
        "
        1/1 0.67 f=1 p=0 R1x R1(x)@a remote
        2/1 0.00 f=1 p=1 R1x R1(x)@a local
        ",
    );
}

/// One failing run of several is no evidence, the only one is.
#[test]
fn one_failing_run() {
    let traces = "
        P: R1(x)@a R1(x)@b
        F: R1(x)@a R2(x)@b
    ";
    check(
        traces,
        "
        1/1 0.67 f=1 p=0 R1x R1(x)@b remote
        2/1 0.00 f=0 p=1 R1x R1(x)@b local
        ",
    );
    check(
        &format!("{traces} F: R1(x)@a"),
        "
        1/2 0.00 f=1 p=0 R1x R1(x)@b remote
        1/2 0.00 f=0 p=1 R1x R1(x)@b local
        ",
    );
}

/// What the recorder saw at a site counts as well as what is left of it in the trace.
#[test]
fn observations_add_to_the_trace() {
    check(
        "
        P: local@b W1(x)@a R2(x)@b
        P: both@b W1(x)@a R2(x)@b
        F: remote@b W1(x)@a R2(x)@b
        F: W1(x)@a R2(x)@b R2(x)@b
        ",
        "
        1/2 0.00 f=2 p=2 R1x R1(x)@b remote
        1/2 0.00 f=1 p=2 R1x R1(x)@b local
        ",
    );
    // Never recorded, but executed.
    let session = support::parse("F: local@b W1(x)@a");
    let findings = localize(Technique::Cci, &session.runs, &Options::default());
    session.check(&findings, "1/1 0.00 f=1 p=0 R1x local");
    assert_eq!(session.site(findings[0].pattern.sites()[0]), "b");
}

#[test]
fn a_first_access_has_no_predecessor() {
    check("F: W1(x)@a R2(y)@b gap(x) R2(x)@c", "");
}
