//! Recon and Bugaboo on traces whose findings are known.

mod support;

use localize::{Detail, Finding, Options, Reconstruction, Technique, localize};
use support::Session;

#[track_caller]
fn check(technique: Technique, traces: &str, expected: &str) {
    support::check(technique, &Options::default(), traces, expected);
}

/// What Recon finds between these sites.
fn between(session: &Session, source: &str, sink: &str) -> Finding {
    let findings = localize(Technique::Recon, &session.runs, &Options::default());
    let sites = |finding: &Finding| {
        finding.pattern.sites().iter().map(|&site| session.site(site)).collect::<Vec<_>>()
    };
    findings
        .into_iter()
        .find(|finding| sites(finding) == [source, sink])
        .expect("a communication between the sites")
}

fn reconstruction(finding: &Finding) -> &Reconstruction {
    let Detail::Reconstruction(around) = &finding.detail else { panic!("{finding:?}") };
    around
}

/// Figures 3 and 4: weblech's queue is emptied by one thread between another's look at its size and its
/// taking of an element. Thread 1 has made the queue.
const WEBLECH: &str = "
    P: W1(qsize)@47 R2(qsize)@133 R2(qsize)@115 W2(qsize)@117 R1(qsize)@133
    P: W1(qsize)@47 R1(qsize)@133 R1(qsize)@115 W1(qsize)@117 R2(qsize)@133
    F: W1(qsize)@47 R1(qsize)@133 R2(qsize)@133 R2(qsize)@115 W2(qsize)@117 R1(qsize)@115
";

#[test]
fn figure_3_the_context_of_the_last_read_is_that_of_failing_runs_only() {
    check(
        Technique::Bugaboo,
        WEBLECH,
        "
        1/1 3.00 f=1 p=0 P2 W1(x)@117 R2(x)@115 {LR -> RW RR LW}
        2/2 2.00 f=1 p=1 P2 W1(x)@47 R2(x)@133 { -> }
        2/2 2.00 f=1 p=1 P3 W1(x)@47 W2(x)@117 { -> LR}
        ",
    );
}

#[test]
fn figure_4_the_reconstruction_shows_all_three_code_points_in_order() {
    let session = support::parse(WEBLECH);
    let finding = between(&session, "47", "117");
    session.check(&[finding], "2/2 2.00 f=1 p=1 P3 W1(x)@47 W2(x)@117 [ -> 133:100 -> 115:100]");
}

/// Figure 5: A comes before the source in half of the runs and after it in the others, C is always in
/// between, and B follows in three runs of four. D follows in one run only, less than half as often, and is
/// dropped.
#[test]
fn figure_5() {
    let session = support::parse(
        "
        F: W5(a)@A R6(a)@a W1(x)@S W7(c)@C R8(c)@c R2(x)@K W3(b)@B R4(b)@b
        F: W5(a)@A R6(a)@a W1(x)@S W7(c)@C R8(c)@c R2(x)@K W3(b)@B R4(b)@b
        F: W1(x)@S W5(a)@A R6(a)@a W7(c)@C R8(c)@c R2(x)@K W3(b)@B R4(b)@b
        F: W1(x)@S W5(a)@A R6(a)@a W7(c)@C R8(c)@c R2(x)@K W9(d)@D R0(d)@d
        ",
    );
    let finding = between(&session, "S", "K");
    let around = reconstruction(&finding);
    assert_eq!(around.consistency, (4.0 * 0.5 + 2.0 * 1.0 + 2.0 * 0.75) / 8.0);
    assert_eq!((around.frequency_ratio, around.context_variation), (1.0, 1.0));
    assert_eq!(finding.score, around.consistency);
    let accesses = |region: &[localize::Neighbour]| region.iter().map(|near| near.access).collect::<Vec<_>>();
    assert_eq!(accesses(&around.prefix), [Some(0), Some(1)]);
    // In the example, A is in the prefix only.
    assert_eq!(accesses(&around.body), [Some(3), Some(4), None, None]);
    let regions = "[A:50 a:50 -> C:100 c:100 A:50 a:50 -> B:75 b:75]";
    session.check(&[finding], &format!("4/1 0.69 f=4 p=0 P2 W1(x)@S R2(x)@K {regions}"));
}

/// The sites communicate in one context in passing runs and in two in failing ones.
#[test]
fn context_variation_counts_contexts_of_the_same_sites() {
    let session = support::parse(
        "
        P: W1(x)@a R2(x)@b
        F: W1(x)@a R2(x)@b
        F: W3(y)@c R2(y)@d W1(x)@a R2(x)@b
        ",
    );
    let finding = between(&session, "a", "b");
    assert_eq!(reconstruction(&finding).context_variation, 1.0 / 3.0);
}

#[test]
fn prefix_and_suffix_are_as_long_as_a_context() {
    let others =
        |from: u32| (from..from + 4).map(|n| format!("W1(v{n})@w{n} R2(v{n})@r{n}")).collect::<Vec<_>>();
    let line = format!("F: {} W3(x)@S R4(x)@K {}", others(0).join(" "), others(10).join(" "));
    let session = support::parse(&line);
    let finding = between(&session, "S", "K");
    let around = reconstruction(&finding);
    let names = |region: &[localize::Neighbour]| {
        region.iter().map(|near| session.site(near.node.site).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&around.prefix), ["r1", "w2", "r2", "w3", "r3"]);
    assert_eq!(names(&around.suffix), ["w10", "r10", "w11", "r11", "w12"]);
    assert!(around.body.is_empty());
}

/// A body without end would be no fragment: its middle goes.
#[test]
fn a_long_body_keeps_its_ends() {
    let others: Vec<String> = (0..200).map(|n| format!("W1(v{n})@w{n} R2(v{n})@r{n}")).collect();
    let session = support::parse(&format!("F: W3(x)@S {} R4(x)@K", others.join(" ")));
    let finding = between(&session, "S", "K");
    let body = &reconstruction(&finding).body;
    assert_eq!(body.len(), 100);
    assert_eq!((session.site(body[0].node.site), session.site(body[99].node.site)), ("w0", "r199"));
    assert_eq!((session.site(body[49].node.site), session.site(body[50].node.site)), ("r24", "w175"));
}

#[test]
fn only_the_edges_highest_in_b_are_reconstructed() {
    let edges: Vec<String> = (0..2500).map(|n| format!("W1(v{n})@w{n} R2(v{n})@r{n}")).collect();
    let edges = edges.join(" ");
    let session = support::parse(&format!("P: {edges}\nF: {edges} W3(x)@S R4(x)@K"));
    let findings = localize(Technique::Recon, &session.runs, &Options::default());
    assert_eq!(findings.len(), 2000);
    assert_eq!(between(&session, "S", "K").rank, 1);
}

#[test]
fn only_a_first_read_communicates() {
    check(
        Technique::Bugaboo,
        "F: W1(x)@a R2(x)@b R2(x)@c R3(x)@d R2(x)@c W1(x)@e R2(x)@c",
        "
        1/3 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b { -> }
        1/3 1.00 f=1 p=0 P2 W1(x)@a R2(x)@d { -> }
        1/3 1.00 f=1 p=0 P2 W1(x)@e R2(x)@c {RR RR LW -> RW LR}
        ",
    );
}

#[test]
fn an_update_overwrites() {
    check(Technique::Bugaboo, "F: U1(x)@a U2(x)@b", "1/1 1.00 f=1 p=0 P3 W1(x)@a W2(x)@b { -> }");
}

#[test]
fn nothing_is_concluded_across_a_gap() {
    for technique in [Technique::Bugaboo, Technique::Recon] {
        check(technique, "F: W1(x)@a gap(x) R2(x)@b", "");
    }
    check(
        Technique::Bugaboo,
        "F: W1(x)@a gap(y) R2(x)@b gap(x) R3(x)@c",
        "1/1 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b { -> }",
    );
}
