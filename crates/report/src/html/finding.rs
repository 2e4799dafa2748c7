//! One finding: its row in the list, and small things that are drawn wherever it appears.

use crate::markup::{Element, classed, element, prose};
use crate::model::{Finding, Runs, Verdict};
use crate::picture;
use crate::wording;

/// The row of a finding: what it is, in a sentence and in numbers.
pub(super) fn summary(runs: &Runs, number: usize, finding: &Finding) -> Element {
    // An open finding tells the same with values.
    let class = if finding.story.is_empty() { "sentence" } else { "sentence retold" };
    let what = classed("div", "what")
        .child(element("h2").children(prose(&wording::headline(finding))).children(verdict(finding)))
        .children(wording::sentence(finding).map(|sentence| classed("p", class).children(prose(&sentence))));
    let [failing, passing] = wording::counts(finding, runs);
    let counts = classed("div", "counts")
        .child(bar("bad", finding.failed, runs.failed, &failing))
        .child(bar("good", finding.passed, runs.passed, &passing))
        .child(classed("span", "quiet").text(&wording::score(finding)));
    element("summary").child(classed("span", "rank").text(&number.to_string())).child(what).child(counts)
}

fn verdict(finding: &Finding) -> Option<Element> {
    let confirmation = finding.confirmation?;
    let class = match confirmation.verdict {
        Verdict::Confirmed => "verdict good",
        Verdict::Refuted => "verdict bad",
        Verdict::Inconclusive => "verdict caution",
    };
    Some(classed("span", class).text(&wording::verdict(&confirmation)))
}

/// A part of a whole, as a bar and in words.
pub(super) fn bar(class: &str, part: u64, whole: u64, words: &str) -> Element {
    let percent = if whole == 0 { 0.0 } else { 100.0 * part.min(whole) as f64 / whole as f64 };
    let piece = |class: &str, width: f64| {
        classed("rect", class).attribute("width", format!("{width:.1}")).attribute("height", 1)
    };
    let plot = element("svg")
        .attribute("viewBox", "0 0 100 1")
        .attribute("preserveAspectRatio", "none")
        .attribute("aria-hidden", "true")
        .child(piece("all", 100.0))
        .child(piece("part", percent));
    classed("div", &format!("count {class}")).child(plot).child(element("span").text(words))
}

/// The number of an access in the colour of its thread, as in the picture.
pub(super) fn badge(finding: &Finding, access: usize) -> Element {
    classed("b", &format!("badge t{}", colour(finding, access))).text(&(access + 1).to_string())
}

/// The number of the colour that the thread of an access has.
pub(super) fn colour(finding: &Finding, access: usize) -> usize {
    let role = finding.accesses[access].thread;
    wording::threads(finding).iter().position(|thread| *thread == role).unwrap_or(0) % picture::COLOURS
}
