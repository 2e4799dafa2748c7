//! The HTML page in a real browser, used as a person would: looked at, clicked, typed at.

use std::path::PathBuf;

use report::{AccessKind, Cause, Comparison, Finding, Graph, GraphNode, Kind, Report, html};
use serde_json::json;
use tempfile::TempDir;

use crate::devtools::{Browser, DESKTOP, Look, Page};
use report::trace::Timeline;

use crate::hostile::{TEXTS, made_of};
use crate::samples::{
    Known, access, confirmed, early_use, excerpts, finding, report, stale_check, torn_pair, trace_made_of,
};

pub fn written(report: &Report) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, html::page(report)).unwrap();
    (folder, file)
}

fn three() -> Report {
    report(vec![confirmed(stale_check()), early_use(), torn_pair()])
}

/// Many findings, each on a variable of its own.
pub fn many(count: usize) -> Report {
    let named = |number: usize| {
        let variable = format!("slot{number}");
        let accesses = [(1, AccessKind::Read, "take"), (2, AccessKind::Write, "put")];
        let accesses = accesses.map(|(thread, kind, function)| access(thread, kind, &variable, function, 7));
        finding(Kind::OrderViolation, "RW", accesses.to_vec())
    };
    report((1..=count).map(named).collect())
}

/// Nothing went wrong in the page, and it asked for nothing but itself.
#[track_caller]
pub fn check_silence(page: &Page<'_>) {
    assert_eq!(page.events("Runtime.exceptionThrown"), Vec::<serde_json::Value>::new());
    assert_eq!(page.events("Log.entryAdded"), Vec::<serde_json::Value>::new());
    assert_eq!(page.events("Network.requestWillBeSent").len(), 1);
}

const OPEN: &str = "[...document.querySelectorAll('.finding')].map(row => row.open)";

#[test]
fn a_click_opens_a_finding_and_another_closes_it() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&three());
    let page = browser.open(&file, DESKTOP);
    assert_eq!(page.value(OPEN), json!([true, false, false]));
    assert_eq!(page.value("document.querySelectorAll('.body').length"), 1);

    page.click("[data-finding='1'] > summary");
    page.wait_for("document.querySelectorAll('.body').length === 2");
    assert_eq!(page.value(OPEN), json!([true, true, false]));
    let shown = page.value("document.querySelector(\"[data-finding='1'] .body\").innerText");
    assert!(shown.as_str().unwrap().contains("config = parsed;"), "{shown}");
    page.click("[data-finding='1'] > summary");
    page.wait_for("!document.querySelector(\"[data-finding='1']\").open");
    check_silence(&page);
}

#[test]
fn what_the_script_builds_is_what_was_written() {
    let Some(browser) = Browser::start() else { return };
    let mut report = three();
    report.findings[0].accesses[1].source = Some(TEXTS.concat());
    let (_folder, file) = written(&report);
    let page = browser.open(&file, DESKTOP);
    page.value(
        "window.was = document.querySelector('.body').outerHTML; document.querySelector('.body').remove()",
    );
    page.click("[data-finding='0'] > summary");
    page.click("[data-finding='0'] > summary");
    page.wait_for("document.querySelector('.body') !== null");
    assert_eq!(page.value("document.querySelector('.body').outerHTML"), page.value("window.was"));
    let drawn = "document.querySelector('.body .wide svg') instanceof SVGElement";
    assert_eq!(page.value(drawn), true);
    check_silence(&page);
}

#[test]
fn everything_can_be_done_with_the_keyboard() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&many(12));
    let page = browser.open(&file, DESKTOP);
    let at = |number: usize| {
        page.wait_for(&format!("document.activeElement.closest('.finding')?.dataset.finding === '{number}'"));
    };
    for key in ["j", "j", "ArrowDown", "k", "ArrowUp", "j"] {
        page.press(key);
    }
    at(1);
    page.press("Enter");
    page.wait_for("document.querySelector(\"[data-finding='1'] .body\") !== null");
    page.press("Tab");
    page.wait_for("document.activeElement.matches(\"[data-finding='1'] .wide g.access\")");
    page.press("Escape");
    page.wait_for("!document.querySelector(\"[data-finding='1']\").open");
    at(1);

    // From the last listed finding on, those below the fold follow.
    for _ in 0..4 {
        page.press("j");
    }
    at(5);
    assert_eq!(page.value("document.querySelector('#further').open"), true);

    page.press("?");
    page.wait_for("document.querySelector('#help').open");
    page.press("Escape");
    page.wait_for("!document.querySelector('#help').open");

    page.press("/");
    page.wait_for("document.activeElement.matches('input')");
    for key in ["s", "l", "o", "t", "1", "1"] {
        page.press(key);
    }
    page.wait_for("document.querySelectorAll('#rows .finding').length === 1");
    assert_eq!(page.value("document.querySelector('#rows h2').innerText"), "Order violation on slot11");
    check_silence(&page);
}

#[test]
fn pointing_at_an_access_lights_up_its_source_and_stack() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&three());
    let page = browser.open(&file, DESKTOP);
    let lit = "[...document.querySelectorAll('.lit')].map(lit => [lit.tagName, lit.dataset.access])";
    page.point_at(".wide g.access[data-access='1'] .box");
    page.wait_for("document.querySelectorAll('.lit').length > 0");
    let everything = json!([["g", "1"], ["g", "1"], ["DIV", "1"], ["DIV", "1"]]);
    assert_eq!(page.value(lit), everything);
    page.point_at("h1");
    page.wait_for("document.querySelectorAll('.lit').length === 0");
}

#[test]
fn pointing_at_an_access_shows_its_source_and_stack_beside_it() {
    let Some(browser) = Browser::start() else { return };
    let mut report = three();
    report.excerpts = excerpts();
    let (_folder, file) = written(&report);
    let page = browser.open(&file, DESKTOP);
    let card = |expression: &str| page.value(&format!("document.querySelector('#card').{expression}"));
    assert_eq!(card("hidden"), true);
    page.point_at(".wide g.access[data-access='1'] .box");
    page.wait_for("!document.querySelector('#card').hidden");
    let shown = card("innerText");
    for part in ["write 0", "q->size--;", "unlock(q);", "take_one()", "queue_test.c:20"] {
        assert!(shown.as_str().unwrap().contains(part), "no {part} in {shown}");
    }
    assert_eq!(card("querySelectorAll('mark').length"), 1);
    page.point_at("h1");
    page.wait_for("document.querySelector('#card').hidden");

    // The same by keyboard.
    page.click("[data-finding='0'] > summary");
    page.click("[data-finding='0'] > summary");
    page.press("Tab");
    page.wait_for("document.querySelector('#card').innerText.includes('if (queue_size(q) > 0)')");
    assert_eq!(card("hidden"), false);
    let inside = "(() => { const { left, top, right, bottom } = document.querySelector('#card').getBoundingClientRect(); \
                  return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight; })()";
    assert_eq!(page.value(inside), true);
    page.press("Escape");
    page.wait_for("document.querySelector('#card').hidden");
    check_silence(&page);
}

#[test]
fn a_passing_run_has_the_numbers_of_the_failing_one() {
    let Some(browser) = Browser::start() else { return };
    let mut finding = stale_check();
    let [first, second, third] = [0, 1, 2].map(|index| finding.accesses[index].clone());
    finding.comparison = Some(Comparison { run: 3, accesses: vec![second, first, third] });
    let (_folder, file) = written(&report(vec![finding]));
    let page = browser.open(&file, DESKTOP);
    let numbers =
        "[...document.querySelectorAll('.run:last-child .wide .number')].map(number => number.textContent)";
    assert_eq!(page.value(numbers), json!(["2", "1", "3"]));
    let titles = "[...document.querySelectorAll('.run')].map(run => run.querySelector('.title').textContent)";
    assert_eq!(page.value(titles), json!(["thread 1 (take_one)", "thread 1 (take_one)"]));
    page.point_at(".run:last-child .wide g.access[data-access='1'] .box");
    page.wait_for("document.querySelector('.run:first-child .wide [data-access=\"1\"]').matches('.lit')");
}

#[test]
fn several_causes_are_listed_and_open_their_findings() {
    let Some(browser) = Browser::start() else { return };
    let mut report = many(400);
    report.findings[0].failing_runs = vec![1, 2];
    for finding in &mut report.findings[1..] {
        finding.failing_runs = vec![2];
    }
    report.findings[298].failing_runs = vec![2, 3];
    let (_folder, file) = written(&report);
    let page = browser.open(&file, DESKTOP);
    let listed = "[...document.querySelectorAll('.causes button')].map(button => button.textContent)";
    assert_eq!(page.value(listed), json!(["Order violation on slot1", "Order violation on slot299"]));
    page.click(".causes li:last-child button");
    page.wait_for("document.querySelector(\"[data-finding='298'] .body\") !== null");
    assert_eq!(page.value("document.activeElement.closest('.finding').dataset.finding"), "298");

    // A finding of the same cause is no other cause.
    (report.findings[0].cluster, report.findings[298].cluster) = (Some(1), Some(1));
    let (_folder, file) = written(&report);
    let page = browser.open(&file, DESKTOP);
    assert_eq!(page.value("document.querySelector('.causes')"), json!(null), "one explains all");
    check_silence(&page);
}

#[test]
fn the_graph_of_a_cause_is_linked_with_its_own_source_and_stacks() {
    let Some(browser) = Browser::start() else { return };
    let mut report = report(vec![stale_check(), early_use()]);
    report.excerpts = excerpts();
    for finding in &mut report.findings {
        finding.cluster = Some(1);
    }
    let node = |thread, accesses| GraphNode { thread, accesses };
    let nodes = vec![node(1, vec![[1, 0], [2, 0]]), node(2, vec![[2, 1], [1, 1]]), node(1, vec![[1, 2]])];
    report.causes = vec![Cause {
        number: 1,
        group: 1,
        failing_runs: vec![4],
        findings: vec![1, 2],
        suspicious_functions: vec![],
        graph: Graph { nodes, edges: vec![[0, 1], [1, 2]] },
    }];
    let (_folder, file) = written(&report);
    let page = browser.open(&file, DESKTOP);
    page.click("[data-finding='0'] .cause > summary");
    let places = "[...document.querySelectorAll('.cause .wide .place')].map(place => place.textContent)";
    let expected = ["queue.c:41", "queue.c:17", "queue.c:90", "queue.c:63", "queue.c:47"];
    assert_eq!(page.value(places), json!(expected));
    page.point_at(".cause .wide g.access[data-access='3'] .box");
    page.wait_for("!document.querySelector('#card').hidden");
    let shown = page.value("document.querySelector('#card').innerText");
    assert!(shown.as_str().unwrap().contains("q->size--;"), "{shown}");
    assert_eq!(
        page.value("document.querySelectorAll('.lit:not(.cause *)').length"),
        0,
        "nothing outside of it"
    );
    check_silence(&page);
}

#[test]
fn commands_can_be_copied() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&three());
    browser.allow_clipboard();
    let page = browser.open(&file, DESKTOP);
    page.click(".command .copy");
    page.wait_for("document.querySelector('.copy').textContent === 'copied'");
    check_silence(&page);
}

#[test]
fn with_ten_thousand_findings_only_what_is_in_view_is_there() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&many(10_000));
    let page = browser.open(&file, DESKTOP);
    let loaded = page.value("performance.getEntriesByType('navigation')[0].loadEventEnd");
    eprintln!("loaded after {loaded} ms");
    let elements = || page.value("document.querySelectorAll('*').length").as_u64().unwrap();
    let at_first = elements();
    assert!(at_first < 500, "{at_first} elements");
    page.press("/");
    page.wait_for("document.querySelectorAll('.finding').length === 205");
    assert!(elements() < at_first + 200 * 30, "{} elements", elements());
    for key in ["s", "l", "o", "t", "9", "9", "9", "9"] {
        page.press(key);
    }
    page.wait_for("document.querySelectorAll('#rows .finding').length === 1");
    page.click("#rows summary");
    page.wait_for("document.querySelector('#rows .body') !== null");
    check_silence(&page);
}

#[test]
fn a_long_list_is_shown_in_parts() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&many(500));
    let page = browser.open(&file, DESKTOP);
    let rows =
        |count: usize| page.wait_for(&format!("document.querySelectorAll('.finding').length === {count}"));
    rows(5);
    page.click("#further > summary");
    rows(205);
    page.click("#more");
    rows(405);
    page.click("#more");
    rows(500);
    assert_eq!(page.value("document.querySelector('#more').hidden"), true);
    check_silence(&page);
}

#[test]
fn the_theme_follows_the_system_until_it_is_changed() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&three());
    let back = "getComputedStyle(document.body).backgroundColor";
    let light = browser.open(&file, DESKTOP);
    let dark = browser.open(&file, Look { dark: true, ..DESKTOP });
    let [white, black] = [light.value(back), dark.value(back)];
    assert_ne!(white, black);
    light.click("#theme");
    assert_eq!(light.value(back), black);
    light.press("t");
    assert_eq!(light.value(back), white);
}

#[test]
fn a_phone_shows_one_column_without_scrolling_sideways() {
    let Some(browser) = Browser::start() else { return };
    let long = "std::map<std::string, std::vector<int, std::allocator<int> > >::_M_root[1234567890123456789]";
    let accesses = vec![
        access(1, AccessKind::Read, long, long, 41).source(long).value(long).called_from(&[]),
        access(2, AccessKind::Write, long, long, 52).source(long).called_from(&[]),
    ];
    let (_folder, file) = written(&report(vec![finding(Kind::OrderViolation, "RW", accesses), torn_pair()]));
    for (width, visible) in [(375, ["narrow", "wide"]), (1280, ["wide", "narrow"])] {
        let page = browser.open(&file, Look { width, ..DESKTOP });
        assert_eq!(page.value("document.documentElement.scrollWidth <= innerWidth"), true, "{width}");
        let shown =
            visible.map(|class| page.value(&format!("document.querySelector('.{class}').offsetHeight > 0")));
        assert_eq!(shown, [true, false], "{width}");
    }
}

#[test]
fn without_scripts_the_first_finding_can_be_read() {
    let Some(browser) = Browser::start() else { return };
    let (_folder, file) = written(&three());
    let page = browser.open(&file, Look { scripts: false, ..DESKTOP });
    let shown = page.value("document.querySelector('main').innerText");
    let shown = shown.as_str().unwrap();
    for part in [
        "Atomicity violation on queue.size",
        "15 of 15 failing runs",
        "forced: 20 of 20 runs fail",
        "Call stacks",
    ] {
        assert!(shown.to_lowercase().contains(&part.to_lowercase()), "no {part} in {shown}");
    }
    assert_eq!(page.value("document.querySelector('#theme').hidden"), true);
}

#[test]
fn hostile_text_is_shown_not_obeyed() {
    let Some(browser) = Browser::start() else { return };
    let hostile: Vec<Finding> = TEXTS.iter().flat_map(|text| made_of(text).findings).collect();
    let mut report = made_of(&TEXTS.concat());
    report.findings = hostile;
    report.timelines = (1..=5)
        .map(|finding| Timeline {
            finding,
            failing: trace_made_of(TEXTS[finding as usize - 1]),
            passing: Some(trace_made_of(&TEXTS.concat())),
        })
        .collect();
    let (_folder, file) = written(&report);
    let page = browser.open(&file, DESKTOP);
    for index in 1..5 {
        page.click(&format!("[data-finding='{index}'] > summary"));
        page.wait_for(&format!("document.querySelector(\"[data-finding='{index}'] .body\") !== null"));
    }
    page.click("#further > summary");
    page.wait_for("document.querySelectorAll('#rows .finding').length > 0");
    assert_eq!(page.value("document.querySelectorAll('.pane').length"), 10);
    for selector in [".pane:first-child .scroll", ".wide g.access .box"] {
        page.click(selector);
    }
    assert_eq!(page.value("document.querySelectorAll('img, iframe, object, a, base, link').length"), 0);
    assert_eq!(page.value("document.scripts.length"), 3);
    assert_eq!(page.value("typeof window.owned"), "undefined");
    let name = page.value("document.querySelector('h1').textContent");
    assert_eq!(name, report::visible(&TEXTS.concat()).as_ref());
    check_silence(&page);
}
