//! One run in thread columns, time downwards: a line for each step.
//!
//! Where the columns would get too narrow for words, they shrink to lanes, and the words stand at the right.

use anstyle::{AnsiColor, Style};

use super::page::{BAD, CAUTION, GOOD, Line, PLACE, PLAIN, Page, QUIET, STRONG};
use crate::trace::{Deed, Trace, TraceStep};
use crate::wording::plural;

/// A column narrower than this cuts off what most steps have to say.
const NARROWEST_COLUMN: usize = 36;

/// Words longer than these are cut, however wide the screen is: columns that are far apart are hard to compare.
const WIDEST_COLUMN: usize = 60;

const GAP: usize = 2;
const LANE: usize = 2;

/// Reading and writing are told apart at a glance.
const READ: Style = AnsiColor::Blue.on_default();
const WRITE: Style = AnsiColor::Magenta.on_default();

pub(super) fn write(page: &mut Page, trace: &Trace) {
    let style = if trace.failed { BAD } else { GOOD };
    let heading = Line::new(STRONG, &format!("run {}", trace.run)).with(PLAIN, "  ");
    page.line(heading.with(style, &trace.outcome).with(PLAIN, "  ").with(QUIET, &extent(trace)));
    page.blank();
    let number = trace.steps.last().map_or(0, |step| step.number).to_string().len().max(4);
    let threads = trace.acting();
    let room = page.width().saturating_sub(number + GAP);
    let share = (room / threads.len().max(1)).saturating_sub(GAP);
    let titles = trace.titles();
    let widest = trace.steps.iter().map(|step| words(step).width());
    let widest = widest.chain(threads.iter().map(|&thread| Line::new(STRONG, &titles[thread]).width()));
    let wanted = widest.max().unwrap_or(0).min(WIDEST_COLUMN);
    if share >= wanted.min(NARROWEST_COLUMN) {
        draw_columns(page, trace, &threads, number, share.min(wanted));
    } else {
        draw_lanes(page, trace, &threads, number);
    }
}

fn extent(trace: &Trace) -> String {
    let shown = plural(trace.steps.len() as u64, "step");
    match trace.left_out {
        0 => shown,
        left_out => format!("{shown}, {left_out} not shown"),
    }
}

fn draw_columns(page: &mut Page, trace: &Trace, threads: &[usize], number: usize, width: usize) {
    let titles = trace.titles();
    let start = |column: usize| number + GAP + column * (width + GAP);
    let mut header = Line::spaces(number);
    for (column, &thread) in threads.iter().enumerate() {
        header = header.padded(start(column)).then(Line::new(STRONG, &titles[thread]).cut(width));
    }
    page.line(header);
    for step in &trace.steps {
        let column = threads.binary_search(&step.thread).unwrap_or(0);
        page.line(numbered(step, number).padded(start(column)).then(words(step).cut(width)));
    }
}

fn draw_lanes(page: &mut Page, trace: &Trace, threads: &[usize], number: usize) {
    let titles = trace.titles();
    for (lane, title) in threads.iter().map(|&thread| &titles[thread]).enumerate() {
        let line = Line::spaces(number + GAP).then(lives(lane));
        page.line(line.with(STRONG, "┌ ").with(STRONG, title));
    }
    for step in &trace.steps {
        let lane = threads.binary_search(&step.thread).unwrap_or(0);
        let rest = threads.len() - lane - 1;
        let line = numbered(step, number).padded(number + GAP).then(lives(lane));
        page.line(line.with(style(step.deed), "● ").then(lives(rest)).then(words(step)));
    }
}

fn lives(count: usize) -> Line {
    (0..count).fold(Line::default(), |line, _| line.with(QUIET, "│").then(Line::spaces(LANE - 1)))
}

fn numbered(step: &TraceStep, width: usize) -> Line {
    Line::new(QUIET, &format!("{:>width$}", step.number))
}

/// `queue.c:41  read 1  queue.size`.
fn words(step: &TraceStep) -> Line {
    let place = step.place();
    let line = if place.is_empty() { Line::default() } else { Line::new(PLACE, &place).with(PLAIN, "  ") };
    line.with(style(step.deed), &step.words())
}

fn style(deed: Deed) -> Style {
    match deed {
        Deed::Read => READ,
        Deed::Stuck | Deed::Free => BAD,
        deed if deed.writes() => WRITE,
        Deed::Wait | Deed::Wake | Deed::Signal | Deed::Broadcast => CAUTION,
        _ => QUIET,
    }
}
