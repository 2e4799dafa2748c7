//! From a session to its report: every run is read once, ranked, and the best findings are put into words.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use localize::evidence::{Witness, telling_example};
use localize::{
    Code, Collector, Detail, Finding, Options, Outcome, Profile, RunId, StandstillKind, Step, Technique,
    Violation,
};
use recording::{Interleaving, Recording};
use report::explanation;
use report::source::Sources;
use report::{Kind, Report};
use runner::portfolio::Policy;
use runner::{RunFile, RunNumber, Session};

use crate::args::RankingArguments;
use crate::causes;
use crate::confirm;
use crate::evidence;
use crate::exit;
use crate::explain::{compare, explain, explain_standstill};
use crate::failures;
use crate::freed_uses;
use crate::hangs::Hangs;
use crate::interleaving::{self, Forcible};
use crate::java;
use crate::leftovers;
use crate::names::Names;
use crate::narrow;
use crate::replay;
use crate::runs::Runs;
use crate::search;
use crate::source_names::{Unnamed, name_by_source};
use crate::threads;
use crate::trace::timelines;
use crate::values;
use crate::written_over;

/// What ranks the findings if the user names nothing.
const DEFAULT_TECHNIQUE: Technique = Technique::Verdict;

/// A report, and what its findings mean to the recorder.
pub struct Analysis {
    pub report: Report,
    /// For each finding of the report its steps, none where a place in the code cannot be told.
    pub interleavings: Vec<Option<Forcible>>,
}

impl Analysis {
    /// The steps of the first finding.
    pub fn first_interleaving(&self) -> Option<Interleaving> {
        self.interleavings.first()?.as_ref().map(|forcible| forcible.interleaving)
    }
}

/// The report of all runs of a session.
pub fn analyse(session: &Session, ranking: &RankingArguments) -> anyhow::Result<Report> {
    Ok(examine(session, ranking)?.report)
}

/// Analyses all runs of a session.
pub fn examine(session: &Session, ranking: &RankingArguments) -> anyhow::Result<Analysis> {
    examine_runs(&mut Runs::of(session), ranking)
}

/// Analyses some runs.
pub fn examine_runs(runs: &mut Runs<'_>, ranking: &RankingArguments) -> anyhow::Result<Analysis> {
    let mut analysis = examine_untried(runs, ranking)?;
    confirm::recall(runs.session, &mut analysis);
    Ok(analysis)
}

/// The same, whatever was tried out before: what follows from the runs alone.
pub fn examine_untried(runs: &mut Runs<'_>, ranking: &RankingArguments) -> anyhow::Result<Analysis> {
    let session = runs.session;
    let technique = ranking.technique.unwrap_or(DEFAULT_TECHNIQUE);
    let RankingArguments { window, distance, formula, .. } = *ranking;
    let options = Options { window, distance, formula, ..Options::default() };
    let mut collector = Collector::new(technique, &options);
    let mut warnings = Warnings::default();
    let mut left_out = BTreeSet::new();
    let mut hangs = Hangs::default();
    let mut search = search::Summary::of(session);
    runs.warnings().iter().for_each(|warning| warnings.add(warning));
    leftovers::suspected(&runs.records).iter().for_each(|warning| warnings.add(warning));
    for record in runs.records.clone() {
        let Some(outcome) = outcome(&record.outcome) else {
            record.warnings.iter().for_each(|warning| warnings.add(warning));
            if record.warnings.is_empty() {
                warnings.add(&format!("a run says nothing about the test: {}", record.outcome.reason()));
            }
            continue;
        };
        match runs.load(record.run, outcome) {
            Ok(profile) => {
                record.warnings.iter().chain(&profile.warnings).for_each(|warning| warnings.add(warning));
                collector.add(&runs.reduce(&profile, technique, &options));
                hangs.observe(&profile, &runs.code, &mut runs.names);
                search.observe(session, &record, &profile.run);
            }
            Err(error) => {
                warnings.add(&format!("run {} was left out: {}", record.run, exit::in_one_line(&error)));
                left_out.insert(record.run);
            }
        }
    }
    let mut report = empty_report(runs, technique, &left_out);
    let mut interleavings = Vec::new();
    // The verdict knows what needs no passing run to be believed.
    if report.runs.failed > 0 && (report.runs.passed > 0 || technique == Technique::Verdict) {
        // What only passing runs show is no suspect.
        let mut findings = collector.findings();
        let [failed, passed] = [report.runs.failed, report.runs.passed].map(|runs| runs as u32);
        report.needs = localize::Need::of(&collector, &findings, failed, passed)
            .map(|need| report::Needs { failing: need.failing.into(), passing: need.passing.into() });
        findings.retain(|finding| finding.failed > 0);
        let put =
            if technique == Technique::Verdict { narrow::put_first(runs, &mut findings)? } else { None };
        if let Some(first) = findings.first_mut().filter(|_| technique == Technique::Verdict) {
            written_over::tell(runs, first)?;
        }
        let groups = causes::groups(&findings, report.runs.passed, ranking.formula);
        let shown = causes::worth_showing(findings.len(), &groups, ranking.findings);
        let mut chosen: Vec<Finding> = shown.iter().map(|&index| findings[index].clone()).collect();
        let described = describe(runs, &mut chosen)?;
        interleavings = described.iter().map(|one| one.interleaving.clone()).collect();
        if let Some(Some(first)) = interleavings.first_mut() {
            first.narrowed = put.as_ref().and_then(|put| put.narrowed);
        }
        let details: Vec<Details>;
        let window = put.map(|put| put.window);
        (report.findings, details) = described.into_iter().map(|one| (one.finding, one.details)).unzip();
        if let Some(first) = report.findings.first_mut() {
            first.window = window;
        }
        report.causes = causes::tell_apart(&mut report.findings, &findings, &shown, &groups);
        let mut sources = Sources::new(java::source_roots());
        sources.fill_in(&mut report);
        let forcible = interleavings.iter_mut();
        for ((finding, details), forcible) in report.findings.iter_mut().zip(&details).zip(forcible) {
            name_by_source(finding, &details.accesses, &details.compared, &runs.code, &mut runs.names);
            if let Some(advice) = explanation::reentrant(finding) {
                (finding.advice, finding.fix) = (advice, None);
            }
            if let Some(advice) = explanation::in_place_of_the_lock(finding) {
                finding.advice = advice;
            }
            if let Some(forcible) = forcible {
                tell_leads(forcible, finding, details, &mut sources, runs);
            }
            finding.evidence.extend(explanation::sentences(finding, &details.facts));
            finding.story = explanation::story(finding, &report.runs);
            let patch = explanation::patch(finding);
            if let Some(fix) = &mut finding.fix {
                fix.patch = patch;
            }
        }
        // What is missing in the page's steps is no matter of the findings.
        runs.names.warnings().iter().for_each(|warning| warnings.add(warning));
        report.timelines = timelines(session, &chosen, &report.findings, &mut runs.code, &mut runs.names);
    }
    report.hangs = hangs.into_report();
    freed_uses::leave_to_findings(&mut report.hangs, &mut report.findings);
    report.outlooks = replay::outlooks(session);
    report.repeated = replay::repeated(session);
    report.search = search.into_report();
    report.warnings = warnings.into_sentences();
    Ok(Analysis { report, interleavings })
}

/// What clang does not report unless it is told to, and what makes of it.
pub fn left_out_reads(session: &Session) -> Option<String> {
    let binaries = session.manifest().binaries.iter();
    let sources: Vec<String> =
        binaries.flat_map(|binary| runner::left_out_reads::sources(&binary.path)).collect();
    let (first, rest) = sources.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    Some(format!(
        "{first}{more}, compiled by clang: the read of a statement such as `x++` is missing, so that a lost update \
         looks like writes only; build with `unsnarl cc --with clang`"
    ))
}

/// Reads one run; `code` numbers its sites, of which those that are copies of one count as one. What a test harness does on its
/// own account is left out: failing runs differ there, since it has more to tell of them. So is what a library does to make threads wait, and what
/// a task keeps in itself or merely counts references.
pub fn load(
    session: &Session,
    run: RunNumber,
    outcome: Outcome,
    code: &mut Code,
    names: &mut Names,
) -> anyhow::Result<Profile> {
    load_file(&session.load(run)?, run, outcome, code, names)
}

/// The same of a run that need not be one of a session's. In a session that was put together of others, its number is not the one that it was made with.
pub fn load_file(
    file: &RunFile,
    run: RunNumber,
    outcome: Outcome,
    code: &mut Code,
    names: &mut Names,
) -> anyhow::Result<Profile> {
    let mut profile = localize::profile(RunId(run.0), outcome, &recordings(file)?, code);
    let mere_counts = names.mere_counts(&profile, code);
    let blocks = profile.locations.iter().map(|location| location.block);
    let tasks: Vec<bool> =
        blocks.map(|block| block.is_some_and(|block| names.is_task(block, code))).collect();
    profile.leave_out(|access| {
        let location = access.location.0 as usize;
        tasks[location] || mere_counts[location] || names.is_libraries_own(access.stack, code)
    });
    profile.rename_sites(|site| names.original(site, code));
    profile.tell_apart(|site, stack| names.asked_for(site, stack, code));
    profile.run.calls = names.calls();
    // What is no plan was made by another version, for all runs alike.
    profile.run.way = file.record.plan.parse().map_or(0, |plan| Policy::of(&plan) as u32);
    Ok(profile)
}

/// What the processes of a run have recorded.
pub fn recordings(file: &RunFile) -> anyhow::Result<Vec<Recording>> {
    let parsed = file.processes.iter().map(|process| recording::parse(&process.bytes));
    parsed.collect::<Result<_, _>>().context("its recording cannot be read")
}

/// A run without an outcome says nothing about the test.
pub fn outcome(outcome: &runner::Outcome) -> Option<Outcome> {
    match outcome {
        runner::Outcome::Pass => Some(Outcome::Pass),
        runner::Outcome::Fail { .. } => Some(Outcome::Fail),
        runner::Outcome::Hang { .. } => Some(Outcome::Hang),
        runner::Outcome::Damaged { .. } => None,
    }
}

/// A report without findings. Runs that had to be left out say as little as those damaged from the start.
fn empty_report(compared: &Runs<'_>, technique: Technique, left_out: &BTreeSet<RunNumber>) -> Report {
    let session = compared.session;
    let manifest = session.manifest();
    let mut runs = report::Runs::default();
    for record in &compared.records {
        if left_out.contains(&record.run) {
            runs.damaged += 1;
            continue;
        }
        match &record.outcome {
            runner::Outcome::Pass => runs.passed += 1,
            runner::Outcome::Fail { .. } => runs.failed += 1,
            runner::Outcome::Hang { .. } => {
                runs.failed += 1;
                runs.hung += 1;
            }
            runner::Outcome::Damaged { .. } => runs.damaged += 1,
        }
    }
    let failures =
        failures::grouped(compared.records.iter().filter(|record| !left_out.contains(&record.run)));
    Report {
        schema: report::SCHEMA,
        session: report::Session {
            name: session.name(),
            command: manifest.command.clone(),
            unsnarl_version: manifest.unsnarl_version.clone(),
            started: manifest.started.clone(),
            seed: manifest.seed,
            wall_seconds: manifest.wall_seconds,
        },
        runs,
        failures,
        technique: technique.to_string(),
        warnings: Vec::new(),
        repeated: None,
        needs: None,
        findings: Vec::new(),
        causes: Vec::new(),
        hangs: Vec::new(),
        outlooks: Vec::new(),
        search: None,
        effort: None,
        excerpts: Vec::new(),
        timelines: Vec::new(),
    }
}

/// Only findings that somebody may look at are compared with passing runs, and with few of these: most show the same.
const COMPARED_FINDINGS: usize = 20;
const COMPARED_RUNS: usize = 4;

/// Puts findings into words, for which their example runs are read again.
fn describe(runs: &mut Runs<'_>, findings: &mut [Finding]) -> anyhow::Result<Vec<Described>> {
    let mut by_run: BTreeMap<RunId, Vec<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        by_run.entry(finding.example.run).or_default().push(index);
    }
    let outcomes: BTreeMap<RunNumber, Outcome> =
        runs.records.iter().filter_map(|record| Some((record.run, outcome(&record.outcome)?))).collect();
    let mut described: Vec<Option<Described>> = findings.iter().map(|_| None).collect();
    for (run, indices) in by_run {
        let run = RunNumber(run.0);
        let profile = runs.load(run, outcomes[&run])?;
        for &index in &indices {
            findings[index].example = telling_example(&profile.run, &findings[index].example);
        }
        let accesses: Vec<usize> =
            indices.iter().flat_map(|&index| findings[index].example.accesses.iter().copied()).collect();
        let witness = Witness::of(&profile.run, &accesses);
        for index in indices {
            let finding = &findings[index];
            described[index] = Some(describe_one(finding, &witness, &profile, &runs.code, &mut runs.names));
        }
    }
    let mut described: Vec<Described> = described.into_iter().flatten().collect();
    let passing = outcomes.iter().filter(|(_, outcome)| !outcome.is_failing()).map(|(run, _)| *run);
    for run in passing.take(COMPARED_RUNS) {
        // What cannot be read was told of before.
        let Ok(profile) = runs.load(run, Outcome::Pass) else { continue };
        for (one, finding) in described.iter_mut().zip(&*findings).take(COMPARED_FINDINGS) {
            if one.finding.comparison.is_none() {
                let compared = compare(finding, &profile, &runs.code, &mut runs.names);
                if let Some((comparison, recorded)) = compared {
                    one.finding.comparison = Some(comparison);
                    one.details.compared = recorded;
                }
            }
        }
    }
    Ok(described)
}

/// A finding in words, as far as these do not need the source.
struct Described {
    finding: report::Finding,
    details: Details,
    /// What it means to the recorder.
    interleaving: Option<Forcible>,
}

/// What is said about a finding once its source is known.
struct Details {
    /// Its accesses as recorded.
    accesses: Vec<Unnamed>,
    /// Those of the passing run.
    compared: Vec<Unnamed>,
    /// What is known about them.
    facts: Vec<explanation::Fact>,
    /// The accesses that lead to them, and as recorded.
    leading: Vec<(report::Access, Unnamed)>,
}

fn describe_one(
    finding: &Finding,
    witness: &Witness<'_>,
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> Described {
    let reasoning = match &finding.detail {
        Detail::Verdict(reasoning) => Some(reasoning),
        _ => None,
    };
    let standstill = reasoning.and_then(|reasoning| reasoning.standstill.as_ref());
    let told = |index: usize| values::as_told(&profile.run.accesses[index], &finding.example.accesses);
    let mut accesses: Vec<report::Access> = match standstill {
        Some(standstill) => names.standstill(standstill, profile, code),
        None => {
            let steps = finding.example.accesses.iter().zip(finding.example.id.steps());
            let access = |(&index, step): (&usize, Step)| {
                names.access(&told(index), u32::from(step.thread), profile, code)
            };
            steps.map(access).collect()
        }
    };
    if standstill.is_none() {
        explanation::tell_by_calls(&mut accesses);
    }
    let mut described = report::Finding {
        rank: finding.rank as u64,
        tied: finding.tied as u64,
        score: finding.score,
        confidence: reasoning.map(|reasoning| reasoning.confidence),
        chance: reasoning.and_then(|reasoning| reasoning.chance()),
        why: reasoning.map_or_else(Vec::new, |reasoning| {
            reasoning.reasons.iter().map(|reason| reason.to_string()).collect()
        }),
        failed: u64::from(finding.failed),
        passed: u64::from(finding.passed),
        kind: standstill.map_or_else(
            || kind(finding),
            |standstill| match standstill.kind {
                StandstillKind::Deadlock => Kind::Deadlock,
                StandstillKind::MissedSignal | StandstillKind::WokeAnother | StandstillKind::Unsignalled => {
                    Kind::MissedSignal
                }
            },
        ),
        pattern: standstill.map_or_else(
            || finding.example.id.to_string(),
            |standstill| standstill.steps.iter().map(|step| step.action.letter()).collect(),
        ),
        pattern_id: finding.example.id.row().map(|row| format!("{row:?}")),
        threads: threads::roles(finding, standstill, &accesses, profile, code, names),
        suspicious_functions: explanation::enclosing_functions(&accesses),
        accesses,
        cluster: None,
        failing_runs: finding.failing_runs.iter().map(|run| u64::from(run.0)).collect(),
        evidence: evidence::sentences(finding, code, names),
        advice: String::new(),
        fix: None,
        story: String::new(),
        comparison: None,
        confirmation: None,
        window: None,
        needs: None,
    };
    let recorded = match standstill {
        Some(standstill) => standstill.leading_accesses(),
        None => finding.example.accesses.clone(),
    };
    let recorded = recorded.into_iter().map(told);
    let accesses = recorded.map(|access| Unnamed::of(&access, profile, code, names)).collect();
    let facts = match standstill {
        Some(standstill) => explain_standstill(&mut described, standstill, profile, code, names),
        None => explain(&mut described, finding, witness, profile, code, names),
    };
    let interleaving = interleaving::of(finding, &profile.run, code, names);
    let interleaving = interleaving.map(|forcible| forcible.told_by(&described.accesses));
    let leads = interleaving.iter().flat_map(|forcible| &forcible.leading);
    let steps = leads.flat_map(|lead| lead.accesses().into_iter().zip(lead.threads()));
    let leading = steps.map(|(index, thread)| {
        let access = &profile.run.accesses[index];
        (names.access(access, thread.into(), profile, code), Unnamed::of(access, profile, code, names))
    });
    let details = Details { accesses, compared: Vec::new(), facts, leading: leading.collect() };
    Described { finding: described, details, interleaving }
}

/// Puts into words what leads to a finding.
fn tell_leads(
    forcible: &mut Forcible,
    finding: &report::Finding,
    details: &Details,
    sources: &mut Sources,
    runs: &mut Runs<'_>,
) {
    let (mut accesses, recorded): (Vec<report::Access>, Vec<Unnamed>) =
        details.leading.iter().cloned().unzip();
    for access in &mut accesses {
        access.source =
            access.file.as_deref().zip(access.line).and_then(|(file, line)| sources.line(file, line));
    }
    let mut told = report::Finding { accesses, comparison: None, ..finding.clone() };
    name_by_source(&mut told, &recorded, &[], &runs.code, &mut runs.names);
    for (lead, both) in forcible.leading.iter_mut().zip(told.accesses.chunks(2)) {
        lead.told = both.to_vec();
    }
}

/// What a finding is called. Techniques that look at communication alone do not tell what is violated by it.
fn kind(finding: &Finding) -> Kind {
    match (&finding.detail, finding.pattern.violation()) {
        (Detail::Communication(_) | Detail::Reconstruction(_) | Detail::Previous(_), _) => {
            Kind::Communication
        }
        (_, Violation::Order) => Kind::OrderViolation,
        (_, Violation::Atomicity) => Kind::AtomicityViolation,
        (_, Violation::MultiVariableAtomicity) => Kind::MultiVariableAtomicityViolation,
    }
}

/// Warnings of many runs, each told once.
#[derive(Default)]
struct Warnings {
    counts: BTreeMap<String, usize>,
}

impl Warnings {
    fn add(&mut self, text: &str) {
        *self.counts.entry(text.to_owned()).or_default() += 1;
    }

    fn into_sentences(self) -> Vec<String> {
        self.counts
            .into_iter()
            .map(|(text, count)| if count == 1 { text } else { format!("{text} (in {count} runs)") })
            .collect()
    }
}
