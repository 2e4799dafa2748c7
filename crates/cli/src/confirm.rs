//! Is a finding the cause? Runs in which its interleaving is enforced, runs in which it is forbidden, and runs with
//! delays at the same places but no order: if the cause is found, the first fail and the second do not.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use recording::{Interleaving, InterleavingStep, RunPlan, Schedule, Treatment};
use report::terminal;
use report::{Confirmation, Trial, Verdict};
use runner::campaign::{self, Campaign};
use runner::{Binary, RunNumber, Session};

use crate::args::{ConfirmArguments, RunArguments};
use crate::exit::{self, Complaint};
use crate::{analysis, look, run, screen, sessions};

/// Runs of each kind after which the answer is taken as it is.
pub const RUNS: u32 = 20;
/// Runs of each kind before which no answer is taken.
const FEWEST: u64 = 5;
/// A chance below which a difference is believed; a smaller one ends the trials early, since one looks many times.
const BELIEVED: f64 = 0.01;
const BEYOND_DOUBT: f64 = 0.001;
/// Above this chance there is no sign of any difference.
const NO_SIGN: f64 = 0.2;
/// A run that hangs is one that failed, and nobody waits half a minute for each.
const LONGEST_RUN: Duration = Duration::from_secs(5);

/// `unsnarl confirm N`.
pub fn confirm(arguments: &ConfirmArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let mut analysis = analysis::examine(&session, &arguments.ranking)?;
    let number = arguments.finding;
    let index = number.wrapping_sub(1);
    let Some(steps) = analysis.interleavings.get(index) else {
        let present = analysis.report.findings.len();
        return Err(
            Complaint::usage(format!("there is no finding {number}: the report has {present}")).into()
        );
    };
    let prepared = run::prepare(&again(&session))?;
    check_same(&session.manifest().binaries, &prepared.target.binaries)?;
    let limits = Limits { runs: arguments.runs, until: arguments.time.map(|time| Instant::now() + time) };
    let confirmation = try_out(&prepared.campaign, steps, session.manifest().seed, &limits)?;
    let confirmation = confirmation.ok_or_else(|| Complaint {
        code: exit::UNDECIDED,
        what: format!("finding {number} cannot be forced: its places in the code are not known well enough"),
        advice: "  try another finding, or another technique:  unsnarl confirm 2",
    })?;
    keep(&session, steps, confirmation)?;
    analysis.report.findings[index].confirmation = Some(confirmation);
    look::keep(&session, &analysis.report)?;
    screen::print(&format!("{}\n", terminal::proof(&confirmation)))?;
    Ok(ExitCode::from(match confirmation.verdict {
        Verdict::Confirmed => exit::FOUND,
        Verdict::Refuted => exit::REFUTED,
        Verdict::Inconclusive => exit::UNDECIDED,
    }))
}

/// Tries out the first findings of a session, and notes what came of it in the report.
pub fn confirm_first(
    session: &Session,
    campaign: &Campaign,
    analysis: &mut analysis::Analysis,
    count: usize,
) -> anyhow::Result<()> {
    let limits = Limits { runs: RUNS, until: None };
    for (finding, steps) in analysis.report.findings.iter_mut().zip(&analysis.interleavings).take(count) {
        if finding.confirmation.is_none()
            && let Some(confirmation) = try_out(campaign, steps, session.manifest().seed, &limits)?
        {
            keep(session, steps, confirmation)?;
            finding.confirmation = Some(confirmation);
        }
    }
    Ok(())
}

/// The command line that made a session, as far as it says what to run and how to judge it.
pub fn again(session: &Session) -> RunArguments {
    let manifest = session.manifest();
    let kept = ["timeout", "fail-regex", "expect-stdout", "fail-if", "budget"];
    let flags = manifest.flags.iter().filter(|(name, _)| kept.contains(&name.as_str()));
    let flags = flags.flat_map(|(name, value)| [format!("--{name}").into(), value.into()]);
    RunArguments::of(flags.chain(["--".into()]).chain(manifest.command.iter().map(Into::into)))
}

/// Places in the code mean nothing in another build.
fn check_same(recorded: &[Binary], found: &[Binary]) -> runner::Result<()> {
    for old in recorded {
        let new = found.iter().find(|new| new.path == old.path);
        if let (Some(recorded), Some(found)) = (&old.build_id, new.and_then(|new| new.build_id.as_ref()))
            && recorded != found
        {
            let (recorded, found) = (recorded.clone(), found.clone());
            return Err(runner::Error::Rebuilt { path: old.path.clone(), recorded, found });
        }
    }
    Ok(())
}

struct Limits {
    /// Of each kind.
    runs: u32,
    until: Option<Instant>,
}

/// None if the interleaving cannot be told to the recorder.
fn try_out(
    campaign: &Campaign,
    steps: &[InterleavingStep],
    seed: u64,
    limits: &Limits,
) -> anyhow::Result<Option<Confirmation>> {
    let treatments = Treatment::ALL.map(|treatment| Interleaving::new(treatment, steps));
    let [Some(_), Some(_), Some(_)] = treatments else { return Ok(None) };
    let mut campaign = campaign.clone();
    campaign.timeout = campaign.timeout.map(|timeout| timeout.min(LONGEST_RUN));
    let mut trials = [Trial { runs: 0, failed: 0 }; 3];
    let mut came_about = 0;
    let never = AtomicBool::new(false);
    for number in 1..=limits.runs {
        for (trial, interleaving) in trials.iter_mut().zip(treatments) {
            let run = RunNumber(number);
            let plan = RunPlan {
                seed: campaign::run_seed(!seed, run),
                schedule: Schedule::Random,
                interleaving,
                ..RunPlan::default()
            };
            let Some(file) = campaign.once(run, plan, &never)? else { continue };
            if matches!(file.record.outcome, runner::Outcome::Damaged { .. }) {
                continue;
            }
            trial.runs += 1;
            trial.failed += u64::from(file.record.outcome.is_failing());
            if interleaving.is_some_and(|one| one.treatment == Treatment::Enforce) {
                let headers = file.processes.iter().filter_map(|one| recording::header(&one.bytes).ok());
                came_about += u64::from(headers.map(|header| header.interleavings).sum::<u64>() > 0);
            }
        }
        let confirmation = decide(trials, came_about, BEYOND_DOUBT);
        let is_clear = confirmation.verdict == Verdict::Confirmed && trials[0].runs >= FEWEST;
        if is_clear || limits.until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
    }
    Ok(Some(decide(trials, came_about, BELIEVED)))
}

/// What follows from enforced, forbidden and delayed runs. The interleaving came about in so many of the first.
fn decide([enforced, forbidden, delayed]: [Trial; 3], came_about: u64, believed: f64) -> Confirmation {
    let p_value = localize::fisher((enforced.failed, enforced.runs), (forbidden.failed, forbidden.runs));
    // Of what is the cause there is little left when it is forbidden.
    let helps = forbidden.failed * enforced.runs * 4 <= enforced.failed * forbidden.runs;
    let enough = enforced.runs >= FEWEST && forbidden.runs >= FEWEST;
    let verdict = if enough && p_value < believed && helps {
        Verdict::Confirmed
    } else if enough && p_value > NO_SIGN && came_about * 2 >= enforced.runs {
        Verdict::Refuted
    } else {
        Verdict::Inconclusive
    };
    Confirmation { enforced, forbidden, verdict, delayed: Some(delayed), p_value: Some(p_value) }
}

/// What was tried out before, by the interleaving.
type Kept = BTreeMap<String, Confirmation>;

fn file(session: &Session) -> PathBuf {
    session.folder().join("confirmations.json")
}

fn key(steps: &[InterleavingStep]) -> Option<String> {
    Interleaving::new(Treatment::Enforce, steps).map(|interleaving| interleaving.to_string())
}

fn kept(session: &Session) -> Kept {
    let text = std::fs::read(file(session)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn keep(session: &Session, steps: &[InterleavingStep], confirmation: Confirmation) -> anyhow::Result<()> {
    let mut all = kept(session);
    all.extend(key(steps).map(|key| (key, confirmation)));
    let path = file(session);
    std::fs::write(&path, serde_json::to_vec_pretty(&all)?).map_err(runner::Error::writing(&path))?;
    Ok(())
}

/// Puts what was tried out before into a report.
pub fn recall(session: &Session, analysis: &mut analysis::Analysis) {
    let all = kept(session);
    for (finding, steps) in analysis.report.findings.iter_mut().zip(&analysis.interleavings) {
        finding.confirmation = key(steps).and_then(|key| all.get(&key).copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(enforced: u64, forbidden: u64, came_about: u64) -> Verdict {
        let trial = |failed| Trial { runs: 20, failed };
        decide([trial(enforced), trial(forbidden), trial(3)], came_about, BELIEVED).verdict
    }

    #[test]
    fn the_cause_fails_when_forced_and_passes_when_forbidden() {
        assert_eq!(verdict(20, 0, 20), Verdict::Confirmed);
        assert_eq!(verdict(8, 0, 5), Verdict::Confirmed);
        assert_eq!(verdict(20, 10, 20), Verdict::Inconclusive, "half of the failures are left");
        assert_eq!(verdict(3, 0, 20), Verdict::Inconclusive);
    }

    #[test]
    fn what_makes_no_difference_is_no_cause() {
        assert_eq!(verdict(4, 4, 20), Verdict::Refuted);
        assert_eq!(verdict(0, 5, 20), Verdict::Refuted);
        assert_eq!(verdict(0, 0, 2), Verdict::Inconclusive, "it hardly came about");
    }

    #[test]
    fn a_few_runs_decide_nothing() {
        let trial = |failed| Trial { runs: 4, failed };
        assert_eq!(decide([trial(4), trial(0), trial(0)], 4, 0.05).verdict, Verdict::Inconclusive);
    }
}
