//! From the first run to an answer: runs until there is a suspect, its proof, where exactly a failing run goes wrong, and more runs where
//! that proves nothing.

use std::time::Instant;

use recording::Interleaving;
use report::{Effort, Kind, Report, Spent, Verdict};
use runner::Session;
use runner::campaign::{Campaign, Limits, Stop};

use crate::analysis::Analysis;
use crate::args::RunArguments;
use crate::conduct::Conductor;
use crate::interleaving::Forcible;
use crate::search::Search;
use crate::{confirm, exit, look, narrow, replay};

/// Why there are no more runs.
pub enum End {
    /// The first cause was proved before.
    Proved,
    Stopped(Stop),
}

/// What came out of it.
pub enum Answer {
    /// What the runs tell.
    Told(Box<Analysis>, End),
    /// Nothing, since there are no runs.
    Interrupted,
    /// Nothing, since runs at the same time get in each other's way: what to say about it.
    Crowded(String),
}

/// What is asked, and since when.
pub struct Inquiry<'a> {
    pub arguments: &'a RunArguments,
    pub campaign: &'a Campaign,
    pub begun: Instant,
    /// When it is to be over, where that was said.
    pub until: Option<Instant>,
}

impl Inquiry<'_> {
    /// Makes the runs of a session, says what they tell and tries it out. In a directed search that is done twice if need be: as soon as there
    /// is a suspect that is worth being tried out, and, unless that proves it, once more runs would not change the answer.
    pub fn answer(&self, session: &mut Session, search: &mut Search) -> anyhow::Result<Answer> {
        let Inquiry { arguments, campaign, .. } = *self;
        let confirmed = arguments.confirmed();
        let mut conductor = Conductor::new(campaign, session, arguments.limits.jobs.is_none())?;
        let proves_early = confirmed > 0
            && search.is_directed()
            && campaign.limits == Limits::default()
            && arguments.ranking.technique.is_none();
        let ended = if proves_early { conductor.seek_suspect(session, search)? } else { None };
        if proves_early
            && ended.is_none()
            && conductor.crowding().is_none()
            && let Some((analysis, proved)) = self.prove_early(session, &mut conductor)?
        {
            return Ok(Answer::Told(self.told(analysis, Some(proved)).into(), End::Proved));
        }
        let stop = match ended {
            Some(stop) => stop,
            None => conductor.seek_answer(session, search)?,
        };
        if let Some(crowding) = conductor.crowding() {
            return Ok(Answer::Crowded(crowding.to_owned()));
        }
        if session.runs().is_empty() && stop == Stop::Interrupted {
            return Ok(Answer::Interrupted);
        }
        let mut analysis = conductor.examine(session, &arguments.ranking)?;
        let may_try = confirmed > 0 && stop != Stop::Interrupted;
        if may_try
            && analysis.report.runs.failed > 0
            && arguments.ranking.technique.is_none()
            && narrow::is_called_for(&analysis.report)
            && narrow::seek(session, campaign, self.until, forced(&analysis))?
        {
            analysis = conductor.examine(session, &arguments.ranking)?;
        }
        if is_found(&analysis) && may_try {
            // However long the analysis took, something is left for the proof.
            let least =
                arguments.limits.time.and_then(|time| Instant::now().checked_add(time / confirm::LEAST));
            confirm::confirm_first(session, campaign, &mut analysis, confirmed, self.until.max(least))?;
        } else {
            confirm::recall(session, &mut analysis);
        }
        let proved = is_proved(&analysis.report).then(|| self.spent());
        if may_try && leaves_doubt(&analysis.report) {
            analysis.report.repeated = Some(replay::repeat_failures(session)?);
        }
        Ok(Answer::Told(self.told(analysis, proved).into(), End::Stopped(stop)))
    }

    /// Tries the suspect out, and looks where exactly runs go wrong: what comes first then is proved, or there is no answer yet. With it comes
    /// what it took until the proof.
    ///
    /// A mere order may be what follows from the cause, so that it is looked first where runs go wrong: of ten such sessions of the corpus
    /// that had an edge, seven had something else first once that was known. What has more to it is tried out at once (of 88, four had).
    fn prove_early(
        &self,
        session: &Session,
        conductor: &mut Conductor<'_>,
    ) -> anyhow::Result<Option<(Analysis, Spent)>> {
        let Inquiry { arguments, campaign, .. } = *self;
        let count = arguments.confirmed();
        let mut analysis = conductor.examine(session, &arguments.ranking)?;
        if !is_found(&analysis) {
            return Ok(None);
        }
        let is_tried = !is_mere_order(&analysis.report);
        if is_tried && confirm::confirm_early(session, campaign, &mut analysis, count)? {
            let spent = self.spent();
            let analysis = self.with_edges(session, conductor, analysis)?;
            return Ok(Some((analysis, spent)));
        }
        if narrow::is_called_for(&analysis.report)
            && narrow::seek(session, campaign, self.until, forced(&analysis))?
        {
            analysis = conductor.examine(session, &arguments.ranking)?;
        } else if is_tried {
            return Ok(None);
        }
        let is_proved =
            is_found(&analysis) && confirm::confirm_early(session, campaign, &mut analysis, count)?;
        Ok(is_proved.then(|| (analysis, self.spent())))
    }

    /// The same with where exactly runs go wrong. If that is not what was proved, it is tried out as well: what is proved at the very place where the outcome
    /// is decided goes before what is proved elsewhere, which follows from it.
    fn with_edges(
        &self,
        session: &Session,
        conductor: &mut Conductor<'_>,
        proved: Analysis,
    ) -> anyhow::Result<Analysis> {
        if !narrow::is_called_for(&proved.report)
            || !narrow::seek(session, self.campaign, self.until, forced(&proved))?
        {
            return Ok(proved);
        }
        let mut analysis = conductor.examine(session, &self.arguments.ranking)?;
        confirm::recall(session, &mut analysis);
        if analysis.first_interleaving() == proved.first_interleaving()
            || confirm::confirm_early(session, self.campaign, &mut analysis, self.arguments.confirmed())?
        {
            return Ok(analysis);
        }
        narrow::forget(session)?;
        Ok(proved)
    }

    fn told(&self, mut analysis: Analysis, until_proof: Option<Spent>) -> Analysis {
        analysis.report.effort = Some(Effort { spent: self.spent(), until_proof });
        analysis
    }

    fn spent(&self) -> Spent {
        Spent { runs: self.campaign.begun.runs().into(), seconds: self.begun.elapsed().as_secs_f64() }
    }
}

/// What makes runs fail, as far as is known.
fn forced(analysis: &Analysis) -> Option<Interleaving> {
    analysis.interleavings.first()?.as_ref().map(Forcible::forced)
}

fn is_mere_order(report: &Report) -> bool {
    report
        .findings
        .first()
        .is_some_and(|first| first.kind == Kind::OrderViolation && first.accesses.len() == 2)
}

fn is_found(analysis: &Analysis) -> bool {
    look::verdict(&analysis.report) == exit::FOUND
}

fn is_proved(report: &Report) -> bool {
    let first = report.findings.first().and_then(|finding| finding.confirmation);
    first.is_some_and(|confirmation| confirmation.verdict == Verdict::Confirmed)
}

/// Whether runs failed and passed, and nothing tells why.
fn leaves_doubt(report: &Report) -> bool {
    let is_known = report.findings.first().is_some_and(report::is_likely);
    report.runs.failed > 0 && report.runs.passed > 0 && !is_known
}
