//! One program taken from the first run to the proven cause, as its user would.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use runner::Session;
use serde::{Deserialize, Serialize};

use crate::evaluate::record::healthy;
use crate::evaluate::report::{Confirmation, Finding, Report, Spent};
use crate::evaluate::score::Key;
use crate::tool::Tool;
use crate::truth::Subject;

/// Exit codes of `unsnarl confirm` that are answers: confirmed, refuted, undecided.
const ANSWERS: [i32; 3] = [0, 15, 16];

const UNREADABLE: &str = "unsnarl wrote a report that cannot be read";

/// What came of one `unsnarl run`.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Attempt {
    /// Runs up to the first failing one, and the seconds that these took; none if none failed.
    pub first_failure: Option<(u32, f64)>,
    /// All of it, from the start to the report.
    pub spent: Spent,
    /// Until the first finding was confirmed.
    pub until_proof: Option<Spent>,
    /// The best rank of a finding that is right.
    pub rank: Option<u64>,
    /// What came of trying a right finding out: of the confirmed one, or else of the best.
    pub confirmation: Option<Confirmation>,
    /// Confirmed findings that the truth does not name.
    pub strangers: Vec<Stranger>,
}

/// A confirmed finding that the truth does not name.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Stranger {
    pub finding: String,
    /// Are all of its places among those that have to do with the bug?
    pub is_at_the_bug: bool,
}

impl Attempt {
    pub fn is_proven(&self) -> bool {
        self.confirmation.as_ref().is_some_and(Confirmation::is_confirmed)
    }
}

/// A built program.
pub struct Target<'a> {
    pub tool: &'a Tool,
    pub subject: &'a Subject,
    pub program: &'a Path,
    /// For its session.
    pub folder: &'a Path,
    /// After this time the tool is interrupted, as its user would.
    pub time: Option<Duration>,
}

impl Target<'_> {
    /// Runs the program with these flags until the tool is done. Then tries out so many of the first findings that
    /// are not right and were not tried out so far: none of them should be confirmed.
    pub fn attempt(&self, flags: &[&str], others: usize) -> anyhow::Result<Attempt> {
        let folder = self.folder.join("session");
        drop(fs::remove_dir_all(&folder));
        let mut unsnarl = match self.time {
            None => self.tool.command(),
            Some(time) => {
                let mut timeout = Command::new("timeout");
                // Its runs are not interrupted by us.
                timeout.args(["--foreground", "--signal=INT", "--preserve-status"]);
                timeout.arg(time.as_secs_f64().to_string()).arg(self.tool.program());
                timeout
            }
        };
        let told = self.folder.join("report.json");
        unsnarl.arg("run").arg("--session").arg(&folder).arg("--json").arg(&told).args(flags);
        unsnarl.args(["--timeout", &format!("{}s", self.subject.truth.timeout_seconds)]);
        let begun = Instant::now();
        healthy(unsnarl.arg("--").arg(self.program))?;
        let seconds = begun.elapsed().as_secs_f64();
        let session = Session::open(&folder)?;
        let answers = self.subject.truth.answers()?;
        let own_files = self.subject.truth.own_files();
        let key = Key { answers: &answers, own_files: &own_files };
        let text = fs::read(&told).with_context(|| format!("unsnarl wrote no {}", told.display()))?;
        let mut report: Report = serde_json::from_slice(&text).context(UNREADABLE)?;
        let effort = report.effort.context("the report does not say what it took")?;
        self.try_others(&mut report, &key, others)?;
        let attempt = Attempt {
            first_failure: first_failure(&session),
            spent: Spent { seconds, ..effort.spent },
            until_proof: effort.until_proof,
            rank: key.best(&report).map(|finding| finding.rank),
            confirmation: proof(&report, &key),
            strangers: strangers(&report, &key),
        };
        // Recordings of hundreds of runs are no use to anybody.
        drop(fs::remove_dir_all(&folder));
        Ok(attempt)
    }

    fn report(&self) -> anyhow::Result<Report> {
        let mut unsnarl = self.tool.command();
        unsnarl.args(["report", "--json", "-", "--session"]).arg(self.folder.join("session"));
        let output = unsnarl.output().context("cannot start unsnarl")?;
        serde_json::from_slice(&output.stdout).context(UNREADABLE)
    }

    fn try_others(&self, report: &mut Report, key: &Key, others: usize) -> anyhow::Result<()> {
        // What cannot be tried out stays untried.
        let mut passed_over = 0;
        for _ in 0..others {
            let is_next = |finding: &Finding| finding.confirmation.is_none() && key.answer(finding).is_none();
            let mut untried = (1..).zip(&report.findings).filter(|(_, finding)| is_next(finding));
            let Some((number, _)) = untried.nth(passed_over) else { break };
            let mut unsnarl = self.tool.command();
            unsnarl.args(["confirm", &number.to_string(), "--time", "20s", "--session"]);
            let output = unsnarl.arg(self.folder.join("session")).output().context("cannot start unsnarl")?;
            if output.status.code().is_none_or(|code| !ANSWERS.contains(&code)) {
                bail!("unsnarl confirm {number} failed: {}", String::from_utf8_lossy(&output.stderr));
            }
            let tried = confirmations(report).count();
            *report = self.report()?;
            passed_over += usize::from(confirmations(report).count() == tried);
        }
        Ok(())
    }
}

fn confirmations(report: &Report) -> impl Iterator<Item = &Confirmation> {
    report.findings.iter().filter_map(|finding| finding.confirmation.as_ref())
}

fn first_failure(session: &Session) -> Option<(u32, f64)> {
    let runs = session.runs();
    let first = runs.iter().position(|record| record.outcome.is_failing())?;
    Some((first as u32 + 1, runs[..=first].iter().map(|record| record.seconds).sum()))
}

fn proof(report: &Report, key: &Key) -> Option<Confirmation> {
    let right = || report.findings.iter().filter(|finding| key.answer(finding).is_some());
    let tried = || right().filter_map(|finding| finding.confirmation.as_ref());
    tried().find(|confirmation| confirmation.is_confirmed()).or_else(|| tried().next()).cloned()
}

fn strangers(report: &Report, key: &Key) -> Vec<Stranger> {
    let places = key.places();
    let confirmed = report.findings.iter().filter(|finding| {
        finding.confirmation.as_ref().is_some_and(Confirmation::is_confirmed) && key.answer(finding).is_none()
    });
    confirmed
        .map(|finding| Stranger {
            finding: finding.in_short(key.own_files),
            is_at_the_bug: finding.places(key.own_files).all(|place| places.contains(&place)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::score::tests::report;
    use crate::truth::{Answer, Truth};

    /// The findings of the example truth's program, with the verdicts that are given for them.
    fn tried(findings: &[(&str, Option<&str>)]) -> Report {
        let mut report = report(&findings.iter().map(|(text, _)| *text).collect::<Vec<_>>());
        for (finding, (_, verdict)) in report.findings.iter_mut().zip(findings) {
            finding.confirmation = verdict.map(|verdict| Confirmation {
                verdict: verdict.to_owned(),
                enforced: Default::default(),
                forbidden: Default::default(),
                delayed: Default::default(),
            });
        }
        report
    }

    fn answers() -> Vec<Answer> {
        Truth::parse(crate::truth::tests::EXAMPLE).unwrap().answers().unwrap()
    }

    const CAUSE: &str = "1 1 RWR 1@queue.c:41 2@queue.c:30 1@queue.c:25";
    const HALF: &str = "2 1 RW 1@queue.c:41 2@queue.c:30";
    const PART: &str = "3 1 WR 1@queue.c:30 2@queue.c:41";
    const DECOY: &str = "4 1 RW 1@claim.c:3 2@claim.c:4";

    #[test]
    fn what_was_confirmed_is_the_proof_and_else_what_is_best() {
        let key = Key { answers: &answers(), own_files: &["queue.c", "claim.c"] };
        let verdict = |findings: &[(&str, Option<&str>)]| {
            proof(&tried(findings), &key).map(|confirmation| confirmation.verdict)
        };
        let found = [(CAUSE, Some("inconclusive")), (HALF, Some("confirmed"))];
        assert_eq!(verdict(&found).as_deref(), Some("confirmed"));
        assert_eq!(verdict(&[(CAUSE, Some("refuted")), (HALF, None)]).as_deref(), Some("refuted"));
        assert_eq!(verdict(&[(DECOY, Some("confirmed"))]), None);
    }

    #[test]
    fn strangers_are_confirmed_though_the_truth_does_not_name_them() {
        let key = Key { answers: &answers(), own_files: &["queue.c", "claim.c"] };
        let yes = Some("confirmed");
        let report = tried(&[(CAUSE, yes), (PART, yes), (DECOY, yes), (DECOY, Some("refuted"))]);
        let found = strangers(&report, &key);
        assert_eq!(found.iter().map(|one| one.is_at_the_bug).collect::<Vec<_>>(), [true, false]);
        assert!(found[1].finding.contains("claim.c:3"), "{found:?}");
    }
}
