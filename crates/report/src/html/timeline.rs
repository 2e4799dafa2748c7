//! A failing and a passing run in thread columns, step by step. The script draws them, as much as is in view.

use indexmap::IndexSet;

use super::finding::colour;
use super::table::push_quoted;
use crate::markup::{Element, classed, element};
use crate::model::Report;
use crate::trace::{Deed, Trace, TraceObject};
use crate::visible::visible;

/// Where the script puts the timeline of a finding; `None` if it has none. `number` is its place in the list, from 1.
pub(super) fn place(report: &Report, number: usize) -> Option<Element> {
    report.timelines.iter().find(|timeline| timeline.finding == number as u64)?;
    let title = element("h3").text("Step by step");
    Some(
        classed("section", "timeline")
            .attribute("data-timeline", number - 1)
            .attribute("hidden", "")
            .child(title),
    )
}

/// The timelines as JSON: for each finding the colours of its accesses, and its runs.
pub(super) fn data(report: &Report) -> String {
    let timelines = report.timelines.iter().filter_map(|timeline| {
        let index = usize::try_from(timeline.finding).ok()?.checked_sub(1)?;
        let finding = report.findings.get(index)?;
        let colours: Vec<String> =
            (0..finding.accesses.len()).map(|access| colour(finding, access).to_string()).collect();
        let runs = [Some(&timeline.failing), timeline.passing.as_ref()].into_iter().flatten();
        let runs: Vec<String> = runs.map(run).collect();
        Some(format!("\"{index}\":{{\"colours\":[{}],\"runs\":[{}]}}", colours.join(","), runs.join(",")))
    });
    format!("{{{}}}", timelines.collect::<Vec<_>>().join(",\n"))
}

/// A run: its threads, and each step as numbers: number, thread, what sort it is, then as places in the list of texts
/// what it does and where, to which object, again as text in which function and its source, then which access of the
/// finding it is, and the locks held, if known.
fn run(trace: &Trace) -> String {
    let mut texts = Texts::default();
    let mut objects: IndexSet<&TraceObject> = IndexSet::new();
    let threads = trace.acting();
    let steps = trace.steps.iter().map(|step| {
        let thread = threads.binary_search(&step.thread).unwrap_or(0);
        let source = step.source.as_deref().unwrap_or_default().trim();
        let words = [&step.words(), &step.place(), step.function.as_deref().unwrap_or_default(), source];
        let [words, place, function, source] = words.map(|text| texts.number(text));
        let object = objects.insert_full(&step.object).0;
        let access = step.access.map_or(-1, |access| access as i64);
        let locks = step.locks.as_ref().map_or_else(String::new, |locks| {
            let locks: Vec<String> =
                locks.iter().map(|lock| objects.insert_full(lock).0.to_string()).collect();
            format!(",[{}]", locks.join(","))
        });
        let (number, sort) = (step.number, sort(step.deed));
        format!("[{number},{thread},{sort},{words},{place},{object},{function},{source},{access}{locks}]")
    });
    let steps: Vec<String> = steps.collect();
    let titles = trace.titles();
    let threads: Vec<String> = threads.iter().map(|&thread| quoted(&titles[thread])).collect();
    format!(
        "{{\"title\":{},\"failed\":{},\"all\":{},\"threads\":[{}],\"objects\":[{}],\"texts\":[{}],\"steps\":[{}]}}",
        quoted(&format!("run {} {}", trace.run, trace.outcome).replace('`', "")),
        trace.failed,
        trace.left_out + steps.len() as u64,
        threads.join(","),
        objects.iter().map(|object| quoted(&object.name)).collect::<Vec<_>>().join(","),
        texts.seen.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(","),
        steps.join(",\n"),
    )
}

/// Read, write, taking, giving back, waiting and waking, threads, and what never ended.
fn sort(deed: Deed) -> u32 {
    match deed {
        Deed::Read => 0,
        deed if deed.writes() => 1,
        Deed::Lock | Deed::LockShared => 2,
        Deed::Unlock | Deed::UnlockShared => 3,
        Deed::Create | Deed::Start | Deed::End | Deed::Join => 5,
        Deed::Stuck => 6,
        _ => 4,
    }
}

/// Texts, each once.
#[derive(Default)]
struct Texts {
    seen: IndexSet<String>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        self.seen.insert_full(text.to_owned()).0
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::new();
    push_quoted(&mut json, &visible(text));
    json
}
