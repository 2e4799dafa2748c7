//! One run step by step.

use serde_json::Value;

use crate::kit::{UNSNARL, Workplace, present};

#[test]
fn a_run_is_shown_in_thread_columns() {
    let place = Workplace::new();
    place.claims_session("claims");
    let whole = place.call("trace").exits(0).says(&[
        "run 2",
        "failed: exit code",
        "1 main",
        "queue.size",
        "create  thread 2",
    ]);
    assert_eq!(place.call("trace 2").exits(0).stdout, whole.stdout, "the first that failed");
    place.call("trace 1").exits(0).says(&["run 1  passed"]);

    // A filter leaves lines of the whole, unchanged but for the columns.
    let words = |text: &str| -> Vec<Vec<String>> {
        let of_line = |line: &str| {
            line.split_whitespace().filter(|word| !"│●┌".contains(word)).map(str::to_owned).collect()
        };
        text.lines().skip(2).map(of_line).collect()
    };
    let sizes = place.call("trace 2 --variable queue.size --from 2 --thread 2 --thread 3").exits(0);
    let (all, some) = (words(&whole.stdout), words(&sizes.stdout));
    let steps: Vec<_> =
        some.iter().filter(|line| line[0].parse::<u64>().is_ok_and(|number| number > 9)).collect();
    assert!(!steps.is_empty() && steps.len() < all.len(), "{sizes}");
    assert!(steps.iter().all(|line| all.contains(line) && line.last().unwrap() == "queue.size"), "{sizes}");
}

#[test]
fn what_is_not_there_is_said() {
    let place = Workplace::new();
    place.call("trace").exits(9).complains(&["there is no session", "unsnarl run -- ./test"]);
    place.claims_session("claims");
    place
        .call("trace 99")
        .exits(2)
        .complains(&["there is no run 99: the session has 1 to 10; the first that failed is 2"]);
    place.call("trace 2 --variable nonsense").exits(2).complains(&["no step of run 2 matches", "queue.size"]);
    place.call("trace 2 --from 9 --to 3").exits(2).complains(&["no step of run 2 matches"]);
}

#[test]
fn a_terminal_gets_a_pager_and_colours() {
    if !present("script") {
        return;
    }
    let place = Workplace::new();
    place.claims_session("claims");
    let on_terminal = |pager: &str| {
        let command = format!("PAGER=\"{pager}\" {UNSNARL} trace 2");
        place.shell(&format!("script --quiet --return --command '{command}' /dev/null"))
    };
    let shown = on_terminal("sed s/^/paged:/");
    assert!(shown.lines().all(|line| line.starts_with("paged:")), "{shown}");
    assert!(shown.contains("\u{1b}[1mrun 2"), "{shown:?}");
    for none in ["", "cat", "/no/such/pager"] {
        let shown = on_terminal(none);
        assert!(shown.contains("queue.size") && !shown.contains("paged:"), "{none}: {shown}");
    }
    assert!(!place.call("trace 2").stdout.contains('\u{1b}'));
}

#[test]
fn the_page_shows_the_runs_of_its_findings() {
    let place = Workplace::new();
    place.claims_session("claims");
    let report = place.call("report --json").json();
    let page = std::fs::read_to_string(place.path(".unsnarl/claims/report.html")).unwrap();
    let start = page.find("id=\"timelines\">").unwrap() + "id=\"timelines\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    let timelines: Value = serde_json::from_str(&page[start..end]).unwrap();
    let runs = timelines["0"]["runs"].as_array().unwrap();
    let accesses = report["findings"][0]["accesses"].as_array().unwrap();
    assert_eq!(timelines["0"]["colours"].as_array().unwrap().len(), accesses.len());
    assert_eq!(runs[0]["failed"], true);
    for run in runs {
        let marked: Vec<&Value> =
            run["steps"].as_array().unwrap().iter().filter(|step| step[8] != -1).collect();
        assert_eq!(marked.len(), accesses.len());
        for step in marked {
            let access = &accesses[step[8].as_u64().unwrap() as usize];
            let text =
                |column: usize| run["texts"][step[column].as_u64().unwrap() as usize].as_str().unwrap();
            assert!(text(4).ends_with(&format!(":{}", access["line"])), "{step} is {access}");
            assert_eq!(run["objects"][step[5].as_u64().unwrap() as usize], access["variable"]);
        }
    }
}
