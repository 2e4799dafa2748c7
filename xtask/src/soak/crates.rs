//! The test suites of packages from crates.io.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use cargo_metadata::Message;

use super::ground::{Ground, bytes_of};
use crate::sources;

/// A package with tests.
pub struct Suite {
    pub package: &'static str,
    pub version: &'static str,
    /// What to tell rustc of, for tests under control: test suites have smaller numbers for slow machines.
    pub configuration: &'static str,
    /// Test programs that are not run under control, since they would take hours.
    pub left_out: &'static [&'static str],
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
            let mut command = recordings.command(&program);
            // As cargo runs them.
            command.current_dir(&source).args(["--test-threads", "2"]);
            let printed = String::from_utf8_lossy(&bytes_of(&mut command)?).into_owned();
            passed += count_of_passed(&printed)
                .with_context(|| format!("{} printed no result", program.display()))?;
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
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
        self.left_out.contains(&name)
    }
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
    fn passed_tests_are_counted() {
        let printed = "running 2 tests\n..\ntest result: ok. 12 passed; 0 failed; 1 ignored\n";
        assert_eq!(count_of_passed(printed), Some(12));
        assert_eq!(count_of_passed("test result: FAILED. 11 passed; 1 failed"), None);
    }
}
