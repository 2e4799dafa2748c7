//! Finds the one test that is meant.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;

use super::build::{self, Build, Built};
use super::{Subject, build_again, not_built, split_at_dashes, the_only, usage};
use crate::screen;

/// Names shown where a choice is to be made.
const SHOWN: usize = 10;

/// What `cargo test` with these arguments would run.
pub(super) fn of_cargo(build: &Build, words: &[OsString]) -> anyhow::Result<Subject> {
    let (cargo_words, program_words) = split_at_dashes(words);
    let (options, filter) = split_filter(cargo_words);
    if options.iter().any(|option| option == "--doc") {
        return Err(usage(
            "tests in documentation are not built for recording: copy it into a #[test] function, and run that",
        ));
    }
    let mut command = build.command(&[OsStr::new("test")], &options)?;
    command.arg("--no-run");
    let mut programs = build::executables(command, true)?;
    let filter = filter.map(|filter| filter.to_string_lossy().into_owned());
    let mut names = Vec::new();
    let mut others = Vec::new();
    let mut are_ignored = false;
    if let Some(filter) = &filter {
        let mut having = Vec::new();
        for built in programs {
            let (matching, rest): (Vec<String>, Vec<String>) =
                tests_in(&built, &[])?.into_iter().partition(|name| name.contains(filter));
            others.extend(rest);
            if !matching.is_empty() {
                let ignored = tests_in(&built, &["--ignored"])?;
                are_ignored = matching.iter().all(|name| ignored.contains(name));
                names.extend(matching);
                having.push(built);
            }
        }
        programs = having;
    } else if programs.len() > 1 {
        let (without, having): (Vec<Built>, Vec<Built>) = programs.into_iter().partition(has_no_tests);
        programs = if having.is_empty() { without } else { having };
    }
    let none = match &filter {
        Some(filter) => &no_such_test(filter, &others),
        None => "no program was built that could be run",
    };
    let Built { program, folder, .. } = the_only(programs, none)?;
    let (name, mut arguments) = match (names.as_slice(), filter) {
        ([only], _) => (only.clone(), vec![only.into(), "--exact".into()]),
        (_, Some(filter)) => (filter.clone(), vec![filter.into()]),
        (_, None) => (program_name(&program), Vec::new()),
    };
    arguments.extend(program_words.iter().cloned());
    let is_said = program_words.iter().any(|word| word == "--ignored" || word == "--include-ignored");
    if are_ignored && !is_said {
        // Whoever names it wants it run. Otherwise each run would pass by running nothing.
        screen::say(&format!("`{name}` is marked #[ignore]: it is run all the same\n"));
        arguments.push("--include-ignored".into());
    }
    let build_words = build_again(&["--tests"], &options);
    Ok(Subject { program, arguments, folder: Some(folder), name, build_words })
}

/// What to say if no test has this in its name. Most such names are misspelt, or are what the test's module had before.
fn no_such_test(filter: &str, present: &[String]) -> String {
    const ALIKE: f64 = 0.7;
    let last = |name: &str| name.rsplit("::").next().unwrap_or_default().to_owned();
    let likeness = |name: &str| strsim::jaro_winkler(&last(name), &last(filter));
    let mut alike: Vec<(f64, &String)> =
        present.iter().map(|name| (likeness(name), name)).filter(|(likeness, _)| *likeness > ALIKE).collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    let listed = |names: &mut dyn Iterator<Item = &String>| -> String {
        names.take(SHOWN).map(|name| format!("\n  {name}")).collect()
    };
    let head = format!("no test program has a test of that name: `{filter}`");
    match (present.len(), alike.is_empty()) {
        (0, _) => head,
        (_, false) => {
            format!("{head}; is it one of these?{}", listed(&mut alike.iter().map(|(_, name)| *name)))
        }
        (1..=SHOWN, true) => format!("{head}; there are{}", listed(&mut present.iter())),
        (more, true) => format!("{head}, among {more}; cargo test -- --list lists them"),
    }
}

/// Whether it says that it has no tests, as that of a library does whose tests are all in programs of their own. What is no test
/// program of Rust's own says nothing of the kind.
fn has_no_tests(built: &Built) -> bool {
    let listed = list(built, &[]);
    listed.is_ok_and(|listed| listed.lines().last().is_some_and(|line| line.starts_with("0 tests, ")))
}

/// A test program's name without the hash that cargo appends.
fn program_name(program: &Path) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit_once('-').map_or(&*name, |(name, _)| name).to_owned()
}

fn list(built: &Built, options: &[&str]) -> anyhow::Result<String> {
    let mut list = Command::new(&built.program);
    list.arg("--list").args(options).current_dir(&built.folder);
    let output = list.output().with_context(|| format!("cannot start {}", built.program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The tests of a program, with `--ignored` only those that are run if asked for alone.
fn tests_in(built: &Built, options: &[&str]) -> anyhow::Result<Vec<String>> {
    let listed = list(built, &[&["--format=terse"], options].concat())?;
    Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// The test that `cargo nextest run` with these arguments would run, in a process of its own as nextest does.
pub(super) fn of_nextest(build: &Build, words: &[OsString]) -> anyhow::Result<Subject> {
    let command = ["nextest", "list", "--message-format=json"].map(OsStr::new);
    let mut list = build.command(&command, words)?;
    list.stderr(Stdio::inherit());
    let output = list.output().context("cannot start cargo")?;
    if !output.status.success() {
        return Err(not_built("cargo nextest could not build or list the tests"));
    }
    let listed = serde_json::from_slice(&output.stdout).context("cannot read what cargo nextest lists")?;
    let mut matching = matching(&listed);
    match matching.len() {
        0 => Err(usage(
            "no test matches; one that is marked #[ignore] needs:  cargo unsnarl nextest run --run-ignored all NAME",
        )),
        1 => Ok(matching.remove(0)),
        n => {
            let names = matching.iter().take(SHOWN).map(|subject| format!("\n  {}", subject.name));
            let names: String = names.collect();
            let more = if n > SHOWN { "\n  …" } else { "" };
            Err(usage(&format!("{n} tests match; choose one:  cargo unsnarl nextest run NAME{names}{more}")))
        }
    }
}

/// The tests in nextest's list that its filters let through.
fn matching(list: &serde_json::Value) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for suite in list["rust-suites"].as_object().into_iter().flat_map(|suites| suites.values()) {
        let (Some(program), Some(folder)) = (suite["binary-path"].as_str(), suite["cwd"].as_str()) else {
            continue;
        };
        for (name, test) in suite["testcases"].as_object().into_iter().flatten() {
            if test["filter-match"]["status"] == "matches" {
                let ignored = (test["ignored"] == true).then(|| "--ignored".into());
                subjects.push(Subject {
                    program: program.into(),
                    arguments: ["--exact".into(), name.into(), "--nocapture".into()]
                        .into_iter()
                        .chain(ignored)
                        .collect(),
                    folder: Some(folder.into()),
                    name: name.clone(),
                    build_words: build_again(&["--tests"], &[]),
                });
            }
        }
    }
    subjects
}

/// The test's name among cargo's arguments: the one word that is neither an option nor the value of one.
fn split_filter(words: &[OsString]) -> (Vec<OsString>, Option<OsString>) {
    const WITH_VALUE: [&str; 17] = [
        "-p",
        "--package",
        "--exclude",
        "--bin",
        "--example",
        "--test",
        "--bench",
        "-F",
        "--features",
        "-j",
        "--jobs",
        "--profile",
        "--target",
        "--target-dir",
        "--manifest-path",
        "--color",
        "--config",
    ];
    let mut options = Vec::new();
    let mut filter = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if !text.starts_with('-') && filter.is_none() {
            filter = Some(word.clone());
            continue;
        }
        options.push(word.clone());
        if WITH_VALUE.contains(&&*text) {
            options.extend(words.next().cloned());
        }
    }
    (options, filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_name_is_told_from_options() {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let cases = [
            ("queue_drains", "", Some("queue_drains")),
            ("-p queue --release drains", "-p queue --release", Some("drains")),
            ("--features a,b", "--features a,b", None),
            ("--test it drains --locked", "--test it --locked", Some("drains")),
        ];
        for (given, options, filter) in cases {
            assert_eq!(split_filter(&words(given)), (words(options), filter.map(OsString::from)), "{given}");
        }
    }

    #[test]
    fn programs_are_named_without_their_hash() {
        assert_eq!(program_name(Path::new("deps/my-queue-0123456789abcdef")), "my-queue");
        assert_eq!(program_name(Path::new("plain")), "plain");
    }
}
