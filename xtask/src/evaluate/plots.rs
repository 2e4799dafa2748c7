//! The plots of the evaluation: the papers' figures, drawn from our programs.

use super::analyse::{BETWEEN, FULL, GRID};
use super::data::{Evaluation, Program};
use super::pool::Size;
use super::score::Score;
use crate::chart::{Axis, Chart, Line, Scale};
use crate::document::{head, row};

/// How many ranges of confidence the calibration has.
const RANGES: usize = 5;

/// How often the truth is first and alone, against the number of passing runs (as in Locon's Figure 8).
pub fn against_passing_runs(evaluation: &Evaluation) -> Chart {
    against_runs(evaluation, "passing", |size| (size.failing == FULL.failing).then_some(size.passing))
}

/// The same against the number of failing runs (as in Recon's Table 3).
pub fn against_failing_runs(evaluation: &Evaluation) -> Chart {
    against_runs(evaluation, "failing", |size| (size.passing == FULL.passing).then_some(size.failing))
}

fn against_runs(evaluation: &Evaluation, word: &str, number: impl Fn(Size) -> Option<usize>) -> Chart {
    let all = GRID.iter().map(|(size, _)| *size).chain(BETWEEN);
    let mut sizes: Vec<(usize, Size)> = all.filter_map(|size| Some((number(size)?, size))).collect();
    sizes.sort_unstable();
    let programs: Vec<&Program> = usual_programs(evaluation).collect();
    let share = |technique: &str, size: Size| {
        let shares = programs.iter().filter_map(|program| {
            let draws = program.analysis()?.at(technique, size)?;
            let good = draws.iter().filter(|score| score.is_first_and_alone()).count();
            Some(good as f64 / draws.len() as f64)
        });
        100.0 * shares.sum::<f64>() / programs.len().max(1) as f64
    };
    let lines = evaluation.techniques.iter().map(|technique| Line {
        name: technique.clone(),
        points: sizes.iter().map(|&(number, size)| (number as f64, share(technique, size))).collect(),
        connected: true,
    });
    let other = if word == "passing" {
        format!("{} failing runs", FULL.failing)
    } else {
        format!("{} passing runs", FULL.passing)
    };
    Chart {
        title: format!("The truth first and alone, with {other}"),
        x: Axis {
            label: format!("{word} runs"),
            marks: sizes.iter().map(|(number, _)| *number as f64).collect(),
            scale: Scale::Even,
        },
        y: Axis { label: "% of the programs".to_owned(), marks: percents(), scale: Scale::Linear },
        lines: lines.collect(),
        boxes: Vec::new(),
    }
}

/// Programs with a bug and the usual size of noise.
fn usual_programs(evaluation: &Evaluation) -> impl Iterator<Item = &Program> {
    evaluation.programs.iter().filter(|program| program.has_bug() && program.noise_size == super::USUAL_NOISE)
}

/// How often a first finding is right, against how sure its technique says it is. None if no technique says.
pub fn calibration(evaluation: &Evaluation) -> Option<Chart> {
    let diagonal =
        Line { name: "perfect".to_owned(), points: vec![(0.0, 0.0), (100.0, 100.0)], connected: true };
    let stated = evaluation.techniques.iter().filter_map(|technique| {
        let points: Vec<(f64, f64)> =
            observed(&answers(evaluation, technique)).map(|range| (range.stated, range.right)).collect();
        (!points.is_empty()).then(|| Line { name: technique.clone(), points, connected: true })
    });
    let lines: Vec<Line> = stated.collect();
    if lines.is_empty() {
        return None;
    }
    Some(Chart {
        title: "Confidence: stated against observed".to_owned(),
        x: Axis { label: "stated, %".to_owned(), marks: percents(), scale: Scale::Linear },
        y: Axis { label: "first finding right, %".to_owned(), marks: percents(), scale: Scale::Linear },
        lines: std::iter::once(diagonal).chain(lines).collect(),
        boxes: Vec::new(),
    })
}

/// The same as a table. Empty if no technique says how sure it is.
pub fn calibration_table(evaluation: &Evaluation) -> String {
    let rows = evaluation.techniques.iter().flat_map(|technique| {
        let answers = answers(evaluation, technique);
        let row_of = |Observed { from, to, stated, right, count }| {
            let percent = |share: f64| format!("{share:.1} %");
            let range = format!("{from:.0} to {to:.0} %");
            row(&[technique.clone(), range, count.to_string(), percent(stated), percent(right)])
        };
        observed(&answers).map(row_of).collect::<Vec<_>>()
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    head(&["technique", "stated", "sessions", "stated on average", "first finding right"]) + &rows
}

/// How sure a technique says it is of its first finding, and whether that is right, for all draws.
fn answers(evaluation: &Evaluation, technique: &str) -> Vec<(f64, bool)> {
    let analyses = evaluation.programs.iter().filter_map(Program::analysis);
    let scores = analyses.flat_map(|known| [known.scores.get(technique), known.blind.get(technique)]);
    let draws = scores.flatten().flatten().flat_map(|scores| &scores.draws);
    draws.filter_map(|score| Some((score.confidence?, is_right(score)))).collect()
}

/// Whether the first finding is the truth, as far as a rank can tell: of a tie, one of its members is.
fn is_right(score: &Score) -> bool {
    score.truth.as_ref().is_some_and(|truth| truth.rank == 1)
}

/// A range of stated confidence, all in percent.
struct Observed {
    from: f64,
    to: f64,
    /// The mean.
    stated: f64,
    /// The share of right answers.
    right: f64,
    count: usize,
}

/// What is observed in each range in which something is stated.
fn observed(answers: &[(f64, bool)]) -> impl Iterator<Item = Observed> {
    let range = |confidence: f64| ((confidence * RANGES as f64) as usize).min(RANGES - 1);
    let of_range = move |wanted: usize| {
        let inside: Vec<&(f64, bool)> = answers.iter().filter(|(sure, _)| range(*sure) == wanted).collect();
        let count = inside.len() as f64;
        let mean = inside.iter().map(|(sure, _)| sure).sum::<f64>() / count;
        let right = inside.iter().filter(|(_, right)| *right).count() as f64 / count;
        let percent = |nth: usize| 100.0 * nth as f64 / RANGES as f64;
        (!inside.is_empty()).then(|| Observed {
            from: percent(wanted),
            to: percent(wanted + 1),
            stated: 100.0 * mean,
            right: 100.0 * right,
            count: inside.len(),
        })
    };
    (0..RANGES).filter_map(of_range)
}

fn percents() -> Vec<f64> {
    vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::sample::{evaluation, program};

    #[test]
    fn shares_are_over_all_programs() {
        let evaluation = evaluation(vec![
            program("a", &[Some((1, 1))], &[Some((1, 1)), None]),
            program("b", &[Some((1, 2))], &[None]),
        ]);
        let chart = against_failing_runs(&evaluation);
        let points = &chart.lines[0].points;
        assert_eq!((points[0], *points.last().unwrap()), ((1.0, 25.0), (25.0, 50.0)));
        assert_eq!(against_passing_runs(&evaluation).x.marks, [1.0, 5.0, 10.0, 25.0, 50.0, 100.0]);
    }

    #[test]
    fn confidence_is_compared_with_what_came_true() {
        let answers = [(0.9, true), (0.9, true), (0.8, false), (0.1, false), (1.0, true)];
        let points: Vec<(f64, f64)> = observed(&answers).map(|range| (range.stated, range.right)).collect();
        assert_eq!(points.len(), 2);
        assert_eq!(points[0], (10.0, 0.0));
        assert!((points[1].0 - 90.0).abs() < 1e-9 && (points[1].1 - 75.0).abs() < 1e-9, "{points:?}");
        let counts: Vec<usize> = observed(&answers).map(|range| range.count).collect();
        assert_eq!(counts.iter().sum::<usize>(), answers.len());
        let unsure = evaluation(vec![program("a", &[None], &[])]);
        assert!(calibration(&unsure).is_none());
        assert_eq!(calibration_table(&unsure), "");
        let mut sure = evaluation(vec![program("a", &[Some((1, 1)), None], &[])]);
        let scores =
            sure.programs[0].result.as_mut().and_then(|result| result.analysis.scores.get_mut("falcon"));
        for scores in scores.unwrap() {
            scores.draws.iter_mut().for_each(|score| score.confidence = Some(0.7));
        }
        assert!(calibration_table(&sure).contains("| falcon | 60 to 80 % | 2 | 70.0 % | 50.0 % |"));
    }
}
