//! The report as Markdown, to be pasted into an issue: GitHub's dialect, which others understand too.
//!
//! Names from the target stand in code spans or are escaped, so that they neither format the text nor mention people.

use crate::causes::needed;
use crate::hang::Hang;
use crate::model::{Access, Finding, Report};
use crate::passage::{Excerpts, Passage};
use crate::stacks::fold;
use crate::visible::visible;
use crate::wording::{self, Places, plural};

/// How many findings a report lists after the first.
const LISTED: usize = 4;

/// How many sets of waiting threads are in view.
const LISTED_HANGS: usize = 2;

/// Writes the session, its first finding in full, and the next ones in short.
pub fn report(report: &Report) -> String {
    let tally: Vec<String> = wording::tally(report).into_iter().map(|(_, text)| escaped(&text)).collect();
    let mut out = format!("## {}\n\n{}\n\n", code(&report.session.name), tally.join(" · "));
    match report.failures.as_slice() {
        [] => {}
        [only] => out.push_str(&format!("{}\n\n", prose(&wording::only_failure(only)))),
        kinds => {
            for kind in kinds {
                out.push_str(&format!("- {}× {}\n", kind.runs, prose(&kind.description)));
            }
            out.push('\n');
        }
    }
    let Some((first, others)) = report.findings.split_first() else {
        return out + &wording::nothing_found(&report.runs) + "\n" + &hangs(report);
    };
    for caveat in wording::caveats(report) {
        out.push_str(&format!("> {}\n\n", escaped(&caveat)));
    }
    out.push_str(&finding(report, 1, first));
    if !others.is_empty() {
        out.push_str("\n### Other suspects\n\n");
        let needed = needed(report).findings;
        for (index, other) in others.iter().take(LISTED).enumerate() {
            let counts = wording::counts(other, &report.runs).join(", ");
            let more = if needed.contains(&(index + 1)) {
                ", **also in runs that show none of the above**"
            } else {
                ""
            };
            out.push_str(&format!("{}. {} ({counts}){more}\n", index + 2, prose(&wording::headline(other))));
        }
        if others.len() > LISTED {
            out.push_str(&format!("\nand {} more\n", others.len() - LISTED));
        }
    }
    out.push_str(&hangs(report));
    for warning in &report.warnings {
        out.push_str(&format!("\n> warning: {}\n", prose(warning)));
    }
    out
}

/// Who waits for whom, and who might: the first few in view, all of them below a fold if there are more.
fn hangs(report: &Report) -> String {
    let shown = |hang: &Hang| {
        let mut out = format!("\n**{}**\n\n", prose(&wording::hang(hang)));
        for thread in &hang.threads {
            out.push_str(&format!("- {}\n", prose(thread)));
        }
        if !hang.advice.is_empty() {
            out.push_str(&format!("\n**fix** {}\n", prose(&hang.advice)));
        }
        out
    };
    let (first, rest) = report.hangs.split_at(report.hangs.len().min(LISTED_HANGS));
    let mut out = String::new();
    if !first.is_empty() {
        out.push_str(&format!("\n### {}\n", wording::HANGS));
        out.extend(first.iter().map(shown));
    }
    if !rest.is_empty() {
        let rest_shown: String = rest.iter().map(shown).collect();
        out.push_str(&format!(
            "\n<details><summary>{} more</summary>\n{rest_shown}\n</details>\n",
            rest.len()
        ));
    }
    out
}

/// Writes one finding of the report in full. `number` is its place in the list, from 1.
pub fn finding(report: &Report, number: usize, finding: &Finding) -> String {
    let mut out = format!("### {number}. {}\n\n", prose(&wording::headline(finding)));
    let story = Some(finding.story.clone()).filter(|story| !story.is_empty());
    if let Some(sentence) = story.or_else(|| wording::sentence(finding)) {
        out.push_str(&format!("{}\n\n", prose(&sentence)));
    }
    let verdict = finding.confirmation.map(|confirmation| format!("**{}**", wording::verdict(&confirmation)));
    let counts = wording::counts(finding, &report.runs);
    let rest = [wording::score(finding)].into_iter().chain(wording::shared_rank(finding));
    let facts: Vec<String> = verdict.into_iter().chain(counts).chain(rest).collect();
    out.push_str(&format!("{}\n", facts.join(" · ")));

    out.push_str(&table(finding, &wording::threads(finding), None));
    if let Some((run, passing)) = finding.in_passing_run() {
        out.push_str(&format!("\n{}\n", escaped(&wording::passing_run(run))));
        out.push_str(&table(&passing, &wording::threads(finding), finding.in_failing_order()));
    }
    let evidence = (!finding.evidence.is_empty()).then(|| ("why", finding.evidence.join("; ")));
    let proof = finding.confirmation.iter().map(|confirmation| ("proof", wording::proof(confirmation)));
    let least = finding.window.as_ref().and_then(wording::window).map(|least| ("minimal", least));
    let needs = finding
        .needs
        .as_ref()
        .map(|needs| ("needs", wording::needs(needs).join("; ").replacen(":;", ":", 1)));
    let advice = finding.told_advice().map(|advice| ("fix", advice.to_owned()));
    let rank = (!finding.why.is_empty()).then(|| ("rank", finding.why.join("; ")));
    for (label, text) in evidence.into_iter().chain(proof).chain(least).chain(needs).chain(advice).chain(rank)
    {
        out.push_str(&format!("\n**{label}** {}\n", prose(&text)));
    }
    out.push_str(&folded("Source", &source(&Excerpts::of(report).passages(finding))));
    out.push_str(&folded("Call stacks", &stacks(finding)));
    if !finding.failing_runs.is_empty() {
        out.push_str(&format!("\nSeen in {}. ", wording::run_list(&finding.failing_runs)));
    } else {
        out.push('\n');
    }
    out.push_str(&format!("Run again: {}\n", code(&wording::repeat_command(&report.session))));
    out
}

/// The accesses in the columns of these threads, with these numbers or else in order.
fn table(finding: &Finding, threads: &[u32], numbers: Option<Vec<usize>>) -> String {
    if finding.accesses.is_empty() {
        return String::new();
    }
    let places = Places::of(finding);
    let variables = wording::variables(finding);
    let mut titles: Vec<String> =
        threads.iter().map(|thread| escaped(&wording::thread_title(finding, *thread))).collect();
    titles.extend(variables.iter().map(|variable| code(variable)));

    let row = |(index, access): (usize, &Access)| {
        let source = code(&wording::source_line(access));
        let place = format!("{} {source}", escaped(&places.label(access)));
        let in_threads =
            threads.iter().map(|thread| if *thread == access.thread { place.clone() } else { String::new() });
        let note = wording::since_last_time(finding, index).map(|note| format!(" ({})", escaped(&note)));
        let effect = escaped(&wording::effect_in(finding, index)) + &note.unwrap_or_default();
        let in_variables = variables
            .iter()
            .map(|name| if *name == access.variable { effect.clone() } else { String::new() });
        let number = numbers.as_ref().and_then(|numbers| numbers.get(index)).map_or(index, |number| *number);
        cells((number + 1).to_string(), in_threads.chain(in_variables))
    };
    let rows: String = finding.accesses.iter().enumerate().map(row).collect();
    let rule = titles.iter().map(|_| "---".to_owned());
    format!("\n{}{}{rows}", cells(String::new(), titles.iter().cloned()), cells("---".to_owned(), rule))
}

fn cells(first: String, others: impl Iterator<Item = String>) -> String {
    // A bar ends a cell even within code.
    let cell = |text: String| format!("| {} ", text.trim().replace('|', "\\|"));
    [first].into_iter().chain(others).map(cell).collect::<String>() + "|\n"
}

fn source(passages: &[Passage<'_>]) -> String {
    let mut out = String::new();
    for (index, passage) in passages.iter().enumerate() {
        if index > 0 && passages[index - 1].file == passage.file {
            out.push_str("          …\n");
        } else {
            out.push_str(&format!("{}\n", visible(passage.file)));
        }
        for line in &passage.lines {
            let marks: Vec<String> = line.marks.iter().map(|mark| (mark.access + 1).to_string()).collect();
            let text = line.text.replace('\t', "    ");
            let shown = format!("{:>5} {:>5}  {}", marks.join(","), line.number, visible(&text));
            out.push_str(&format!("{}\n", shown.trim_end()));
        }
    }
    out
}

fn stacks(finding: &Finding) -> String {
    let mut out = String::new();
    for (index, access) in finding.accesses.iter().enumerate().filter(|(_, access)| !access.stack.is_empty())
    {
        let stack = fold(&finding.accesses[..index], &access.stack);
        out.push_str(&format!("{}. {}\n", index + 1, visible(&wording::access_title(access))));
        for (position, frame) in stack.innermost.iter().chain(stack.outermost).enumerate() {
            if position == stack.innermost.len() {
                out.push_str(&format!(
                    "     … {} not shown …\n",
                    plural(stack.omitted.len() as u64, "frame")
                ));
            }
            let shown = format!("     {}  {}", wording::frame_name(frame), wording::frame_place(frame));
            out.push_str(&format!("{}\n", visible(shown.trim_end())));
        }
        if let Some(frame) = stack.shared.first() {
            let name = wording::frame_name(frame);
            out.push_str(&format!("     … from {} on as for access {}\n", visible(&name), stack.shared_with));
        }
    }
    out
}

/// Text in a fixed pitch below a fold; nothing if there is none.
fn folded(title: &str, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("\n<details><summary>{title}</summary>\n\n{fence}text\n{text}{fence}\n\n</details>\n")
}

/// A sentence in which names stand between backticks.
fn prose(sentence: &str) -> String {
    let mut out = String::new();
    for (index, part) in sentence.split('`').enumerate() {
        push_apart(&mut out, &if index % 2 == 0 { escaped(part) } else { code(part) });
    }
    out
}

/// Appends text so that two code spans in a row do not become one.
fn push_apart(out: &mut String, text: &str) {
    if out.ends_with('`') && text.starts_with('`') {
        out.push(' ');
    }
    out.push_str(text);
}

/// A code span. Its fence is longer than any row of backticks within.
fn code(text: &str) -> String {
    let text = visible(text);
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// Text that means nothing but itself.
fn escaped(text: &str) -> String {
    let text = visible(text);
    let characters: Vec<char> = text.chars().collect();
    let is_word = |index: Option<usize>| {
        index.and_then(|index| characters.get(index)).is_some_and(|character| character.is_alphanumeric())
    };
    let mut out = String::new();
    for (index, &character) in characters.iter().enumerate() {
        match character {
            // Within a word, as in most names, it emphasizes nothing.
            '_' if is_word(index.checked_sub(1)) && is_word(Some(index + 1)) => out.push('_'),
            // No backslash keeps GitHub from taking these for people and issues; code does.
            '@' | '#' => push_apart(&mut out, &format!("`{character}`")),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~' | '$' => {
                out.push('\\');
                out.push(character);
            }
            _ => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_means_nothing_but_itself() {
        assert_eq!(escaped("take_one() _x_ <b> [a](b)"), r"take_one() \_x\_ \<b\> \[a\](b)");
        assert_eq!(escaped("@someone @@ #12"), "`@`someone `@` `@` `#`12");
        assert_eq!(prose("`x`@y"), "`x` `@`y");
        assert_eq!(escaped("a\nb\u{202e}"), r"a\\nb\\u{202e}");
    }

    #[test]
    fn code_cannot_be_left() {
        assert_eq!(code("x"), "`x`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`x"), "`` `x ``");
        assert_eq!(code(""), "");
        assert_eq!(code("a\nb"), r"`a\nb`");
    }

    #[test]
    fn bars_stay_in_their_cells() {
        assert_eq!(cells("1".into(), ["`a|b`".to_owned()].into_iter()), "| 1 | `a\\|b` |\n");
    }
}
