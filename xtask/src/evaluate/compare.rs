//! What got better and what got worse since the evaluation that was committed last.

use super::analyse::{FULL, SINGLE};
use super::data::{Evaluation, Program};
use super::pool::Size;
use crate::workspace;

/// A change of less than this is luck.
const NOTABLE: f64 = 0.5;

/// One line for each technique and number of runs with changes.
pub fn with_committed(new: &Evaluation) -> Vec<String> {
    let mut git = std::process::Command::new("git");
    let committed =
        workspace::output_of(git.current_dir(workspace::root()).args(["show", "HEAD:docs/evaluation.json"]));
    let old = committed.ok().and_then(|text| serde_json::from_str::<Evaluation>(&text).ok());
    match old {
        Some(old) => changes(&old, new),
        None => vec!["No committed evaluation to compare with.".to_owned()],
    }
}

fn changes(old: &Evaluation, new: &Evaluation) -> Vec<String> {
    let mut lines = Vec::new();
    for technique in &new.techniques {
        for size in [FULL, SINGLE] {
            let (mut better, mut worse) = (Vec::new(), Vec::new());
            for program in &new.programs {
                let before = old
                    .programs
                    .iter()
                    .find(|old| old.name == program.name && old.noise_size == program.noise_size)
                    .and_then(|old| effort(old, technique, size));
                let Some((before, now)) = before.zip(effort(program, technique, size)) else { continue };
                let change = format!("{} {} → {}", program.name, in_words(before), in_words(now));
                // What is found neither time gives no number, which is not larger than any.
                if before - now >= NOTABLE {
                    better.push(change);
                } else if now - before >= NOTABLE {
                    worse.push(change);
                }
            }
            for (word, changes) in [("better", better), ("worse", worse)] {
                if !changes.is_empty() {
                    let runs = format!("{}/{}", size.failing, size.passing);
                    lines.push(format!("{technique} {runs} {word}: {}", changes.join(", ")));
                }
            }
        }
    }
    if lines.is_empty() {
        lines.push("Nothing changed since the committed evaluation.".to_owned());
    }
    lines
}

/// Findings to look at until the truth, on average over the draws; infinite if it is not found in one of them.
fn effort(program: &Program, technique: &str, size: Size) -> Option<f64> {
    let draws = program.analysis()?.at(technique, size)?;
    let efforts = draws.iter().map(|score| score.truth.as_ref().map_or(f64::INFINITY, |t| t.effort() as f64));
    Some(efforts.sum::<f64>() / draws.len() as f64)
}

fn in_words(effort: f64) -> String {
    if effort.is_infinite() { "not found".to_owned() } else { format!("{effort:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::sample::{evaluation, program};

    #[test]
    fn only_what_changed_is_told() {
        let old = evaluation(vec![
            program("a", &[Some((1, 3))], &[Some((1, 1)), None]),
            program("b", &[Some((1, 1))], &[]),
            program("c", &[None], &[]),
            program("gone", &[None], &[]),
        ]);
        let new = evaluation(vec![
            program("a", &[Some((1, 1))], &[Some((1, 1)), Some((1, 1))]),
            program("b", &[Some((2, 1))], &[]),
            program("c", &[None], &[]),
            program("new", &[Some((1, 1))], &[]),
        ]);
        let expected = [
            "falcon 25/100 better: a 3.0 → 1.0",
            "falcon 25/100 worse: b 1.0 → 2.0",
            "falcon 1/100 better: a not found → 1.0",
        ];
        assert_eq!(changes(&old, &new), expected);
        assert_eq!(changes(&new, &new), ["Nothing changed since the committed evaluation."]);
    }
}
