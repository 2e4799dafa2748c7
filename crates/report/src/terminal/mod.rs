//! The report for a person at a terminal: [`summary`] is the first screen, [`finding`] one suspect in full,
//! [`trace()`] one run step by step.

mod columns;
mod finding;
mod page;
mod stacks;
mod summary;
mod trace;

use page::Page;

use crate::model::{Confirmation, Finding, NeededOrders, Report};
use crate::trace::Trace;
use crate::wording;

/// How to show a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The columns of the terminal. Fewer than 40 count as 40, more than 160 as 160.
    pub width: usize,
    /// Whether to use colours.
    pub color: bool,
    /// How many findings the first screen lists.
    pub listed: usize,
    /// Whether to name the technique, because it was asked for by name.
    pub name_technique: bool,
}

impl Default for View {
    fn default() -> Self {
        View { width: 80, color: false, listed: 5, name_technique: false }
    }
}

/// Something to do next, with the command for it. Commands are never broken or cut: they are there to be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// What it is good for: `after your fix`.
    pub label: String,
    /// What to type, or a file to open.
    pub command: String,
}

/// The first screen: what went wrong, where, how sure that is, and what to do next.
pub fn summary(report: &Report, hints: &[Hint], view: &View) -> String {
    let mut page = Page::new(view);
    summary::write(&mut page, report, hints, view);
    page.into_text()
}

/// What came of forcing and forbidding a finding, in one line.
pub fn proof(confirmation: &Confirmation) -> String {
    format!("{}   {}", wording::verdict(confirmation), wording::proof(confirmation))
}

/// The orders that make the test fail, in a few lines; none if there are no such orders.
pub fn needs(needs: Option<&NeededOrders>) -> String {
    match needs {
        Some(needs) => format!("needs {}\n", wording::needs(needs).join("\n  ")),
        None => "needs more than the orders of these accesses: forcing them does not make most runs fail\n"
            .to_owned(),
    }
}

/// One finding of the report in full. `number` is its place in the list, from 1, by which the user asked for it.
pub fn finding(report: &Report, number: usize, finding: &Finding, view: &View) -> String {
    let mut page = Page::new(view);
    finding::write(&mut page, report, number, finding);
    page.into_text()
}

/// One run step by step, in thread columns.
pub fn trace(trace: &Trace, view: &View) -> String {
    let mut page = Page::new(view);
    trace::write(&mut page, trace);
    page.into_text()
}
