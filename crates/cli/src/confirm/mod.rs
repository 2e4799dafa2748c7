//! Is a finding the cause? Runs in which its interleaving is enforced, runs in which it is forbidden, and runs with
//! delays at the same places but no order: if the cause is found, the first fail and the second do not.

mod decision;
mod kept;
mod trials;

use std::process::ExitCode;
use std::time::Instant;

use report::Verdict;
use report::terminal;
use runner::campaign::Campaign;
use runner::{Binary, Session};

pub use kept::recall;
use trials::{Laboratory, Limits};

use crate::args::{ConfirmArguments, RunArguments};
use crate::exit::{self, Complaint};
use crate::{analysis, look, run, screen, sessions};

/// Runs of each kind after which the answer is taken as it is.
pub const RUNS: u32 = 20;
/// `unsnarl confirm N`.
pub fn confirm(arguments: &ConfirmArguments) -> anyhow::Result<ExitCode> {
    let session = sessions::open(arguments.session.as_deref())?;
    let mut analysis = analysis::examine(&session, &arguments.ranking)?;
    let number = arguments.finding;
    let index = number.wrapping_sub(1);
    let Some(&interleaving) = analysis.interleavings.get(index) else {
        let present = analysis.report.findings.len();
        return Err(
            Complaint::usage(format!("there is no finding {number}: the report has {present}")).into()
        );
    };
    let prepared = run::prepare(&again(&session))?;
    check_same(&session.manifest().binaries, &prepared.target.binaries)?;
    let limits = Limits { runs: arguments.runs, until: arguments.time.map(|time| Instant::now() + time) };
    let interleaving = interleaving.ok_or_else(|| Complaint {
        code: exit::UNDECIDED,
        what: format!("finding {number} cannot be forced: its places in the code are not known well enough"),
        advice: "  try another finding, or another technique:  unsnarl confirm 2",
    })?;
    let confirmation = Laboratory::new(&session, &prepared.campaign).confirm(interleaving, &limits)?;
    kept::keep(&session, interleaving, &confirmation)?;
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
    let mut laboratory = Laboratory::new(session, campaign);
    for (finding, interleaving) in
        analysis.report.findings.iter_mut().zip(&analysis.interleavings).take(count)
    {
        if finding.confirmation.is_none()
            && let &Some(interleaving) = interleaving
        {
            let confirmation = laboratory.confirm(interleaving, &limits)?;
            kept::keep(session, interleaving, &confirmation)?;
            finding.confirmation = Some(confirmation);
        }
    }
    Ok(())
}

/// The command line that made a session, as far as it says what to run and how to judge it.
pub fn again(session: &Session) -> RunArguments {
    let manifest = session.manifest();
    let kept = ["timeout", "fail-regex", "expect-stdout", "fail-if", "budget", "include"];
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
