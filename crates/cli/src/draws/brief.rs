//! What is said about a draw: what was found where. All of it would be ten times as long, and naming variables and
//! advising on thousands of findings would take a hundred times as long.

use std::collections::HashMap;
use std::path::Path;

use localize::evidence::telling_example;
use localize::griffin::RunGroup;
use localize::{Code, Detail, Finding, Outcome, Profile, SiteId, StackId, Technique};
use report::{Fix, Frame, Kind, Report};
use runner::RunNumber;
use serde::Serialize;

use crate::analysis;
use crate::names::Names;
use crate::runs::Runs;

/// A report in brief.
#[derive(Serialize)]
pub struct Brief {
    technique: &'static str,
    findings: Vec<BriefFinding>,
    causes: Vec<BriefCause>,
}

/// What was found where.
#[derive(Serialize)]
pub struct BriefFinding {
    rank: usize,
    tied: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    failed: u32,
    passed: u32,
    pattern: String,
    accesses: Vec<BriefAccess>,
    failing_runs: Vec<u32>,
    #[serde(flatten)]
    explanation: Option<Explanation>,
}

/// An access, where the program's own files made it.
#[derive(Serialize)]
struct BriefAccess {
    thread: u32,
    #[serde(flatten)]
    place: Place,
    #[serde(skip_serializing_if = "String::is_empty")]
    variable: String,
}

#[derive(Serialize)]
struct BriefCause {
    group: usize,
    failing_runs: Vec<u32>,
}

#[derive(Serialize)]
struct Explanation {
    kind: Kind,
    suspicious_functions: Vec<String>,
    fix: Option<Fix>,
}

#[derive(Serialize, Clone)]
struct Place {
    file: Option<String>,
    line: Option<u32>,
}

impl Brief {
    /// What these findings of the draw that `runs` holds say.
    pub fn of(
        technique: Technique,
        findings: &[Finding],
        groups: &[RunGroup],
        runs: &mut Runs<'_>,
        places: &mut Places<'_>,
    ) -> anyhow::Result<Brief> {
        let known = runs.records.iter();
        let outcomes: HashMap<RunNumber, Outcome> =
            known.filter_map(|record| Some((record.run, analysis::outcome(&record.outcome)?))).collect();
        let brief = findings.iter().map(|finding| {
            let run = RunNumber(finding.example.run.0);
            let profile = runs.load(run, outcomes[&run])?;
            Ok(BriefFinding::of(finding, &profile, &runs.code, &mut runs.names, places))
        });
        let causes = (1..).zip(groups).map(|(group, members)| BriefCause {
            group,
            failing_runs: members.runs.iter().map(|run| run.0).collect(),
        });
        Ok(Brief {
            technique: technique.name(),
            findings: brief.collect::<anyhow::Result<_>>()?,
            causes: causes.collect(),
        })
    }

    /// Adds what a report on the same findings says besides.
    pub fn explain(&mut self, report: Report) {
        for (brief, finding) in self.findings.iter_mut().zip(report.findings) {
            for (access, named) in brief.accesses.iter_mut().zip(finding.accesses) {
                access.variable = named.variable;
            }
            brief.explanation = Some(Explanation {
                kind: finding.kind,
                suspicious_functions: finding.suspicious_functions,
                fix: finding.fix,
            });
        }
    }
}

impl BriefFinding {
    /// A finding whose example is in `profile`.
    pub fn of(
        finding: &Finding,
        profile: &Profile,
        code: &Code,
        names: &mut Names,
        places: &mut Places<'_>,
    ) -> BriefFinding {
        let reasoning = match &finding.detail {
            Detail::Verdict(reasoning) => Some(reasoning),
            _ => None,
        };
        let standstill = reasoning.and_then(|reasoning| reasoning.standstill.as_ref());
        let access = |thread, stack, places: &mut Places<'_>, names: &mut Names| BriefAccess {
            thread,
            place: places.of(stack, code, names),
            variable: String::new(),
        };
        let (pattern, accesses) = match standstill {
            Some(standstill) => {
                let steps = standstill.steps.iter();
                let accesses = steps.clone().map(|step| access(step.role, step.stack, places, names));
                (steps.map(|step| step.action.letter()).collect(), accesses.collect())
            }
            None => {
                let example = places.example(finding, profile, code, names);
                let steps = example.into_iter().zip(finding.example.id.steps());
                let accesses = steps.map(|(index, step)| {
                    let recorded = &profile.run.accesses[index];
                    access(u32::from(step.thread), recorded.stack, places, names)
                });
                (finding.example.id.to_string(), accesses.collect())
            }
        };
        BriefFinding {
            rank: finding.rank,
            tied: finding.tied,
            confidence: reasoning.map(|reasoning| reasoning.confidence),
            failed: finding.failed,
            passed: finding.passed,
            pattern,
            accesses,
            failing_runs: finding.failing_runs.iter().map(|run| run.0).collect(),
            explanation: None,
        }
    }
}

/// Where accesses are, as far as it is known already.
pub struct Places<'a> {
    /// The program's own files.
    files: &'a [String],
    by_stack: HashMap<StackId, Place>,
    /// Whether the caller of a site makes no difference to where it is.
    own_sites: HashMap<SiteId, bool>,
}

impl<'a> Places<'a> {
    pub fn new(files: &'a [String]) -> Places<'a> {
        Places { files, by_stack: HashMap::new(), own_sites: HashMap::new() }
    }

    /// The innermost place in the program's own files; without one, where a report would say it is.
    fn of(&mut self, stack: StackId, code: &Code, names: &mut Names) -> Place {
        if let Some(known) = self.by_stack.get(&stack) {
            return known.clone();
        }
        let frames = names.stack(code.stack(stack), code);
        let own = report::explanation::own_frame(&frames).or(frames.first());
        let inside = own.into_iter().chain(&frames).find(|frame| self.is_inside(frame));
        let frame = inside.or(own);
        let place = Place {
            file: frame.and_then(|frame| frame.file.clone()),
            line: frame.and_then(|frame| frame.line),
        };
        self.by_stack.insert(stack, place.clone());
        place
    }

    /// The accesses of the example that a report would show. Another one than the technique's has the same sites, so
    /// that it makes no difference unless one of these is in a library.
    fn example(
        &mut self,
        finding: &Finding,
        profile: &Profile,
        code: &Code,
        names: &mut Names,
    ) -> Vec<usize> {
        let accesses = &finding.example.accesses;
        if accesses.iter().all(|&index| self.is_own(profile.run.accesses[index].site, code, names)) {
            return accesses.clone();
        }
        telling_example(&profile.run, &finding.example).accesses
    }

    fn is_own(&mut self, site: SiteId, code: &Code, names: &mut Names) -> bool {
        if let Some(&known) = self.own_sites.get(&site) {
            return known;
        }
        let frames = names.stack(&[site], code);
        let own = frames.iter().find(|frame| frame.line.is_some() && !frame.is_library());
        let is_own = own.is_some_and(|frame| self.is_inside(frame));
        self.own_sites.insert(site, is_own);
        is_own
    }

    fn is_inside(&self, frame: &Frame) -> bool {
        let file = frame.file.as_deref().map(Path::new);
        frame.line.is_some() && file.is_some_and(|file| self.files.iter().any(|own| file.ends_with(own)))
    }
}
