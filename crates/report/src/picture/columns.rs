//! Threads side by side, each access a box in its thread's column.
//!
//! Each box has a row of its own and arrows run vertically only between the columns, so no arrow crosses a box.

use super::{CHARACTER, COLOURS, Entering, Handover, LINE_HEIGHT, PADDING, Picture, Step, line};
use crate::markup::{Element, classed};

/// The room for arrows between two columns.
const GUTTER: u32 = 56;
const HEADER: u32 = 34;
const ROW_GAP: u32 = 14;

/// Fewer threads get wider columns, up to a point.
const WIDEST: u32 = 520;
const NARROWEST: u32 = 240;

/// What the badge takes of a box's first line.
const BADGE: u32 = 24;

struct Layout {
    column: u32,
    /// The upper edge of each row, and the lower edge of the last.
    rows: Vec<u32>,
}

pub(super) fn draw(picture: &Picture) -> Element {
    let layout = Layout::of(picture);
    let threads = picture.threads.len() as u32;
    let width = threads * layout.column + (threads - 1) * GUTTER;
    let height = layout.rows[picture.steps.len()];
    let columns = picture.threads.iter().enumerate().map(|(thread, title)| {
        let x = layout.left(thread);
        let middle = x + layout.column / 2;
        let life = classed("path", "life").attribute("d", format!("M{middle} {HEADER} V{height}"));
        let colour = format!("thread t{}", thread % COLOURS);
        classed("g", &colour).child(life).child(line("title", title, [x, 20], layout.column))
    });
    let arrows =
        picture.handovers.iter().enumerate().map(|(order, handover)| layout.arrow(picture, order, handover));
    let boxes = picture.steps.iter().enumerate().map(|(index, step)| layout.step(index, step));
    picture.frame(width, height + 1).children(columns).children(arrows).children(boxes)
}

impl Layout {
    fn of(picture: &Picture) -> Self {
        let threads = picture.threads.len() as u32;
        let share = (picture.room - (threads - 1) * GUTTER) / threads;
        let longest = picture.steps.iter().map(Step::longest_line).max().unwrap_or(0);
        let wanted = (longest as u32).min(picture.room) * CHARACTER / 10 + 2 * PADDING + BADGE;
        let mut rows = vec![HEADER];
        for step in &picture.steps {
            rows.push(rows[rows.len() - 1] + step.height() + ROW_GAP);
        }
        Layout { column: wanted.clamp(NARROWEST, WIDEST).min(share), rows }
    }

    fn left(&self, thread: usize) -> u32 {
        thread as u32 * (self.column + GUTTER)
    }

    fn step(&self, index: usize, step: &Step) -> Element {
        let (x, y) = (self.left(step.thread), self.rows[index]);
        let room = self.column - 2 * PADDING;
        let outline = classed("rect", "box")
            .attribute("x", x + 1)
            .attribute("y", y)
            .attribute("width", self.column - 2)
            .attribute("height", step.height())
            .attribute("rx", 6);
        let left = x + PADDING;
        let mut baseline = y + PADDING + 12;
        let mut group = step.group().child(outline).children(step.badge(left + 9, baseline - 4)).child(line(
            "place",
            &step.place,
            [left + BADGE, baseline],
            room - BADGE,
        ));
        for (class, text) in step.lines().into_iter().skip(1) {
            baseline += LINE_HEIGHT;
            group = group.child(line(&class, text, [left, baseline], room));
        }
        group
    }

    /// Out of the box that faces the other column, down between the columns, into the other box.
    fn arrow(&self, picture: &Picture, order: usize, handover: &Handover) -> Element {
        let [from, to] = [handover.from, handover.to].map(|step| picture.steps[step].thread);
        let middle = |step: usize| self.rows[step] + picture.steps[step].height() / 2;
        let (leave, enter) = (middle(handover.from) + 8, middle(handover.to) - 8);
        // Arrows between the same columns keep apart from one another.
        let offset = 14 + 9 * (order % 4) as u32;
        let (start, turn, end, entering) = if from < to {
            let start = self.left(from) + self.column;
            (start, start + offset, self.left(to), Entering::Rightwards)
        } else {
            let start = self.left(from);
            (start, start - offset, self.left(to) + self.column, Entering::Leftwards)
        };
        handover.arrow(format!("M{start} {leave} H{turn} V{enter} H{end}"), [end, enter], entering)
    }
}

impl Step {
    fn height(&self) -> u32 {
        2 * PADDING + LINE_HEIGHT * self.lines().len() as u32
    }

    fn longest_line(&self) -> usize {
        self.lines().iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0)
    }
}
