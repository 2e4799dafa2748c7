//! The session as a whole: how the runs ended, and how far the findings can be trusted.

use super::{percentage, plural, span};
use crate::hang::{Hang, HangKind};
use crate::model::{FailureGroup, Finding, Needs, Report, Runs, Session, Trial, Verdict};

/// What is less probable than this to be the cause is told with a reservation: as much as it takes for runs to end by themselves
/// (`localize::settling`). Where runs fail for other reasons than their interleaving, hardly a session gets there.
const CERTAIN: f64 = 0.95;

/// What is less probable than this does not stand out at all. One session in fifty may get there by chance.
const LIKELY: f64 = 0.8;

/// How a warning begins that says why names are missing.
pub const NAMES_ARE_MISSING: &str = "names are missing: ";

/// Less probable than this, and not confirmed, is not worth reading beside an answer.
const HARDLY: f64 = 0.05;

/// What to say to somebody who looks at the finding with this number all the same: what it advises may be of no use.
pub(crate) fn hardly_the_cause(report: &Report, number: usize, finding: &Finding) -> Option<String> {
    let index = number.checked_sub(1).filter(|&index| index > 0 && index < report.findings.len())?;
    let is_doubtful =
        !is_confirmed(finding) && finding.confidence.is_some_and(|confidence| confidence < HARDLY);
    let explains_more = super::finding::other_failures(report, index).is_some();
    (is_doubtful && !explains_more && is_likely(&report.findings[0]))
        .then(|| "probably not the cause: finding 1 is, or explains these failures better".to_owned())
}

/// How a format should make a word feel, by whatever means it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Good,
    Bad,
    Caution,
    Quiet,
}

/// How many of the first findings are worth a place on the first screen, at most so many: where the first one stands
/// out, others that explain no other failing run and are hardly probable would only be in its way.
pub(crate) fn worth_listing(report: &Report, most: usize) -> usize {
    let Some(first) = report.findings.first() else { return 0 };
    let is_worth = |(index, finding): &(usize, &Finding)| {
        is_confirmed(finding)
            || finding.confidence.is_none_or(|confidence| confidence >= HARDLY)
            || super::finding::other_failures(report, *index).is_some()
    };
    let shown = report.findings.len().min(most);
    if !is_likely(first) {
        return shown;
    }
    let findings = report.findings[..shown].iter().enumerate();
    1 + findings.skip(1).filter(is_worth).map(|(index, _)| index).max().unwrap_or(0)
}

/// Whether a finding is confirmed, or probably the cause.
pub fn is_likely(finding: &Finding) -> bool {
    finding.confidence.is_some_and(|confidence| confidence >= LIKELY) || is_confirmed(finding)
}

fn is_confirmed(finding: &Finding) -> bool {
    finding.confirmation.is_some_and(|confirmation| confirmation.verdict == Verdict::Confirmed)
}

/// The findings that are not listed.
pub(crate) fn weaker_suspects(count: usize) -> String {
    plural(count as u64, "weaker suspect")
}

/// The numbers of the session, one by one.
pub(crate) fn tally(report: &Report) -> Vec<(Tone, String)> {
    let runs = &report.runs;
    let all = plural(runs.total(), "run");
    let mut parts = vec![(Tone::Plain, format!("{all} in {}", span(report.session.wall_seconds)))];
    if runs.passed > 0 {
        parts.push((Tone::Good, format!("{} passed", runs.passed)));
    }
    if runs.failed > 0 {
        let share = 100.0 * runs.failed as f64 / runs.judged() as f64;
        parts.push((Tone::Bad, format!("{} failed ({})", runs.failed, percentage(share))));
    }
    if runs.hung > 0 {
        parts.push((Tone::Bad, format!("{} of them hung", runs.hung)));
    }
    if runs.damaged > 0 {
        parts.push((Tone::Caution, format!("{} damaged", runs.damaged)));
    }
    parts.push((Tone::Quiet, format!("seed {}", report.session.seed)));
    parts
}

/// The failures of a session in which all look alike.
pub(crate) fn only_failure(group: &FailureGroup) -> String {
    match group.runs {
        1 => format!("the failure: {}", group.description),
        2 => format!("both failures look alike: {}", group.description),
        runs => format!("all {runs} failures look alike: {}", group.description),
    }
}

/// What stands above the waiting threads, and those that use what others have freed.
pub(crate) const HANGS: &str = "Threads in each other's way";

/// What some waiting threads are, and how often they were seen.
pub(crate) fn hang(hang: &Hang) -> String {
    let runs = plural(hang.runs, "run");
    match hang.kind {
        HangKind::Deadlock => format!("Deadlock: threads wait for each other in {runs}"),
        HangKind::AwaitedEnd => {
            format!("Deadlock: threads wait for locks and for each other's end in {runs}")
        }
        HangKind::Waiting => format!("Threads wait forever in {runs}"),
        HangKind::UseAfterFree => {
            format!("Use after free: threads use what others have freed in {runs} that passed")
        }
        HangKind::PotentialDeadlock => {
            format!("Possible deadlock: {runs}, {} of which passed, take locks in a circle", hang.passed)
        }
    }
}

/// Why there is no finding.
pub(crate) fn nothing_found(runs: &Runs) -> String {
    if runs.judged() == 0 && runs.damaged > 0 {
        "No run says anything about the test, so there is nothing to compare.".to_owned()
    } else if runs.failed == 0 {
        "No run failed, so there is nothing to compare.".to_owned()
    } else if runs.passed == 0 {
        "No run passed, so there is nothing to compare the failing ones with.".to_owned()
    } else {
        format!(
            "No cause worth naming: no recorded order of accesses tells the {} from the {}. The cause may lie outside \
             of what was recorded, or not depend on the order of accesses at all.",
            plural(runs.failed, "failing run"),
            plural(runs.passed, "passing run"),
        )
    }
}

/// Why the first finding is not to be taken for the cause.
fn doubt(report: &Report, first: &Finding) -> String {
    let is_tried =
        first.confirmation.is_some_and(|confirmation| confirmation.verdict == Verdict::Inconclusive);
    let is_more_likely_than_not = first.confidence.is_some_and(|confidence| confidence > 0.5);
    let what = match is_beyond_chance(report) {
        true if is_tried && is_more_likely_than_not => {
            return "not proved: the first finding goes with the failures, but trials did not tell whether it is the cause, a part of it, or \
                    what follows from it"
                .to_owned();
        }
        true => {
            "this is more than chance, but the runs so far do not tell the cause from what goes along with it \
             or follows from it"
        }
        false => {
            "this may be chance, or one of several possible causes that the runs so far do not tell apart"
        }
    };
    let how_much = if is_likely(first) { "likely, but not certain" } else { "nothing stands out" };
    format!("{how_much}: {what}")
}

/// How far the order of the findings can be trusted.
pub(crate) fn caveats(report: &Report) -> Vec<String> {
    let mut caveats: Vec<String> = report.repeated.and_then(another_reason).into_iter().collect();
    let Some(first) = report.findings.first() else { return caveats };
    if first.confidence.is_some_and(|confidence| confidence < CERTAIN)
        && !report.findings.iter().any(is_confirmed)
    {
        caveats.push(doubt(report, first));
    }
    if !first.accesses.is_empty() && first.accesses.iter().all(|access| access.line.is_none()) {
        let is_told = report.warnings.iter().any(|warning| warning.starts_with(NAMES_ARE_MISSING));
        let why =
            if is_told { "the warnings say why" } else { "build the test with -g, and do not strip it" };
        caveats.push(format!("no lines of source are known: {why}"));
    }
    caveats.extend(report.unsettled().and_then(more_runs));
    if report.runs.failed == 1 {
        caveats.push("only 1 run failed: more failing runs may change the ranking".to_owned());
    }
    if report.runs.passed == 0 && !report.is_evident() {
        caveats.push("no run passed: nothing tells what is suspicious from what always happens".to_owned());
    }
    if first.tied > 1 {
        caveats.push(format!("{} suspects share first place: no run so far tells them apart", first.tied));
    }
    caveats
}

/// Whether chance is ruled out, by outcomes dealt at random or by trials of a finding, though not what is to blame.
fn is_beyond_chance(report: &Report) -> bool {
    /// With more than that, chance alone would keep a finding from standing out.
    const RULED_OUT: f64 = 0.02;
    let tried = |finding: &Finding| {
        let confirmation = finding.confirmation.filter(|one| one.verdict != Verdict::Refuted);
        confirmation.and_then(|confirmation| confirmation.p_value)
    };
    let chances = report.findings.iter().flat_map(|finding| [finding.chance, tried(finding)]);
    chances.flatten().any(|chance| chance <= RULED_OUT)
}

/// Where the same turns do not lead to the same end. Nearly all failing runs fail again if nothing but these decides.
fn another_reason(repeated: Trial) -> Option<String> {
    /// So few may have had bad luck.
    const FEW: u64 = 4;
    let Trial { runs, failed } = repeated;
    let again = if failed == 0 { "none".to_owned() } else { format!("only {failed}") };
    (runs >= FEW && 3 * failed <= runs).then(|| {
        format!(
            "the order of accesses does not decide alone: {again} of {runs} failing runs failed again when their threads took \
             the same turns once more. Look for random numbers, the time, addresses, or what is left behind by other runs"
        )
    })
}

/// What it would take to settle which cause comes first, if there have been too few runs.
fn more_runs(needs: Needs) -> Option<String> {
    let kinds = [(needs.failing, "failing"), (needs.passing, "passing")];
    let kinds = kinds.into_iter().filter(|(runs, _)| *runs > 0);
    let kinds: Vec<String> = kinds.map(|(runs, kind)| format!("{runs} more {kind}")).collect();
    let runs = kinds.join(" and ");
    let noun = if kinds.len() == 1 && needs.failing + needs.passing == 1 { "run" } else { "runs" };
    (!kinds.is_empty())
        .then(|| format!("about {runs} {noun} like these would probably settle what comes first"))
}

/// The command that repeats the session, to be typed into a shell.
pub(crate) fn repeat_command(session: &Session) -> String {
    let words: Vec<String> = session.command.iter().map(|word| shell_word(word)).collect();
    format!("unsnarl run --seed {} -- {}", session.seed, words.join(" "))
}

/// A word that a POSIX shell takes as it is.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./=:,+@%".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fail_again_has_another_reason() {
        let said = |failed, runs| another_reason(Trial { runs, failed });
        assert!(said(1, 8).unwrap().contains("only 1 of 8 failing runs failed again"));
        assert!(said(0, 8).unwrap().contains("alone: none of 8 failing runs"));
        assert_eq!(said(7, 8), None);
        assert_eq!(said(0, 3), None, "too few to tell");
    }

    #[test]
    fn too_few_runs_are_counted_by_kind() {
        let said = |failing, passing| more_runs(Needs { failing, passing });
        assert_eq!(said(0, 0), None);
        let both =
            "about 3 more failing and 14 more passing runs like these would probably settle what comes first";
        assert_eq!(said(3, 14).as_deref(), Some(both));
        assert!(said(0, 14).unwrap().contains("about 14 more passing runs"));
        assert!(said(1, 0).unwrap().contains("about 1 more failing run like"));
    }

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        let words = ["./test", "--items=2", "", "two words", "it's", "$(rm x)", "größe", "a\nb"];
        let quoted =
            ["./test", "--items=2", "''", "'two words'", r"'it'\''s'", "'$(rm x)'", "'größe'", "'a\nb'"];
        assert_eq!(words.map(shell_word), quoted);
    }
}
