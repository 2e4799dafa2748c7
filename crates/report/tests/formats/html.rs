use insta::assert_snapshot;
use proptest::prelude::*;
use report::trace::Timeline;
use report::{AccessKind, Action, Covered, Finding, Fix, Kind, Report, Search, Trial, Verdict, html};

use crate::hostile::{TEXTS, made_of};
use crate::samples::{
    access, confirmed, early_use, excerpts, finding, hangs, report, stale_check, trace_made_of,
};

/// What lies between the page's own style and its scripts.
fn body(page: &str) -> &str {
    let start = page.find("<body>").unwrap();
    &page[start..page.find("<script").unwrap()]
}

#[test]
fn what_goes_along_with_another_has_no_fix_of_its_own() {
    let mut along = confirmed(stale_check());
    let said = along.advice.split('`').next().unwrap().to_owned();
    assert!(body(&html::page(&report(vec![along.clone()]))).contains(&format!("<p>{said}")));
    if let Some(confirmation) = &mut along.confirmation {
        confirmation.verdict = Verdict::Refuted;
        confirmation.p_value = Some(0.0001);
        confirmation.explained_by = Some(2);
        confirmation.apart = Some(Trial { runs: 0, failed: 0 });
    }
    let page = html::page(&report(vec![along]));
    let page = body(&page);
    assert!(page.contains("goes along with 2") && page.contains("it never happens without finding 2"));
    assert!(!page.contains(&format!("<p>{said}")), "a fix of what is no cause");
    assert!(!page.contains("if this were not the cause"), "it is not");
}

#[test]
fn a_finding_as_html() {
    let page = html::page(&report(vec![confirmed(early_use())]));
    assert_snapshot!(body(&page).replace("><", ">\n<"));
}

#[test]
fn lines_to_change_and_how_the_runs_were_made_are_on_the_page() {
    let places = vec![];
    let patch = vec!["@@ ids.rs:22".into(), "-old <line>".into(), "+new".into()];
    let (locks, held, taken_by) = (vec![], vec![], vec![]);
    let fix =
        Fix { action: Action::AtomicOperation, locks, for_writing: false, held, taken_by, places, patch };
    let advice = "Make it one.".to_owned();
    let mut report = report(vec![Finding { fix: Some(fix), advice, ..early_use() }]);
    let covered = Some(Covered { preemptions: 1, schedules: 6 });
    let undirected = Trial { runs: 6, failed: 1 };
    report.search = Some(Search { policies: vec![], orders: None, directed: None, undirected, covered });
    let page = html::page(&report);
    assert!(page.contains("<span class=\"bad\">-old &lt;line&gt;</span>"), "{page}");
    assert!(page.contains("all schedules with up to 1 preemption were run: 6 runs"));
}

#[test]
fn source_is_shown_around_the_accesses() {
    let mut report = report(vec![stale_check()]);
    report.excerpts = excerpts();
    let page = html::page(&report);
    let code = &page[page.find("<figcaption ").unwrap()..page.find("</figure></section>").unwrap()];
    assert_snapshot!(code.replace("<div class=\"line", "\n<div class=\"line"));
}

#[test]
fn where_the_file_has_changed_only_the_line_itself_is_shown() {
    let mut report = report(vec![stale_check()]);
    report.excerpts = excerpts();
    report.excerpts[0].lines[2] = "    another line".into();
    let page = html::page(&report);
    assert!(page.contains("queue_pop") && !body(&page).contains("struct item"), "{page}");
}

#[test]
fn nothing_found_is_said() {
    let page = html::page(&report(vec![]));
    assert!(body(&page).contains("No cause worth naming"), "{page}");
}

#[test]
fn waiting_threads_are_told_with_and_without_findings() {
    for findings in [vec![], vec![stale_check()]] {
        let mut report = report(findings);
        report.hangs = hangs();
        let page = html::page(&report);
        let told = &body(&page)[body(&page).find("class=\"hangs\"").unwrap()..];
        let titles = ["Deadlock: threads wait for each other in 3 runs", "Threads wait forever in 1 run"];
        for part in titles.into_iter().chain(["thread 4 (reader) waits for a signal on <code>ready</code>"]) {
            assert!(told.contains(part), "no {part} in {told}");
        }
        assert_eq!(told.matches("hang possible").count(), 2);
        let fold = told.find("<summary>1 more</summary>").unwrap();
        assert!(told.find("thread 5 (writer)").unwrap() > fold, "{told}");
    }
}

#[test]
fn the_page_loads_nothing() {
    let page = html::page(&report(vec![confirmed(stale_check()), early_use()]));
    // The only address is the name of a namespace.
    assert_eq!(page.matches("://").count(), page.matches("http://www.w3.org/2000/svg").count());
    for loader in ["src=", "href=", "url(", "@import", "fetch(", "innerHTML", "eval("] {
        assert!(!page.contains(loader), "{loader}");
    }
    assert!(page.contains("default-src &#39;none&#39;"), "{page}");
    assert!(!page.contains("unsafe-inline"));
}

#[test]
fn only_the_first_finding_is_written_out() {
    let page = html::page(&report(vec![early_use(); 300]));
    assert_eq!(body(&page).matches("class=\"body scope\"").count(), 1);
    assert_eq!(body(&page).matches("class=\"finding\"").count(), 5);
    assert!(body(&page).contains("295 more suspects"));
}

#[test]
fn what_findings_share_is_stored_once() {
    let variation = |number: usize| {
        let mut finding = stale_check();
        finding.accesses[0].value = Some(number.to_string());
        finding
    };
    let size = |count: usize| html::page(&report((0..count).map(variation).collect())).len();
    let (few, many) = (size(10), size(110));
    // A finding written out takes about 9 kB.
    assert!((many - few) / 100 < 3000, "{} bytes for each", (many - few) / 100);
}

const TAGS: &str = "b body button circle code dd details dialog div dl dt figcaption figure footer form g h1 h2 h3 h4 \
    head header input kbd li main mark nav noscript ol p path rect section span summary svg text title ul";

const ATTRIBUTES: &str = "aria-hidden aria-label class cx cy d data-access data-finding data-open data-timeline height hidden id method open \
    placeholder preserveAspectRatio r role rx tabindex title type viewBox width x y";

/// What lies between the page's own title and its scripts, but for its style.
fn markup(page: &str) -> String {
    let (start, style) = (page.find("<title>").unwrap(), page.find("<style>").unwrap());
    let after = page.find("</style>").unwrap() + "</style>".len();
    page[start..style].to_owned() + &page[after..page.find("<script").unwrap()]
}

/// The page's markup consists of its own tags with its own attributes, whatever the text is.
#[track_caller]
fn check_markup(report: &Report) {
    let page = html::page(report);
    let markup = markup(&page);
    let is_own = |name: &str, names: &str| names.split_whitespace().any(|own| own == name);
    let mut rest = markup.as_str();
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains(['>', '"', '\'']), "{}", &rest[..start]);
        let end = start + rest[start..].find('>').unwrap();
        let tag = rest[start + 1..end].trim_start_matches('/');
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(is_own(name, TAGS), "<{tag}>");
        while let Some((attribute, value)) = attributes.split_once("=\"") {
            assert!(is_own(attribute.trim(), ATTRIBUTES), "{attribute} in <{tag}>");
            attributes = value.split_once('"').unwrap().1;
        }
        assert_eq!(attributes, "", "<{tag}>");
        rest = &rest[end + 1..];
    }
    let scripts = page[page.find("<script").unwrap()..].matches("<").count();
    // Besides three scripts and the ends of body and page, a `<` is only an operator in the page's own script.
    let script = [
        include_str!("../../src/html/page.js"),
        include_str!("../../src/html/card.js"),
        include_str!("../../src/html/timeline.js"),
    ];
    assert_eq!(scripts, 8 + script.concat().matches('<').count());
    let active =
        |character: char| character != '\n' && report::visible(character.encode_utf8(&mut [0; 4])).len() > 4;
    assert_eq!(page.find(active), None);
}

#[test]
fn hostile_text_becomes_no_markup() {
    for text in TEXTS {
        let mut report = made_of(text);
        let failing = trace_made_of(text);
        report.timelines = vec![Timeline { finding: 1, passing: Some(failing.clone()), failing }];
        // Two causes, for the list of them.
        report.findings.push(Finding { failing_runs: vec![99], ..report.findings[0].clone() });
        check_markup(&report);
    }
    check_markup(&made_of(&TEXTS.concat()));
}

fn hostile_or_any() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(TEXTS.to_vec()).prop_map(str::to_owned),
        prop::sample::select(vec!["<", ">", "\"", "'", "&", "\\", "`", "\t", "/", "="])
            .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_becomes_markup(text in hostile_or_any()) {
        check_markup(&made_of(&text));
    }

    #[test]
    fn any_number_of_threads_is_drawn(threads in prop::collection::vec(0..40u32, 0..12), column in any::<u32>()) {
        let step = |thread: &u32| {
            let mut access = access(*thread, AccessKind::Update, "slot", "rotate", *thread);
            (access.column, access.source) = (Some(column), Some("größe++;".into()));
            access
        };
        let accesses = threads.iter().map(step).collect();
        check_markup(&report(vec![finding(Kind::Communication, "", accesses)]));
    }
}
