//! What one thread writes for another, and a third one writes over.

mod support;

use localize::{Finding, Options, PatternId, Technique, localize, written_over};
use support::runs_like;

/// The row that the best finding of one of these shapes is told by, if it is.
fn told(failing: &str, shape: PatternId) -> Option<String> {
    let traces =
        runs_like("F", failing, 5) + &runs_like("P", "R1(s)@wait W2(s)@answer R1(s)@wait W3(s)@sweep", 9);
    let session = support::parse(&traces);
    let findings = localize(Technique::Avio, &session.runs, &Options::default());
    let of_shape = |finding: &&Finding| finding.pattern.shape() == shape.into() && finding.passed == 0;
    assert!(findings.iter().any(|finding| of_shape(&finding)));
    let row =
        findings.iter().filter(of_shape).find_map(|finding| written_over::row(&session.runs[0], finding))?;
    let occurs = |nth: usize| row.occurrence(&session.runs[nth]).is_some();
    assert!(occurs(0) && !occurs(5), "in failing runs alone");
    assert!(
        written_over::is_found(&session.runs[5], &row) && !written_over::is_found(&session.runs[0], &row)
    );
    let sites = row.sites.iter().map(|site| session.sites[site.0 as usize].clone());
    Some(format!("{:?} {}", row.shape, sites.collect::<Vec<_>>().join(" ")))
}

#[test]
fn an_answer_that_is_swept_away_before_it_is_read_is_told_with_who_wrote_it() {
    let swept = "R1(s)@wait W2(s)@answer W3(s)@sweep R1(s)@wait";
    assert_eq!(told(swept, PatternId::P4).as_deref(), Some("R1x-W2x-W3x-R1x wait answer sweep wait"));
}

/// Who asks has left its question there itself.
#[test]
fn what_answers_a_question_is_told_with_it() {
    let swept = "R3(s)@sweep W1(s)@ask W2(s)@answer W3(s)@sweep R1(s)@wait";
    assert_eq!(told(swept, PatternId::P5).as_deref(), Some("W1x-W2x-W3x-R1x ask answer sweep wait"));
}

#[test]
fn what_nobody_else_has_written_is_not_written_over() {
    let unanswered = "R1(s)@wait W3(s)@sweep R1(s)@wait W2(s)@answer";
    assert_eq!(told(unanswered, PatternId::P4), None);
    let by_itself = "R1(s)@wait W3(s)@answer W3(s)@sweep R1(s)@wait";
    assert_eq!(told(by_itself, PatternId::P4), None, "two steps of one thread");
}

/// Who reads what is there from the beginning is not who it was written for.
#[test]
fn what_was_set_up_is_not_written_over() {
    let traces = runs_like("F", "W1(s)@new W2(s)@close R3(s)@use", 5)
        + &runs_like("P", "W1(s)@new R3(s)@use W2(s)@close", 9);
    let session = support::parse(&traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    assert!(findings.iter().all(|finding| written_over::row(&session.runs[0], finding).is_none()));
}

/// Who looks, and then looks at another place, decides by what it saw: that somebody else came before as well is not what it takes.
#[test]
fn who_does_not_wait_is_told_by_its_own_look() {
    let traces = runs_like("F", "R1(size)@look W2(size)@push W3(size)@pop R1(size)@use", 5)
        + &runs_like("P", "R1(size)@look R1(size)@use W2(size)@push W3(size)@pop", 9);
    let session = support::parse(&traces);
    let findings = localize(Technique::Verdict, &session.runs, &Options::default());
    let rows = findings.iter().filter(|finding| finding.pattern.shape() == PatternId::P4.into());
    assert!(rows.map(|finding| written_over::row(&session.runs[0], finding)).all(|row| row.is_none()));
}
