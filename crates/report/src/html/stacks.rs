//! The call stacks of a finding; what one shares with an earlier one is below a fold.

use super::finding::badge;
use super::session::fold;
use crate::markup::{Element, classed, element};
use crate::model::{Finding, Frame};
use crate::stacks::fold as fold_stack;
use crate::wording;

/// The stacks of all accesses; `None` if none has one.
pub(super) fn section(finding: &Finding) -> Option<Element> {
    if finding.accesses.iter().all(|access| access.stack.is_empty()) {
        return None;
    }
    let stacks = finding.accesses.iter().enumerate().map(|(index, access)| {
        let folded = fold_stack(&finding.accesses[..index], &access.stack);
        let title = element("h4").child(badge(finding, index)).text(&wording::access_title(access));
        let hidden = [
            (folded.omitted, "not shown".to_owned()),
            (folded.shared, format!("as for access {}", folded.shared_with)),
        ];
        let [omitted, shared] = hidden.map(|(frames, why)| {
            let title = format!("{} {why}", wording::plural(frames.len() as u64, "frame"));
            (!frames.is_empty()).then(|| fold(&title).child(list(frames)))
        });
        classed("div", "stack")
            .attribute("data-access", index)
            .child(title)
            .child(list(folded.innermost))
            .children(omitted)
            .children((!folded.outermost.is_empty()).then(|| list(folded.outermost)))
            .children(shared)
    });
    Some(classed("section", "stacks").child(element("h3").text("Call stacks")).children(stacks))
}

/// The frames; of those of libraries that lie between others only the first is in view.
fn list(frames: &[Frame]) -> Element {
    let groups = frames.chunk_by(|frame, next| frame.is_library() == next.is_library());
    element("ol").children(groups.flat_map(|group| {
        let hidden = if group[0].is_library() && group.len() > 2 { &group[1..] } else { &[] };
        let shown = group[..group.len() - hidden.len()].iter().map(item);
        let title = format!("{} of libraries", wording::plural(hidden.len() as u64, "frame"));
        let folded = (!hidden.is_empty()).then(|| {
            let inner = element("ol").children(hidden.iter().map(item));
            classed("li", "libraries").child(fold(&title).child(inner))
        });
        shown.chain(folded).collect::<Vec<_>>()
    }))
}

fn item(frame: &Frame) -> Element {
    let place = classed("span", "place").attribute("title", wording::frame_place(frame));
    element("li")
        .child(element("code").text(&wording::frame_name(frame)))
        .text(" ")
        .child(place.text(&wording::brief_frame_place(frame)))
}
