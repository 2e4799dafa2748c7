//! What more innocent sharing does to the answers.

use super::analyse::{FULL, SINGLE};
use super::data::{Evaluation, Program};
use super::pool::Size;
use super::score::Score;
use super::table::{headline, label, percent};
use crate::document::{head, row};

/// All sizes of noise side by side, and the programs on which more of it does harm; nothing if there is one size only.
/// Only programs that were evaluated with all sizes count, so that the sizes can be compared.
pub fn markdown(evaluation: &Evaluation) -> String {
    let sizes = sizes(evaluation);
    let programs: Vec<Vec<&Program>> = with_all_sizes(evaluation, &sizes);
    if sizes.len() < 2 || programs.is_empty() {
        return String::new();
    }
    let columns = || [FULL, SINGLE].into_iter().flat_map(|runs| sizes.iter().map(move |size| (runs, *size)));
    let titles: Vec<String> = std::iter::once("first and alone".to_owned())
        .chain(columns().map(|(runs, size)| format!("{}, noise size {size}", label(runs))))
        .collect();
    let mut text =
        format!("\n### Sizes of noise, on the {} programs that have all of them\n\n", programs.len());
    text += &head(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    for technique in &evaluation.techniques {
        let cells = columns().map(|(runs, size)| {
            let shares = programs.iter().map(|sizes| {
                let program = sizes.iter().find(|program| program.noise_size == size)?;
                share_first(program, technique, runs)
            });
            let shares: Option<Vec<f64>> = shares.collect();
            percent(shares.map(|shares| shares.iter().sum::<f64>() / shares.len() as f64))
        });
        text += &row(&std::iter::once(technique.clone()).chain(cells).collect::<Vec<_>>());
    }
    let Some(technique) = headline(&evaluation.techniques) else { return text };
    let lines: String = programs.iter().filter_map(|sizes| harmed(sizes, technique)).collect();
    let lines = if lines.is_empty() { "- none\n" } else { &lines };
    text + &format!("\nOn which more noise does harm to {technique}:\n\n{lines}")
}

/// The sizes that were evaluated, ascending.
pub fn sizes(evaluation: &Evaluation) -> Vec<u8> {
    let mut sizes: Vec<u8> = evaluation.programs.iter().map(|program| program.noise_size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Each program with a bug that was evaluated with all of `sizes`, by ascending size.
fn with_all_sizes<'e>(evaluation: &'e Evaluation, sizes: &[u8]) -> Vec<Vec<&'e Program>> {
    let evaluated = |name: &str, size: u8| {
        let mut programs = evaluation.programs.iter();
        programs.find(|program| {
            program.name == name && program.noise_size == size && program.analysis().is_some()
        })
    };
    let least = evaluation.programs.iter().filter(|program| Some(&program.noise_size) == sizes.first());
    least
        .filter(|program| program.has_bug())
        .filter_map(|program| sizes.iter().map(|&size| evaluated(&program.name, size)).collect())
        .collect()
}

/// In what share of the draws the truth is first and alone.
fn share_first(program: &Program, technique: &str, runs: Size) -> Option<f64> {
    let draws = program.analysis()?.at(technique, runs)?;
    Some(draws.iter().filter(|score| score.is_first_and_alone()).count() as f64 / draws.len() as f64)
}

/// A line about a program on which a larger size has the truth further behind than a smaller one, with all runs.
fn harmed(sizes: &[&Program], technique: &str) -> Option<String> {
    let truth =
        |program: &&Program| -> Option<Score> { program.analysis()?.at(technique, FULL)?.first().cloned() };
    let scores: Option<Vec<Score>> = sizes.iter().map(truth).collect();
    let scores = scores?;
    let effort = |score: &Score| score.truth.as_ref().map_or(u64::MAX, |standing| standing.effort());
    if scores.is_sorted_by(|smaller, larger| effort(larger) <= effort(smaller)) {
        return None;
    }
    let standing = |(program, score): (&&Program, &Score)| {
        let place = match &score.truth {
            Some(truth) if truth.tied > 1 => format!("{} tied {}", truth.rank, truth.tied),
            Some(truth) => truth.rank.to_string(),
            None => "not found".to_owned(),
        };
        format!("{place} with noise size {}", program.noise_size)
    };
    let standings: Vec<String> = sizes.iter().zip(&scores).map(standing).collect();
    Some(format!("- {}: {}\n", sizes[0].name, standings.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::sample::{evaluation, program};

    fn sized(name: &str, size: u8, rank: Option<(u64, u64)>) -> Program {
        Program { noise_size: size, ..program(name, &[rank], &[rank, None]) }
    }

    #[test]
    fn sizes_are_compared_on_programs_that_have_all_of_them() {
        let text = markdown(&evaluation(vec![
            sized("steady", 0, Some((1, 1))),
            sized("steady", 2, Some((1, 1))),
            sized("lost", 0, Some((1, 1))),
            sized("lost", 2, Some((3, 4))),
            sized("better", 0, None),
            sized("better", 2, Some((1, 1))),
            sized("one_size", 0, None),
        ]));
        assert!(text.contains("on the 3 programs"), "{text}");
        assert!(text.contains("| falcon | 66.7 % | 66.7 % | 33.3 % | 33.3 % |"), "{text}");
        assert!(text.contains("- lost: 1 with noise size 0, 3 tied 4 with noise size 2\n"), "{text}");
        assert!(!text.contains("- better") && !text.contains("- steady"), "{text}");
    }

    #[test]
    fn one_size_is_not_compared() {
        assert_eq!(markdown(&evaluation(vec![sized("a", 1, None)])), "");
    }
}
