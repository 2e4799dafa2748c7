//! Watches the runs of a campaign, to end it when more of them would not change the answer.

use localize::{Code, Options, Settling};
use recording::RunPlan;
use runner::{Outcome, RunRecord, Session};

use crate::analysis;
use crate::names::Names;

/// So many runs that all failed are enough: if one of a hundred runs passes, 99 % of all sessions have one by then.
const ALL_FAILED: usize = 500;

/// Failing runs that are not near another one. What a single one and those near it have in common may be an accident.
const INDEPENDENT: usize = 2;

/// Runs of a given time after which nobody expects the first cause to settle any more: to ask again and again costs more the more runs there are.
const MOST: usize = 1000;

/// What is known of the runs so far.
pub struct Watch {
    code: Code,
    names: Names,
    settling: Settling,
    /// Runs of the session of which it is known whether they failed.
    skimmed: usize,
    /// Whether one of these did.
    has_failed: bool,
    /// Runs of the session that have been looked at.
    seen: usize,
    /// Whether there have been enough.
    is_settled: bool,
    /// How many are looked at.
    most: usize,
}

impl Default for Watch {
    fn default() -> Watch {
        Watch {
            code: Code::default(),
            names: Names::default(),
            settling: Settling::new(&Options::default()),
            skimmed: 0,
            has_failed: false,
            seen: 0,
            is_settled: false,
            most: usize::MAX,
        }
    }
}

impl Watch {
    /// Gives up after some runs.
    pub fn for_a_while() -> Watch {
        Watch { most: MOST, ..Watch::default() }
    }

    /// Looks at the runs that are new, and says whether there have been enough. As long as none has failed there is nothing to settle, and to read
    /// the others would cost runs that may fail.
    pub fn is_settled(&mut self, session: &Session) -> bool {
        self.has_failed |= session.runs_since(self.skimmed).any(|record| record.outcome.is_failing());
        self.skimmed = session.runs().len();
        if !self.has_failed {
            return false;
        }
        if self.is_settled || self.seen >= self.most {
            return self.is_settled || never_passes(session);
        }
        self.look_at_new_runs(session);
        self.is_settled =
            self.settling.settled().is_some() && has_independent_failures(session) || never_passes(session);
        self.is_settled
    }

    /// Whether the runs that were looked at are enough to try the first cause out.
    pub fn has_suspect(&self, session: &Session) -> bool {
        self.settling.is_worth_trying() && has_independent_failures(session)
    }

    fn look_at_new_runs(&mut self, session: &Session) {
        for record in session.runs_since(self.seen) {
            let outcome = analysis::outcome(&record.outcome);
            // What cannot be read says nothing here; the report will say why.
            let profile = outcome.and_then(|outcome| {
                analysis::load(session, record.run, outcome, &mut self.code, &mut self.names).ok()
            });
            if let Some(profile) = profile {
                self.settling.observe(&profile.run);
            }
        }
        self.seen = session.runs().len();
    }

    /// Lends what was found out about the program's code on the way: whoever reads the runs again does not have to. It must be given back
    /// before more runs are looked at.
    pub fn lend(&mut self) -> (Code, Names) {
        (std::mem::take(&mut self.code), std::mem::take(&mut self.names))
    }

    /// Takes it back.
    pub fn take_back(&mut self, code: Code, names: Names) {
        (self.code, self.names) = (code, names);
    }
}

/// Whether the test fails whatever its threads do.
pub fn never_passes(session: &Session) -> bool {
    let runs = session.runs();
    let has_passed = || runs.iter().any(|record| record.outcome == Outcome::Pass);
    let failed = || runs.iter().filter(|record| record.outcome.is_failing()).count();
    runs.len() >= ALL_FAILED && !has_passed() && failed() >= ALL_FAILED
}

fn has_independent_failures(session: &Session) -> bool {
    let is_independent = |record: &&RunRecord| {
        let plan = record.plan.parse::<RunPlan>();
        record.outcome.is_failing() && plan.is_ok_and(|plan| plan.beginning.is_none())
    };
    session.runs().iter().filter(is_independent).nth(INDEPENDENT - 1).is_some()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use recording::Beginning;
    use runner::{Manifest, Store};

    use super::*;

    fn session_in(folder: &Path) -> Session {
        let manifest = Manifest::new(Vec::new(), BTreeMap::new(), 7, Vec::new());
        Store::new(folder).create("x", manifest).unwrap()
    }

    fn add(session: &mut Session, plan: &RunPlan, outcome: Outcome) {
        let (run, plan) = (session.next_run(), plan.to_string());
        let record =
            RunRecord { run, plan, outcome, seconds: 0.1, processes: 1, warnings: Vec::new(), said: None };
        session.add(record).unwrap();
    }

    #[test]
    fn a_test_that_always_fails_is_given_up_after_many_runs_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session_in(folder.path());
        for runs in 1..=ALL_FAILED {
            add(&mut session, &RunPlan::default(), Outcome::Fail { reason: String::new() });
            assert_eq!(never_passes(&session), runs == ALL_FAILED, "{runs}");
        }
        add(&mut session, &RunPlan::default(), Outcome::Pass);
        assert!(!never_passes(&session));
    }

    #[test]
    fn runs_are_looked_at_from_the_first_failure_on_and_some_alone_where_there_is_a_time_to_keep() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session_in(folder.path());
        let mut watch = Watch { most: 4, ..Watch::for_a_while() };
        let failed = || Outcome::Fail { reason: String::new() };
        let outcomes = [Outcome::Pass, Outcome::Pass, failed(), Outcome::Pass, Outcome::Pass, failed()];
        for (outcome, seen) in outcomes.into_iter().zip([0, 0, 3, 4, 4, 4]) {
            add(&mut session, &RunPlan::default(), outcome);
            assert!(!watch.is_settled(&session));
            assert_eq!(watch.seen, seen);
        }
        watch.is_settled = true;
        assert!(watch.is_settled(&session));
    }

    #[test]
    fn runs_near_a_failing_one_are_no_failures_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session_in(folder.path());
        let mut has_enough_after = |near: Option<u32>, outcome| {
            let beginning = near.map(|run| Beginning { run, switches: 12 });
            add(&mut session, &RunPlan { beginning, ..RunPlan::default() }, outcome);
            has_independent_failures(&session)
        };
        let failed = || Outcome::Fail { reason: String::new() };
        assert!(!has_enough_after(None, failed()));
        assert!(!has_enough_after(Some(1), failed()), "near the first");
        assert!(!has_enough_after(None, Outcome::Pass));
        assert!(has_enough_after(None, failed()));
    }
}
