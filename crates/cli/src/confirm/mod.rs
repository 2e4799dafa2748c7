//! Is a finding the cause? Runs in which its interleaving is enforced, runs in which it is forbidden, and runs with
//! delays at the same places but no order: if the cause is found, the first fail and the second do not.

mod apart;
mod decision;
mod evident;
mod following;
mod inquiries;
mod kept;
mod leading;
mod minimal;
mod needed;
mod no_wait;
mod queue;
mod region;
mod restated;
mod settling;
mod simulated_fix;
mod trials;
mod turned;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use recording::Interleaving;
use report::{Finding, Verdict, terminal};
use runner::campaign::Campaign;
use runner::{Binary, Session};

use apart::Standing;
use kept::Tried;
pub use kept::recall;
use trials::{Laboratory, Limits, Proof, Shown};

use crate::analysis::{self, Analysis};
use crate::args::{ConfirmArguments, RunArguments};
use crate::exit::{self, Complaint};
use crate::interleaving::Forcible;
use crate::{look, run, screen, sessions};

/// Runs of each kind after which the answer is taken as it is.
pub const RUNS: u32 = 20;
/// Findings that `unsnarl run` tries out.
pub const FINDINGS: usize = 3;
/// With a cause at hand, nobody waits for trials of findings that are less likely than this.
const UNLIKELY: f64 = 0.01;
/// For as long at most, or for as long as the runs took that found them, where it was not told how long it may take.
const TIME: Duration = Duration::from_secs(20);
/// Of a time that was given, this share is left for it at least: one in so many parts.
pub const SHARE: u32 = 4;
/// One part of so many is left for it even if making the report took the rest.
pub const LEAST: u32 = 8;

/// `unsnarl confirm N`.
pub fn confirm(arguments: &ConfirmArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let analysis = analysis::examine(&session, &arguments.ranking)?;
    let number = arguments.finding;
    let index = number.wrapping_sub(1);
    let Some(forcible) = analysis.interleavings.get(index).cloned() else {
        let present = analysis.report.findings.len();
        return Err(Complaint::usage(exit::no_finding(number, present)).into());
    };
    let prepared = run::prepare(&again(&session))?;
    check_same(&session.manifest().binaries, &prepared.target.binaries)?;
    let limits = Limits { runs: arguments.runs, until: arguments.time.map(|time| Instant::now() + time) };
    let mut forcible = forcible.ok_or_else(|| Complaint {
        code: exit::UNDECIDED,
        what: format!("finding {number} cannot be forced: its places in the code are not known well enough"),
        advice: "  try another finding, or another technique:  unsnarl confirm 2",
    })?;
    let mut laboratory = Laboratory::new(&session, &prepared.campaign, limits);
    let share = region::shares(&analysis)[index];
    let finding = &analysis.report.findings[index];
    let better = analysis.report.findings.iter().zip(&analysis.interleavings).take(index);
    let standing: Vec<Standing> = (1..)
        .zip(better)
        .filter_map(|(number, (other, forcible))| Standing::of(number, other, forcible.as_ref()))
        .collect();
    let shown = Shown::by(finding, share, &analysis.report.runs);
    let mut tried = try_out(&mut laboratory, &mut forcible, finding, &shown, &standing, &limits)?;
    let confirmation = tried.confirmation;
    screen::print(&format!("{}\n", terminal::proof(&confirmation)))?;
    if tried.needs.is_none() && arguments.minimize {
        tried.needs = minimal::needs(&mut laboratory, &analysis, index, &limits)?;
    }
    if tried.needs.is_some() || arguments.minimize {
        screen::print(&terminal::needs(tried.needs.as_ref()))?;
    }
    tried.needs = tried.needs.or_else(|| analysis.report.findings[index].needs.clone());
    kept::keep(&session, forcible.interleaving, tried)?;
    // What was found out can change the order of findings.
    look::keep(&session, &analysis::analyse(&session, &arguments.ranking)?)?;
    Ok(ExitCode::from(match confirmation.verdict {
        Verdict::Confirmed => exit::FOUND,
        Verdict::Refuted => exit::REFUTED,
        Verdict::Inconclusive => exit::UNDECIDED,
    }))
}

/// Tries out the first findings of a session, at most so many, of each cause until one is confirmed, then none that is part
/// of what was or that hardly anything speaks for, and last those about code that passing runs never come to; and notes what came
/// of it in the report. What was tried out before is not again. No run begins after `until`, if that is given.
pub fn confirm_first(
    session: &Session,
    campaign: &Campaign,
    analysis: &mut Analysis,
    count: usize,
    until: Option<Instant>,
) -> anyhow::Result<()> {
    kept::fill_in(session, analysis);
    let until = until.unwrap_or_else(|| usual_end(session));
    try_first(session, campaign, analysis, count, until, false)?;
    settling::settle(analysis);
    Ok(())
}

/// The same in the midst of a search, which goes on unless the first finding is confirmed: says whether it is, and tries out no other before.
/// If it is not, nothing of the analysis is of use any more. What was tried out before is again: more may be known.
pub fn confirm_early(
    session: &Session,
    campaign: &Campaign,
    analysis: &mut Analysis,
    count: usize,
) -> anyhow::Result<bool> {
    if !try_first(session, campaign, analysis, count, usual_end(session), true)? {
        return Ok(false);
    }
    settling::settle(analysis);
    let first = analysis.report.findings.first().and_then(|finding| finding.confirmation);
    Ok(first.is_some_and(|confirmation| confirmation.verdict == Verdict::Confirmed))
}

/// Until when trials may begin where it was not told how long they may take.
fn usual_end(session: &Session) -> Instant {
    Instant::now() + TIME.max(Duration::from_secs_f64(session.manifest().wall_seconds.max(0.0)))
}

/// Tries out the first findings; if `ends_at_doubt`, until one is not confirmed, and what there was no time for counts as not tried out.
/// Says whether a finding was confirmed.
fn try_first(
    session: &Session,
    campaign: &Campaign,
    analysis: &mut Analysis,
    count: usize,
    until: Instant,
    ends_at_doubt: bool,
) -> anyhow::Result<bool> {
    let limits = Limits { runs: RUNS, until: Some(until) };
    let mut laboratory = Laboratory::new(session, campaign, limits);
    let mut confirmed: BTreeSet<Option<u64>> = BTreeSet::new();
    let mut wholes: Vec<Interleaving> = Vec::new();
    let mut standing: Vec<Standing> = Vec::new();
    let mut left = count;
    let shares = region::shares(analysis);
    let findings = analysis.report.findings.iter_mut().zip(&mut analysis.interleavings);
    let mut findings: Vec<_> = (1..).zip(findings.zip(&shares)).collect();
    let is_new_code = |forcible: &Option<Forcible>| forcible.as_ref().is_some_and(|one| one.is_new_code);
    findings.sort_by_key(|(_, ((_, forcible), _))| is_new_code(forcible));
    for (number, ((finding, forcible), &share)) in findings {
        if left == 0 || limits.is_over() {
            break;
        }
        let Some(forcible) = forcible else { continue };
        let steps = forcible.interleaving.steps();
        let is_part = |whole: &Interleaving| {
            steps.iter().all(|step| whole.steps().iter().any(|other| other.is_same_place(step)))
        };
        let is_unlikely = finding.confidence.is_some_and(|confidence| confidence < UNLIKELY);
        if confirmed.contains(&finding.cluster)
            || wholes.iter().any(is_part)
            || (is_unlikely || forcible.is_new_code) && !wholes.is_empty()
        {
            continue;
        }
        left -= 1;
        let verdict = match finding.confirmation {
            Some(before) => before.verdict,
            None => {
                let shown = Shown::by(finding, share, &analysis.report.runs);
                let tried = try_out(&mut laboratory, forcible, finding, &shown, &standing, &limits)?;
                if ends_at_doubt && limits.is_over() {
                    break;
                }
                let confirmation = tried.confirmation;
                finding.needs.clone_from(&tried.needs);
                finding.confirmation = Some(confirmation);
                kept::keep(session, forcible.interleaving, tried)?;
                confirmation.verdict
            }
        };
        standing.extend(Standing::of(number, finding, Some(forcible)));
        if verdict == Verdict::Confirmed {
            confirmed.insert(finding.cluster);
            wholes.push(forcible.interleaving);
        }
        if ends_at_doubt && verdict != Verdict::Confirmed {
            break;
        }
    }
    Ok(!wholes.is_empty())
}

/// Tries a finding out, beside those that were before, and notes what it takes if its own steps are not enough.
fn try_out(
    laboratory: &mut Laboratory<'_>,
    forcible: &mut Forcible,
    finding: &Finding,
    shown: &Shown<'_>,
    standing: &[Standing],
    limits: &Limits,
) -> anyhow::Result<Tried> {
    let Proof { confirmation, led } = laboratory.confirm(forcible, shown, limits)?;
    forcible.whole = led.as_ref().map(|led| led.interleaving);
    let (confirmation, explanation) = apart::judge(laboratory, forcible, confirmation, standing)?;
    let confirmation = match &led {
        None => following::judge(laboratory, forcible, shown, confirmation, limits)?,
        Some(_) => confirmation,
    };
    let confirmation = laboratory.within_time(confirmation);
    // What goes along with another finding needs that one.
    let led = led.filter(|_| confirmation.verdict == Verdict::Confirmed);
    forcible.whole = led.as_ref().map(|led| led.interleaving);
    let whole = forcible.whole.map(|whole| whole.to_string());
    let needs = led.map(|led| leading::needs(finding, forcible, &led, confirmation.enforced));
    Ok(Tried { confirmation, needs, explanation, whole })
}

/// The command line that made a session, as far as it says what to run and how to judge it.
pub fn again(session: &Session) -> RunArguments {
    let manifest = session.manifest();
    let kept = ["timeout", "fail-regex", "expect-stdout", "fail-if", "budget", "include", "stdin"];
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
