//! A terminal gets a progress bar and colours, everything else plain lines.

use crate::kit::{UNSNARL, Workplace, claims, present};

const ESCAPE: char = '\u{1b}';

#[test]
fn elsewhere_lines_are_plain() {
    let place = Workplace::new();
    let words = format!("run --runs 4 --jobs 1 -- {} count 2 exit", claims().display());
    let seen = place.call(&words).exits(0).complains(&["claims: 4 of 4 runs, 2 passed, 2 failed"]);
    assert!(!seen.stdout.contains(ESCAPE) && !seen.stderr.contains(ESCAPE), "{seen}");
    assert!(!seen.stderr.contains('━'), "{seen}");
}

#[test]
fn a_terminal_gets_a_bar_and_colours() {
    if !present("script") {
        return;
    }
    let place = Workplace::new();
    // `script` gives its command a terminal and passes on what it shows there.
    let on_terminal = |setting: &str, flags: &str| {
        let command = format!("{setting} {UNSNARL} run {flags} -- {} count 2 exit", claims().display());
        place.shell(&format!("script --quiet --return --command '{command}' /dev/null"))
    };
    let shown = on_terminal("", "--runs 6 --jobs 1");
    assert!(shown.contains('━') && shown.contains("of 6 runs"), "a bar: {shown}");
    assert!(!shown.contains("claims: 6 of 6 runs"), "no lines: {shown}");
    let report = shown.lines().find(|line| line.contains("6 runs in")).unwrap();
    assert!(report.contains(ESCAPE), "colours: {report:?}");

    let shown = on_terminal("NO_COLOR=1", "--runs 6 --jobs 1");
    let report = &shown[shown.find("6 runs in").unwrap()..];
    assert!(!report.contains(ESCAPE), "no colours: {report:?}");
}

/// As in `unsnarl run … 2>&1 | head`: the session is stored and the exit code tells what came of it, whoever listens.
#[test]
fn nobody_has_to_listen_to_the_end() {
    let place = Workplace::new();
    let run = format!("{UNSNARL} run --runs 4 --jobs 1 -- {} count 2 exit", claims().display());
    place.shell(&format!("({run}; echo $? > code) 2>&1 | true"));
    assert_eq!(std::fs::read_to_string(place.path("code")).unwrap(), "0\n");
    assert!(place.path(".unsnarl/claims/report.html").exists());
    let mistake = format!("{UNSNARL} run -- ./nowhere");
    place.shell(&format!("(sleep 0.3; {mistake}; echo $? > code) 2>&1 | true"));
    assert_eq!(std::fs::read_to_string(place.path("code")).unwrap(), "4\n");
}
