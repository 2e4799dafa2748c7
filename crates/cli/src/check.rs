//! `unsnarl check`: does it still fail? The saved schedules of failing runs and the interleavings of the causes are tried
//! again, on the program as it is now. Made for what comes after a fix, and for CI.
//!
//! A program that was changed cannot follow its old schedules to the end, and places in its code have moved: forced
//! interleavings are carried over by the text of their lines. What cannot be carried over is said, and as many random
//! schedules take its place.

mod carry_over;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use recording::{Interleaving, RunPlan, Schedule};
use report::Verdict;
use runner::campaign::run_seed;
use runner::{Outcome, RunFile, RunNumber, RunRecord, Session};

use crate::analysis::{self, Analysis};
use crate::args::CheckArguments;
use crate::exit::{self, Complaint};
use crate::flags::shell_words;
use crate::replay::{self, Test};
use crate::{screen, sessions};
use carry_over::CarryOver;

/// Saved schedules to try; further ones that failed in the same way would hardly tell more.
const SCHEDULES: usize = 10;
/// Causes to force.
const CAUSES: usize = 3;

/// `unsnarl check`.
pub fn check(arguments: &CheckArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    if !session.runs().iter().any(|record| record.outcome.is_failing()) {
        return Err(Complaint {
            code: exit::NO_FAILING_RUN,
            what: "no run of this session failed, so there is nothing to check".to_owned(),
            advice: "  make it fail first:  unsnarl run -- ./test",
        }
        .into());
    }
    let test = Test::of(&session, &arguments.command)?;
    let mut tally = Tally::default();
    tally.follow(&session, &test, &failing_runs(&session))?;
    let analysis = analysis::examine(&session, &arguments.ranking)?;
    let mut unforced = tally.runs == 0;
    for (number, steps) in causes(&session, &test, &analysis) {
        match steps {
            Ok(interleaving) => tally.force(&session, &test, number, interleaving, arguments.runs)?,
            Err(why) => {
                screen::print(&format!("finding {number} cannot be forced  {why}\n"))?;
                unforced = true;
            }
        }
    }
    if unforced {
        tally.random(&session, &test, arguments.runs)?;
    }
    tally.conclude(&session)
}

/// Failing runs to follow again: those that failed in different ways come first.
fn failing_runs(session: &Session) -> Vec<&RunRecord> {
    let mut chosen: Vec<(usize, &RunRecord)> = Vec::new();
    for record in session.runs().iter().filter(|record| record.outcome.is_failing()) {
        let alike = chosen.iter().filter(|(_, other)| other.outcome == record.outcome).count();
        chosen.push((alike, record));
    }
    chosen.sort_by_key(|&(alike, record)| (alike, record.run));
    chosen.into_iter().map(|(_, record)| record).take(SCHEDULES).collect()
}

/// The findings to force, by number: the confirmed ones, or else the first; each as the program is now, or why not.
fn causes(session: &Session, test: &Test, analysis: &Analysis) -> Vec<(usize, Result<Interleaving, String>)> {
    let findings = analysis.report.findings.iter().enumerate();
    let is_confirmed = |finding: &report::Finding| {
        finding.confirmation.is_some_and(|confirmation| confirmation.verdict == Verdict::Confirmed)
    };
    let confirmed = findings.filter(|(_, finding)| is_confirmed(finding)).map(|(index, _)| index);
    let mut wanted: Vec<usize> = confirmed.take(CAUSES).collect();
    if wanted.is_empty() && !analysis.report.findings.is_empty() {
        wanted.push(0);
    }
    let mut carry_over = test.is_rebuilt().then(|| CarryOver::new(session, test));
    let mut causes = Vec::new();
    for index in wanted {
        let unknown = || "its places in the code are not known well enough".to_owned();
        let forcible = analysis.interleavings[index].as_ref().ok_or_else(unknown);
        let interleaving = forcible.and_then(|forcible| match &mut carry_over {
            // Of what leads to it, the text is not known.
            Some(carry_over) => carry_over.interleaving(index, &forcible.interleaving),
            None => Ok(forcible.forced()),
        });
        causes.push((index + 1, interleaving));
    }
    causes
}

/// What came of all runs.
#[derive(Default)]
struct Tally {
    runs: u32,
    failed: u32,
    /// How to see a failure.
    hints: Vec<String>,
}

impl Tally {
    fn add(&mut self, file: &RunFile) -> bool {
        if matches!(file.record.outcome, Outcome::Damaged { .. }) {
            return false;
        }
        self.runs += 1;
        self.failed += u32::from(file.record.outcome.is_failing());
        file.record.outcome.is_failing()
    }

    /// Follows the schedules of runs that failed.
    fn follow(&mut self, session: &Session, test: &Test, records: &[&RunRecord]) -> anyhow::Result<()> {
        let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let (mut runs, mut shares) = (0, Vec::new());
        for record in records {
            let Some(saved) = replay::saved(session, record)? else { continue };
            let Some(file) = saved.again(test, record.run.0)? else { continue };
            runs += 1;
            if self.add(&file) {
                let outcome = replay::told(&file.record.outcome);
                failures.entry(outcome).or_default().push(record.run.to_string());
                self.hints.push(format!("unsnarl replay {}{}", record.run, sessions::argument(session)));
            }
            shares.extend(saved.followed(test, &file)?.map(|(followed, all)| followed * 100 / all.max(1)));
        }
        if runs == 0 {
            return Ok(());
        }
        let failed: usize = failures.values().map(Vec::len).sum();
        let mut text = format!("saved schedules  {failed} of {runs} runs failed");
        // One that passes ends otherwise than the run that failed; one that fails should not.
        if let (Some(least), Some(most), true) = (shares.iter().min(), shares.iter().max(), test.is_rebuilt())
        {
            text += &format!("; this build could follow them for {least} % to {most} % of the way");
        }
        for (outcome, runs) in failures {
            let noun = if runs.len() == 1 { "run" } else { "runs" };
            text += &format!("\n  {outcome}  (as in {noun} {})", runs.join(", "));
        }
        Ok(screen::print(&(text + "\n"))?)
    }

    /// Forces the interleaving of a finding so many times.
    fn force(
        &mut self,
        session: &Session,
        test: &Test,
        number: usize,
        interleaving: Interleaving,
        runs: u32,
    ) -> anyhow::Result<()> {
        let (failed, came_about) = self.controlled(session, test, Some(interleaving), runs)?;
        screen::print(&format!(
            "finding {number} forced  {failed} of {runs} runs failed; it happened in {came_about}\n"
        ))?;
        if failed > 0 {
            self.hints.push(format!("unsnarl show {number}{}", sessions::argument(session)));
        }
        Ok(())
    }

    fn random(&mut self, session: &Session, test: &Test, runs: u32) -> anyhow::Result<()> {
        let (failed, _) = self.controlled(session, test, None, runs)?;
        Ok(screen::print(&format!("random schedules  {failed} of {runs} runs failed\n"))?)
    }

    /// Controlled runs: how many of them failed, and in how many the interleaving came about.
    fn controlled(
        &mut self,
        session: &Session,
        test: &Test,
        interleaving: Option<Interleaving>,
        runs: u32,
    ) -> anyhow::Result<(u32, u32)> {
        let never = AtomicBool::new(false);
        let (mut failed, mut came_about) = (0, 0);
        for run in (1..=runs).map(RunNumber) {
            let seed = run_seed(!session.manifest().seed, run);
            let plan = RunPlan { seed, schedule: Schedule::Random, interleaving, ..RunPlan::default() };
            let Some(file) = test.campaign().once(run, plan, &never)? else { continue };
            failed += u32::from(self.add(&file));
            let headers = file.processes.iter().filter_map(|process| recording::header(&process.bytes).ok());
            came_about += u32::from(headers.map(|header| header.interleavings).sum::<u64>() > 0);
        }
        Ok((failed, came_about))
    }

    fn conclude(&self, session: &Session) -> anyhow::Result<ExitCode> {
        let Tally { runs, failed, hints } = self;
        if *failed == 0 {
            screen::print(&format!("nothing failed in {runs} runs\n"))?;
            return Ok(ExitCode::from(exit::FOUND));
        }
        let command: Vec<_> = session.manifest().command.iter().map(Into::into).collect();
        let command = report::visible(&shell_words(&command)).to_string();
        let see = hints.first().map_or(String::new(), |hint| format!("\n  see it:  {hint}"));
        screen::print(&format!("still fails: {failed} of {runs} runs of {command}{see}\n"))?;
        Ok(ExitCode::from(exit::STILL_FAILS))
    }
}
