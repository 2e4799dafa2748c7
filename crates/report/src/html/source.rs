//! The source of a finding, with its accesses marked.

use std::ops::Range;

use super::finding::badge;
use crate::markup::{Element, Node, classed, element, text};
use crate::model::Finding;
use crate::passage::{Line, Passage};
use crate::wording::Places;

/// How a tab is shown; what follows it in a line is rarely aligned.
const TAB: &str = "    ";

/// The passages one below the other, those of one file together; `None` if there are none.
pub(super) fn section(finding: &Finding, passages: &[Passage<'_>]) -> Option<Element> {
    if passages.is_empty() {
        return None;
    }
    let places = Places::of(finding);
    let files = passages.chunk_by(|left, right| left.file == right.file).map(|passages| {
        let pieces = passages.iter().map(|passage| {
            let lines = passage.lines.iter().map(|line| source_line(finding, line));
            classed("div", "code").children(lines)
        });
        let file = passages[0].file;
        let caption = element("figcaption").attribute("title", file).text(places.file(file));
        element("figure").child(caption).children(pieces)
    });
    Some(classed("section", "source").child(element("h3").text("Source")).children(files))
}

fn source_line(finding: &Finding, line: &Line<'_>) -> Element {
    let accesses: Vec<String> = line.marks.iter().map(|mark| mark.access.to_string()).collect();
    let badges = line.marks.iter().map(|mark| badge(finding, mark.access));
    let row = if accesses.is_empty() {
        classed("div", "line")
    } else {
        classed("div", "line accessed").attribute("data-access", accesses.join(" "))
    };
    let ranges = joined(line.marks.iter().filter_map(|mark| mark.range.clone()).collect());
    row.child(classed("span", "at").text(&line.number.to_string()))
        .child(classed("span", "who").children(badges))
        .child(element("code").children(with_marks(line.text, &ranges)))
}

fn with_marks(line: &str, ranges: &[Range<usize>]) -> Vec<Node> {
    let piece = |range: Range<usize>| line[range].replace('\t', TAB);
    let mut nodes = Vec::new();
    let mut at = 0;
    for range in ranges {
        nodes.push(text(&piece(at..range.start)));
        nodes.push(element("mark").text(&piece(range.clone())).into());
        at = range.end;
    }
    nodes.push(text(&piece(at..line.len())));
    nodes
}

/// The ranges in order, those that overlap as one.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_marks_are_joined() {
        assert_eq!(joined(vec![8..9, 0..4, 2..6, 6..7]), [0..6, 6..7, 8..9]);
        assert_eq!(joined(vec![0..9, 2..3, 9..10]), [0..9, 9..10]);
    }
}
