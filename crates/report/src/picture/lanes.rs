//! Threads as narrow lanes at the left, each access a dot in its thread's lane with its text at the right: for
//! places too narrow, or threads too many, for columns.

use super::{COLOURS, Entering, Handover, LINE_HEIGHT, PADDING, Picture, Step, line};
use crate::markup::{Element, classed};

/// The distance between two lanes.
const LANE: u32 = 24;
const ROW_GAP: u32 = 12;

/// More lanes than these would leave no room for the text, so the outermost share one. Their titles tell them apart.
const MOST_LANES: usize = 8;

pub(super) fn draw(picture: &Picture, width: u32) -> Element {
    let lanes = picture.threads.len().min(MOST_LANES);
    let left = LANE * lanes as u32 + PADDING;
    let mut rows = vec![0];
    for step in &picture.steps {
        rows.push(rows[rows.len() - 1] + height(step) + ROW_GAP);
    }
    let bottom = rows[picture.steps.len()];
    let lives = (0..lanes).map(|lane| {
        let life = classed("path", "life").attribute("d", format!("M{} 0 V{bottom}", middle(lane)));
        classed("g", &format!("thread t{}", lane % COLOURS)).child(life)
    });
    let arrows = picture.handovers.iter().map(|handover| arrow(picture, &rows, handover));
    let steps = picture.steps.iter().enumerate().map(|(index, step)| {
        let outline = classed("rect", "box plain")
            .attribute("x", left)
            .attribute("y", rows[index])
            .attribute("width", width - left)
            .attribute("height", height(step))
            .attribute("rx", 6);
        let mut baseline = rows[index] + 14;
        let title = &picture.threads[step.thread];
        let room = width - left - PADDING;
        let text = left + PADDING / 2;
        let mut group = step
            .group()
            .child(outline)
            .children(step.badge(middle(step.thread), dot(rows[index])))
            .child(line("title", title, [text, baseline], room));
        for (class, content) in step.lines() {
            baseline += LINE_HEIGHT;
            group = group.child(line(&class, content, [text, baseline], room));
        }
        group
    });
    picture.frame(width, bottom).children(lives).children(arrows).children(steps)
}

/// The middle of a thread's lane.
fn middle(thread: usize) -> u32 {
    LANE * thread.min(MOST_LANES - 1) as u32 + LANE / 2
}

/// The height at which a row's dot is drawn.
fn dot(row: u32) -> u32 {
    row + 11
}

fn height(step: &Step) -> u32 {
    LINE_HEIGHT * (1 + step.lines().len() as u32) + 4
}

/// From below one dot, a bend to the other's height, and into it from the side.
fn arrow(picture: &Picture, rows: &[u32], handover: &Handover) -> Element {
    let [from, to] = [handover.from, handover.to].map(|step| middle(picture.steps[step].thread));
    let start = dot(rows[handover.from]) + 9;
    let end = dot(rows[handover.to]);
    let (edge, entering) =
        if from <= to { (to - 9, Entering::Rightwards) } else { (to + 9, Entering::Leftwards) };
    handover.arrow(format!("M{from} {start} V{end} H{edge}"), [edge, end], entering)
}
