//! The papers' own Java subjects: the rank of the truth on our versions of them, beside the rank that the papers give.
//! Falcon's Table 4 (ICSE 2010 and the thesis), Unicorn's Table 7 and Griffin's Tables 11 and 12 (the thesis), Recon's
//! Table 3 (PLDI 2011).

use super::analyse::FULL;
use super::data::{Analysis, Evaluation, Program};
use crate::document::{head, row};
use crate::truth::{Language, Subject};

/// What a paper's table says about a subject.
#[derive(Clone, Copy)]
enum Told {
    /// Not one of its subjects.
    Nothing,
    /// No finding was the bug.
    NotFound,
    Rank(u64),
}

/// A corpus program, and the rank of its bug by Falcon, Unicorn and Recon in their papers.
const SUBJECTS: [(&str, [Told; 3]); 16] = {
    use Told::{NotFound, Nothing, Rank};
    [
        ("account_java", [Rank(2), Nothing, Nothing]),
        ("airlines_tickets", [Rank(1), Nothing, Nothing]),
        ("bubble_sort2", [Rank(1), Nothing, Nothing]),
        ("buf_writer", [Rank(1), Nothing, Nothing]),
        ("lottery_java", [Rank(1), Nothing, Nothing]),
        ("merge_sort", [Rank(1), Nothing, Nothing]),
        ("shop_java", [Rank(2), Nothing, Nothing]),
        ("array_list", [Rank(1), Nothing, Nothing]),
        ("hash_set", [Rank(1), Nothing, Nothing]),
        ("string_buffer_java", [Rank(1), Rank(1), Rank(1)]),
        ("tree_set", [Rank(2), Nothing, Nothing]),
        ("vector", [Rank(1), Rank(1), Rank(1)]),
        ("cache4j", [Rank(1), Nothing, Nothing]),
        ("hedc", [NotFound, Nothing, Nothing]),
        ("ray_tracer", [Rank(2), Nothing, Nothing]),
        ("weblech", [Nothing, Nothing, Rank(1)]),
    ]
};

/// The techniques that the papers are about, and the one that goes by all of them.
const TECHNIQUES: [&str; 5] = ["falcon", "unicorn", "recon", "griffin", "verdict"];

/// Is this program one for the tables?
pub fn is_meant(subject: &Subject) -> bool {
    subject.truth.language == Language::Java && subject.truth.has_bug()
}

/// All tables in one.
pub fn markdown(evaluation: &Evaluation) -> String {
    let mut text = head(&[
        "program",
        "failing, passing runs",
        "Falcon (paper)",
        "Unicorn (paper)",
        "Recon (paper)",
        "Griffin: rank; causes for bugs; F",
        "verdict",
    ]);
    for program in &evaluation.programs {
        text += &row(&cells(program));
    }
    text
}

fn cells(program: &Program) -> Vec<String> {
    let (Some(analysis), Some(result)) = (program.analysis(), &program.result) else {
        let trouble = program.trouble.clone().unwrap_or_default();
        return std::iter::once(program.name.clone()).chain([trouble]).collect();
    };
    let [falcon, unicorn, recon] =
        SUBJECTS.iter().find(|(name, _)| *name == program.name).map_or([Told::Nothing; 3], |(_, told)| *told);
    let beside = |technique: &str, told: Told| match told {
        Told::Nothing => rank(analysis, technique),
        Told::NotFound => format!("{} (–)", rank(analysis, technique)),
        Told::Rank(theirs) => format!("{} ({theirs})", rank(analysis, technique)),
    };
    let causes = analysis.clusters.get(TECHNIQUES[3]).map_or(String::new(), |clusters| {
        format!("; {} for {}; {:.2}", clusters.clusters, clusters.bugs, clusters.f_measure)
    });
    vec![
        program.name.clone(),
        format!("{}, {}", result.runs.failed, result.runs.passed),
        beside(TECHNIQUES[0], falcon),
        beside(TECHNIQUES[1], unicorn),
        beside(TECHNIQUES[2], recon),
        rank(analysis, TECHNIQUES[3]) + &causes,
        rank(analysis, TECHNIQUES[4]),
    ]
}

/// The rank of the truth with as many runs as there are, and how many findings share it.
fn rank(analysis: &Analysis, technique: &str) -> String {
    let score = analysis.at(technique, FULL).and_then(|scores| scores.first());
    match score.and_then(|score| score.truth.as_ref()) {
        Some(standing) if standing.tied > 1 => format!("{} of {} tied", standing.rank, standing.tied),
        Some(standing) => standing.rank.to_string(),
        None => "–".to_owned(),
    }
}
