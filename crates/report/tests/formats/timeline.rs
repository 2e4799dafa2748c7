//! Runs step by step in the page, zoomed and walked through as a person would.

use report::Report;
use report::trace::{Deed, Timeline, Trace, TraceStep};
use serde_json::{Value, json};

use crate::browser::{check_silence, written};
use crate::devtools::{Browser, DESKTOP, Look, Page};
use crate::samples::{named, report, stale_check, trace};

/// A finding with its runs, the failing one preceded by many steps that have nothing to do with it.
fn with_timeline(before: u64) -> Report {
    let failing = trace(true);
    let noise = |number: u64| TraceStep {
        number,
        thread: 1,
        deed: if number.is_multiple_of(2) { Deed::Read } else { Deed::Write },
        object: named("statistics"),
        access: None,
        locks: Some(vec![]),
        ..failing.steps[2].clone()
    };
    let own = failing.steps.iter().map(|step| TraceStep { number: step.number + before, ..step.clone() });
    let steps = (1..=before).map(noise).chain(own).collect();
    let mut report = report(vec![stale_check()]);
    report.timelines = vec![Timeline {
        finding: 1,
        failing: Trace { steps, left_out: 7, ..failing },
        passing: Some(trace(false)),
    }];
    report
}

/// What is drawn of the first run: the words of its steps.
fn words(page: &Page<'_>) -> Vec<String> {
    let words = page.value(
        "[...document.querySelector('.pane').querySelectorAll('.words')].map(words => words.textContent)",
    );
    words.as_array().unwrap().iter().map(|words| words.as_str().unwrap().to_owned()).collect()
}

fn said(page: &Page<'_>) -> Value {
    page.value("document.querySelector('.said').textContent")
}

#[test]
fn what_matters_is_shown_first_and_everything_on_demand() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&with_timeline(600));
    let page = browser.open(&file, DESKTOP);
    assert_eq!(page.value("document.querySelectorAll('.pane').length"), 2);
    let shown = words(&page);
    assert_eq!(shown.len(), 8, "{shown:?}");
    assert!(shown.iter().all(|words| !words.contains("statistics")), "{shown:?}");
    assert_eq!(said(&page), "8 of 615 steps");
    let badges = "[...document.querySelectorAll('.pane')].map(pane => [...pane.querySelectorAll('.number')].map(n => n.textContent))";
    assert_eq!(page.value(badges), json!([["1", "2", "3"], ["1", "3", "2"]]));

    page.click(".zoom input");
    page.wait_for("document.querySelector('.said').textContent === '608 of 615 steps'");
    let shown = words(&page);
    assert!(shown.len() < 40 && shown.iter().any(|words| words.contains("statistics")), "{shown:?}");
    check_silence(&page);
}

#[test]
fn it_can_be_zoomed_by_button_key_and_wheel() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&with_timeline(600));
    let page = browser.open(&file, DESKTOP);
    page.click(".zoom input");
    let drawn = "document.querySelector('.pane').querySelectorAll('.mark, .badge').length";
    let usual = page.value(drawn).as_u64().unwrap();
    let changes = |from: u64, grows: bool| {
        let sign = if grows { ">" } else { "<" };
        page.wait_for(&format!("{drawn} {sign} {from}"));
        page.value(drawn).as_u64().unwrap()
    };
    // Closer shows fewer steps and, close enough, their source.
    page.click(".zoom button:nth-child(2)");
    let closer = changes(usual, false);
    page.click(".scroll");
    page.press("+");
    let closest = changes(closer, false);
    assert!(page.value("document.querySelectorAll('.pane .source').length").as_u64().unwrap() > 0);
    page.press("-");
    let further = changes(closest, true);
    page.zoom_with_wheel(".scroll", false);
    let further = changes(further, true);
    page.zoom_with_wheel(".scroll", true);
    changes(further, false);
    page.press("0");
    page.wait_for(&format!("{drawn} > 350"));
    assert_eq!(words(&page), Vec::<String>::new(), "no room for words");
    page.click(".zoom button:nth-child(4)");
    page.wait_for(&format!("{drawn} === {usual}"));
    check_silence(&page);
}

#[test]
fn it_can_be_walked_through_by_keyboard() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&with_timeline(0));
    let page = browser.open(&file, DESKTOP);
    page.value("document.querySelector('.scroll').focus()");
    let says = |part: &str| {
        page.wait_for(&format!("document.querySelector('.said').textContent.includes({part:?})"))
    };
    page.press("n");
    says("3. thread 2 worker: read 1  queue.size at queue.c:41 in take_one");
    page.press("n");
    says("5. thread 3 worker: write 0  queue.size at queue.c:63 in take_one, holding queue.lock");
    page.press("ArrowDown");
    says("6. thread 3 worker: unlock  queue.lock");
    page.press("p");
    says("5. thread 3 worker");
    page.press("ArrowUp");
    says("4. thread 3 worker: lock");
    assert_eq!(page.value("document.querySelectorAll('.row.selected').length"), 1);
    assert_eq!(
        page.value("document.querySelectorAll('.finding[open]').length"),
        1,
        "other keys are not meant"
    );
    check_silence(&page);
}

#[test]
fn narrow_screens_get_lanes_and_no_scripts_no_timeline() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&with_timeline(9));
    let page = browser.open(&file, Look { width: 375, ..DESKTOP });
    assert_eq!(page.value("document.documentElement.scrollWidth <= innerWidth"), true);
    let starts = "new Set([...document.querySelector('.pane').querySelectorAll('.words')].map(w => w.getAttribute('x'))).size";
    assert_eq!(page.value(starts), 1, "words stand below each other");
    let page = browser.open(&file, Look { scripts: false, ..DESKTOP });
    assert_eq!(page.value("document.querySelector('.timeline').offsetHeight"), 0);
}
