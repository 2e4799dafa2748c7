//! The comparison as a table.

use super::{Entry, Line, Said};
use crate::document::{head, row, today};
use crate::prove::attempt::Attempt;

pub fn in_short(entry: &anyhow::Result<Entry>) -> String {
    match entry {
        Ok(Entry { detectors, unsnarl }) => {
            let said = detectors.iter().map(|(name, said)| format!("{name} {}; ", standing(said)));
            format!("{}unsnarl {}", said.collect::<String>(), answer(unsnarl))
        }
        Err(error) => format!("{error:#}"),
    }
}

/// All programs, and how often each tool named the bug.
pub fn markdown(lines: &[Line], detectors: &[&str], command: &str) -> String {
    let columns = detectors.iter().flat_map(|name| [(*name).to_owned(), format!("{name}, fixed twin")]);
    let titles: Vec<String> = ["program".to_owned(), "kind".to_owned()]
        .into_iter()
        .chain(columns)
        .chain(["unsnarl".to_owned()])
        .collect();
    let mut table = head(&titles.iter().map(String::as_str).collect::<Vec<_>>());
    for line in lines {
        let mut cells = vec![format!("`{}`", line.name), line.kind.clone()];
        match &line.entry {
            Ok(entry) => {
                for (_, said) in &entry.detectors {
                    cells.extend([standing(said), said.of_the_twin.to_string()]);
                }
                cells.push(answer(&entry.unsnarl));
            }
            Err(error) => cells.push(format!("{error:#}")),
        }
        table += &row(&cells);
    }
    let entries: Vec<&Entry> = lines.iter().filter_map(|line| line.entry.as_ref().ok()).collect();
    let summaries: String = detectors.iter().map(|name| summary(name, &entries)).collect();
    format!("Measured on {} by `{command}`.\n\n{table}\n{summaries}{}", today(), own_summary(&entries))
}

fn summary(name: &str, entries: &[&Entry]) -> String {
    let said: Vec<&Said> = entries
        .iter()
        .flat_map(|entry| &entry.detectors)
        .filter(|(detector, _)| detector == name)
        .map(|(_, said)| said)
        .collect();
    let count = |is: &dyn Fn(&Said) -> bool| said.iter().filter(|said| is(said)).count();
    format!(
        "- {name}: names the bug in {} of {} programs, with its first complaint in {}; says nothing at all in {}; complains about {} of the fixed twins.\n",
        count(&|said| said.at_the_bug.is_some()),
        said.len(),
        count(&|said| said.at_the_bug == Some(1)),
        count(&|said| said.complaints == 0),
        count(&|said| said.of_the_twin > 0),
    )
}

fn own_summary(entries: &[&Entry]) -> String {
    let count = |is: &dyn Fn(&Attempt) -> bool| entries.iter().filter(|entry| is(&entry.unsnarl)).count();
    format!(
        "- unsnarl: names the bug in {} of {} programs, with its first finding in {}, and proves it in {}.\n",
        count(&|attempt| attempt.rank.is_some()),
        entries.len(),
        count(&|attempt| attempt.rank == Some(1)),
        count(&Attempt::is_proven),
    )
}

/// Which of a detector's complaints is about the bug.
fn standing(said: &Said) -> String {
    match (said.at_the_bug, said.complaints) {
        (_, 0) => "–".to_owned(),
        (None, complaints) => format!("none of {complaints}"),
        (Some(nth), complaints) => format!("{nth} of {complaints}"),
    }
}

fn answer(attempt: &Attempt) -> String {
    let rank = attempt.rank.map_or("–".to_owned(), |rank| rank.to_string());
    let proof = if attempt.is_proven() { ", confirmed" } else { "" };
    format!("{rank}{proof} ({:.1} s)", attempt.spent.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::report::Spent;

    fn attempt(rank: Option<u64>) -> Attempt {
        Attempt {
            first_failure: None,
            spent: Spent { runs: 9, seconds: 2.0 },
            until_proof: None,
            rank,
            confirmation: None,
            strangers: Vec::new(),
        }
    }

    fn line(complaints: usize, at_the_bug: Option<usize>, of_the_twin: usize, rank: Option<u64>) -> Line {
        let said = Said { runs: 3, complaints, at_the_bug, of_the_twin };
        let entry = Entry { detectors: vec![("TSan".to_owned(), said)], unsnarl: attempt(rank) };
        Line { name: "claim".to_owned(), kind: "order-violation".to_owned(), entry: Ok(entry) }
    }

    #[test]
    fn what_each_tool_named_is_counted() {
        let lines = [line(0, None, 0, Some(1)), line(4, Some(1), 2, Some(2)), line(3, Some(2), 0, None)];
        let text = markdown(&lines, &["TSan"], "cargo xtask peers");
        assert!(text.contains("| `claim` | order-violation | 1 of 4 | 2 | 2 (2.0 s) |"), "{text}");
        assert!(text.contains(
            "- TSan: names the bug in 2 of 3 programs, with its first complaint in 1; says nothing at all in 1; complains about 1 of the fixed twins."
        ), "{text}");
        assert!(text.contains("- unsnarl: names the bug in 2 of 3 programs, with its first finding in 1, and proves it in 0."), "{text}");
    }
}
