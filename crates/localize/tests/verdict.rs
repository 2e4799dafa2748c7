//! The verdict on traces whose cause is known.

mod support;

use localize::*;
use support::{reasons, verdict_on as findings};

/// Asserts what comes first: pattern and sites.
#[track_caller]
fn check_first(traces: &str, expected: &str) {
    let (session, findings) = findings(traces);
    let shown: Vec<String> = findings.iter().map(|finding| in_short(&session, finding)).collect();
    assert_eq!(shown.first().map(String::as_str), Some(expected), "{shown:#?}");
}

/// `P4 ask take look`
fn in_short(session: &support::Session, finding: &Finding) -> String {
    let run = session.runs.iter().find(|run| run.id == finding.example.run).unwrap();
    let sites = finding.example.accesses.iter().map(|&access| session.site(run.accesses[access].site));
    format!("{:?} {}", finding.example.id, sites.collect::<Vec<_>>().join(" "))
}

/// Runs that differ in nothing but the order, many times.
fn many(passing: &[&str], failing: &[&str]) -> String {
    let lines = |outcome: &str, traces: &[&str], times: usize| -> String {
        traces.iter().flat_map(|trace| vec![format!("{outcome}: {trace}\n"); times]).collect()
    };
    lines("P", passing, 20) + &lines("F", failing, 5)
}

/// A check and its use; what the failure itself brings about is seen in failing runs alone, too.
#[test]
fn a_triple_stands_for_its_pairs_and_comes_before_the_news_of_the_failure() {
    let traces = many(
        &[
            "R1(n)@ask R1(n)@look W1(n)@take R2(n)@ask R2(n)@look W2(n)@take",
            "R2(n)@ask R2(n)@look W2(n)@take R1(n)@ask R1(n)@look W1(n)@take",
        ],
        &["R1(n)@ask R2(n)@ask R2(n)@look W2(n)@take R1(n)@look W1(bad)@note R3(bad)@tell"],
    );
    check_first(&traces, "P4 ask take look");
    let (_, findings) = findings(&traces);
    assert!(findings.iter().all(|finding| finding.tied == 1));
    assert_eq!(findings[0].failing_runs.len(), 5);
    assert!(findings[0].score > 0.9, "{}", findings[0].score);
    let first = reasons(&findings[0]);
    assert_eq!(first[0], Reason::Runs { failed: 5, all_failed: 5, passed: 0, all_passed: 40 });
    assert!(first.contains(&Reason::Reordered), "{first:?}");
    assert!(first.iter().any(|reason| matches!(reason, Reason::Folded(_))), "{first:?}");
    let news = reasons(findings.last().unwrap());
    assert!(news.contains(&Reason::NewCode), "{news:?}");
}

/// A test that fails for an unseen reason, and then reads what it prints.
#[test]
fn what_only_the_failure_reads_is_not_believed() {
    let traces = many(&["W1(done)@count R3(go)@begin"], &["W1(done)@count R3(go)@begin R2(done)@print"]);
    let (session, findings) = findings(&traces);
    assert_eq!(in_short(&session, &findings[0]), "P2 count print");
    assert!(reasons(&findings[0]).contains(&Reason::NewCode));
    assert!(findings[0].score < 0.2, "{}", findings[0].score);
}

/// The first two accesses come in either order whether a run fails or not; the third is the failure's own cleaning up.
#[test]
fn what_ends_in_what_only_the_failure_does_is_not_believed() {
    let traces = many(
        &["W1(count)@share W2(count)@give", "W2(count)@give W1(count)@share"],
        &["W1(count)@share W2(count)@give W1(count)@unwind"],
    );
    let (session, findings) = findings(&traces);
    let unwinding = findings.iter().filter(|finding| in_short(&session, finding).ends_with(" unwind"));
    assert!(unwinding.clone().count() > 0);
    for finding in unwinding {
        assert!(reasons(finding).contains(&Reason::NewCode), "{:?}", reasons(finding));
        assert!(finding.score < 0.2, "{}", finding.score);
    }
}

/// The interleaving does no harm while there is enough for all, and the failure's message reads what went wrong.
#[test]
fn what_only_the_failure_reads_goes_behind_what_explains_all_failures() {
    let apart = "W3(left)@fill R1(left)@ask W1(left)@take R2(left)@ask W2(left)@take";
    let between = "W3(left)@fill R1(left)@ask R2(left)@ask W2(left)@take W1(left)@take";
    let message = format!("{between} R3(left)@print");
    let traces = format!("{}P: {between}\nP: {between}\n", many(&[apart, apart], &[&message, &message]));
    check_first(&traces, "P7 ask take take");
    let (session, findings) = findings(&traces);
    assert!(findings[0].score > 0.5, "{}", findings[0].score);
    let message = findings.iter().find(|finding| in_short(&session, finding).ends_with(" print")).unwrap();
    assert!(reasons(message).contains(&Reason::NewCode));

    // A few passing runs may just not have come there.
    let few = format!(
        "P: {apart}\nP: {between}\nF: {}\n",
        "W3(left)@fill R1(left)@ask W1(left)@take R3(left)@print"
    );
    let (_, findings) = self::findings(&few);
    assert!(findings.iter().all(|finding| !reasons(finding).contains(&Reason::NewCode)));
}

/// What goes wrong shows itself in two ways, and the test's note of it in one: that is no reason to begin with the note. Who knows
/// whether the other failures have the same cause.
#[test]
fn what_only_the_failure_does_goes_behind_what_explains_most_failures() {
    let lines = |outcome: &str, trace: &str, times| format!("{outcome}: {trace}\n").repeat(times);
    let (before, after) = ("W2(x)@put W2(y)@put", "R1(x)@look R1(x)@use R1(y)@look R1(y)@use");
    let traces = [
        lines("P", &format!("{before} {after} R3(bad)@tell"), 20),
        lines("P", &format!("{after} {before} R3(bad)@tell"), 20),
        lines("F", "R1(x)@look W2(x)@put R1(x)@use W1(bad)@note R3(bad)@tell", 6),
        lines("F", "R1(y)@see W2(y)@set R1(y)@act W1(bad)@note R3(bad)@tell", 4),
    ];
    let (session, findings) = findings(&traces.concat());
    assert_eq!(in_short(&session, &findings[0]), "P4 look put use");
    assert!(findings[0].score < 0.2, "{}", findings[0].score);
    let note = findings.iter().find(|finding| in_short(&session, finding) == "P2 note tell").unwrap();
    assert!(reasons(note).contains(&Reason::NewCode) && note.score < 0.2, "{}", note.score);
}

/// A thing is made before anybody uses it, and used until another one is told to stop: of these two only the second can be otherwise.
#[test]
fn what_was_set_up_is_no_half_of_a_cause() {
    let two_variables = |made: &str| {
        let lines = |outcome: &str, trace: &str, times| format!("{outcome}: {made} {trace}\n").repeat(times);
        let traces = [
            lines("P", "W1(stop)@end R2(thing)@use R2(stop)@ask", 30),
            lines("P", "R2(thing)@use W1(stop)@end R2(stop)@ask", 30),
            lines("P", "R2(stop)@ask R2(thing)@use W1(stop)@end", 10),
            lines("F", "R2(thing)@use R2(stop)@ask W1(stop)@end", 10),
        ];
        let (_, findings) = findings(&traces.concat());
        findings.iter().any(|finding| finding.example.accesses.len() == 4)
    };
    assert!(two_variables("R1(thing)@look W1(thing)@make"), "it was there before");
    assert!(!two_variables("W1(thing)@make"));
}

/// The third access is the first one, a round later: nothing is interrupted, it only comes too late.
#[test]
fn a_loop_is_no_atomic_region() {
    let passing = "W0(stop)@init R1(stop)@poll R1(stop)@poll W2(stop)@set";
    check_first(
        &many(
            &[passing, "W0(stop)@init W2(stop)@set R1(stop)@last"],
            &["W0(stop)@init R1(stop)@poll W2(stop)@set R1(stop)@poll"],
        ),
        "P2 set poll",
    );
}

/// Both pairs are harmless by themselves: a passing run has each.
#[test]
fn two_variables_belong_together() {
    let update = "W1(a)@a W1(b)@b";
    check_first(
        &many(
            &[&format!("{update} R2(a)@c R2(b)@d"), &format!("R2(a)@c R2(b)@d {update}")],
            &["W1(a)@a R2(a)@c R2(b)@d W1(b)@b"],
        ),
        "P12 a c d b",
    );
}

/// The value of initialisation is read only because the update is late: the update's order is to blame.
#[test]
fn initialisation_is_not_to_blame() {
    check_first(
        &many(&["W0(x)@init W1(x)@load R2(x)@use"], &["W0(x)@init R2(x)@use W1(x)@load"]),
        "P1 use load",
    );
}

/// The words of a lock are updated around the data, in the same order.
#[test]
fn data_come_before_the_words_of_their_lock() {
    let whole =
        |thread: u32| format!("U{thread}(l)@lock R{thread}(x)@get W{thread}(x)@put U{thread}(l)@unlock");
    let torn = "U1(l)@lock R1(x)@get U1(l)@unlock U2(l)@lock R2(x)@get U2(l)@unlock U2(l)@lock W2(x)@put \
                U2(l)@unlock U1(l)@lock W1(x)@put U1(l)@unlock";
    check_first(&many(&[&format!("{} {}", whole(1), whole(2))], &[torn]), "P7 get put put");
}

#[test]
fn one_failing_run_is_enough_for_an_answer() {
    let passing = "P: W1(x)@make R2(x)@use\n".repeat(50);
    let (session, findings) = findings(&format!("{passing}F: R2(x)@use W1(x)@make"));
    assert_eq!(in_short(&session, &findings[0]), "P1 use make");
    assert!(findings[0].score > 0.8, "{}", findings[0].score);
}

/// Every run has something of its own, so that a failing one with something of its own says nothing.
#[test]
fn chance_is_not_believed() {
    let mut traces = String::new();
    for run in 0..40 {
        let outcome = if run % 8 == 3 { 'F' } else { 'P' };
        traces += &format!("{outcome}: W1(x)@a{run} R2(x)@b{run} R2(y)@c W1(y)@d\n");
    }
    let (_, findings) = findings(&traces);
    assert!(findings.iter().all(|finding| finding.score < 0.5), "{findings:#?}");
}

/// Where failing runs end too early to show the accesses, what they lack tells.
#[test]
fn what_failing_runs_lack_is_asked_last() {
    check_first(&many(&["W1(x)@make R2(x)@use"], &["R2(y)@start"]), "P1 use make");
}

/// Most failing runs end before the second access, and a few come to it.
#[test]
fn what_most_failing_runs_lack_and_some_show_is_told_once() {
    let traces = support::runs_like("P", "W1(x)@make R2(x)@use", 60)
        + &support::runs_like("F", "R2(y)@start", 30)
        + &support::runs_like("F", "R2(x)@use W1(x)@make", 2);
    let (session, findings) = findings(&traces);
    let told = findings.iter().filter(|finding| in_short(&session, finding) == "P1 use make");
    assert_eq!(told.count(), 1);
}

/// Who closes a channel waits for a block that another is about to store, by a look that no passing run needs, and uses it. What the two do
/// with the message afterwards tells most failing runs, too, but comes after that look, and so is not why it is made.
#[test]
fn what_comes_after_new_code_is_no_cause_of_it() {
    let lines = |outcome: &str, trace: &str, times: usize| format!("{outcome}: {trace}\n").repeat(times);
    let traces = lines("P", "W2(block)@store W1(block)@swap W2(m)@drop W1(m)@free", 20)
        + &lines("P", "W1(block)@swap W2(block)@store W1(m)@free W2(m)@drop", 20)
        + &lines("F", "W1(block)@swap W2(block)@store R1(block)@wait W2(m)@drop W1(m)@free", 12)
        + &lines("F", "W1(block)@swap W2(block)@store R1(block)@wait W1(m)@free W2(m)@drop", 4);
    let (session, findings) = findings(&traces);
    let shown: Vec<String> = findings.iter().map(|finding| in_short(&session, finding)).collect();
    assert_eq!(shown[..2], ["P5 swap store wait", "P9 swap store drop free"]);
}

/// The same where all failing runs are alike, so that both are one cause: it is told by what came first.
#[test]
fn of_one_cause_what_comes_after_new_code_is_not_told() {
    let lines = |outcome: &str, trace: &str, times: usize| format!("{outcome}: {trace}\n").repeat(times);
    let traces = lines("P", "W2(block)@store W1(block)@swap W1(m)@free W2(m)@drop", 38)
        + &lines("P", "W1(block)@swap W2(block)@store W1(m)@free W2(m)@drop", 2)
        + &lines("F", "W1(block)@swap W2(block)@store R1(block)@wait W2(m)@drop W1(m)@free", 16);
    let (session, findings) = findings(&traces);
    let shown: Vec<String> = findings.iter().map(|finding| in_short(&session, finding)).collect();
    assert_eq!(shown, ["P5 swap store wait"]);
}

/// A thread looks again and again until another has stored what it waits for. It uses that at last; that it was not there at first is
/// how waiting goes.
#[test]
fn who_waits_does_not_look_too_early() {
    let waiting = "R1(block)@wait W2(block)@store R1(block)@wait";
    check_first(&many(&["W2(block)@store W1(block)@swap"], &[waiting]), "P2 store wait");
}

/// Each object is freed by its last user, so that passing runs never use what another thread frees. The message about
/// it reads what only failing runs read, and one of them more shows that. That passing runs never come there is left aside.
#[test]
fn memory_that_is_used_after_it_was_freed_is_no_effect() {
    let passing = "W1(a)@make R1(a)@use W1(a)@free W2(b)@make R2(b)@use W2(b)@free";
    let used = "W1(a)@make W1(a)@free R2(a)@use W1(e)@store R2(e)@print";
    let traces = many(&[passing, passing], &[used]) + "F: W1(a)@make W1(e)@store R2(e)@print\n";
    let mut session = support::parse(&traces);
    let free = (0..).map(SiteId).find(|&site| session.site(site) == "free").unwrap();
    let first = |session: &support::Session| {
        let tuning = Tuning { new_code: false, ..Tuning::default() };
        let findings = localize(Technique::Verdict, &session.runs, &Options { tuning, ..Options::default() });
        (in_short(session, &findings[0]), reasons(&findings[0]))
    };
    assert_eq!(first(&session).0, "P2 store print");
    for access in
        session.runs.iter_mut().flat_map(|run| &mut run.accesses).filter(|access| access.site == free)
    {
        access.frees = true;
    }
    let (first, reasons) = first(&session);
    assert_eq!(first, "P2 free use");
    assert!(reasons.contains(&Reason::Freed), "{reasons:?}");
}

/// An object and what it owns are freed too early, and the next access to either fails. Something else goes with the
/// failure, in more runs than each of these. Passing runs free at the same places, where no access of theirs follows.
#[test]
fn uses_of_freed_memory_count_together() {
    let passing = ["W1(s)@stop R2(s)@ask W1(o)@make R2(o)@use W1(p)@fill R2(p)@step"];
    let asked = "R2(s)@ask W1(s)@stop";
    let mut traces = many(&passing, &[]);
    for (nth, used) in ["W1(o)@free R2(o)@use", "W1(p)@drop R2(p)@step"].into_iter().enumerate() {
        traces += &format!("F: {asked} {used}\n").repeat(5);
        traces += &format!("F: W1(s)@stop R2(s)@ask {used}\n").repeat(1 + nth);
    }
    let mut session = support::parse(&traces);
    let first = |session: &support::Session, freed: bool| {
        let tuning = Tuning { freed, ..Tuning::default() };
        let findings = localize(Technique::Verdict, &session.runs, &Options { tuning, ..Options::default() });
        (in_short(session, &findings[0]), reasons(&findings[0]))
    };
    let at = |session: &support::Session, name: &str| {
        (0..).map(SiteId).find(|&site| session.site(site) == name).unwrap()
    };
    let free_sites = vec![at(&session, "free"), at(&session, "drop")];
    assert_eq!(first(&session, true).0, "P1 ask stop");
    for run in &mut session.runs {
        run.free_sites.clone_from(&free_sites);
    }
    assert_eq!(first(&session, false).0, "P1 ask stop");
    let (cause, reasons) = first(&session, true);
    assert_eq!(cause, "P2 drop step");
    assert!(
        reasons.contains(&Reason::FreedTogether { failed: 13, passed: 0, all_failed: 13 }),
        "{reasons:?}"
    );
}

/// The same where a passing run got away with each of the two uses: nobody else had got the memory yet.
#[test]
fn a_use_of_freed_memory_that_a_run_got_away_with_counts_with_the_others() {
    let passing = ["W1(s)@stop R2(s)@ask W1(o)@make R2(o)@use W1(p)@fill R2(p)@step"];
    let mut traces = many(&passing, &[]);
    for (used, more) in [("W1(o)@free R2(o)@use", 1), ("W1(p)@drop R2(p)@step", 2)] {
        traces += &format!("P: W1(s)@stop R2(s)@ask {used}\n");
        traces += &format!("F: R2(s)@ask W1(s)@stop {used}\n").repeat(11);
        traces += &format!("F: W1(s)@stop R2(s)@ask {used}\n").repeat(more);
    }
    let mut session = support::parse(&traces);
    let at = |name: &str| (0..).map(SiteId).find(|&site| session.site(site) == name).unwrap();
    let free_sites = vec![at("free"), at("drop")];
    for run in &mut session.runs {
        run.free_sites.clone_from(&free_sites);
    }
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    assert_eq!(in_short(&session, &findings[0]), "P2 drop step");
    let reasons = reasons(&findings[0]);
    assert!(
        reasons.contains(&Reason::FreedTogether { failed: 25, passed: 2, all_failed: 25 }),
        "{reasons:?}"
    );
}

/// All runs use what another thread has freed. What that does differs: nothing else tells which runs fail but a message about it, which
/// follows from something else. Where something does tell, the use of freed memory comes second.
#[test]
fn what_is_wrong_in_all_runs_is_to_blame_where_nothing_else_is() {
    let used = "W1(a)@make R1(a)@look W1(a)@free R2(a)@use";
    let findings = |passing: &str, failing: &str| {
        let mut session = support::parse(&many(&[passing], &[failing]));
        let free = (0..).map(SiteId).find(|&site| session.site(site) == "free").unwrap();
        let accesses = session.runs.iter_mut().flat_map(|run| &mut run.accesses);
        accesses.filter(|access| access.site == free).for_each(|access| access.frees = true);
        let findings = localize(Technique::Verdict, &session.runs, &Options::default());
        assert!(findings.iter().enumerate().all(|(nth, finding)| finding.rank == nth + 1));
        findings.iter().map(|finding| (in_short(&session, finding), finding.clone())).collect::<Vec<_>>()
    };
    let unexplained = findings(used, &format!("{used} W2(e)@store R1(e)@print"));
    assert_eq!(unexplained[0].0, "P2 free use");
    assert!(reasons(&unexplained[0].1).contains(&Reason::Fault));
    assert!(unexplained[0].1.score > 0.8, "{}", unexplained[0].1.score);

    let explained = findings(
        &format!("{used} R1(c)@check R1(c)@act W2(c)@change"),
        &format!("{used} R1(c)@check W2(c)@change R1(c)@act"),
    );
    let names: Vec<_> = explained.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[1], "P2 free use", "{names:?}");
    assert!(explained[0].1.score > 0.8 && explained[1].1.score < 0.2);
}

/// A thread looks twice, and one of two others' writes in between fails. Something else goes with the failure, in more runs than each
/// of these.
#[test]
fn what_breaks_into_the_same_code_counts_together() {
    let asked = "R2(s)@ask W1(s)@stop";
    let traces = many(&["W2(s)@stop R1(s)@ask R1(c)@look R1(c)@again W2(c)@swap W2(c)@reset"], &[])
        + &format!("P: {asked} R1(c)@look R1(c)@again W2(c)@swap W2(c)@reset\n")
        + &["swap", "reset"]
            .map(|write| {
                let broken = format!("R1(c)@look W2(c)@{write} R1(c)@again");
                format!("F: {asked} {broken}\n").repeat(5) + &format!("F: W1(s)@stop R2(s)@ask {broken}\n")
            })
            .concat();
    let session = support::parse(&traces);
    let first = |regions: bool| {
        let tuning = Tuning { regions, ..Tuning::default() };
        let findings = localize(Technique::Verdict, &session.runs, &Options { tuning, ..Options::default() });
        (in_short(&session, &findings[0]), reasons(&findings[0]))
    };
    assert_eq!(first(false).0, "P1 ask stop");
    let (cause, reasons) = first(true);
    assert_eq!(cause, "P4 look swap again");
    assert!(reasons.contains(&Reason::RegionTogether { failed: 12, passed: 0 }), "{reasons:?}");
}

/// Whatever breaks in, one of the writes is read by the second look in the end: that pair is but a part of it.
#[test]
fn a_part_of_what_breaks_into_code_is_no_cause_of_its_own() {
    let resets = "W2(c)@reset R1(c)@again ".repeat(3);
    let traces = many(&["R1(c)@look R1(c)@again W2(c)@swap W2(c)@reset"], &[])
        // One run of each gets away with it.
        + "P: R1(c)@look W2(c)@reset R1(c)@again\nP: R1(c)@again W2(c)@swap R1(c)@again\n"
        + &[
            "R1(c)@look W2(c)@swap R1(c)@again\n".to_owned(),
            format!("R1(c)@look {resets} W2(c)@swap R1(c)@again\n"),
        ]
        .map(|broken| format!("F: {broken}").repeat(6))
        .concat();
    let session = support::parse(&traces);
    let first = |regions: bool| {
        let tuning = Tuning { regions, ..Tuning::default() };
        let findings = localize(Technique::Verdict, &session.runs, &Options { tuning, ..Options::default() });
        in_short(&session, &findings[0])
    };
    assert_eq!([first(false), first(true)], ["P2 swap again", "P4 look swap again"]);
}

/// The same with two variables, which others change at one place or at another.
#[test]
fn what_breaks_into_code_between_two_variables_counts_together() {
    let asked = "R2(s)@ask W1(s)@stop";
    let whole = "R1(c)@look R1(d)@look W2(c)@take W2(d)@give W2(d)@take W2(c)@give";
    let traces = many(
        &[&format!("W2(s)@stop R1(s)@ask {whole}"), &format!("{asked} W2(c)@give W2(d)@take {whole}")],
        &[],
    ) + &["W2(c)@take W2(d)@give", "W2(c)@give W2(d)@take"]
        .map(|writes| {
            let broken = format!("R1(c)@look {writes} R1(d)@look");
            format!("F: {asked} {broken}\n").repeat(5) + &format!("F: W1(s)@stop R2(s)@ask {broken}\n")
        })
        .concat();
    let session = support::parse(&traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    let all: Vec<String> = findings.iter().map(|finding| in_short(&session, finding)).collect();
    let together =
        |finding: &Finding| reasons(finding).contains(&Reason::RegionTogether { failed: 12, passed: 0 });
    assert!(findings[0].pattern.sites().len() == 4 && together(&findings[0]), "{all:?}");
}

/// Passing runs end with a look at what was written. Failing ones end before it, so that nothing follows from its absence.
#[test]
fn what_comes_after_the_failure_is_not_missed() {
    let traces = many(&["W1(x)@work W2(x)@work R0(x)@check"], &["W1(x)@work W2(x)@work"]);
    let session = support::parse(&traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    let all: Vec<String> = findings.iter().map(|finding| in_short(&session, finding)).collect();
    assert!(!all.iter().any(|finding| finding.contains("check")), "{all:?}");
}

/// One way of scheduling makes the test fail, whatever it shows, and always shows what is innocent. Another does neither.
#[test]
fn runs_are_compared_with_those_that_were_scheduled_alike() {
    let (late, early) = ("R2(x)@use W1(x)@make", "W1(x)@make R2(x)@use");
    let lines = |outcome: char, trace: &str, times: usize| format!("{outcome}: {trace}\n").repeat(times);
    let first_of = |walk: [&str; 2], free: [&str; 2], ways: bool| {
        let runs = [('F', walk[0], 16), ('P', walk[1], 8), ('F', free[0], 2), ('P', free[1], 40)];
        let traces: String =
            runs.iter().map(|&(outcome, trace, times)| lines(outcome, trace, times)).collect();
        let mut session = support::parse(&traces);
        for (nth, run) in session.runs.iter_mut().enumerate() {
            run.way = if ways && nth < 24 { 1 } else { 0 };
        }
        let findings = localize(Technique::Verdict, &session.runs, &Options::default());
        findings.first().map_or(0.0, |finding| finding.score)
    };
    let innocent = |ways| first_of([late, late], [early, early], ways);
    assert!(innocent(false) > 0.9 && innocent(true) <= 0.5, "{} {}", innocent(false), innocent(true));
    // What fails both ways is a cause either way.
    let cause = |ways| first_of([late, early], [late, early], ways);
    assert!(cause(false) > 0.9 && cause(true) > 0.9, "{} {}", cause(false), cause(true));
}

/// The same as what only the failure reads; but if one access of a hundred is looked at, passing runs may read it too.
#[test]
fn what_passing_runs_do_not_show_may_have_been_overlooked() {
    let traces = many(&["W1(done)@count R3(go)@begin"], &["W1(done)@count R3(go)@begin R2(done)@print"]);
    let mut session = support::parse(&traces);
    let mut first = |sampled| {
        session.runs.iter_mut().for_each(|run| run.sampled = sampled);
        localize(Technique::Verdict, &session.runs, &Options::default())[0].score
    };
    assert!(first(Some(10_000)) > 0.8, "{}", first(Some(10_000)));
    // Twenty runs with nine of ten accesses would have shown it.
    assert!((first(Some(900_000)) - first(None)).abs() < 1e-6);
}

/// A check and its use do harm at the right value alone, so that among the runs of one way of scheduling no more fail with it than
/// without. It is still the best there is to try out, but nothing to be sure of.
#[test]
fn what_goes_with_a_way_of_scheduling_is_told_with_doubt() {
    let (broken, whole) = ("R1(n)@ask W2(n)@take W1(n)@take", "R1(n)@ask W1(n)@take R2(n)@ask W2(n)@take");
    let line = |outcome: &str, trace: &str, times| format!("{outcome}: {trace}\n").repeat(times);
    // The first way breaks into it in every run, half of which fail; the other one never does.
    let mut session =
        support::parse(&[line("F", broken, 10), line("P", broken, 10), line("P", whole, 40)].concat());
    session.runs.iter_mut().for_each(|run| run.way = u32::from(run.id.0 > 20));
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    assert_eq!(in_short(&session, &findings[0]), "P7 ask take take");
    assert!(findings[0].score <= 0.5, "{}", findings[0].score);
    assert!(reasons(&findings[0]).contains(&Reason::Scheduling), "{:?}", reasons(&findings[0]));
}

/// Failing runs end before the second of two writers has come to where all passing runs have both. One before the other is
/// no other order than the other before the one.
#[test]
fn what_reads_the_same_the_other_way_round_is_not_missed() {
    let traces = many(&["W1(x)@move W2(x)@move R3(x)@look"], &["W1(x)@move R3(x)@look"]);
    let (session, findings) = findings(&traces);
    let all: Vec<String> = findings.iter().map(|finding| in_short(&session, finding)).collect();
    assert!(!all.iter().any(|finding| finding.contains("move move")), "{all:?}");
}

/// Each thread makes words that no other uses, but in failing runs and in one that passes. What goes wrong with a word then
/// is in a part of them only: that it was made before it was used is not what went wrong.
#[test]
fn what_was_set_up_is_not_to_blame_for_being_used() {
    let first_of = |shared: &str| {
        let lines = |outcome: &str, trace: &str, times| format!("{outcome}: {trace}\n").repeat(times);
        let shows = format!("{shared} W1(n)@count W2(n)@count");
        let harm = format!("{shared} W2(n)@count W1(n)@count");
        let all = lines("P", &shows, 1) + &lines("P", "W1(n)@count W2(n)@count", 30) + &lines("F", &harm, 10);
        let session = support::parse(&(all + &lines("F", &shows, 6)));
        let findings = localize(Technique::Verdict, &session.runs, &Options::default());
        let use_of_word = |finding: &&Finding| in_short(&session, finding) == "P2 make use";
        let found = findings.iter().find(use_of_word).map(|finding| (finding.score, reasons(finding)));
        found.expect("it is told with little confidence")
    };
    let (confidence, why) = first_of("W1(word)@make R2(word)@use");
    assert!(confidence < 0.5 && why.contains(&Reason::SetUp), "{confidence} {why:?}");
    // A word that was there before was not set up by that write.
    let (confidence, why) = first_of("R1(word)@look W1(word)@make R2(word)@use");
    assert!(confidence > 0.5 && why.contains(&Reason::OneOrder), "{confidence} {why:?}");
}

/// A thread is started with a value that stays as it is, and looks at another one that changes later. That the first was set
/// before is no part of anything.
#[test]
fn what_the_creation_of_a_thread_keeps_in_order_is_no_half_of_a_cause() {
    let lines = |outcome: &str, trace: &str, times| format!("{outcome}: {trace}\n").repeat(times);
    let traces = [
        lines("P", "R1(size)@old W1(size)@begin W1(stop)@end R2(size)@look R2(stop)@ask", 30),
        lines("P", "R1(size)@old W1(size)@begin R2(size)@look W1(stop)@end R2(stop)@ask", 30),
        lines("F", "R1(size)@old W1(size)@begin R2(size)@look R2(stop)@ask W1(stop)@end", 10),
        // The end of the pair is not all that there is to it, so that both variables tell more.
        lines("P", "R1(size)@old W1(size)@begin R2(stop)@ask R2(size)@look W1(stop)@end", 10),
    ];
    let mut session = support::parse(&traces.concat());
    let two_variables = |session: &support::Session| {
        let findings = localize(Technique::Verdict, &session.runs, &Options::default());
        findings.iter().any(|finding| finding.example.accesses.len() == 4)
    };
    assert!(two_variables(&session), "without a word about threads it may be");
    for run in &mut session.runs {
        for (thread, kind, target) in [(1, SyncKind::Create, 2), (2, SyncKind::Start, 1)] {
            run.synchronization.push(SyncEvent {
                before: 2,
                thread: ThreadId(thread),
                kind,
                target: SyncTarget::Thread(ThreadId(target)),
                site: SiteId(0),
                stack: StackId(0),
            });
        }
    }
    assert!(!two_variables(&session));
}

/// Of two stretches that the same runs break into, the one within the other is to be kept whole: who asks and takes, not who has taken before and takes
/// again.
#[test]
fn the_shorter_of_two_stretches_is_to_be_kept_whole() {
    // Between its look at what was sold and its sale a thread writes something of its own: this is more than counting.
    let sell = |thread: u32| format!("R{thread}(n)@sold W{thread}(own{thread})@note W{thread}(n)@sell");
    let take = |thread: u32| format!("R{thread}(x)@look W{thread}(x)@take {}", sell(thread));
    let turn = |thread: u32| format!("R{thread}(x)@ask {}", take(thread));
    let [one, other] = [turn(1), turn(2)];
    let whole = [format!("{one} {one} {other}"), format!("{other} {one} {one}")];
    let torn = format!("{one} R1(x)@ask {other} {}", take(1));
    let traces = many(&[&whole[0], &whole[1]], &[&torn]);
    check_first(&traces, "P4 ask take look");
    let tuning = Tuning { stretches: false, ..Tuning::default() };
    let session = support::parse(&traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options { tuning, ..Options::default() });
    assert_eq!(in_short(&session, &findings[0]), "P5 sell sell sold");
}

/// A thread that comes to a line early finds nothing to call there and crashes. That there was something for it to do is seen in all failing
/// runs, and in most passing ones.
#[test]
fn what_most_passing_runs_show_does_not_stand_before_what_failing_runs_lack() {
    let early = "W2(line)@put R1(line)@take R1(decode)@use";
    let late = "W2(line)@put W2(decode)@set R1(line)@take R1(decode)@use";
    let idle = "W2(decode)@set R1(line)@take W2(line)@put R1(decode)@use";
    let traces = support::runs_like("F", early, 30)
        + &support::runs_like("P", late, 60)
        + &support::runs_like("P", idle, 40);
    let session = support::parse(&traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    assert_eq!(session.in_short(&findings[0]), "P1 use set");
}
