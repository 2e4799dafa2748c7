//! What the page says of the session as a whole: above the findings how the runs ended, below them what is rarely
//! needed.

use crate::markup::{Element, classed, element, prose};
use crate::model::Report;
use crate::wording::{self, Tone};

/// The name of the test, the numbers, and what the failures look like.
pub(super) fn header(report: &Report) -> Element {
    let tally = wording::tally(report);
    let tally = tally.iter().map(|(tone, text)| classed("li", class(*tone)).text(text));
    let button = |id: &str, label: &str, title: &str| {
        element("button")
            .attribute("type", "button")
            .attribute("id", id)
            .attribute("title", title)
            .attribute("hidden", "")
            .text(label)
    };
    element("header")
        .child(
            classed("div", "bar")
                .child(element("h1").text(&report.session.name))
                .child(button("theme", "◐", "dark or light (t)"))
                .child(button("keys", "?", "keys (?)")),
        )
        .child(classed("ul", "tally").children(tally))
        .children(failures(report))
}

fn failures(report: &Report) -> Vec<Element> {
    match report.failures.as_slice() {
        [] => vec![],
        [only] => vec![element("p").children(prose(&wording::only_failure(only)))],
        kinds => {
            let kind = |kind: &crate::model::FailureGroup| {
                element("li").text(&format!("{}× ", kind.runs)).children(prose(&kind.description))
            };
            vec![
                element("p").text(&format!("{} kinds of failure:", kinds.len())),
                classed("ul", "failures").children(kinds.iter().map(kind)),
            ]
        }
    }
}

/// How far the order of the findings can be trusted.
pub(super) fn caveats(report: &Report) -> Vec<Element> {
    wording::caveats(report).iter().map(|caveat| classed("p", "caveat").text(caveat)).collect()
}

/// Warnings and the session's data, folded.
pub(super) fn footer(report: &Report) -> Element {
    let footer = element("footer");
    let footer = if report.warnings.is_empty() {
        footer
    } else {
        let warnings = report.warnings.iter().map(|warning| element("li").children(prose(warning)));
        let title = wording::plural(report.warnings.len() as u64, "warning");
        footer.child(fold(&title).child(element("ul").children(warnings)))
    };
    footer.child(fold("Session").child(session(report)))
}

fn session(report: &Report) -> Element {
    let (session, runs) = (&report.session, &report.runs);
    let words: Vec<String> = session.command.iter().map(|word| wording::shell_word(word)).collect();
    let rows = [
        ("command", words.join(" ")),
        ("started", session.started.clone()),
        ("took", wording::span(session.wall_seconds)),
        ("seed", session.seed.to_string()),
        (
            "runs",
            format!(
                "{} passed, {} failed ({} of them hung), {} damaged",
                runs.passed, runs.failed, runs.hung, runs.damaged
            ),
        ),
        ("ranked by", report.technique.clone()),
        ("unsnarl", session.unsnarl_version.clone()),
    ];
    let told = report.search.iter().flat_map(wording::search::told);
    let rows = rows.into_iter().chain(told.map(|text| ("search", text)));
    let rows: Vec<(&str, String)> = rows.collect();
    let rows = rows.iter().flat_map(|(name, value)| [element("dt").text(name), element("dd").text(value)]);
    classed("dl", "facts").children(rows)
}

pub(super) fn fold(title: &str) -> Element {
    classed("details", "fold").child(element("summary").text(title))
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "plain",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Caution => "caution",
        Tone::Quiet => "quiet",
    }
}
