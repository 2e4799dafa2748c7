use insta::assert_snapshot;
use proptest::prelude::*;
use report::terminal::{self, Hint, View};
use report::{AccessKind, FailureGroup, Finding, Kind, Report, Runs, Verdict};
use unicode_width::UnicodeWidthStr;

use crate::samples::{
    Known, access, confirmed, early_use, finding, frame, hangs, report, stale_check, torn_pair,
};

const NARROW: View = View { width: 80, color: false, listed: 5, name_technique: false };
const WIDE: View = View { width: 120, ..NARROW };

fn summary(report: &Report, view: &View) -> String {
    terminal::summary(report, &[], view)
}

fn in_full(finding: Finding, view: &View) -> String {
    let report = report(vec![finding]);
    terminal::finding(&report, 1, &report.findings[0], view)
}

fn hints() -> Vec<Hint> {
    let hint = |label: &str, command: &str| Hint { label: label.into(), command: command.into() };
    vec![hint("one in full", "unsnarl show 1"), hint("as JSON", "unsnarl report --json")]
}

#[test]
fn first_screen() {
    let report = report(vec![confirmed(stale_check()), early_use(), torn_pair()]);
    assert_snapshot!("first_screen_80", terminal::summary(&report, &hints(), &NARROW));
    assert_snapshot!("first_screen_120", terminal::summary(&report, &hints(), &WIDE));
}

/// Escapes are made visible, so that the snapshot can be read.
#[test]
fn first_screen_in_colour() {
    let report = report(vec![confirmed(stale_check()), early_use()]);
    let view = View { color: true, ..WIDE };
    assert_snapshot!(summary(&report, &view).replace('\u{1b}', "␛"));
}

#[test]
fn colours_change_nothing_but_colours() {
    let report = report(vec![confirmed(stale_check()), early_use(), torn_pair()]);
    for view in [NARROW, WIDE] {
        let coloured = View { color: true, ..view };
        assert_eq!(without_colours(&summary(&report, &coloured)), summary(&report, &view));
    }
}

#[test]
fn who_looks_at_a_weak_suspect_is_told_that_it_is_one() {
    let told = |confidence, failing_runs: &[u64]| {
        let weak =
            Finding { confidence: Some(confidence), failing_runs: failing_runs.to_vec(), ..early_use() };
        let report = report(vec![Finding { failing_runs: vec![4, 7], ..confirmed(stale_check()) }, weak]);
        let [first, second] = [1, 2].map(|number| {
            let shown = terminal::finding(&report, number, &report.findings[number - 1], &NARROW);
            shown.contains("probably not the cause: finding 1 is")
        });
        assert!(!first);
        second
    };
    assert!(told(0.01, &[4]));
    assert!(!told(0.3, &[4]), "who knows");
    assert!(!told(0.01, &[4, 9]), "run 9 has another cause");
}

#[test]
fn one_finding_in_full() {
    assert_snapshot!("finding_80", in_full(confirmed(stale_check()), &NARROW));
    assert_snapshot!("finding_120", in_full(confirmed(stale_check()), &WIDE));
    assert_snapshot!("finding_two_variables_80", in_full(torn_pair(), &NARROW));
    assert_snapshot!("finding_two_variables_120", in_full(torn_pair(), &WIDE));
}

#[test]
fn the_technique_is_named_only_on_demand() {
    let report = report(vec![stale_check()]);
    assert!(!summary(&report, &WIDE).contains("unicorn"));
    assert!(summary(&report, &View { name_technique: true, ..WIDE }).contains("ranked by unicorn"));
}

#[test]
fn a_finding_of_other_failing_runs_says_so() {
    let seen_in = |failing_runs: &[u64]| Finding { failing_runs: failing_runs.to_vec(), ..stale_check() };
    let report_of = |second: &[u64]| report(vec![seen_in(&[4, 17]), seen_in(second)]);
    let page = summary(&report_of(&[17, 23, 24]), &WIDE);
    assert!(page.contains("It is seen in 2 failing runs that the first finding is not seen in."), "{page}");
    assert!(!summary(&report_of(&[17]), &WIDE).contains("It is seen in"));
}

#[test]
fn ties_are_told() {
    let tied = |finding: Finding| Finding { rank: 1, tied: 3, score: 1.0, failed: 15, ..finding };
    let report = report(vec![tied(stale_check()), tied(early_use()), tied(torn_pair())]);
    assert_snapshot!(summary(&report, &WIDE));
}

#[test]
fn a_single_failing_run() {
    let mut report = report(vec![Finding { failed: 1, ..early_use() }]);
    report.runs.failed = 1;
    report.failures[0].runs = 1;
    assert_snapshot!(summary(&report, &NARROW));
}

#[test]
fn findings_without_a_passing_run_are_qualified() {
    let mut report = report(vec![early_use()]);
    assert!(!summary(&report, &NARROW).contains("no run passed"));
    report.runs.passed = 0;
    assert!(summary(&report, &NARROW).contains("no run passed: nothing tells"));
}

#[test]
fn an_infinite_score_is_called_so() {
    let shown = in_full(Finding { score: f64::INFINITY, ..early_use() }, &NARROW);
    assert!(shown.contains("score infinite"), "{shown}");
}

#[test]
fn a_long_list_of_runs_is_counted() {
    let shown = in_full(Finding { failing_runs: (1..=25).collect(), ..early_use() }, &WIDE);
    assert!(shown.contains("failing runs 1, 2, 3,") && shown.contains(" 20 and 5 more\n"), "{shown}");
}

#[test]
fn hung_and_damaged_runs_and_several_kinds_of_failure() {
    let mut report = report(vec![early_use()]);
    report.runs = Runs { passed: 190, failed: 15, hung: 2, damaged: 7 };
    let kinds =
        [("SIGSEGV in take_one()", 9), ("exit code 1", 3), ("hung, killed after 10 s", 2), ("SIGBUS", 1)];
    let group = |(description, runs): (&str, u64)| FailureGroup { description: description.into(), runs };
    report.failures = kinds.into_iter().map(group).collect();
    report.warnings = (1..=5).map(|run| format!("the recording of run {run} is incomplete")).collect();
    assert_snapshot!(summary(&report, &NARROW));
}

#[test]
fn nothing_found() {
    let with_runs = |passed, failed| {
        let mut report = report(vec![]);
        report.runs = Runs { passed, failed, hung: 0, damaged: 0 };
        report.failures[0].runs = failed;
        report.failures.retain(|group| group.runs > 0);
        terminal::summary(&report, &hints(), &NARROW)
    };
    assert_snapshot!("nothing_tells_apart", with_runs(197, 15));
    assert_snapshot!("nothing_failed", with_runs(212, 0));
    assert_snapshot!("nothing_passed", with_runs(0, 15));
}

#[test]
fn suspects_beyond_the_list_are_counted() {
    let report = report(vec![early_use(); 9]);
    let shown = summary(&report, &View { listed: 2, ..NARROW });
    assert_eq!(shown.matches("Order violation").count(), 2);
    assert!(shown.contains("7 weaker suspects: unsnarl show 3"), "{shown}");
}

#[test]
fn beside_an_answer_only_what_may_matter_is_listed() {
    let of = |confidence: f64, failing_runs: &[u64]| Finding {
        confidence: Some(confidence),
        failing_runs: failing_runs.to_vec(),
        ..early_use()
    };
    let listed =
        |findings: Vec<Finding>| summary(&report(findings), &NARROW).matches("Order violation").count();
    assert_eq!(listed(vec![of(0.95, &[1, 2]), of(0.02, &[1]), of(0.01, &[2])]), 1);
    assert_eq!(listed(vec![of(0.95, &[1, 2]), of(0.02, &[1]), of(0.01, &[3])]), 3, "another bug");
    assert_eq!(listed(vec![of(0.85, &[1, 2]), of(0.1, &[1]), of(0.01, &[2])]), 2);
    assert_eq!(listed(vec![of(0.5, &[1, 2]), of(0.02, &[1]), of(0.01, &[2])]), 3, "no answer yet");
}

/// Something does stand out, and all that is open is what it has to do with the failure.
#[test]
fn what_trials_leave_open_is_said_to_be_open() {
    let mut tried = confirmed(Finding { confidence: Some(0.7), chance: Some(0.002), ..early_use() });
    if let Some(confirmation) = &mut tried.confirmation {
        (confirmation.verdict, confirmation.p_value) = (Verdict::Inconclusive, Some(0.2));
    }
    let said = |first: Finding| summary(&report(vec![first]), &View { width: 400, ..NARROW });
    let shown = said(tried.clone());
    assert!(shown.contains("not proved: ") && !shown.contains("nothing stands out"), "{shown}");
    let shown = said(Finding { confidence: Some(0.3), ..tried });
    assert!(shown.contains("nothing stands out") && !shown.contains("not proved"), "{shown}");
}

/// What is only likely is not told like an answer.
#[test]
fn what_is_not_certain_is_told_with_a_reservation() {
    let said = |confidence: f64| {
        let first = Finding { confidence: Some(confidence), ..early_use() };
        let shown = summary(&report(vec![first]), &View { width: 400, ..NARROW });
        ["likely, but not certain: ", "nothing stands out: "].map(|words| shown.contains(words))
    };
    assert_eq!(said(0.95), [false, false]);
    assert_eq!(said(0.94), [true, false]);
    assert_eq!(said(0.8), [true, false]);
    assert_eq!(said(0.79), [false, true]);
}

/// One of several causes is something else than chance, and the page says elsewhere how improbable chance is.
#[test]
fn what_chance_was_ruled_out_for_is_not_said_to_be_chance() {
    let unsure = Finding { confidence: Some(0.4), ..early_use() };
    let said = |first: &Finding| {
        let shown = summary(&report(vec![first.clone(), unsure.clone()]), &View { width: 400, ..NARROW });
        assert!(shown.contains("nothing stands out: "), "{shown}");
        [shown.contains("this may be chance"), shown.contains("this is more than chance")]
    };
    assert_eq!(said(&unsure), [true, false]);
    assert_eq!(said(&Finding { chance: Some(0.3), ..unsure.clone() }), [true, false]);
    assert_eq!(said(&Finding { chance: Some(0.002), ..unsure.clone() }), [false, true]);
    let tried = |verdict, p_value| {
        let mut tried = confirmed(unsure.clone());
        if let Some(confirmation) = &mut tried.confirmation {
            (confirmation.verdict, confirmation.p_value) = (verdict, Some(p_value));
        }
        tried
    };
    assert_eq!(said(&tried(Verdict::Inconclusive, 0.002)), [false, true]);
    assert_eq!(said(&tried(Verdict::Inconclusive, 0.3)), [true, false]);
    assert_eq!(said(&tried(Verdict::Refuted, 0.002)), [true, false]);
}

#[test]
fn long_names() {
    let map =
        "std::map<std::string, std::vector<int, std::allocator<int> >, std::less<std::string> >::_M_root";
    let method = "Cache<std::string, std::vector<int> >::insert(std::string const&, std::vector<int>&&)";
    let long_line =
        "if (the_condition_that_is_long(argument_one, argument_two) && another_condition(argument_three))";
    let callers = [frame(
        "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)()> > >::_M_run()",
        "/usr/include/c++/12/bits/std_thread.h",
        210,
    )];
    let accesses = vec![
        access(1, AccessKind::Read, map, method, 41)
            .source(long_line)
            .value(&"9".repeat(50))
            .called_from(&callers),
        access(2, AccessKind::Write, map, method, 52).source(long_line).called_from(&callers),
    ];
    let finding = finding(Kind::OrderViolation, "RW", accesses);
    assert_snapshot!("long_names_80", in_full(finding.clone(), &NARROW));
    assert_snapshot!("long_names_120", in_full(finding, &WIDE));
}

#[test]
fn wide_characters_keep_the_columns() {
    let accesses = vec![
        access(1, AccessKind::Read, "変数.大きさ", "取る", 41)
            .source("if (大きさ(待ち行列) > 0) // größer")
            .value("一"),
        access(2, AccessKind::Write, "変数.大きさ", "置く👩\u{200d}💻", 63)
            .source("大きさ--; // cafe\u{301}")
            .value("零"),
        access(1, AccessKind::Read, "変数.大きさ", "取る", 47).source("項目 = 取り出す();").value("零"),
    ];
    assert_snapshot!(in_full(finding(Kind::AtomicityViolation, "RWR", accesses), &WIDE));
}

#[test]
fn hostile_text_is_shown_not_obeyed() {
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\r\n\u{9b}31m\u{202e}";
    let accesses = vec![
        access(1, AccessKind::Read, evil, evil, 1)
            .source(evil)
            .value(evil)
            .locked_by(evil)
            .called_from(&[frame(evil, evil, 2)]),
        access(2, AccessKind::Write, evil, evil, 3).source(evil),
    ];
    let mut report = report(vec![Finding {
        advice: evil.into(),
        evidence: vec![evil.into()],
        why: vec![evil.into()],
        pattern: evil.into(),
        ..finding(Kind::OrderViolation, "RW", accesses)
    }]);
    report.session.name = evil.into();
    report.failures[0].description = evil.into();
    report.warnings = vec![evil.into()];
    let hint = Hint { label: evil.into(), command: evil.into() };
    let shown = terminal::summary(&report, &[hint], &WIDE)
        + &terminal::finding(&report, 1, &report.findings[0], &WIDE);
    for line in shown.lines() {
        assert_eq!(report::visible(line), line);
    }
    assert_snapshot!(shown);
}

#[test]
fn an_address_is_shown_only_without_a_name() {
    let accesses = vec![
        access(1, AccessKind::Read, "counter", "", 1)
            .stripped("/opt/app/bin/server", "0x1f40")
            .called_from(&[]),
        access(2, AccessKind::Write, "counter", "bump", 7),
    ];
    let mut finding = finding(Kind::OrderViolation, "RW", accesses);
    finding.accesses[1].address = Some("0x2222".into());
    finding.accesses[1].file = None;
    let shown = in_full(finding, &NARROW);
    assert!(!shown.contains("0x2222"), "{shown}");
    assert_snapshot!(shown);
}

#[test]
fn files_of_the_same_name_are_told_apart() {
    let mut finding = early_use();
    finding.accesses[0].file = Some("/src/net/config.c".into());
    finding.accesses[1].file = Some("/src/disk/config.c".into());
    let shown = in_full(finding, &WIDE);
    assert!(shown.contains("serve() reads `config` at net/config.c:17"), "{shown}");
    assert!(shown.contains("disk/config.c:90"), "{shown}");
}

#[test]
fn room_goes_to_the_thread_that_needs_it() {
    let line = "total = first_operand + second_operand + third_operand + fourth_operand;";
    let accesses = vec![
        access(1, AccessKind::Write, "total", "add", 41).source(line),
        access(2, AccessKind::Read, "total", "get", 52).source("return total;"),
    ];
    let shown = in_full(finding(Kind::OrderViolation, "WR", accesses), &NARROW);
    assert!(shown.contains("total = first_operand + second_operand +\n"), "{shown}");
}

#[test]
fn an_access_of_which_nothing_is_known() {
    let mut nameless = access(1, AccessKind::Read, "", "", 1).stripped("", "");
    (nameless.module, nameless.address) = (None, None);
    let shown = in_full(finding(Kind::Communication, "R", vec![nameless]), &NARROW);
    assert!(shown.contains("Suspicious communication on an unnamed location"), "{shown}");
    assert!(shown.contains("unknown place"), "{shown}");
}

#[test]
fn many_threads_on_a_narrow_screen_are_listed() {
    let line = "value = exchange(&slot, value, memory_order_relaxed);";
    let step =
        |thread| access(thread, AccessKind::Update, "slot", "rotate", 70 + thread).source(line).value("7");
    let finding = finding(Kind::Communication, "UUUU", (1..=4).map(step).collect());
    assert_snapshot!(in_full(finding, &NARROW));
}

#[test]
fn stacks_are_folded_to_what_differs() {
    let tail = [frame("run_all", "main.c", 8), frame("main", "main.c", 3)];
    let deep: Vec<_> =
        (0..30).map(|depth| frame("visit", "tree.c", 100 + depth)).chain(tail.clone()).collect();
    let accesses = vec![
        access(1, AccessKind::Read, "tree.root", "visit", 99).called_from(&deep),
        access(2, AccessKind::Write, "tree.root", "insert", 12).called_from(&tail),
        access(1, AccessKind::Read, "tree.root", "leave", 130).called_from(&tail),
    ];
    assert_snapshot!(in_full(finding(Kind::AtomicityViolation, "RWR", accesses), &NARROW));
}

#[track_caller]
fn check_sentence(accesses: Vec<report::Access>, expected: &str) {
    let view = View { width: 160, ..NARROW };
    let shown = in_full(finding(Kind::AtomicityViolation, "", accesses), &view);
    let sentence = shown.lines().nth(2).unwrap_or("").trim();
    assert_eq!(sentence, expected);
}

#[test]
fn sentences() {
    use AccessKind::{Read, Update, Write};
    check_sentence(
        vec![access(1, Write, "x", "f", 1), access(2, Read, "x", "g", 2)],
        "f() writes `x` at queue.c:1 before another thread, in g(), reads it at queue.c:2.",
    );
    check_sentence(
        vec![access(1, Read, "x", "f", 1), access(2, Update, "x", "g", 2), access(1, Write, "x", "f", 3)],
        "f() reads `x` at queue.c:1, then writes it at queue.c:3; in between, another thread, in g(), updates it at queue.c:2.",
    );
    check_sentence(
        vec![
            access(1, Write, "x", "f", 1),
            access(2, Read, "y", "g", 2),
            access(1, Write, "y", "h", 3),
            access(2, Read, "x", "g", 4),
        ],
        "f() writes `x` at queue.c:1, then h() writes `y` at queue.c:3; meanwhile another thread, in g(), reads `y` at \
         queue.c:2 and reads `x` at queue.c:4.",
    );
    // Three threads have no such sentence: what follows the title is the picture.
    check_sentence(
        vec![access(1, Write, "x", "f", 1), access(2, Read, "x", "g", 2), access(3, Read, "x", "h", 3)],
        "",
    );
}

fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut pieces = text.split('\u{1b}');
    plain.push_str(pieces.next().unwrap_or(""));
    for piece in pieces {
        plain.push_str(piece.split_once('m').expect("a colour ends in m").1);
    }
    plain
}

/// Text in which widths and controls are easily got wrong.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "queue",
        " ",
        "_",
        "::",
        "é",
        "e\u{301}",
        "変",
        "👩\u{200d}💻",
        "❤\u{fe0f}",
        "\t",
        "\n",
        "\u{1b}[1m",
        "\u{202e}",
        "`",
        "…",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

fn any_access() -> impl Strategy<Value = report::Access> {
    (1..5u32, text(), prop::option::of(text()), prop::option::of(text()), prop::option::of(text()), text())
        .prop_map(|(thread, variable, function, source, value, lock)| {
            let mut access = access(thread, AccessKind::Read, &variable, "", 1).locked_by(&lock);
            access.function = function;
            access.source = source;
            access.value = value;
            access.called_from(&[frame(&variable, &lock, 3)])
        })
}

proptest! {
    #[test]
    fn every_line_fits_and_acts_on_nothing(
        width in 40..161usize,
        accesses in prop::collection::vec(any_access(), 0..6),
        other in text(),
    ) {
        let finding = Finding { advice: other.clone(), ..finding(Kind::Communication, &other, accesses) };
        let mut report = report(vec![finding]);
        report.session.name = other.clone();
        report.warnings = vec![other];
        for color in [false, true] {
            let view = View { width, color, ..NARROW };
            let shown = summary(&report, &view) + &terminal::finding(&report, 1, &report.findings[0], &view);
            for line in without_colours(&shown).lines() {
                prop_assert!(line.width() <= width, "{} columns: {line}", line.width());
                prop_assert_eq!(report::visible(line), line);
            }
        }
    }
}

#[test]
fn waiting_threads_are_told() {
    let mut report = report(vec![]);
    report.hangs = hangs();
    let shown = terminal::summary(&report, &[], &View::default());
    for part in [
        "Deadlock: threads wait for each other in 3 runs",
        "Threads wait forever in 1 run",
        "and 2 more such cases",
    ] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
}
