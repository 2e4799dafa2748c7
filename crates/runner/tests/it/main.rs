//! The runner with real processes, compilers and disks.

mod campaign;
mod compiler;
mod oracle;
mod process;
mod session;
mod store;
mod symbolize;
mod target;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use runner::process::{Finished, Launch, run};
use runner::{Recorder, RecorderImages};
use tempfile::TempDir;

/// Long enough for anything on a busy machine; reached only when something is broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a shell script with a time limit.
fn shell_within(script: &str, timeout: Duration) -> Finished {
    let arguments = ["-c".into(), script.into()];
    let launch = Launch {
        program: Path::new("/bin/sh"),
        arguments: &arguments,
        input: None,
        environment: &[],
        timeout: Some(timeout),
        pattern: None,
        fixed_addresses: false,
        recordings: None,
        pace: None,
    };
    run(&launch, &AtomicBool::new(false)).unwrap()
}

fn shell(script: &str) -> Finished {
    shell_within(script, PATIENCE)
}

fn text(output: &runner::Output) -> String {
    String::from_utf8(output.text().into_owned()).unwrap()
}

/// A folder to build things in.
struct Workshop {
    folder: TempDir,
}

impl Workshop {
    fn new() -> Workshop {
        Workshop { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// An executable shell script.
    fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.write(name, &format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    /// Runs a command in this folder, which must succeed; words are separated by blanks.
    fn tool(&self, command: &str) -> String {
        let mut words = command.split_whitespace();
        let output = Command::new(words.next().unwrap())
            .args(words)
            .current_dir(self.folder.path())
            .output()
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{command}: {}\n{printed}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        printed
    }

    /// The address of a symbol.
    fn address(&self, binary: &str, symbol: &str) -> u64 {
        let listing = self.tool(&format!("nm {binary}"));
        let line = listing.lines().find(|line| line.ends_with(&format!(" {symbol}")));
        let line = line.unwrap_or_else(|| panic!("no {symbol} in\n{listing}"));
        u64::from_str_radix(line.split_whitespace().next().unwrap(), 16).unwrap()
    }

    /// A recorder that only counts calls, and prints the number at exit.
    fn counting_recorder(&self) -> Recorder {
        self.write("recorder.c", COUNTING_RECORDER);
        self.tool("gcc -c -fPIC recorder.c -o recorder.o");
        self.tool("ar rcs recorder.a recorder.o");
        self.tool("gcc -shared -Wl,-soname,libtsan.so.2 recorder.o -o recorder.so");
        let image = |name: &str| &*std::fs::read(self.path(name)).unwrap().leak();
        let images =
            RecorderImages { shared: image("recorder.so"), archive: image("recorder.a"), agent: b"" };
        // A blank in the path, since users' folders have them.
        Recorder::unpack_into(&self.path("the cache"), images).unwrap()
    }
}

const COUNTING_RECORDER: &str = r#"
#include <stdio.h>
const int unsnarl_recorder_version = 1;
static int calls;
void __tsan_init(void) {}
void __tsan_func_entry(void *p) { calls++; }
void __tsan_func_exit(void) {}
void __tsan_read4(void *p) { calls++; }
void __tsan_write4(void *p) { calls++; }
void __tsan_read8(void *p) { calls++; }
void __tsan_write8(void *p) { calls++; }
__attribute__((destructor)) static void report(void) { printf("%d calls\n", calls); }
"#;

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}
