//! From the runs of a session, one after another, to ranked findings.

use std::sync::Arc;

use crate::communication::Graph;
use crate::counts::Counts;
use crate::finding::Finding;
use crate::locon::{self, Procedure};
use crate::occurrences::Occurrences;
use crate::options::Options;
use crate::recon;
use crate::run::{Run, RunId};
use crate::technique::{Method, Technique};
use crate::verdict;

/// What a technique keeps of a run.
#[derive(Clone, Debug)]
pub struct Reduced(pub(crate) Form);

#[derive(Clone, Debug)]
pub(crate) enum Form {
    Occurrences(Arc<Occurrences>),
    Graph(Arc<Graph>),
    Pairs(locon::Pairs),
    Clues(Box<verdict::Clues>),
}

impl Reduced {
    /// As if another run had gone the same way.
    pub fn again_as(&self, id: RunId) -> Self {
        let mut form = self.0.clone();
        match &mut form {
            Form::Occurrences(found) => Arc::make_mut(found).run = id,
            Form::Graph(graph) => Arc::make_mut(graph).run = id,
            Form::Pairs(pairs) => pairs.run = id,
            Form::Clues(clues) => clues.rename(id),
        }
        Self(form)
    }
}

/// Gathers what is known of the runs. Keeps of a run no more than its technique needs, so that a session may
/// have thousands. The findings do not depend on the order in which the runs come.
#[derive(Clone, Debug)]
pub struct Collector {
    technique: Technique,
    options: Options,
    evidence: Evidence,
}

#[derive(Clone, Debug)]
enum Evidence {
    Counts(Counts),
    Graphs(recon::Graphs),
    Pairs(locon::Evidence),
    Clues(Box<verdict::Evidence>),
}

/// Finds and ranks the suspects of `runs`.
pub fn localize<'run>(
    technique: Technique,
    runs: impl IntoIterator<Item = &'run Run>,
    options: &Options,
) -> Vec<Finding> {
    let mut collector = Collector::new(technique, options);
    for run in runs {
        collector.observe(run);
    }
    collector.findings()
}

impl Collector {
    /// A collector that has seen no run yet.
    pub fn new(technique: Technique, options: &Options) -> Self {
        let evidence = match technique.method() {
            Method::Counting { .. } => Evidence::Counts(Counts::default()),
            Method::Communications { .. } => Evidence::Graphs(recon::Graphs::default()),
            Method::Locon => Evidence::Pairs(locon::Evidence::default()),
            Method::Verdict => Evidence::Clues(Box::default()),
        };
        Self { technique, options: *options, evidence }
    }

    /// Looks at one more run. Each run must come only once.
    pub fn observe(&mut self, run: &Run) {
        self.add(&self.reduce(run));
    }

    /// All that has to be known of a run.
    pub(crate) fn reduce(&self, run: &Run) -> Reduced {
        self.technique.reduce(run, &self.options)
    }

    /// Adds what [`Technique::reduce`] has made of one more run.
    ///
    /// # Panics
    /// If another technique made it.
    pub fn add(&mut self, run: &Reduced) {
        match (&mut self.evidence, &run.0) {
            (Evidence::Counts(counts), Form::Occurrences(found)) => counts.add(found),
            (Evidence::Graphs(graphs), Form::Graph(graph)) => graphs.add(graph),
            (Evidence::Pairs(evidence), Form::Pairs(pairs)) => evidence.add(pairs),
            (Evidence::Clues(evidence), Form::Clues(clues)) => evidence.add(clues),
            _ => panic!("{} does not know what another technique keeps of a run", self.technique),
        }
    }

    /// All suspects seen so far, the most suspicious first. Falcon, Unicorn and CCI have those that only passing
    /// runs show, too; the others do not.
    pub fn findings(&self) -> Vec<Finding> {
        self.findings_of(self.technique)
    }

    /// The same of a technique with the same [basis](Technique::basis).
    ///
    /// # Panics
    /// If it has another one.
    pub fn findings_of(&self, technique: Technique) -> Vec<Finding> {
        assert_eq!(technique.basis(), self.technique.basis(), "what they gather is not the same");
        match (&self.evidence, technique.method()) {
            (Evidence::Counts(counts), Method::Counting { findings, .. }) => findings(counts, &self.options),
            (Evidence::Graphs(graphs), Method::Communications { findings }) => findings(graphs),
            (Evidence::Pairs(evidence), Method::Locon) => evidence.findings(None),
            (Evidence::Clues(evidence), Method::Verdict) => evidence.findings(&self.options.tuning),
            _ => Vec::new(),
        }
    }

    /// What the verdict would know if runs like these had been made so many times; other techniques do not ask.
    pub(crate) fn repeated(&self, times: u32) -> Option<Self> {
        let Evidence::Clues(evidence) = &self.evidence else { return None };
        Some(Self { evidence: Evidence::Clues(Box::new(evidence.repeated(times))), ..*self })
    }

    /// What one of Locon's procedures finds by itself; nothing for other techniques.
    pub fn findings_by(&self, procedure: Procedure) -> Vec<Finding> {
        match &self.evidence {
            Evidence::Pairs(evidence) => evidence.findings(Some(procedure)),
            _ => Vec::new(),
        }
    }
}
