//! The picture of a finding: threads as columns, time downwards, what each access did to its variable at the right.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

use super::page::{GAP, Line, PLACE, PLAIN, Page, STRONG};
use crate::model::{Access, Finding};
use crate::visible::{cut, visible};
use crate::wording::{self, Places};

const INDENT: usize = 5;

/// How far a source line stands from its place, to the right or in the next line.
const SOURCE_INDENT: usize = 2;

/// In how many lines a source line is broken before its rest is left out.
const LONGEST_SOURCE: usize = 3;

/// A column narrower than this shows too little of a source line to be worth it.
const NARROWEST_COLUMN: usize = 20;

/// Draws the accesses in thread columns, or one below the other where the columns would get too narrow.
pub(super) fn draw(page: &mut Page, finding: &Finding) {
    if finding.accesses.is_empty() {
        return;
    }
    let picture = Picture::of(finding);
    let room = page.width() - INDENT;
    if let Some(widths) = picture.fitting(Layout::Beside, room) {
        picture.draw_columns(page, Layout::Beside, &widths);
    } else if let Some(widths) = picture.shared(room) {
        picture.draw_columns(page, Layout::Below, &widths);
    } else {
        picture.draw_list(page);
    }
}

/// Where a source line stands, relative to its place.
#[derive(Clone, Copy)]
enum Layout {
    Beside,
    Below,
}

/// The columns are those of the threads, then those of the variables.
struct Picture {
    titles: Vec<Line>,
    threads: usize,
    rows: Vec<Row>,
}

struct Row {
    thread: usize,
    variable: usize,
    place: Line,
    source: String,
    effect: Line,
}

impl Picture {
    fn of(finding: &Finding) -> Self {
        let places = Places::of(finding);
        let threads = wording::threads(finding);
        let variables = wording::variables(finding);
        let of_threads =
            threads.iter().map(|thread| Line::new(STRONG, &wording::thread_title(finding, *thread)));
        let of_variables = variables.iter().map(|variable| Line::new(STRONG, variable));

        let row = |(index, access): (usize, &Access)| Row {
            thread: threads.iter().position(|thread| *thread == access.thread).unwrap_or(0),
            variable: variables.iter().position(|name| *name == access.variable).unwrap_or(0),
            place: Line::new(PLACE, &places.label(access)),
            source: visible(access.source.as_deref().unwrap_or("")).trim().to_owned(),
            effect: Line::new(PLAIN, &wording::effect_in(finding, index)),
        };
        Picture {
            titles: of_threads.chain(of_variables).collect(),
            threads: threads.len(),
            rows: finding.accesses.iter().enumerate().map(row).collect(),
        }
    }

    /// The widths of the columns at which nothing is cut; `None` if that is more than there is room for.
    fn fitting(&self, layout: Layout, room: usize) -> Option<Vec<usize>> {
        let widths = self.natural(layout);
        (widths.iter().sum::<usize>() + GAP * (widths.len() - 1) <= room).then_some(widths)
    }

    /// Widths with which source lines stand below their places and the room is shared fairly; `None` if too little
    /// of it is left for some thread.
    fn shared(&self, room: usize) -> Option<Vec<usize>> {
        if let Some(widths) = self.fitting(Layout::Below, room) {
            return Some(widths);
        }
        let mut widths = self.natural(Layout::Below);
        let variables = widths.len() - self.threads;
        for width in &mut widths[self.threads..] {
            // A single variable gets at most a quarter, several together never more than the threads.
            *width = (*width).min(room / (3 + variables).max(2 * variables));
        }
        let taken = widths[self.threads..].iter().sum::<usize>() + GAP * (widths.len() - 1);
        let mut left = room.checked_sub(taken)?;

        // The narrowest column first: what it does not need is there for the wider ones.
        let mut by_need: Vec<usize> = (0..self.threads).collect();
        by_need.sort_by_key(|&column| widths[column]);
        for (served, &column) in by_need.iter().enumerate() {
            let share = left / (self.threads - served);
            if widths[column] > share {
                if share < NARROWEST_COLUMN {
                    return None;
                }
                widths[column] = share;
            }
            left -= widths[column];
        }
        Some(widths)
    }

    fn natural(&self, layout: Layout) -> Vec<usize> {
        let mut widths: Vec<usize> = self.titles.iter().map(Line::width).collect();
        for row in &self.rows {
            let cell = match layout {
                Layout::Beside => self.beside(row).width(),
                Layout::Below => row.place.width().max(SOURCE_INDENT + row.source.width()),
            };
            widths[row.thread] = widths[row.thread].max(cell);
            let effect = &mut widths[self.threads + row.variable];
            *effect = (*effect).max(row.effect.width());
        }
        widths
    }

    fn cell(&self, row: &Row, layout: Layout, width: usize) -> Vec<Line> {
        match layout {
            Layout::Beside => vec![self.beside(row)],
            Layout::Below => {
                let source = broken(&row.source, width.saturating_sub(SOURCE_INDENT));
                let below = source.iter().map(|line| Line::spaces(SOURCE_INDENT).with(PLAIN, line));
                [row.place.clone().cut(width)].into_iter().chain(below).collect()
            }
        }
    }

    fn beside(&self, row: &Row) -> Line {
        let same_thread = self.rows.iter().filter(|other| other.thread == row.thread);
        let widest = same_thread.map(|other| other.place.width()).max().unwrap_or(0);
        row.place.clone().padded(widest + SOURCE_INDENT).with(PLAIN, &row.source)
    }

    fn draw_columns(&self, page: &mut Page, layout: Layout, widths: &[usize]) {
        let start = |column: usize| INDENT + widths[..column].iter().map(|width| width + GAP).sum::<usize>();

        let mut titles = Line::default();
        for (column, title) in self.titles.iter().enumerate() {
            titles = titles.padded(start(column)).then(title.clone().cut(widths[column]));
        }
        page.line(titles);
        for row in &self.rows {
            let column = self.threads + row.variable;
            let effect = row.effect.clone().cut(widths[column]);
            for (index, line) in self.cell(row, layout, widths[row.thread]).into_iter().enumerate() {
                let line = Line::spaces(start(row.thread)).then(line);
                page.line(if index == 0 { line.padded(start(column)).then(effect.clone()) } else { line });
            }
        }
    }

    fn draw_list(&self, page: &mut Page) {
        for row in &self.rows {
            let variable = self.titles[self.threads + row.variable].clone();
            let place = row.place.clone();
            let parts = [place, row.effect.clone(), variable].map(|part| Line::spaces(GAP).then(part));
            let title = Line::spaces(INDENT).then(self.titles[row.thread].clone()).cut(page.width() / 2);
            page.line(parts.into_iter().fold(title, Line::then));
            let room = page.width() - INDENT - SOURCE_INDENT;
            for line in broken(&row.source, room) {
                page.line(Line::spaces(INDENT + SOURCE_INDENT).with(PLAIN, &line));
            }
        }
    }
}

/// A source line broken between words, and its rest left out where it is very long.
fn broken(source: &str, width: usize) -> Vec<Cow<'_, str>> {
    if source.is_empty() {
        return Vec::new();
    }
    let mut lines = textwrap::wrap(source, width.max(1));
    if lines.len() > LONGEST_SOURCE {
        lines.truncate(LONGEST_SOURCE);
        if let Some(last) = lines.last_mut() {
            *last = Cow::Owned(cut(&format!("{last} …"), width).into_owned());
        }
    }
    lines
}
