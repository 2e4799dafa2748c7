//! The picture of a finding as a file of its own, to be put into an issue, a slide or a page. It shows what the HTML
//! page shows.

use crate::markup::{classed, element};
use crate::model::Finding;
use crate::picture;

/// Plain colours and classes, which every viewer of SVG understands.
const STYLE: &str = include_str!("svg.css");

const MARGIN: u32 = 12;

/// Draws a finding as an SVG document; `None` if it has no accesses to draw.
pub fn finding(finding: &Finding) -> Option<String> {
    let mut drawing = picture::wide(finding, MARGIN)?.attribute("xmlns", "http://www.w3.org/2000/svg");
    let background = classed("rect", "background")
        .attribute("x", -MARGIN.cast_signed())
        .attribute("y", -MARGIN.cast_signed())
        .attribute("width", "100%")
        .attribute("height", "100%");
    drawing.children.insert(0, element("style").text(&STYLE.replace('\n', " ")).into());
    drawing.children.insert(1, background.into());
    let mut file = String::new();
    drawing.write(&mut file);
    file.push('\n');
    Some(file)
}
