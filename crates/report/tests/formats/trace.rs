//! One run in thread columns.

use insta::assert_snapshot;
use report::terminal::{self, View};
use report::trace::{Filter, Trace};
use unicode_width::UnicodeWidthStr;

use crate::hostile::TEXTS;
use crate::samples::{trace, trace_made_of};

fn shown(trace: &Trace, width: usize) -> String {
    terminal::trace(trace, &View { width, ..View::default() })
}

#[test]
fn few_threads_get_columns_and_many_lanes() {
    assert_snapshot!("trace_columns", shown(&trace(true), 120));
    assert_snapshot!("trace_lanes", shown(&trace(true), 60));
}

#[test]
fn a_filter_keeps_the_numbers_of_steps() {
    let numbers = |filter: &Filter| {
        let kept = trace(true).filtered(filter);
        assert_eq!(kept.left_out as usize + kept.steps.len(), trace(true).steps.len());
        kept.steps.iter().map(|step| step.number).collect::<Vec<u64>>()
    };
    let some = |word: &str| vec![word.to_owned()];
    assert_eq!(numbers(&Filter::default()), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(numbers(&Filter { threads: some("3"), ..Filter::default() }), [4, 5, 6]);
    assert_eq!(numbers(&Filter { threads: some("worker"), ..Filter::default() }), [2, 3, 4, 5, 6, 7, 8]);
    let twice = ["main", "3"].map(str::to_owned).to_vec();
    assert_eq!(numbers(&Filter { threads: twice, ..Filter::default() }), [1, 4, 5, 6]);
    let size = Filter { objects: some("size"), ..Filter::default() };
    assert_eq!(numbers(&size), [3, 5, 8]);
    assert_eq!(numbers(&Filter { steps: Some([4, 7]), ..size.clone() }), [5]);
    assert_eq!(numbers(&Filter { files: some("other.c"), ..size }), [0; 0]);
}

#[test]
fn hostile_text_is_shown_not_obeyed_and_lines_fit() {
    for (text, width) in TEXTS.iter().flat_map(|text| [40, 80, 160].map(|width| (text, width))) {
        for line in shown(&trace_made_of(text), width).lines() {
            assert_eq!(report::visible(line), line);
            assert!(line.width() <= width, "{line}");
        }
    }
}
