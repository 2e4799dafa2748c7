//! Who waits for whom in hung runs, who might in others, and what threads use though it is freed.

use super::session::fold;
use crate::hang::{Hang, HangKind};
use crate::markup::{Element, classed, element, prose};
use crate::model::Report;
use crate::wording;

/// How many are in view; the others are below a fold.
const LISTED: usize = 3;

/// All waiting threads; `None` if there are none.
pub(super) fn section(report: &Report) -> Option<Element> {
    let (first, rest) = report.hangs.split_at(report.hangs.len().min(LISTED));
    let more =
        (!rest.is_empty()).then(|| fold(&format!("{} more", rest.len())).children(rest.iter().map(shown)));
    let section = classed("section", "hangs").child(element("h3").text(wording::HANGS));
    (!first.is_empty()).then(|| section.children(first.iter().map(shown)).children(more))
}

fn shown(hang: &Hang) -> Element {
    let tone = match hang.kind {
        HangKind::Deadlock | HangKind::AwaitedEnd | HangKind::Waiting => "hang certain",
        HangKind::UseAfterFree | HangKind::PotentialDeadlock => "hang possible",
    };
    let threads = hang.threads.iter().map(|thread| element("li").children(prose(thread)));
    let advice = (!hang.advice.is_empty()).then(|| {
        let fix = [element("dt").text("fix"), element("dd").children(prose(&hang.advice))];
        classed("dl", "reasons").children(fix)
    });
    classed("div", tone)
        .child(element("h4").children(prose(&wording::hang(hang))))
        .child(element("ul").children(threads))
        .children(advice)
}
