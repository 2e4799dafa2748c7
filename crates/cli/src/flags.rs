//! The flags that shape a session's runs, as text: noted in the session, repeated in advice.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use crate::args::{LimitArguments, OracleArguments, RunArguments};

/// All flags that shape the runs, those that were left to their default included.
pub fn noted(arguments: &RunArguments) -> BTreeMap<String, String> {
    let LimitArguments {
        runs,
        until_failures,
        time,
        jobs,
        seed: _,
        noise,
        schedule,
        undirected,
        sample,
        skip_sleeps,
        budget,
    } = &arguments.limits;
    let optional = [
        ("runs", runs.map(|runs| runs.to_string())),
        ("until-failures", until_failures.map(|failures| failures.to_string())),
        ("time", time.map(|time| humantime::format_duration(time).to_string())),
        ("jobs", jobs.map(|jobs| jobs.to_string())),
        ("noise", Some(noise.to_string())),
        ("schedule", Some(schedule.to_string())),
        ("undirected", undirected.then(|| "yes".to_owned())),
        ("sample", sample.map(|share| share.to_string())),
        ("skip-sleeps", skip_sleeps.then(|| "yes".to_owned())),
        ("include", Some(arguments.java.include.join(",")).filter(|list| !list.is_empty())),
        ("loops", arguments.java.loops.then(|| "yes".to_owned())),
        ("budget", Some(budget.to_string())),
        ("timeout", Some(humantime::format_duration(arguments.oracle.timeout).to_string())),
    ];
    optional
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .chain(input(arguments))
        .chain(built_by(arguments))
        .chain(oracle(&arguments.oracle))
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// What the runs read, wherever they are repeated from.
fn input(arguments: &RunArguments) -> Option<(&'static str, String)> {
    let path = arguments.stdin.as_deref()?;
    Some(("stdin", std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()))
}

/// The flag that notes how the test is built anew.
pub const BUILT_BY: &str = "built-by";

fn built_by(arguments: &RunArguments) -> Option<(&'static str, String)> {
    let words = &arguments.build_words;
    (!words.is_empty()).then(|| (BUILT_BY, format!("cargo unsnarl {}", shell_words(words))))
}

/// The flags without which a run would be judged differently.
fn oracle(arguments: &OracleArguments) -> Vec<(&'static str, String)> {
    let OracleArguments { timeout: _, fail_regex, expect_stdout, fail_if } = arguments;
    let path = |path: &Path| path.display().to_string();
    let given = [
        ("fail-regex", fail_regex.clone()),
        ("expect-stdout", expect_stdout.as_deref().map(path)),
        ("fail-if", fail_if.as_ref().map(|command| command.to_string_lossy().into_owned())),
    ];
    given.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The command line that runs the same test, judged in the same way, with one flag changed.
pub fn command_line(arguments: &RunArguments, flag: &str, value: &str) -> String {
    let by_cargo = !arguments.cargo_words.is_empty();
    let front = if by_cargo { ["cargo", "unsnarl"] } else { ["unsnarl", "run"] };
    let mut words: Vec<OsString> = front.map(Into::into).to_vec();
    let kept =
        input(arguments).into_iter().chain(oracle(&arguments.oracle)).filter(|(name, _)| *name != flag);
    for (name, value) in kept.chain([(flag, value.to_owned())]) {
        words.push(format!("--{name}").into());
        // A flag that is there or not has none.
        words.extend((!value.is_empty()).then(|| value.into()));
    }
    if by_cargo {
        words.extend_from_slice(&arguments.cargo_words);
    } else {
        words.push("--".into());
        words.extend_from_slice(&arguments.command);
    }
    shell_words(&words)
}

/// The command line that runs the test once, without unsnarl.
pub fn without_unsnarl(arguments: &RunArguments) -> String {
    let command = shell_words(&arguments.command);
    match &arguments.stdin {
        Some(path) => format!("{command} < {}", shell_words(&[path.into()])),
        None => command,
    }
}

/// A command as it can be typed into a shell.
pub fn shell_words(words: &[OsString]) -> String {
    let quoted = words.iter().map(|word| {
        let word = word.to_string_lossy();
        let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    #[test]
    fn what_cargo_built_is_run_through_cargo_again() {
        let flags = RunArguments::augment_args(clap::Command::new("run"));
        let given =
            flags.get_matches_from(["run", "--fail-regex", "lost", "--", "./target/test-0123", "--exact"]);
        let mut arguments = RunArguments::from_arg_matches(&given).unwrap();
        let program = "unsnarl run --fail-regex lost --time 10m -- ./target/test-0123 --exact";
        assert_eq!(command_line(&arguments, "time", "10m"), program);
        arguments.cargo_words = ["test", "nothing_is_lost"].map(OsString::from).to_vec();
        let by_cargo = "cargo unsnarl --fail-regex lost --time 10m test nothing_is_lost";
        assert_eq!(command_line(&arguments, "time", "10m"), by_cargo);
    }

    #[test]
    fn commands_can_be_pasted_into_a_shell() {
        let words: Vec<OsString> = ["./a test", "plain", "it's", ""].iter().map(OsString::from).collect();
        assert_eq!(shell_words(&words), r"'./a test' plain 'it'\''s' ''");
    }
}
