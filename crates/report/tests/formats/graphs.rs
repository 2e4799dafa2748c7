//! A finding as a picture or a graph.

use insta::assert_snapshot;
use report::{AccessKind, Kind, dot, svg};

use crate::hostile::{TEXTS, made_of};
use crate::samples::{access, finding, stale_check, torn_pair};

#[test]
fn a_finding_as_svg() {
    let drawing = svg::finding(&stale_check()).unwrap();
    let without_style = &drawing[drawing.find("</style>").unwrap()..];
    assert_snapshot!(without_style.replace("><", ">\n<"));
}

#[test]
fn what_changes_hands_more_than_a_step_later_has_an_arrow_too() {
    let drawing = svg::finding(&torn_pair()).unwrap();
    assert_eq!(drawing.matches("class=\"handover v0\"").count(), 1);
    assert_eq!(drawing.matches("class=\"handover v1\"").count(), 1);
    let alone = finding(
        Kind::Communication,
        "RR",
        vec![access(1, AccessKind::Read, "x", "f", 1), access(1, AccessKind::Read, "x", "f", 2)],
    );
    assert!(!svg::finding(&alone).unwrap().contains("class=\"handover"));
}

#[test]
fn nothing_is_drawn_of_nothing() {
    assert_eq!(svg::finding(&finding(Kind::Deadlock, "", vec![])), None);
}

#[test]
fn a_finding_as_dot() {
    assert_snapshot!(dot::finding(&torn_pair()));
}

#[test]
fn text_stays_within_its_quotes() {
    for text in TEXTS {
        let graph = dot::finding(&made_of(text).findings[0]);
        for line in graph.lines() {
            let quotes = line.replace("\\\\", "").replace("\\\"", "").matches('"').count();
            assert_eq!(quotes % 2, 0, "{line}");
            assert_eq!(report::visible(line), line);
        }
    }
}

#[track_caller]
fn check_note(values: [(u32, AccessKind, &str); 3], expected: Option<&str>) {
    let step = |(thread, kind, value): (u32, AccessKind, &str)| {
        let mut access = access(thread, kind, "x", "f", 40 + thread);
        access.value = Some(value).filter(|value| !value.is_empty()).map(str::to_owned);
        access
    };
    let drawing = svg::finding(&finding(Kind::AtomicityViolation, "", values.map(step).to_vec())).unwrap();
    let note = drawing.split("class=\"note\"").nth(1).map(|rest| {
        let text = &rest[rest.find('>').unwrap() + 1..];
        &text[..text.find('<').unwrap()]
    });
    assert_eq!(note, expected);
}

#[test]
fn what_another_thread_changed_is_noted() {
    use AccessKind::{Read, Update, Write};
    check_note([(1, Read, "1"), (2, Write, "0"), (1, Read, "0")], Some("was 1 at queue.c:41"));
    check_note([(1, Read, "9"), (2, Update, "7"), (1, Write, "10")], Some("thread 2 wrote 7 in between"));
}

#[test]
fn nothing_is_noted_that_the_values_do_not_show() {
    use AccessKind::{Read, Write};
    check_note([(1, Read, "1"), (2, Write, "1"), (1, Read, "1")], None);
    check_note([(1, Read, "1"), (2, Read, "1"), (1, Read, "0")], None);
    check_note([(1, Read, ""), (2, Write, "0"), (1, Read, "0")], None);
    check_note([(1, Read, "9"), (2, Write, ""), (1, Write, "10")], None);
    check_note([(1, Read, "9"), (2, Write, "7"), (3, Write, "10")], None);
}
