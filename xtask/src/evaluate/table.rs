//! The evaluation as Markdown and as data.

use std::collections::BTreeMap;

use serde::Serialize;

use super::score::{Runs, Score, Standing};
use crate::document::{head, row};

/// The goal of the evaluation (the largest rank and tie of the best published technique): a person who looks at the
/// first few findings sees the truth.
const GOOD_RANK: u64 = 2;
const GOOD_TIE: u64 = 7;

/// The whole evaluation.
#[derive(Serialize)]
pub struct Evaluation {
    pub date: String,
    pub command: String,
    pub techniques: Vec<String>,
    pub programs: Vec<Program>,
}

/// What came of one program.
#[derive(Serialize)]
pub struct Program {
    pub name: String,
    pub pattern: String,
    /// Without us, as its truth file says.
    pub natural_failure_rate: f64,
    /// What went wrong with the evaluation itself.
    pub trouble: Option<String>,
    #[serde(flatten)]
    pub result: Option<Outcome>,
}

#[derive(Serialize)]
pub struct Outcome {
    pub runs: Runs,
    pub fixed_runs: Runs,
    pub slowdown: f64,
    /// By technique.
    pub scores: BTreeMap<String, Score>,
}

/// Whether a standing reaches the goal.
fn is_good(standing: &Standing) -> bool {
    standing.rank <= GOOD_RANK && standing.tied <= GOOD_TIE
}

pub fn markdown(evaluation: &Evaluation) -> String {
    let mut text = format!("Evaluated on {} by `{}`.\n\n", evaluation.date, evaluation.command);
    text += &programs(evaluation);
    for technique in &evaluation.techniques {
        text += &format!("\n### {technique}\n\n");
        text += &standings(evaluation, technique);
    }
    text.push('\n');
    for line in summary(evaluation) {
        text += &format!("- {line}\n");
    }
    text
}

/// What does not depend on the technique.
fn programs(evaluation: &Evaluation) -> String {
    let mut table = head(&[
        "program",
        "pattern",
        "natural failure rate",
        "runs",
        "failed",
        "failure rate",
        "slowdown",
        "fixed twin: failed of runs",
    ]);
    for program in &evaluation.programs {
        let mut cells =
            vec![program.name.clone(), program.pattern.clone(), percent(Some(program.natural_failure_rate))];
        match &program.result {
            Some(Outcome { runs, fixed_runs, slowdown, .. }) => cells.extend([
                (runs.passed + runs.failed).to_string(),
                runs.failed.to_string(),
                percent(runs.failure_rate()),
                format!("{slowdown:.2}×"),
                format!("{} of {}", fixed_runs.failed, fixed_runs.passed + fixed_runs.failed),
            ]),
            None => cells.extend(std::array::from_fn::<_, 5, _>(|_| "–".to_owned())),
        }
        table += &row(&cells);
    }
    table
}

fn standings(evaluation: &Evaluation, technique: &str) -> String {
    let mut table = head(&["program", "patterns", "rank of the truth", "tied", "found as", "nearest"]);
    for program in &evaluation.programs {
        let score = program.result.as_ref().and_then(|result| result.scores.get(technique));
        let truth = score.and_then(|score| score.truth.as_ref());
        let nearest = score.and_then(|score| score.nearest.as_ref());
        table += &row(&[
            program.name.clone(),
            or_dash(score.map(|score| score.patterns)),
            or_dash(truth.map(|truth| truth.rank)),
            or_dash(truth.map(|truth| truth.tied)),
            or_dash(truth.map(|truth| &truth.pattern)),
            or_dash(nearest.map(|nearest| nearest.rank)),
        ]);
    }
    table
}

/// One line for each technique and one for the fixed twins.
pub fn summary(evaluation: &Evaluation) -> Vec<String> {
    let all = evaluation.programs.len();
    let results = || evaluation.programs.iter().filter_map(|program| program.result.as_ref());
    let mut lines: Vec<String> = evaluation
        .techniques
        .iter()
        .map(|technique| {
            let truths: Vec<&Standing> =
                results().filter_map(|result| result.scores.get(technique)?.truth.as_ref()).collect();
            let good = truths.iter().filter(|truth| is_good(truth)).count();
            format!(
                "{technique}: the truth has a rank of at most {GOOD_RANK} with a tie of at most {GOOD_TIE} on \
                 {good} of {all} programs, and is found at all on {}",
                truths.len()
            )
        })
        .collect();
    let (failed, runs) = results().fold((0, 0), |(failed, runs), result| {
        let fixed = result.fixed_runs;
        (failed + fixed.failed, runs + fixed.failed + fixed.passed)
    });
    lines.push(format!("fixed twins: {failed} of {runs} runs failed"));
    lines
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(|| "–".to_owned(), |rate| format!("{:.1} %", rate * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str, truth: Option<(u64, u64)>) -> Program {
        let truth = truth.map(|(rank, tied)| Standing { rank, tied, pattern: "RWR".to_owned() });
        let score = Score { patterns: 40, truth: truth.clone(), nearest: truth };
        let runs = Runs { passed: 75, failed: 25, hung: 0, damaged: 0 };
        Program {
            name: name.to_owned(),
            pattern: "RWR".to_owned(),
            natural_failure_rate: 0.012,
            trouble: None,
            result: Some(Outcome {
                runs,
                fixed_runs: Runs { passed: 100, failed: 0, ..runs },
                slowdown: 1.5,
                scores: BTreeMap::from([("unicorn".to_owned(), score)]),
            }),
        }
    }

    fn evaluation(programs: Vec<Program>) -> Evaluation {
        Evaluation {
            date: "2001-12-31".to_owned(),
            command: "cargo xtask evaluate".to_owned(),
            techniques: vec!["unicorn".to_owned()],
            programs,
        }
    }

    #[test]
    fn both_rank_and_tie_decide() {
        let evaluation = evaluation(vec![
            program("a", Some((1, 1))),
            program("b", Some((2, 7))),
            program("c", Some((2, 8))),
            program("d", Some((3, 1))),
            program("e", None),
            Program { result: None, trouble: Some("no".to_owned()), ..program("f", None) },
        ]);
        assert_eq!(
            summary(&evaluation),
            [
                "unicorn: the truth has a rank of at most 2 with a tie of at most 7 on 2 of 6 programs, and is \
                 found at all on 4",
                "fixed twins: 0 of 500 runs failed",
            ]
        );
    }

    #[test]
    fn tables_have_a_row_per_program() {
        let text = markdown(&evaluation(vec![program("claim", Some((1, 3))), program("other", None)]));
        assert!(text.contains("| claim | RWR | 1.2 % | 100 | 25 | 25.0 % | 1.50× | 0 of 100 |\n"), "{text}");
        assert!(text.contains("| claim | 40 | 1 | 3 | RWR | 1 |\n"), "{text}");
        assert!(text.contains("| other | 40 | – | – | – | – |\n"), "{text}");
    }
}
