//! The report as one HTML file, for a browser: it loads nothing, and works from disk and as an artifact of CI.
//!
//! The first finding is plain HTML, so the page reads without scripts. The bodies of all findings are there as data
//! too (each distinct part once), and a small script builds those that are opened, so that a page with ten thousand
//! findings opens as fast as one with ten.
//!
//! What came from the target cannot become markup: it is escaped where it is written, the script makes text nodes
//! of it, and the page's policy runs and styles nothing but what this crate wrote.

mod body;
mod causes;
mod finding;
mod hangs;
mod session;
mod source;
mod stacks;
mod table;
mod timeline;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use self::body::Bodies;
use self::table::Table;
use crate::markup::{Element, classed, element, prose};
use crate::model::Report;
use crate::outlook::Outlook;
use crate::wording;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("page.js"), include_str!("card.js"), include_str!("timeline.js"));

/// How many findings are listed at first sight; the others are below a fold.
const LISTED: usize = 5;

/// Writes the report as an HTML page.
pub fn page(report: &Report) -> String {
    let title = report.findings.first().map(|first| wording::headline(first).replace('`', ""));
    let title = [Some(report.session.name.clone()), title].into_iter().flatten().collect::<Vec<_>>();
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n");
    for line in [
        element("meta").attribute("charset", "utf-8"),
        element("meta").attribute("http-equiv", "Content-Security-Policy").attribute("content", policy()),
        element("meta")
            .attribute("name", "viewport")
            .attribute("content", "width=device-width, initial-scale=1"),
        element("title").text(&title.join(": ")),
    ] {
        line.write(&mut page);
        page.push('\n');
    }
    page.push_str(&format!("<style>{STYLE}</style>\n</head>\n<body>\n"));
    let outlooks = report.outlooks.iter().map(Outlook::figure);
    let parts = [session::header(report), findings(report)].into_iter().chain(outlooks);
    for part in parts.chain([session::footer(report), help()]) {
        part.write(&mut page);
        page.push('\n');
    }
    // Apart, so that the first look at the page need not read all findings.
    for (id, data) in [("timelines", timeline::data(report)), ("data", data(report))] {
        page.push_str(&format!("<script type=\"application/json\" id=\"{id}\">{data}</script>\n"));
    }
    page.push_str(&format!("<script>{SCRIPT}</script>\n</body>\n</html>\n"));
    page
}

/// Nothing is loaded, and only the page's own style and script are heeded.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn findings(report: &Report) -> Element {
    let main = element("main").children(session::caveats(report));
    let Some(first) = report.findings.first() else {
        let nothing = classed("p", "nothing").text(&wording::nothing_found(&report.runs));
        return main.child(nothing).children(hangs::section(report));
    };
    let bodies = Bodies::of(report);
    let listed = report.findings.iter().take(LISTED).enumerate().map(|(index, finding)| {
        let row = classed("details", "finding").attribute("data-finding", index).child(finding::summary(
            &report.runs,
            index + 1,
            finding,
        ));
        if index == 0 { row.attribute("open", "").child(bodies.of_finding(1, first)) } else { row }
    });
    let main = main.children(causes::section(report)).children(listed);
    let more = report.findings.len().saturating_sub(LISTED);
    main.children((more > 0).then(|| further_findings(more))).children(hangs::section(report))
}

/// The fold that the script fills with the findings which are not listed.
fn further_findings(count: usize) -> Element {
    let search = element("input")
        .attribute("type", "search")
        .attribute("placeholder", "variable, function or file")
        .attribute("aria-label", "show only suspects with these words");
    let noun = if count == 1 { "suspect" } else { "suspects" };
    classed("details", "fold")
        .attribute("id", "further")
        .child(element("summary").text(&format!("{count} more {noun}")))
        .child(
            element("noscript")
                .children(prose("These open with scripts only; `unsnarl show N` prints each of them.")),
        )
        .child(classed("p", "tools").child(search))
        .child(element("div").attribute("id", "rows"))
        .child(element("button").attribute("type", "button").attribute("id", "more").attribute("hidden", ""))
}

fn help() -> Element {
    const KEYS: [(&str, &str); 10] = [
        ("j  k", "next, previous suspect (↓ ↑ too, once one is selected)"),
        ("Enter", "open or close it"),
        ("Esc", "close it"),
        ("Tab", "go through the accesses of its picture: source and stack of each"),
        ("+  -  0", "in a timeline: closer, further, all of it (Ctrl and the wheel too)"),
        ("↓  ↑", "in a timeline: next, previous step"),
        ("n  p", "in a timeline: next, previous access of the finding"),
        ("/", "search the further suspects"),
        ("t", "dark or light"),
        ("?", "this help"),
    ];
    let keys = KEYS.iter().flat_map(|(key, meaning)| {
        [element("dt").child(element("kbd").text(key)), element("dd").text(meaning)]
    });
    let close = element("form").attribute("method", "dialog").child(element("button").text("Close"));
    element("dialog")
        .attribute("id", "help")
        .attribute("aria-label", "Keys")
        .child(element("h2").text("Keys"))
        .child(element("dl").children(keys))
        .child(close)
}

/// All findings for the script.
fn data(report: &Report) -> String {
    let bodies = Bodies::of(report);
    let mut table = Table::default();
    for (index, finding) in report.findings.iter().enumerate() {
        let summary = finding::summary(&report.runs, index + 1, finding);
        table.add([summary, bodies.of_finding(index + 1, finding)]);
    }
    table.into_json()
}
