//! When there have been enough runs.

mod support;

use localize::*;

const PASSING: &str = "P: W1(x)@make R2(x)@use";
const FAILING: &str = "F: R2(x)@use W1(x)@make";

/// After how many of these runs the answer is settled.
fn settled_after(lines: &[&str]) -> Option<usize> {
    let session = support::parse(&lines.join("\n"));
    let mut settling = Settling::new(&Options::default());
    session.runs.iter().position(|run| {
        settling.observe(run);
        settling.settled().is_some()
    })
}

#[test]
fn a_clear_answer_is_settled_by_its_fourth_failing_run() {
    let mut lines = vec![PASSING; 60];
    lines.extend([FAILING; 10]);
    assert_eq!(settled_after(&lines), Some(63));
}

#[test]
fn passing_runs_are_needed_too() {
    let few = [vec![FAILING; 20], vec![PASSING; 19], vec![FAILING; 10]].concat();
    assert_eq!(settled_after(&few), None);
    let enough = [vec![FAILING; 20], vec![PASSING; 20], vec![FAILING; 10]].concat();
    // Of many failing runs, every fourth is asked about.
    assert_eq!(settled_after(&enough), Some(43));
}

#[test]
fn without_a_clear_answer_it_goes_on() {
    assert_eq!(settled_after(&[PASSING; 200]), None);
    let same = ["P: W1(x)@a R2(x)@b", "F: W1(x)@a R2(x)@b"].repeat(50);
    assert_eq!(settled_after(&same), None);
}

/// After how many of these runs the first cause is worth being tried out.
fn worth_trying_after(lines: &[&str]) -> Option<usize> {
    let session = support::parse(&lines.join("\n"));
    let mut settling = Settling::new(&Options::default());
    session.runs.iter().position(|run| {
        settling.observe(run);
        settling.is_worth_trying()
    })
}

#[test]
fn what_is_not_settled_may_be_worth_trying() {
    let passing = Settling::SOME_PASSES as usize;
    let both = |passing| [vec![PASSING; 4], vec![FAILING; 6], vec![PASSING; passing - 4]].concat();
    assert_eq!(worth_trying_after(&both(passing - 1)), None);
    assert_eq!(worth_trying_after(&both(passing)), Some(6 + passing - 1));
    assert_eq!(settled_after(&both(passing)), None);
    let late = [vec![PASSING; 19], vec![FAILING; 4]].concat();
    assert_eq!(worth_trying_after(&late), Some(22));
    // Nothing tells these apart.
    assert_eq!(worth_trying_after(&["P: W1(x)@a R2(x)@b", "F: W1(x)@a R2(x)@b"].repeat(50)), None);
}

fn need(lines: &[&str]) -> Option<Need> {
    let session = support::parse(&lines.join("\n"));
    let mut collector = Collector::new(Technique::Verdict, &Options::default());
    session.runs.iter().for_each(|run| collector.observe(run));
    let failed = session.runs.iter().filter(|run| run.outcome.is_failing()).count() as u32;
    Need::of(&collector, &collector.findings(), failed, session.runs.len() as u32 - failed)
}

#[test]
fn a_settled_answer_needs_no_more_runs() {
    assert_eq!(need(&[vec![PASSING; 60], vec![FAILING; 10]].concat()), Some(Need { failing: 0, passing: 0 }));
}

#[test]
fn what_is_too_few_is_told() {
    let few = need(&[vec![PASSING; 6], vec![FAILING]].concat()).unwrap();
    assert!(few.failing >= 3 && few.passing >= 14, "{few:?}");
    // As many more do settle it.
    let more = [vec![PASSING; 6 + few.passing as usize], vec![FAILING; 1 + few.failing as usize]].concat();
    assert_eq!(need(&more), Some(Need { failing: 0, passing: 0 }));
}

#[test]
fn what_runs_cannot_tell_more_runs_cannot_either() {
    assert_eq!(need(&["P: W1(x)@a R2(x)@b", "F: W1(x)@a R2(x)@b"].repeat(5)), None);
    assert_eq!(need(&[PASSING; 5]), None);
}
