//! What lets the best clue come about goes before it.

mod support;

use localize::{Detail, Finding, Options, Reason, Technique, localize};
use support::runs_like;

/// Pattern and sites of the first findings, with the place of a reason.
fn first(traces: &str, count: usize) -> Vec<String> {
    let session = support::parse(traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    let in_short = |finding: &Finding| {
        let told = match &finding.detail {
            Detail::Verdict(reasoning) if reasoning.reasons.contains(&Reason::Leads) => " leads",
            Detail::Verdict(reasoning) if reasoning.reasons.contains(&Reason::Follows) => " follows",
            Detail::Verdict(reasoning) if reasoning.reasons.contains(&Reason::Broken) => " is broken",
            Detail::Verdict(reasoning) if reasoning.reasons.contains(&Reason::FallsIn) => " falls in",
            _ => "",
        };
        session.in_short(finding) + told
    };
    findings.iter().take(count).map(in_short).collect()
}

/// Who waits for all jobs sees none running, since the last one is not counted yet, and reads the result too early.
const EARLY: &str = "R1(running)@look W2(running)@count R1(done)@check W2(done)@finish";
/// The same, but the result comes in time.
const LUCKY: &str = "R1(running)@look W2(running)@count W2(done)@finish R1(done)@check";
const RIGHT: &str = "W2(running)@count W2(done)@finish R1(running)@look R1(done)@check";

#[test]
fn the_look_that_came_too_early_goes_before_what_follows() {
    let traces = runs_like("F", EARLY, 30) + &runs_like("P", LUCKY, 15) + &runs_like("P", RIGHT, 45);
    assert_eq!(first(&traces, 2), ["P1 look count leads", "P1 check finish follows"]);
}

#[test]
fn a_few_runs_are_not_enough_to_tell() {
    let traces = runs_like("F", EARLY, 2) + &runs_like("P", LUCKY, 2) + &runs_like("P", RIGHT, 4);
    assert_eq!(first(&traces, 1), ["P1 check finish"]);
}

/// Of many innocent orders, some are seen more often in failing runs by chance.
#[test]
fn among_many_orders_a_leading_one_has_to_tell_more() {
    let others: String = (0..200).map(|nth| format!(" W1(v{nth})@write{nth} R2(v{nth})@read{nth}")).collect();
    let traces = |others: &str| {
        let line = |outcome, trace: &str, times| runs_like(outcome, &format!("{trace}{others}"), times);
        line("F", EARLY, 15) + &line("P", LUCKY, 45) + &line("P", RIGHT, 55)
    };
    assert_eq!(first(&traces(""), 1), ["P1 look count leads"]);
    assert_eq!(first(&traces(&others), 1), ["P1 check finish"]);
}

/// Each thread does the one right after the other, so that runs with the second order mostly have the first. If most passing runs with the first have the
/// second, too, that one does no more harm than the other.
#[test]
fn what_passing_runs_mostly_show_together_leads_to_nothing() {
    let both = "R1(epoch)@pin W2(epoch)@advance R1(buffer)@read W2(buffer)@swap";
    let first_only = "R1(epoch)@pin W2(epoch)@advance W2(buffer)@swap R1(buffer)@read";
    let neither = "W2(epoch)@advance W2(buffer)@swap R1(epoch)@pin R1(buffer)@read";
    let traces = |together: usize| {
        runs_like("F", both, 25)
            + &runs_like("P", both, together)
            + &runs_like("P", first_only, 4)
            + &runs_like("P", neither, 80)
    };
    assert_eq!(first(&traces(4), 1), ["P1 pin advance leads"]);
    assert_eq!(first(&traces(5), 1), ["P1 read swap"]);
}

/// All runs look too early: that explains nothing.
#[test]
fn what_is_always_there_leads_to_nothing() {
    let traces = runs_like("F", EARLY, 30) + &runs_like("P", LUCKY, 60);
    assert_eq!(first(&traces, 1), ["P1 check finish"]);
}

/// Two thirds of the passing runs look too early, or nearly half of not very many, which may as well be most: no run fails without that, but
/// it is not what goes wrong.
#[test]
fn what_most_passing_runs_show_leads_to_nothing() {
    for [lucky, right] in [[200, 100], [48, 52]] {
        let traces =
            runs_like("F", EARLY, 100) + &runs_like("P", LUCKY, lucky) + &runs_like("P", RIGHT, right);
        assert_eq!(first(&traces, 1), ["P1 check finish"], "{lucky}");
    }
    let traces = runs_like("F", EARLY, 100) + &runs_like("P", LUCKY, 480) + &runs_like("P", RIGHT, 520);
    assert_eq!(first(&traces, 1), ["P1 look count leads"]);
}

/// A thread counts twice before it does its part of what goes wrong, and another one counts in between.
#[test]
fn what_is_only_counted_leads_to_nothing() {
    let traces_with = |others: &str| {
        let own = "R1(jobs)@load W1(jobs)@add";
        let failing = format!("{own} {others} {own} R1(done)@check W2(done)@finish");
        let lucky = format!("{own} {others} {own} W2(done)@finish R1(done)@check");
        let right = format!("{others} {own} {own} W2(done)@finish R1(done)@check");
        runs_like("F", &failing, 30) + &runs_like("P", &lucky, 15) + &runs_like("P", &right, 45)
    };
    let counts = "R2(jobs)@load_too W2(jobs)@add_too";
    assert_eq!(first(&traces_with(counts), 1), ["P1 check finish"]);
    assert_eq!(first(&traces_with("W2(jobs)@clear"), 1), ["P5 add clear load leads"]);
}

/// A third of the failing runs look in time, or one of them.
#[test]
fn what_failing_runs_do_without_is_no_condition() {
    let otherwise = "W2(running)@count R1(running)@look R1(done)@check W2(done)@finish";
    for times in [10, 1] {
        let failing = runs_like("F", EARLY, 30 - times) + &runs_like("F", otherwise, times);
        let traces = failing + &runs_like("P", LUCKY, 15) + &runs_like("P", RIGHT, 45);
        assert_eq!(first(&traces, 1), ["P1 check finish"], "{times}");
    }
}

/// Another write breaks into the same code in a third of the failing runs, which look in time: both are one cause, and the look
/// leads to a part of it only.
#[test]
fn what_leads_to_a_part_of_a_cause_is_not_said_to_lead() {
    let [too_early, in_time] = ["R1(running)@look W2(running)@count", "W2(running)@count R1(running)@look"];
    let broken = |by: &str| format!("R1(done)@check W2(done)@{by} R1(done)@use");
    let passing = runs_like("P", &format!("{too_early} R1(done)@check W2(done)@finish"), 40)
        + &runs_like("P", &format!("{in_time} R1(done)@check W2(done)@finish"), 20)
        + &runs_like("P", &format!("{in_time} W2(done)@undo W2(done)@finish R1(done)@use"), 200);
    let early = format!("{too_early} {}", broken("finish"));
    let other = format!("{in_time} {}", broken("undo"));
    let both = runs_like("F", &early, 100) + &runs_like("F", &other, 50) + &passing;
    assert_eq!(first(&both, 1), ["P4 check finish use"]);
}

/// What comes after the result was read too early does not lead to that, however often it goes with it.
#[test]
fn what_comes_later_leads_to_nothing() {
    let early = "R1(done)@check W2(done)@finish R1(log)@print W2(log)@note";
    let lucky = "W2(done)@finish R1(done)@check R1(log)@print W2(log)@note";
    let right = "W2(done)@finish W2(log)@note R1(done)@check R1(log)@print";
    let traces = runs_like("F", early, 30) + &runs_like("P", lucky, 15) + &runs_like("P", right, 45);
    assert_eq!(first(&traces, 1), ["P1 check finish"]);
}

/// The order of `running` follows from that of `done`, which it encloses: where the result is read before it is there, the count that comes
/// after it is read too early as well.
#[test]
fn what_encloses_the_best_clue_does_not_lead_to_it() {
    let early = "R1(running)@look R1(done)@check W2(done)@finish W2(running)@count";
    let lucky = "R1(running)@look W2(done)@finish R1(done)@check W2(running)@count";
    let right = "W2(done)@finish W2(running)@count R1(running)@look R1(done)@check";
    let traces = runs_like("F", early, 30) + &runs_like("P", lucky, 15) + &runs_like("P", right, 45);
    assert_eq!(first(&traces, 1), ["P1 check finish"]);
}

/// Several workers do the same, and the one whose count is overlooked first need not be the one whose result is.
#[test]
fn another_thread_may_do_its_part() {
    let early = "R1(running)@look W3(running)@count W2(running)@count R1(done)@check W2(done)@finish";
    let traces = runs_like("F", early, 30) + &runs_like("P", LUCKY, 15) + &runs_like("P", RIGHT, 45);
    assert_eq!(first(&traces, 1), ["P1 look count leads"]);
    let unrelated = "R4(running)@look W3(running)@count R1(done)@check W2(done)@finish";
    let traces = runs_like("F", unrelated, 30) + &runs_like("P", LUCKY, 15) + &runs_like("P", RIGHT, 45);
    assert_eq!(first(&traces, 1), ["P1 check finish"]);
}

/// The reader has seen the other thread's step before the one that it comes too early for: that is told with it.
#[test]
fn the_look_is_told_with_what_was_seen_just_before() {
    let early = format!("W2(jobs)@pop R1(jobs)@empty {EARLY}");
    let lucky = format!("W2(jobs)@pop R1(jobs)@empty {LUCKY}");
    let right = format!("W2(jobs)@pop {}", RIGHT.replace("R1(running)", "R1(jobs)@empty R1(running)"));
    let traces = runs_like("F", &early, 30) + &runs_like("P", &lucky, 15) + &runs_like("P", &right, 45);
    assert_eq!(first(&traces, 2), ["P12 pop empty look count leads", "P1 check finish follows"]);
    // Another thread may have taken a job since.
    let early = early.replace("R1(jobs)", "W3(jobs)@pop R1(jobs)");
    let traces = runs_like("F", &early, 30) + &runs_like("P", &lucky, 15) + &runs_like("P", &right, 45);
    assert_eq!(first(&traces, 1), ["P12 pop empty look count leads"]);
    // Where half of the failing runs come to it in another way, it is no part of it.
    let traces = runs_like("F", &early, 15)
        + &runs_like("F", EARLY, 15)
        + &runs_like("P", &lucky, 15)
        + &runs_like("P", &right, 45);
    assert_eq!(first(&traces, 1), ["P1 look count leads"]);
}

/// Each of two threads decides by what the other is about to change.
#[test]
fn a_look_that_another_look_crosses_is_told_with_both() {
    let open = "R2(closing)@open W1(closing)@close";
    let [early, lucky] = [EARLY, LUCKY].map(|trace| format!("{open} {trace}"));
    let right = format!("R2(closing)@open {}", RIGHT.replace("R1(running)", "W1(closing)@close R1(running)"));
    let traces = runs_like("F", &early, 30) + &runs_like("P", &lucky, 15) + &runs_like("P", &right, 45);
    assert_eq!(first(&traces, 1), ["P18 open close look count leads"]);
}

/// Where passing runs show neither, nothing tells what leads from what follows, and the one that explains more stays first.
#[test]
fn what_no_passing_run_shows_is_not_said_to_lead() {
    let otherwise = "W2(running)@count R1(running)@look R1(done)@check W2(done)@finish";
    let traces = runs_like("F", EARLY, 28) + &runs_like("F", otherwise, 2) + &runs_like("P", RIGHT, 60);
    assert_eq!(first(&traces, 2), ["P1 check finish", "P1 look count"]);
}

/// A thread takes the head of a list by an exchange that compares. That another one takes it in between is noticed, and
/// it tries again; that the link it has read is out of date is not.
#[test]
fn what_an_exchange_notices_leads_to_nothing() {
    let broken =
        "R1(head)@look R1(next)@follow U2(head)@exchange W2(next)@link U2(head)@put U1(head)@exchange";
    let harmless =
        "R1(head)@look U2(head)@exchange W2(next)@link U2(head)@put R1(next)@follow U1(head)@exchange";
    let right =
        "U2(head)@exchange W2(next)@link U2(head)@put R1(head)@look R1(next)@follow U1(head)@exchange";
    let taken = "R1(head)@look U2(head)@exchange W2(next)@link R1(next)@follow";
    let traces = |taken: &str| {
        runs_like("F", broken, 30)
            + &runs_like("P", harmless, 4)
            + &runs_like("P", taken, 15)
            + &runs_like("P", right, 45)
    };
    assert_eq!(first(&traces(&format!("{taken} R1(head)@exchange")), 1), ["P1 follow link"]);
    // Who does not look again does not notice.
    assert_eq!(first(&traces(taken), 2), ["P1 look exchange leads", "P1 follow link follows"]);
}

/// The longer the check is outdated when its seat is sold, the more work for others falls in between: where that is so tells failing from passing runs better than
/// the sale, but all failing runs have the sale.
#[test]
fn what_falls_into_a_triple_in_a_part_of_the_failing_runs_goes_behind_it() {
    let long = "W1(keys)@store R2(sold)@check R2(keys)@fetch W1(sold)@sell R2(sold)@again";
    let short = "R2(keys)@fetch R2(sold)@check W1(keys)@store W1(sold)@sell R2(sold)@again";
    let right = "W1(keys)@store W1(sold)@sell R2(keys)@fetch R2(sold)@check R2(sold)@again";
    let traces = |long_ones: usize| {
        runs_like("F", long, long_ones)
            + &runs_like("F", short, 25 - long_ones)
            + &runs_like("P", long, 1)
            + &runs_like("P", short, 28)
            + &runs_like("P", right, 71)
    };
    assert_eq!(
        first(&traces(17), 2),
        ["P4 check sell again is broken", "P13 store check fetch sell falls in"]
    );
    assert_eq!(first(&traces(25), 1), ["P13 store check fetch sell"]);
}

/// A value is there for a moment only. Whoever reads it comes after the one write and before the other, and what the reader has found is what goes wrong.
#[test]
fn what_a_read_has_found_goes_before_what_came_after_it() {
    let caught = "W1(state)@note W1(state)@give_up R2(state)@look W3(state)@begin";
    let last = "W3(state)@begin W1(state)@note W1(state)@give_up R2(state)@look";
    // Far enough apart to have nothing to do with each other.
    let others = "W3(state)@note W1(state)@note ".repeat(5);
    let right = format!("W1(state)@give_up W3(state)@begin {others}R2(state)@look");
    let early = format!("R2(state)@look {others}W1(state)@give_up W3(state)@begin");
    let passing = runs_like("P", last, 1) + &runs_like("P", &right, 50) + &runs_like("P", &early, 49);
    let traces = runs_like("F", caught, 25) + &passing;
    assert_eq!(first(&traces, 1), ["P2 give_up look leads"]);
    let same_code = traces.replace("give_up", "begin");
    assert_eq!(first(&same_code, 1), ["P1 look begin"]);
}

/// Two nodes each find no leader and both become it; then each finds the other one at what only a leader does.
#[test]
fn a_section_that_was_broken_into_goes_before_what_each_thread_finds_of_the_other() {
    let both = "R1(leader)@look R2(leader)@look W2(leader)@become W1(leader)@become W1(journal)@begin W2(journal)@begin R1(journal)@end \
                R2(journal)@end";
    // The one has ended before the other begins.
    let lucky = "R1(leader)@look R2(leader)@look W2(leader)@become W1(leader)@become W2(journal)@begin R2(journal)@end \
                 W1(journal)@begin R1(journal)@end";
    let right = "R2(leader)@look W2(leader)@become W2(journal)@begin R2(journal)@end R1(leader)@look W1(leader)@become \
                 W1(journal)@begin R1(journal)@end";
    let late = "R1(leader)@look W1(leader)@become R2(leader)@look W1(journal)@begin R1(journal)@end";
    let traces = |lucky_runs: usize| {
        runs_like("F", both, 30)
            + &runs_like("P", lucky, lucky_runs)
            + &runs_like("P", right, 30)
            + &runs_like("P", late, 30)
    };
    assert_eq!(first(&traces(8), 1), ["P7 look become become leads"]);
    assert_eq!(first(&traces(90), 1), ["P5 begin begin end"], "how the test usually goes");
}

/// A texture is found unused, taken meanwhile, and released all the same; now and then it is drawn before that. That it is drawn after its release
/// is what comes of it. Who takes it only later does not find it.
#[test]
fn an_act_by_an_outdated_look_goes_before_what_comes_of_it() {
    let traces =
        runs_like("F", "R1(count)@look W2(count)@clone W1(count)@drop W1(gone)@release R2(gone)@draw", 16)
            + &runs_like(
                "P",
                "R1(count)@look W2(count)@clone R2(gone)@draw W1(count)@drop W1(gone)@release",
                6,
            )
            + &runs_like(
                "P",
                "R1(count)@look W1(count)@drop W2(count)@clone R2(gone)@draw W1(gone)@release",
                30,
            )
            + &runs_like(
                "P",
                "W2(count)@clone R2(gone)@draw R1(count)@look W1(count)@drop W1(gone)@release",
                30,
            );
    assert_eq!(first(&traces, 2), ["P7 look clone drop leads", "P2 release draw follows"]);
}

/// A handle is given back and then cleared by the one who had it: whoever has it by then is not to blame.
#[test]
fn who_goes_on_with_what_it_has_given_away_is_told_before_whom_it_hits() {
    let usual = "W1(used)@free W1(watched)@clear W2(used)@take W2(watched)@set R2(watched)@look";
    let hit = "W1(used)@free W2(used)@take W2(watched)@set W1(watched)@clear R2(watched)@look";
    let traces = |failing: usize| runs_like("F", hit, failing) + &runs_like("P", usual, 30);
    assert_eq!(first(&traces(10), 1), ["P9 free take set clear"]);
    assert_eq!(first(&traces(4), 1), ["P5 set clear look"], "that may be chance");
}
