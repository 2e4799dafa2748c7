//! Lines of styled text, and a page that they are written to. Every text enters through [`Line::with`], which makes
//! it harmless, and leaves through [`Page`], which keeps it within the width.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

use super::View;
use crate::visible::{cut, visible};

pub(super) const PLAIN: Style = Style::new();
pub(super) const STRONG: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const CAUTION: Style = AnsiColor::Yellow.on_default();
pub(super) const PLACE: Style = AnsiColor::Cyan.on_default();

const NARROWEST: usize = 40;
const WIDEST: usize = 160;

/// Between things that stand side by side.
pub(super) const GAP: usize = 3;

/// One line, or a part of one.
#[derive(Clone, Default)]
pub(super) struct Line {
    spans: Vec<(Style, String)>,
}

impl Line {
    pub(super) fn new(style: Style, text: &str) -> Self {
        Line::default().with(style, text)
    }

    pub(super) fn spaces(count: usize) -> Self {
        Line::default().padded(count)
    }

    pub(super) fn with(mut self, style: Style, text: &str) -> Self {
        self.spans.push((style, visible(text).into_owned()));
        self
    }

    pub(super) fn then(mut self, other: Line) -> Self {
        self.spans.extend(other.spans);
        self
    }

    pub(super) fn padded(mut self, width: usize) -> Self {
        let missing = width.saturating_sub(self.width());
        self.spans.push((PLAIN, " ".repeat(missing)));
        self
    }

    pub(super) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.width()).sum()
    }

    /// The line shortened to the width, ending in `…` if something is missing.
    pub(super) fn cut(self, width: usize) -> Self {
        if self.width() <= width {
            return self;
        }
        let mut left = width;
        let mut shortened = Line::default();
        for (style, text) in self.spans {
            if text.width() < left {
                left -= text.width();
                shortened.spans.push((style, text));
                continue;
            }
            // This span ends at the edge or beyond it, and either it or a later one has text to lose: the mark is
            // always due.
            let text = cut(&(text + "…"), left).into_owned();
            shortened.spans.push((style, text));
            break;
        }
        shortened
    }
}

/// The text written so far.
pub(super) struct Page {
    width: usize,
    color: bool,
    text: String,
}

impl Page {
    pub(super) fn new(view: &View) -> Self {
        Page { width: view.width.clamp(NARROWEST, WIDEST), color: view.color, text: String::new() }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A line, shortened if it is too long.
    pub(super) fn line(&mut self, line: Line) {
        let line = line.cut(self.width);
        self.whole_line(line);
    }

    /// A line that must not be shortened.
    pub(super) fn whole_line(&mut self, line: Line) {
        let written = line.spans.iter().rposition(|(_, text)| !text.trim_end().is_empty());
        let spans = &line.spans[..written.map_or(0, |last| last + 1)];
        for (index, (style, text)) in spans.iter().enumerate() {
            let text = if index + 1 == spans.len() { text.trim_end() } else { text };
            if self.color && !text.is_empty() {
                self.text.push_str(&format!("{style}{text}{style:#}"));
            } else {
                self.text.push_str(text);
            }
        }
        self.text.push('\n');
    }

    /// A text that follows a lead and is broken between words; further lines begin where the first did.
    pub(super) fn paragraph(&mut self, lead: Line, style: Style, text: &str) {
        let indent = lead.width();
        let text = visible(text);
        let room = self.width.saturating_sub(indent).max(1);
        let lines = textwrap::wrap(&text, room);
        let first = lines.first().cloned().unwrap_or(Cow::Borrowed(""));
        self.line(lead.with(style, &first));
        for line in lines.iter().skip(1) {
            self.line(Line::spaces(indent).with(style, line));
        }
    }

    /// Parts side by side after a lead, as many as fit; further lines begin where the first part did. A part is not
    /// shortened.
    pub(super) fn flow(&mut self, lead: Line, parts: impl IntoIterator<Item = Line>) {
        let indent = lead.width();
        let mut line = lead;
        let mut begun = false;
        for part in parts {
            if begun && line.width() + GAP + part.width() > self.width {
                self.whole_line(std::mem::replace(&mut line, Line::spaces(indent)));
                begun = false;
            }
            if begun {
                line = line.then(Line::spaces(GAP));
            }
            line = line.then(part);
            begun = true;
        }
        self.whole_line(line);
    }
}
