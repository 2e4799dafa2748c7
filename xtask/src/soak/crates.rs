//! The test suites of packages from crates.io.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use cargo_metadata::Message;

use super::ground::Ground;
use crate::sources;

/// A package with tests.
pub struct Suite {
    pub package: &'static str,
    pub version: &'static str,
    /// What to tell rustc of, for tests under control: test suites have smaller numbers for slow machines.
    pub configuration: &'static str,
    /// Test programs that are not run under control, since they would take hours.
    pub left_out: &'static [&'static str],
    /// Tests that look at what the whole process does, as a program and a test in it: they fail now and then if another test
    /// runs beside them, without a recorder too, and have a process of their own here.
    pub apart: &'static [(&'static str, &'static str)],
}

impl Suite {
    /// Builds the tests for the recorder and runs them.
    pub fn run(&self, ground: &Ground) -> anyhow::Result<String> {
        let source = sources::crates_io(self.package, self.version)?;
        let recordings = ground.recordings()?;
        let flags = if ground.is_controlled { self.configuration } else { "" };
        let key = format!("{} {flags}", self.package);
        let mut passed = 0;
        for program in ground.built(&key, || self.test_programs(ground, flags, &source))? {
            if ground.is_controlled && self.leaves_out(&program) {
                continue;
            }
            let apart: Vec<&str> = self.apart_in(&program).collect();
            let others = apart.iter().flat_map(|test| ["--skip", test]).collect();
            let alone = apart.iter().map(|&test| vec![test]);
            for choice in [others].into_iter().chain(alone) {
                let mut command = recordings.command(&program);
                // As cargo runs them.
                command.current_dir(&source).args(["--exact", "--test-threads", "2"]).args(choice);
                let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
                let printed = String::from_utf8_lossy(&output.stdout).into_owned();
                let name = name_of(&program);
                ensure!(
                    output.status.success(),
                    "its program {name} ended with {}: {}",
                    output.status,
                    failures(&printed)
                );
                passed += count_of_passed(&printed)
                    .with_context(|| format!("{} printed no result", program.display()))?;
            }
        }
        ensure!(passed > 0, "it has no tests");
        Ok(format!("{passed} tests passed; {}", recordings.check()?))
    }

    fn test_programs(&self, ground: &Ground, flags: &str, source: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let mut cargo: Command = ground.tool.command();
        cargo.args(["cargo", "build", "--tests", "--quiet", "--message-format=json-render-diagnostics"]);
        // What is built with other flags would replace it.
        let folder = format!("{}{}", self.package, if flags.is_empty() { "" } else { "-small" });
        cargo.current_dir(source).env("CARGO_TARGET_DIR", ground.folder.join(folder));
        // As `cargo unsnarl test` builds them: stress tests take minutes without optimization.
        cargo.env("CARGO_PROFILE_TEST_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
        let output = cargo.env("RUSTFLAGS", flags).stderr(Stdio::inherit()).output()?;
        ensure!(output.status.success(), "its tests cannot be built");
        let messages = Message::parse_stream(&output.stdout[..]).collect::<Result<Vec<_>, _>>()?;
        let programs = messages.into_iter().filter_map(|message| match message {
            Message::CompilerArtifact(artifact) if artifact.profile.test => artifact.executable,
            _ => None,
        });
        Ok(programs.map(Into::into).collect())
    }

    fn leaves_out(&self, program: &Path) -> bool {
        self.left_out.contains(&&*name_of(program))
    }

    /// Those of a program's tests that are run by themselves.
    fn apart_in(&self, program: &Path) -> impl Iterator<Item = &'static str> {
        let name = name_of(program);
        self.apart.iter().filter(move |(program, _)| *program == name).map(|&(_, test)| test)
    }
}

/// A test program's name, without the number that cargo puts behind it.
fn name_of(program: &Path) -> String {
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    name.rsplit_once('-').map_or(&*name, |(name, _)| name).to_owned()
}

/// What a test program says about those of its tests that failed, in one line.
fn failures(printed: &str) -> String {
    let tells = |line: &&str| {
        line.ends_with(" ... FAILED") || line.starts_with("thread '") && line.contains(" panicked at ")
    };
    let told: Vec<&str> = printed.lines().filter(tells).collect();
    if told.is_empty() { "it names no test".to_owned() } else { told.join("; ") }
}

/// From the last line of a test program.
fn count_of_passed(printed: &str) -> Option<u32> {
    let result = printed.lines().find_map(|line| line.strip_prefix("test result: ok. "))?;
    result.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_run_apart_are_those_of_their_program() {
        let apart = &[("golang", "select2::main"), ("list", "len")];
        let suite = Suite { package: "", version: "", configuration: "", left_out: &["zero"], apart };
        let golang = Path::new("deps/golang-c9e9911f7c8c3940");
        assert_eq!(suite.apart_in(golang).collect::<Vec<_>>(), ["select2::main"]);
        assert_eq!(suite.apart_in(Path::new("deps/array-0a")).count(), 0);
        assert!(!suite.leaves_out(golang) && suite.leaves_out(Path::new("deps/zero-150280ff64e54209")));
    }

    #[test]
    fn tests_that_failed_are_named() {
        let printed =
            "test a::b ... ok\ntest a::c ... FAILED\n\nthread 'a::c' (7) panicked at tests/a.rs:7:9:\nno\n";
        let expected = "test a::c ... FAILED; thread 'a::c' (7) panicked at tests/a.rs:7:9:";
        assert_eq!(failures(printed), expected);
        assert_eq!(failures("running 2 tests\n"), "it names no test");
    }

    #[test]
    fn passed_tests_are_counted() {
        let printed = "running 2 tests\n..\ntest result: ok. 12 passed; 0 failed; 1 ignored\n";
        assert_eq!(count_of_passed(printed), Some(12));
        assert_eq!(count_of_passed("test result: FAILED. 11 passed; 1 failed"), None);
    }
}
