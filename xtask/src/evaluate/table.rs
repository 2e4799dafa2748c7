//! The evaluation as Markdown.

use super::analyse::{FULL, GRID, SINGLE};
use super::data::{Evaluation, Outcome, Program};
use super::explanation::Advice;
use super::pool::Size;
use super::score::Score;
use super::{USUAL_NOISE, noise, shortage};
use crate::document::{head, row};

/// The list that a user sees first.
pub const DEFAULT: &str = "verdict";

/// Below this confidence a report says itself that the first finding is not certain.
pub const CONFIDENT: f64 = 0.95;

pub fn markdown(evaluation: &Evaluation) -> String {
    let Evaluation { recorded: (from, to), command, .. } = evaluation;
    let day = |time: &str| time.split('T').next().unwrap_or_default().to_owned();
    let days = if day(from) == day(to) { day(from) } else { format!("{} to {}", day(from), day(to)) };
    let mut text = format!("Recorded on {days}, evaluated by `{command}`.\n");
    let sizes = noise::sizes(evaluation);
    // The others are told beside it.
    let in_full = if sizes.contains(&USUAL_NOISE) { vec![USUAL_NOISE] } else { sizes };
    for noise_size in in_full {
        text += &format!("\n### In short, noise size {noise_size}\n\n");
        text += &summary(evaluation, noise_size);
    }
    text += &noise::markdown(evaluation);
    text += &comparison_of_techniques(evaluation);
    text += &obstacles(evaluation);
    text += &shortage::markdown(evaluation);
    text += &nothing_to_find(evaluation);
    text += &explanations(evaluation);
    text += &clusters(evaluation);
    text += "\n### The programs\n\n";
    text += &programs(evaluation);
    for (size, what) in [(FULL, "all runs"), (SINGLE, "a single failing run")] {
        text += &format!("\n### All techniques with {what} ({})\n\n", label(size));
        text += &ranks(evaluation, size);
    }
    if let Some(technique) = headline(&evaluation.techniques) {
        text += &format!("\n### {technique}\n\n{}", standings(evaluation, technique));
    }
    text
}

/// Programs with something to be found.
fn buggy(evaluation: &Evaluation) -> impl Iterator<Item = &Program> {
    evaluation.programs.iter().filter(|program| program.has_bug())
}

pub fn label(size: Size) -> String {
    format!("{}/{}", size.failing, size.passing)
}

/// Those with the usual size of noise: what the others have besides is in the data.
fn usual(evaluation: &Evaluation) -> impl Iterator<Item = &Program> {
    buggy(evaluation).filter(|program| program.noise_size == USUAL_NOISE)
}

/// The name of a program, with its size of noise if that is not the usual one.
pub fn name_of(program: &Program) -> String {
    match program.noise_size {
        USUAL_NOISE => program.name.clone(),
        size => format!("{} (noise size {size})", program.name),
    }
}

/// A line for each technique: on how many programs the truth is first and alone, and found at all.
fn summary(evaluation: &Evaluation, noise_size: u8) -> String {
    let sizes: Vec<Size> = GRID.iter().map(|(size, _)| *size).collect();
    let titles: Vec<String> = std::iter::once("technique".to_owned())
        .chain(sizes.iter().map(|&size| format!("{} first and alone", label(size))))
        .chain(["found at all".to_owned(), "median of irrelevant places".to_owned()])
        .collect();
    let mut table = head(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    for technique in &evaluation.techniques {
        let analyses = || {
            let programs = buggy(evaluation).filter(|program| program.noise_size == noise_size);
            programs.map(|program| program.analysis())
        };
        // A program that could not be evaluated counts as not found.
        let share = |size: Size, is_good: fn(&Score) -> bool| {
            let goodness = analyses().map(|analysis| {
                let draws = analysis.and_then(|analysis| analysis.at(technique, size))?;
                Some(draws.iter().filter(|score| is_good(score)).count() as f64 / draws.len() as f64)
            });
            let goodness: Vec<Option<f64>> = goodness.collect();
            let is_known = goodness.iter().any(Option::is_some);
            is_known.then(|| goodness.iter().flatten().sum::<f64>() / goodness.len() as f64)
        };
        let mut irrelevant: Vec<usize> = analyses()
            .filter_map(|analysis| Some(analysis?.at(technique, FULL)?.first()?.truth.as_ref()?.irrelevant))
            .collect();
        irrelevant.sort_unstable();
        let mut cells = vec![technique.clone()];
        cells.extend(sizes.iter().map(|&size| percent(share(size, Score::is_first_and_alone))));
        cells.push(percent(share(FULL, |score| score.truth.is_some())));
        cells.push(or_dash(irrelevant.get(irrelevant.len() / 2)));
        table += &row(&cells);
    }
    table
}

/// Where the default list is behind the best single technique.
fn comparison_of_techniques(evaluation: &Evaluation) -> String {
    if !evaluation.techniques.iter().any(|technique| technique == DEFAULT) {
        return String::new();
    }
    let mut lines = Vec::new();
    for (program, analysis) in buggy(evaluation).filter_map(|program| Some((program, program.analysis()?))) {
        let effort = |technique: &str| {
            let truth = analysis.at(technique, FULL)?.first()?.truth.as_ref()?;
            Some(truth.effort())
        };
        let others = evaluation.techniques.iter().filter(|technique| *technique != DEFAULT);
        let best = others.filter_map(|other| Some((effort(other)?, other))).min();
        match (effort(DEFAULT), best) {
            (Some(ours), Some((best, other))) if best < ours => lines.push(format!(
                "- {}: {ours} findings to look at until the truth, {best} with {other}\n",
                name_of(program)
            )),
            (None, Some((best, other))) => lines
                .push(format!("- {}: not found, but among the first {best} of {other}\n", name_of(program))),
            _ => {}
        }
    }
    let text = if lines.is_empty() { "Nowhere.\n".to_owned() } else { lines.concat() };
    format!("\n### Where the default list is behind a single technique ({})\n\n{text}", label(FULL))
}

/// For the technique that users see first, why the truth is not first and alone where it is not.
fn obstacles(evaluation: &Evaluation) -> String {
    let Some(technique) = headline(&evaluation.techniques) else { return String::new() };
    let lines: String = buggy(evaluation)
        .filter_map(|program| {
            let obstacle = program.analysis()?.obstacles.get(technique)?;
            Some(format!("- {}: {obstacle}\n", name_of(program)))
        })
        .collect();
    let text = if lines.is_empty() { "Nowhere.\n".to_owned() } else { lines };
    format!(
        "\n### Where the truth is not first and alone with {technique} ({}), and why\n\n{text}",
        label(FULL)
    )
}

/// The technique about which all is told: the one that users see first, if it was asked.
pub fn headline(techniques: &[String]) -> Option<&String> {
    let default = techniques.iter().find(|technique| *technique == DEFAULT);
    default.or(techniques.first())
}

/// What is said about runs that failed by chance.
fn nothing_to_find(evaluation: &Evaluation) -> String {
    let mut table = head(&["technique", "sessions", "with findings", "with a confident finding"]);
    for technique in &evaluation.techniques {
        let scores: Vec<&Score> = evaluation
            .programs
            .iter()
            .filter_map(|program| program.analysis()?.blind.get(technique))
            .flatten()
            .flat_map(|scores| &scores.draws)
            .collect();
        let says = scores.iter().any(|score| score.confidence.is_some());
        let confident = scores.iter().filter(|score| score.confidence.is_some_and(|sure| sure >= CONFIDENT));
        table += &row(&[
            technique.clone(),
            scores.len().to_string(),
            scores.iter().filter(|score| score.candidates > 0).count().to_string(),
            or_dash(says.then(|| confident.count())),
        ]);
    }
    format!("\n### Where there is nothing to be found\n\n{table}")
}

/// Whether what is said about the truth is right.
fn explanations(evaluation: &Evaluation) -> String {
    let Some(technique) = headline(&evaluation.techniques) else { return String::new() };
    let mark = |right: bool| if right { "right" } else { "wrong" }.to_owned();
    let mut table = head(&["program", "variable", "kind", "functions", "advice"]);
    let (mut counts, mut all) = ([0; 4], 0);
    for (program, analysis) in usual(evaluation).filter_map(|program| Some((program, program.analysis()?))) {
        all += 1;
        let Some(explained) = analysis.explained.get(technique) else {
            table += &row(&[program.name.clone(), dash(), dash(), dash(), dash()]);
            continue;
        };
        let right =
            [explained.variable, explained.kind, explained.functions, explained.advice == Advice::Right];
        for (count, right) in counts.iter_mut().zip(right) {
            *count += usize::from(right);
        }
        let advice = match explained.advice {
            Advice::None => "none",
            Advice::Wrong => "wrong",
            Advice::Right => "right",
        };
        let [variable, kind, functions, _] = right.map(mark);
        table += &row(&[program.name.clone(), variable, kind, functions, advice.to_owned()]);
    }
    let total = counts.map(|count| format!("{count} of {all}"));
    let mut cells = vec!["**right**".to_owned()];
    cells.extend(total);
    table += &row(&cells);
    format!("\n### What is said about the truth by {technique} ({})\n\n{table}", label(FULL))
}

/// How well failing runs are told apart by bug: the F-measure of each technique.
fn clusters(evaluation: &Evaluation) -> String {
    let mut titles = vec!["program", "bugs"];
    titles.extend(evaluation.techniques.iter().map(String::as_str));
    let mut rows = String::new();
    for (program, analysis) in usual(evaluation).filter_map(|program| Some((program, program.analysis()?))) {
        let Some(any) = analysis.clusters.values().next() else { continue };
        let mut cells = vec![name_of(program), any.bugs.to_string()];
        cells.extend(evaluation.techniques.iter().map(|technique| {
            let clusters = analysis.clusters.get(technique);
            or_dash(clusters.map(|clusters| format!("{:.2}", clusters.f_measure)))
        }));
        rows += &row(&cells);
    }
    if rows.is_empty() {
        return String::new();
    }
    format!("\n### Failing runs told apart by bug: F-measure ({})\n\n{}{rows}", label(FULL), head(&titles))
}

/// What does not depend on the technique.
fn programs(evaluation: &Evaluation) -> String {
    let mut table = head(&[
        "program",
        "kind",
        "pattern",
        "natural failure rate",
        "runs",
        "failed",
        "failure rate",
        "noise",
        "fixed twin: failed of runs",
    ]);
    for program in evaluation.programs.iter().filter(|program| program.noise_size == USUAL_NOISE) {
        let mut cells = vec![
            name_of(program),
            program.kind.clone(),
            if program.has_bug() { program.pattern.clone() } else { dash() },
            percent(Some(program.natural_failure_rate)),
        ];
        match &program.result {
            Some(Outcome { runs, fixed_runs, noise, .. }) => cells.extend([
                runs.judged().to_string(),
                runs.failed.to_string(),
                percent(runs.failure_rate()),
                noise.clone(),
                or_dash(fixed_runs.map(|fixed| format!("{} of {}", fixed.failed, fixed.judged()))),
            ]),
            None => cells.extend(std::array::from_fn::<_, 5, _>(|_| dash())),
        }
        table += &row(&cells);
    }
    table
}

/// How all techniques do on each program, with so many runs.
fn ranks(evaluation: &Evaluation, size: Size) -> String {
    let mut titles = vec!["program"];
    titles.extend(evaluation.techniques.iter().map(String::as_str));
    let mut table = head(&titles);
    for program in usual(evaluation) {
        let mut cells = vec![program.name.clone()];
        cells.extend(evaluation.techniques.iter().map(|technique| {
            let scores = program.analysis().and_then(|analysis| analysis.at(technique, size));
            scores.map_or_else(dash, standing)
        }));
        table += &row(&cells);
    }
    table
}

/// How a technique does on each program.
fn standings(evaluation: &Evaluation, technique: &str) -> String {
    let titles: Vec<String> = std::iter::once("program".to_owned())
        .chain(GRID.iter().map(|(size, _)| label(*size)))
        .chain(["found as", "candidates", "irrelevant places"].map(str::to_owned))
        .collect();
    let mut table = head(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    for program in usual(evaluation) {
        let analysis = program.analysis();
        let scores = |size| analysis.and_then(|analysis| analysis.at(technique, size));
        let full = scores(FULL).and_then(|draws| draws.first());
        let truth = full.and_then(|score| score.truth.as_ref());
        let mut cells = vec![name_of(program)];
        cells.extend(GRID.iter().map(|(size, _)| scores(*size).map_or_else(dash, standing)));
        cells.push(or_dash(truth.map(|truth| &truth.pattern)));
        cells.push(or_dash(full.map(|score| score.candidates)));
        cells.push(or_dash(truth.map(|truth| truth.irrelevant)));
        table += &row(&cells);
    }
    table
}

/// A rank, with the size of the tie if it is not alone; for several draws, how many have the truth first and alone.
fn standing(draws: &[Score]) -> String {
    match draws {
        [score] => match &score.truth {
            None => "not found".to_owned(),
            Some(truth) if truth.tied == 1 => truth.rank.to_string(),
            Some(truth) => format!("{} tied {}", truth.rank, truth.tied),
        },
        _ => {
            format!("{} of {}", draws.iter().filter(|score| score.is_first_and_alone()).count(), draws.len())
        }
    }
}

/// Where there is nothing to tell.
pub fn dash() -> String {
    "–".to_owned()
}

/// A value, where there is one.
pub fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(dash, |value| value.to_string())
}

pub fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(dash, |rate| format!("{:.1} %", rate * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::sample::{evaluation, program};

    #[test]
    fn the_summary_counts_programs_and_draws() {
        let evaluation = evaluation(vec![
            program("a", &[Some((1, 1))], &[Some((1, 1)), Some((1, 2)), None, Some((2, 1))]),
            program("b", &[Some((3, 7))], &[None]),
        ]);
        let text = summary(&evaluation, 1);
        assert!(text.contains("| falcon | – | 12.5 % | – | – | – | 50.0 % | 100.0 % |"), "{text}");
    }

    #[test]
    fn a_program_in_trouble_counts_as_not_found() {
        let mut troubled = program("b", &[], &[]);
        troubled.result = None;
        let evaluation = evaluation(vec![program("a", &[Some((1, 1))], &[]), troubled]);
        let text = markdown(&evaluation);
        assert!(text.contains("| falcon | – | – | – | – | – | 50.0 % | 50.0 % |"), "{text}");
        assert!(text.contains("| b | order-violation | RW | 2.0 % | – | – | – | – | – |"), "{text}");
    }

    #[test]
    fn a_standing_says_how_alone_it_is() {
        let draws = |ranks: &[Option<(u64, u64)>]| standing(&crate::evaluate::sample::scores(ranks));
        assert_eq!(draws(&[Some((2, 1))]), "2");
        assert_eq!(draws(&[Some((1, 4))]), "1 tied 4");
        assert_eq!(draws(&[None]), "not found");
        assert_eq!(draws(&[Some((1, 1)), Some((1, 2)), None]), "1 of 3");
    }

    #[test]
    fn other_sizes_of_noise_are_among_what_is_not_first() {
        let mut noisy = program("noisy", &[Some((2, 1))], &[None]);
        noisy.noise_size = 2;
        let analysis = &mut noisy.result.as_mut().unwrap().analysis;
        analysis.obstacles.insert("falcon".to_owned(), "something is ahead".to_owned());
        let text = markdown(&evaluation(vec![program("usual", &[Some((1, 1))], &[None]), noisy]));
        assert!(!text.contains("### In short, noise size 2"), "{text}");
        assert!(text.contains("- noisy (noise size 2): something is ahead"), "{text}");
        assert_eq!((text.matches("| usual |").count(), text.matches("| noisy").count()), (5, 0), "{text}");
    }

    #[test]
    fn being_behind_a_single_technique_is_told() {
        let mut both = program("a", &[Some((3, 1))], &[]);
        let analysis = &mut both.result.as_mut().unwrap().analysis;
        let best = program("a", &[Some((1, 1))], &[]).result.unwrap().analysis.scores["falcon"].clone();
        let ours = analysis.scores["falcon"].clone();
        analysis.scores.insert(DEFAULT.to_owned(), ours);
        analysis.scores.insert("falcon".to_owned(), best);
        let mut evaluation = evaluation(vec![both]);
        assert_eq!(comparison_of_techniques(&evaluation), "");
        evaluation.techniques.push(DEFAULT.to_owned());
        let text = comparison_of_techniques(&evaluation);
        assert!(text.contains("- a: 3 findings to look at until the truth, 1 with falcon"), "{text}");
    }
}
