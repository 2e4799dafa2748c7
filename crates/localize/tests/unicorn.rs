//! Unicorn on traces whose findings are known.

mod support;

use localize::{AccessKind, LocationId, Options, PatternId, Shape, SiteId, Technique, ThreadId};

#[track_caller]
fn check(options: &Options, traces: &str, expected: &str) {
    support::check(Technique::Unicorn, options, traces, expected);
}

/// Table 5 of the thesis: the pairs I1 to I4 each occur in passing runs too, only together do they fail.
#[test]
fn table_5() {
    check(
        &Options::default(),
        "
        P: W1(TABLE)@S1 W2(TABLE)@S2 W1(LOG)@S4 W2(LOG)@S3
        P: W1(TABLE)@S1 W1(LOG)@S4 W2(TABLE)@S2 W2(LOG)@S3
        P: W2(TABLE)@S2 W2(LOG)@S3 W1(TABLE)@S1 W1(LOG)@S4
        P: W2(TABLE)@S2 W1(TABLE)@S1 W2(LOG)@S3 W1(LOG)@S4
        F: W1(TABLE)@S1 W2(TABLE)@S2 W2(LOG)@S3 W1(LOG)@S4
        F: W1(TABLE)@S1 W2(TABLE)@S2 W2(LOG)@S3 W1(LOG)@S4
        ",
        "
        1/1 1.00 f=2 p=0 P9 W1(x)@S1 W2(x)@S2 W2(y)@S3 W1(y)@S4
        2/2 0.50 f=2 p=2 P3 W1(x)@S1 W2(x)@S2
        2/2 0.50 f=2 p=2 P3 W1(x)@S3 W2(x)@S4
        4/2 0.00 f=0 p=2 P3 W1(x)@S2 W2(x)@S1
        4/2 0.00 f=0 p=2 P3 W1(x)@S4 W2(x)@S3
        ",
    );
}

/// Figure 6(b) of the thesis: one list of pairs for all variables.
#[test]
fn figure_6() {
    check(
        &Options::default(),
        "F: R1(x)@S1 W2(x)@S2 R1(x)@S3 W4(z)@S4 W2(z)@S5 W2(y)@S6 W4(y)@S7",
        "
        1/6 1.00 f=1 p=0 P1 R1(x)@S1 W2(x)@S2
        1/6 1.00 f=1 p=0 P4 R1(x)@S1 W2(x)@S2 R1(x)@S3
        1/6 1.00 f=1 p=0 P2 W1(x)@S2 R2(x)@S3
        1/6 1.00 f=1 p=0 P3 W1(x)@S4 W2(x)@S5
        1/6 1.00 f=1 p=0 P9 W1(x)@S4 W2(x)@S5 W2(y)@S6 W1(y)@S7
        1/6 1.00 f=1 p=0 P3 W1(x)@S6 W2(x)@S7
        ",
    );
}

/// The accesses of each row, in the order of the table, show that row and no other of its length.
#[test]
fn every_row_has_a_minimal_trace() {
    for id in PatternId::ALL {
        let mut trace = String::from("F:");
        for (site, step) in id.steps().iter().enumerate() {
            let kind = if step.kind == AccessKind::Read { 'R' } else { 'W' };
            trace += &format!(" {kind}{}({})@{site}", step.thread, step.variable);
        }
        let session = support::parse(&trace);
        let findings = localize::localize(Technique::Unicorn, &session.runs, &Options::default());
        let shapes = findings.iter().map(|finding| finding.example.id);
        let longest: Vec<Shape> = shapes.filter(|shape| shape.len() == id.steps().len()).collect();
        assert_eq!(longest, [id.into()], "{trace}");
    }
}

/// The four orders of P10 and P11, which only chance tells apart.
#[test]
fn p10_and_p11_are_one_pattern() {
    check(
        &Options::default(),
        "
        F: W1(x)@a W2(y)@c W2(x)@b W1(y)@d
        F: W1(x)@a W2(y)@c W1(y)@d W2(x)@b
        F: W2(y)@c W1(x)@a W1(y)@d W2(x)@b
        F: W2(y)@c W1(x)@a W2(x)@b W1(y)@d
        ",
        "
        1/3 1.00 f=4 p=0 P10 W1(x)@a W2(y)@c W2(x)@b W1(y)@d
        1/3 1.00 f=4 p=0 P3 W1(x)@a W2(x)@b
        1/3 1.00 f=4 p=0 P3 W1(x)@c W2(x)@d
        ",
    );
}

/// Write skew: which of two reads, and of two writes, comes first is chance. That a thread has written before it reads is another pattern.
#[test]
fn p19_and_p20_are_one_pattern_and_p18_is_another() {
    check(
        &Options::default(),
        "
        F: R1(x)@a R2(y)@c W2(x)@b W1(y)@d
        F: R1(x)@a R2(y)@c W1(y)@d W2(x)@b
        F: R2(y)@c R1(x)@a W1(y)@d W2(x)@b
        F: R2(y)@c R1(x)@a W2(x)@b W1(y)@d
        P: R1(x)@a W2(x)@b R2(y)@c W1(y)@d
        ",
        "
        1/1 1.00 f=4 p=0 P19 R1(x)@a R2(y)@c W2(x)@b W1(y)@d
        2/2 0.80 f=4 p=1 P1 R1(x)@a W2(x)@b
        2/2 0.80 f=4 p=1 P1 R1(x)@c W2(x)@d
        4/1 0.00 f=0 p=1 P18 R1(x)@a W2(x)@b R2(y)@c W1(y)@d
        ",
    );
}

/// The example is named by its own order: here by that of the last run, the only one that fails.
#[test]
fn p13_p15_p16_and_p17_are_one_pattern() {
    check(
        &Options::default(),
        "
        P: W1(x)@a R2(y)@c R2(x)@b W1(y)@d
        P: W1(x)@a R2(y)@c W1(y)@d R2(x)@b
        P: R2(y)@c W1(x)@a W1(y)@d R2(x)@b
        F: R2(y)@c W1(x)@a R2(x)@b W1(y)@d
        ",
        "
        1/3 0.25 f=1 p=3 P16 R1(x)@c W2(y)@a R1(y)@b W2(x)@d
        1/3 0.25 f=1 p=3 P1 R1(x)@c W2(x)@d
        1/3 0.25 f=1 p=3 P2 W1(x)@a R2(x)@b
        ",
    );
}

#[test]
fn pairs_of_other_threads_or_kinds_or_directions_do_not_combine() {
    // Three threads.
    check(
        &Options::default(),
        "F: W1(x)@a W2(x)@b W3(y)@c W1(y)@d",
        "
        1/2 1.00 f=1 p=0 P3 W1(x)@a W2(x)@b
        1/2 1.00 f=1 p=0 P3 W1(x)@c W2(x)@d
    ",
    );
    // Thread 2 reads one variable and writes the other.
    check(
        &Options::default(),
        "F: W1(x)@a R2(x)@b W2(y)@c W1(y)@d",
        "
        1/2 1.00 f=1 p=0 P2 W1(x)@a R2(x)@b
        1/2 1.00 f=1 p=0 P3 W1(x)@c W2(x)@d
    ",
    );
    // Thread 1 is first both times.
    check(
        &Options::default(),
        "F: W1(x)@a W2(x)@b W1(y)@c W2(y)@d",
        "
        1/2 1.00 f=1 p=0 P3 W1(x)@a W2(x)@b
        1/2 1.00 f=1 p=0 P3 W1(x)@c W2(x)@d
    ",
    );
}

#[test]
fn pairs_combine_up_to_the_distance() {
    let traces = "F: W1(x)@a W2(x)@b W3(z)@e W4(z)@f W2(y)@c W1(y)@d";
    let pairs = "
        1/3 1.00 f=1 p=0 P3 W1(x)@a W2(x)@b
        1/3 1.00 f=1 p=0 P3 W1(x)@e W2(x)@f
        1/3 1.00 f=1 p=0 P3 W1(x)@c W2(x)@d
    ";
    check(&Options { distance: 1, ..Options::default() }, traces, pairs);
    check(
        &Options { distance: 2, ..Options::default() },
        traces,
        "
        1/4 1.00 f=1 p=0 P3 W1(x)@a W2(x)@b
        1/4 1.00 f=1 p=0 P9 W1(x)@a W2(x)@b W2(y)@c W1(y)@d
        1/4 1.00 f=1 p=0 P3 W1(x)@e W2(x)@f
        1/4 1.00 f=1 p=0 P3 W1(x)@c W2(x)@d
        ",
    );
}

/// Between two rounds of the writer both variables fit; within a round they do not. The first write of one round and the second of
/// the next one make no pattern.
#[test]
fn rounds_of_a_loop_are_not_mixed_up() {
    check(
        &Options::default(),
        "
        P: W1(x)@a W1(y)@b R2(x)@c R2(y)@d W1(x)@a W1(y)@b
        F: W1(x)@a W1(y)@b W1(x)@a R2(x)@c R2(y)@d W1(y)@b
        ",
        "
        1/1 1.00 f=1 p=0 P12 W1(x)@a R2(x)@c R2(y)@d W1(y)@b
        2/4 0.50 f=1 p=1 P2 W1(x)@b R2(x)@d
        2/4 0.50 f=1 p=1 P6 W1(x)@b R2(x)@d W1(x)@b
        2/4 0.50 f=1 p=1 P2 W1(x)@a R2(x)@c
        2/4 0.50 f=1 p=1 P1 R1(x)@d W2(x)@b
        6/3 0.00 f=0 p=1 P6 W1(x)@a R2(x)@c W1(x)@a
        6/3 0.00 f=0 p=1 P13 W1(x)@b R2(y)@c R2(x)@d W1(y)@a
        6/3 0.00 f=0 p=1 P1 R1(x)@c W2(x)@a
        ",
    );
}

/// Both threads do a and b each time, in a section of their own, but for the last time, when the first does b alone. What it did at a
/// belongs to the b that came right after.
#[test]
fn what_was_done_with_the_first_is_not_of_a_later_round() {
    check(
        &Options::default(),
        "F: W1(x)@a W1(y)@b W2(x)@a W2(y)@b W1(y)@b",
        "
        1/3 1.00 f=1 p=0 P3 W1(x)@a W2(x)@a
        1/3 1.00 f=1 p=0 P3 W1(x)@b W2(x)@b
        1/3 1.00 f=1 p=0 P8 W1(x)@b W2(x)@b W1(x)@b
        ",
    );
}

/// A thread may be held up for as long as it takes.
#[test]
fn the_pairs_of_a_triple_may_be_far_apart() {
    check(
        &Options { distance: 0, ..Options::default() },
        "F: R1(x)@a W3(z)@e W4(z)@f W2(x)@b W1(x)@c",
        "
        1/4 1.00 f=1 p=0 P1 R1(x)@a W2(x)@b
        1/4 1.00 f=1 p=0 P7 R1(x)@a W2(x)@b W1(x)@c
        1/4 1.00 f=1 p=0 P3 W1(x)@e W2(x)@f
        1/4 1.00 f=1 p=0 P3 W1(x)@b W2(x)@c
        ",
    );
}

/// The middle access of a triple is one access, not two at one site.
#[test]
fn a_triple_has_one_middle_access() {
    // Within a window of two, neither write at b forms a pair with both a and c.
    check(
        &support::window(2),
        "F: R1(x)@a W2(x)@b R3(x)@e W2(x)@b R1(x)@c",
        "
        1/5 1.00 f=1 p=0 P1 R1(x)@a W2(x)@b
        1/5 1.00 f=1 p=0 P2 W1(x)@b R2(x)@e
        1/5 1.00 f=1 p=0 P6 W1(x)@b R2(x)@e W1(x)@b
        1/5 1.00 f=1 p=0 P1 R1(x)@e W2(x)@b
        1/5 1.00 f=1 p=0 P2 W1(x)@b R2(x)@c
        ",
    );
}

#[test]
fn an_update_is_a_write() {
    check(
        &Options::default(),
        "F: U1(x)@a U2(x)@b U2(y)@c U1(y)@d",
        "
        1/3 1.00 f=1 p=0 P3 W1(x)@a W2(x)@b
        1/3 1.00 f=1 p=0 P9 W1(x)@a W2(x)@b W2(y)@c W1(y)@d
        1/3 1.00 f=1 p=0 P3 W1(x)@c W2(x)@d
        ",
    );
}

#[test]
fn a_gap_of_one_location_leaves_the_others_whole() {
    check(
        &Options::default(),
        "F: W1(x)@a W2(x)@b gap(x) R1(x)@e gap(z) W2(y)@c W1(y)@d",
        "
        1/3 1.00 f=1 p=0 P3 W1(x)@a W2(x)@b
        1/3 1.00 f=1 p=0 P9 W1(x)@a W2(x)@b W2(y)@c W1(y)@d
        1/3 1.00 f=1 p=0 P3 W1(x)@c W2(x)@d
        ",
    );
}

/// Few classes of pairs are kept track of in another way than very many.
#[test]
fn any_number_of_different_pairs_combines() {
    for others in [500, 9000] {
        let mut run = support::parse("F:").runs.remove(0);
        let mut pair_on = |location, threads: [u32; 2]| {
            for (nth, thread) in (0..).zip(threads) {
                let (location, site) = (LocationId(location), SiteId(2 * location + nth));
                run.accesses.push(support::access(AccessKind::Write, ThreadId(thread), location, site));
            }
        };
        (0..others).for_each(|location| pair_on(location, [1, 2]));
        pair_on(others, [2, 1]);
        let found = localize::localize(Technique::Unicorn, [&run], &Options::default());
        // Each pair, and the last one with the hundred before it.
        assert_eq!(found.len(), others as usize + 1 + 100);
    }
}
