//! Evaluations for tests.

use super::analyse::{FULL, SINGLE};
use super::data::{Analysis, Evaluation, Outcome, Program, Scores};
use super::report::Runs;
use super::score::{Score, Standing};

/// Scores by rank and tie.
pub fn scores(ranks: &[Option<(u64, u64)>]) -> Vec<Score> {
    let standing = |(rank, tied)| Standing { rank, tied, pattern: "RW".to_owned(), irrelevant: 3 };
    ranks.iter().map(|rank| Score { candidates: 40, truth: rank.map(standing), confidence: None }).collect()
}

/// A program with falcon's ranks and ties for all runs and for a single failing one.
pub fn program(name: &str, full: &[Option<(u64, u64)>], single: &[Option<(u64, u64)>]) -> Program {
    let sizes = [(FULL, full), (SINGLE, single)].into_iter().filter(|(_, ranks)| !ranks.is_empty());
    let scores = sizes.map(|(size, ranks)| Scores { size, draws: scores(ranks) }).collect();
    let analysis = Analysis { scores: [("falcon".to_owned(), scores)].into(), ..Analysis::default() };
    let runs = Runs { passed: 75, failed: 25, hung: 0, damaged: 0 };
    Program {
        name: name.to_owned(),
        kind: "order-violation".to_owned(),
        pattern: "RW".to_owned(),
        natural_failure_rate: 0.02,
        noise_size: 1,
        trouble: None,
        result: Some(Outcome { runs, noise: "medium".to_owned(), fixed_runs: None, analysis }),
    }
}

/// An evaluation of falcon.
pub fn evaluation(programs: Vec<Program>) -> Evaluation {
    Evaluation {
        recorded: ("2001-12-31T01:00:00Z".to_owned(), "2001-12-31T02:00:00Z".to_owned()),
        command: "cargo xtask evaluate".to_owned(),
        techniques: vec!["falcon".to_owned()],
        programs,
    }
}
