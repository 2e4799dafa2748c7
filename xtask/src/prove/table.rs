//! What was proven, as a table for the documents.

use super::Line;
use super::attempt::Attempt;
use crate::document::{self, head, row};
use crate::evaluate::report::Trial;
use crate::truth::Language;

pub fn markdown(lines: &[Line], command: &str) -> String {
    let done = || lines.iter().filter_map(|line| line.attempt.as_ref().ok());
    let proven = done().filter(|attempt| attempt.is_proven()).count();
    let found = done().filter(|attempt| attempt.rank == Some(1)).count();
    let strangers: Vec<String> = lines.iter().flat_map(told_strangers).collect();
    let tried: Vec<String> = lines.iter().map(cells).collect();
    let titles = [
        "program",
        "language",
        "rank of the cause",
        "confirmation",
        "forced",
        "forbidden",
        "delays alone",
        "first failure: runs",
        "s",
        "proof: runs",
        "s",
    ];
    let mut text = format!(
        "Measured on {} by `{command}`: {proven} of {} causes confirmed, {found} ranked first. Failing runs of those \
         in which the cause was forced, forbidden, or threads merely delayed; runs of the session until the first one \
         failed, and all runs until the tool had its answer, trials included.\n\n{}{}",
        document::today(),
        lines.len(),
        head(&titles),
        tried.concat()
    );
    if strangers.is_empty() {
        text += "\nNothing but the causes was confirmed.\n";
    } else {
        text += &format!("\nConfirmed besides:\n\n{}", strangers.concat());
    }
    text
}

fn cells(line: &Line) -> String {
    let name = if line.is_planted { format!("{} (planted)", line.name) } else { line.name.clone() };
    let language = match line.language {
        Language::C => "C",
        Language::Cxx => "C++",
        Language::Rust => "Rust",
        Language::Java => "Java",
    };
    let mut cells = vec![name, language.to_owned()];
    match &line.attempt {
        Err(error) => cells.push(format!("FAILED: {error:#}").replace('\n', " ")),
        Ok(attempt) => cells.extend(results(attempt)),
    }
    row(&cells)
}

fn results(attempt: &Attempt) -> [String; 9] {
    let none = || "–".to_owned();
    let share = |trial: &Trial| format!("{}/{}", trial.failed, trial.runs);
    let confirmation = attempt.confirmation.as_ref();
    let arm = |of: fn(&crate::evaluate::report::Confirmation) -> &Trial| {
        confirmation.map_or_else(none, |confirmation| share(of(confirmation)))
    };
    [
        attempt.rank.map_or_else(|| "not found".to_owned(), |rank| rank.to_string()),
        confirmation.map_or_else(none, |confirmation| confirmation.verdict.clone()),
        arm(|confirmation| &confirmation.enforced),
        arm(|confirmation| &confirmation.forbidden),
        arm(|confirmation| &confirmation.delayed),
        attempt.first_failure.map_or_else(none, |(runs, _)| runs.to_string()),
        attempt.first_failure.map_or_else(none, |(_, seconds)| format!("{seconds:.1}")),
        attempt.spent.runs.to_string(),
        format!("{:.0}", attempt.spent.seconds),
    ]
}

fn told_strangers(line: &Line) -> Vec<String> {
    let strangers = line.attempt.iter().flat_map(|attempt| &attempt.strangers);
    let told = strangers.map(|stranger| {
        let part = if stranger.is_at_the_bug { ", all of it at the bug" } else { "" };
        format!("- {}: {}{part}\n", line.name, stranger.finding)
    });
    told.collect()
}

/// For whoever waits.
pub fn in_short(attempt: &anyhow::Result<Attempt>) -> String {
    match attempt {
        Err(error) => format!("FAILED: {error:#}"),
        Ok(attempt) => {
            let strangers = match attempt.strangers.len() {
                0 => String::new(),
                count => format!(", {count} others confirmed"),
            };
            let [rank, verdict, forced, forbidden, delayed, ..] = results(attempt);
            format!(
                "rank {rank}, {verdict}, forced {forced}, forbidden {forbidden}, delayed {delayed}, {:.0} s{strangers}",
                attempt.spent.seconds
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::attempt::Stranger;
    use super::*;
    use crate::evaluate::report::{Confirmation, Spent};

    #[test]
    fn a_line_tells_what_came_of_a_program() {
        let trial = |failed| Trial { runs: 8, failed };
        let attempt = Attempt {
            first_failure: Some((3, 0.25)),
            spent: Spent { runs: 64, seconds: 9.6 },
            until_proof: None,
            rank: Some(1),
            confirmation: Some(Confirmation {
                verdict: "confirmed".to_owned(),
                enforced: trial(8),
                forbidden: trial(0),
                delayed: trial(2),
            }),
            strangers: vec![Stranger { finding: "RW `x`".to_owned(), is_at_the_bug: true }],
        };
        let line = |name: &str, attempt| Line {
            name: name.to_owned(),
            language: Language::Rust,
            is_planted: false,
            attempt,
        };
        let lines = [line("claim", Ok(attempt)), line("lost", Err(anyhow::anyhow!("no compiler")))];
        let text = markdown(&lines, "x");
        assert!(
            text.contains("| claim | Rust | 1 | confirmed | 8/8 | 0/8 | 2/8 | 3 | 0.2 | 64 | 10 |"),
            "{text}"
        );
        assert!(text.contains("1 of 2 causes confirmed, 1 ranked first"), "{text}");
        assert!(text.contains("| lost | Rust | FAILED: no compiler |"), "{text}");
        assert!(text.contains("- claim: RW `x`, all of it at the bug"), "{text}");
    }
}
