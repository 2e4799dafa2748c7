//! The source of a finding: the lines around its accesses, those that lie close together as one passage.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::expression::{Place, marked};
use crate::model::{AccessKind, Excerpt, Finding, Report};
use crate::source::CONTEXT;
use crate::wording::distinct;

/// Some lines of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage<'a> {
    pub file: &'a str,
    pub lines: Vec<Line<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    pub number: u32,
    pub text: &'a str,
    pub marks: Vec<Mark>,
}

/// An access on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The access's index in its finding.
    pub access: usize,
    /// The bytes of the line that it is about, if that is known. Always within the line, between characters.
    pub range: Option<Range<usize>>,
}

/// The excerpts of a report by their file.
pub(crate) struct Excerpts<'a> {
    by_file: HashMap<&'a str, Vec<&'a Excerpt>>,
}

impl<'a> Excerpts<'a> {
    pub(crate) fn of(report: &'a Report) -> Self {
        let mut by_file: HashMap<&str, Vec<&Excerpt>> = HashMap::new();
        for excerpt in &report.excerpts {
            by_file.entry(&excerpt.file).or_default().push(excerpt);
        }
        Excerpts { by_file }
    }

    /// The passages of a finding: file by file in the order of its accesses, each file from top to bottom.
    pub(crate) fn passages(&self, finding: &'a Finding) -> Vec<Passage<'a>> {
        let files = distinct(finding.accesses.iter().filter_map(|access| access.file.as_deref()));
        let mut passages = Vec::new();
        for file in files {
            let numbers = self.numbers(finding, file);
            let lines: Vec<Line<'a>> =
                numbers.into_iter().filter_map(|number| self.line(finding, file, number)).collect();
            let pieces = lines.chunk_by(|line, next| line.number.checked_add(1) == Some(next.number));
            passages.extend(pieces.map(|lines| Passage { file, lines: unindented(lines.to_vec()) }));
        }
        passages
    }

    /// The lines of a file that are worth showing for a finding.
    fn numbers(&self, finding: &Finding, file: &str) -> BTreeSet<u32> {
        let mut numbers = BTreeSet::new();
        for access in finding.accesses.iter().filter(|access| access.file.as_deref() == Some(file)) {
            let Some(line) = access.line else { continue };
            // Where an excerpt has another text for the access's own line, the file has changed since, and what
            // it says around the line is no longer what was run.
            let is_current = access.source.is_none() || access.source.as_deref() == self.text(file, line);
            let context = if is_current { CONTEXT } else { 0 };
            numbers.extend(line.saturating_sub(context)..=line.saturating_add(context));
        }
        numbers
    }

    fn line(&self, finding: &'a Finding, file: &str, number: u32) -> Option<Line<'a>> {
        let is_here = |index: &usize| {
            let access = &finding.accesses[*index];
            access.file.as_deref() == Some(file) && access.line == Some(number)
        };
        let here: Vec<usize> = (0..finding.accesses.len()).filter(is_here).collect();
        let text = here
            .iter()
            .find_map(|index| finding.accesses[*index].source.as_deref())
            .or_else(|| self.text(file, number))?;
        let mark = |access: usize| {
            let at = &finding.accesses[access];
            let place = Place { line: text, column: at.column, writes: at.kind != AccessKind::Read };
            Mark { access, range: marked(place, &at.variable) }
        };
        Some(Line { number, text, marks: here.into_iter().map(mark).collect() })
    }

    fn text(&self, file: &str, number: u32) -> Option<&'a str> {
        self.by_file.get(file)?.iter().find_map(|excerpt| {
            let index = usize::try_from(number.checked_sub(excerpt.first)?).ok()?;
            excerpt.lines.get(index).map(String::as_str)
        })
    }
}

/// The lines without the blanks that all of them begin with.
fn unindented(mut lines: Vec<Line<'_>>) -> Vec<Line<'_>> {
    let indents = lines.iter().filter(|line| !line.text.trim().is_empty()).map(|line| {
        let code = line.text.trim_start_matches([' ', '\t']);
        &line.text[..line.text.len() - code.len()]
    });
    let shared = indents.reduce(common_prefix).unwrap_or("").len();
    for line in &mut lines {
        line.text = line.text.get(shared..).unwrap_or("");
        for range in line.marks.iter_mut().filter_map(|mark| mark.range.as_mut()) {
            *range = range.start.saturating_sub(shared)..range.end.saturating_sub(shared);
        }
    }
    lines
}

fn common_prefix<'a>(left: &'a str, right: &str) -> &'a str {
    let same = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    &left[..same]
}
