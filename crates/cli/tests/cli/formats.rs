//! The report's other shapes, from a real session.

use crate::kit::Workplace;

#[test]
fn a_session_keeps_its_report_as_a_page() {
    let place = Workplace::new();
    place.claims_session("claims");
    let page = std::fs::read_to_string(place.path(".unsnarl/claims/report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"), "{}", &page[..80]);
    assert!(page.contains("claims"));
    // The first screen says where it is.
    place.call("report --session claims").exits(0).says(&[".unsnarl/claims/report.html"]);
    // The same page again, wherever it is written.
    place.call("report --session claims --format html --output page.html").exits(0);
    assert_eq!(std::fs::read_to_string(place.path("page.html")).unwrap(), page);
}

#[test]
fn reports_and_findings_have_other_formats() {
    let place = Workplace::new();
    place.claims_session("claims");
    let shown = |words: &str| place.call(&format!("{words} --session claims")).exits(0).stdout;
    let sarif: serde_json::Value = serde_json::from_str(&shown("report --format sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(!sarif["runs"][0]["results"].as_array().unwrap().is_empty());
    assert_eq!(shown("report --format json"), shown("report --json"));
    assert!(shown("report --format markdown").contains('#'));
    assert!(shown("show 1 --format markdown").contains("claims.c"));
    assert!(shown("show 1 --format dot").starts_with("digraph"));
    assert!(shown("show 1 --format svg").starts_with("<svg"));
    place.call("report --format poem").exits(2).complains(&["poem"]);
}
