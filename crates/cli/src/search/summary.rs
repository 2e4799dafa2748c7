//! How the runs of a session were made and what came of it, for its report.

use std::collections::BTreeMap;

use localize::Predicted;
use recording::RunPlan;
use report::{Covered, Orders, PolicyRuns, Trial};
use runner::portfolio::Policy;
use runner::preemptions::Preemptions;
use runner::{RunRecord, Session};

use super::Scheduling;
use crate::analysis;

/// How often the runs made in each way have failed, for the progress display.
#[derive(Default)]
pub struct Tallies {
    failed: BTreeMap<Policy, u64>,
}

impl Tallies {
    /// Takes note of one more run.
    pub fn add(&mut self, record: &RunRecord) {
        if let Ok(plan) = record.plan.parse::<RunPlan>() {
            *self.failed.entry(Policy::of(&plan)).or_default() += u64::from(record.outcome.is_failing());
        }
    }

    /// The way that has made most runs fail, if there are several ways and failing runs.
    pub fn best(&self) -> Option<&'static str> {
        let (policy, &failed) = self.failed.iter().max_by_key(|(_, failed)| **failed)?;
        (failed > 0 && self.failed.len() > 1).then(|| policy.name())
    }
}

/// Gathers what is known of the runs, one after another.
pub struct Summary {
    scheduling: Scheduling,
    policies: BTreeMap<Policy, PolicyRuns>,
    directed: Trial,
    undirected: Trial,
    predicted: Predicted,
    preemptions: Option<Preemptions>,
}

impl Summary {
    /// Of a session none of whose runs was seen yet.
    pub fn of(session: &Session) -> Summary {
        let flag = session.manifest().flags.get("schedule");
        let scheduling = flag.and_then(|text| text.parse().ok()).unwrap_or_default();
        let none = Trial { runs: 0, failed: 0 };
        Summary {
            scheduling,
            policies: BTreeMap::new(),
            directed: none,
            undirected: none,
            predicted: Predicted::default(),
            preemptions: match scheduling {
                Scheduling::Bounded(bound) => Some(Preemptions::up_to(bound)),
                _ => None,
            },
        }
    }

    /// Looks at one more run and what it has recorded.
    pub fn observe(&mut self, session: &Session, record: &RunRecord, run: &localize::Run) {
        let Ok(plan) = record.plan.parse::<RunPlan>() else { return };
        let policy = Policy::of(&plan);
        let failed = u64::from(run.outcome.is_failing());
        let tally = self.policies.entry(policy).or_insert_with(|| PolicyRuns {
            name: policy.to_string(),
            runs: 0,
            failed: 0,
            seconds: 0.0,
        });
        tally.runs += 1;
        tally.failed += failed;
        tally.seconds += record.seconds;
        // How often runs fail near one that did says nothing about how often they do.
        if policy != Policy::Near {
            let is_directed = policy.goes_for_orders();
            let trial = if is_directed { &mut self.directed } else { &mut self.undirected };
            trial.runs += 1;
            trial.failed += failed;
        }
        if self.scheduling == Scheduling::Mixed {
            self.predicted.observe(run);
        }
        if let Some(preemptions) = self.preemptions.as_mut().filter(|_| policy == Policy::Bounded) {
            follow(preemptions, &plan, session, record);
        }
    }

    /// What is known of them all; none if there were none.
    pub fn into_report(self) -> Option<report::Search> {
        let coverage = self.predicted.coverage();
        let mut policies: Vec<PolicyRuns> = self.policies.into_values().collect();
        policies.sort_by_key(|one| std::cmp::Reverse(one.failed));
        let covered = self.preemptions.and_then(|preemptions| preemptions.covered());
        (!policies.is_empty()).then_some(report::Search {
            policies,
            orders: (self.scheduling == Scheduling::Mixed)
                .then_some(Orders { predicted: coverage.predicted, seen: coverage.seen }),
            directed: (self.directed.runs > 0).then_some(self.directed),
            undirected: self.undirected,
            covered: covered
                .map(|covered| Covered { preemptions: covered.preemptions, schedules: covered.schedules }),
        })
    }
}

/// Goes the way that the search has gone; a run that does not lie on it belongs to another search.
fn follow(preemptions: &mut Preemptions, plan: &RunPlan, session: &Session, record: &RunRecord) {
    let expected = preemptions.next_schedule();
    let recordings = session.load(record.run).ok().and_then(|file| analysis::recordings(&file).ok());
    match recordings.as_deref() {
        Some([only]) if expected.as_deref() == Some(&plan.deviations) => {
            preemptions.observe(&plan.deviations, &only.decisions);
        }
        _ => preemptions.lose(),
    }
}
