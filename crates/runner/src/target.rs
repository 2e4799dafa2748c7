//! What the command to be tested is, and how it can be recorded.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use object::elf::{EM_AARCH64, EM_X86_64};

use crate::elf::{self, Elf};
use crate::error::{Error, Result};
use crate::session::Binary;
use crate::takeover::{CLANG_TSAN_SONAMES, TSAN_SONAME};

/// What all programs that start a Java virtual machine (`java`, `javac` and others) are linked to.
const JAVA_LAUNCHER_LIBRARY: &str = "libjli.so";

/// How a program was built, seen from the recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instrumentation {
    /// The recorder is linked into it.
    StaticRecorder,
    /// Linked to a compiler's shared thread sanitizer, which the recorder can stand in for.
    SharedTsan {
        /// The library's name, `libtsan.so.2` if it is gcc's and can be replaced.
        soname: String,
    },
    /// Carries a thread sanitizer's runtime within itself, as clang builds do.
    StaticTsan,
    /// Starts a Java virtual machine, which takes the recorder as an agent.
    Jvm,
    /// Not itself, but libraries that it loads at start.
    Libraries(Vec<PathBuf>),
    /// Calls no hook at all.
    NotInstrumented,
    /// A script, or a tool like `make` or `ctest`; what it starts inherits the environment and may well be instrumented.
    Launcher,
}

/// The command's program.
#[derive(Clone, Debug)]
pub struct Target {
    /// As found through PATH.
    pub path: PathBuf,
    /// How it was built.
    pub instrumentation: Instrumentation,
    /// The program and its instrumented libraries, with their build ids; empty for a launcher.
    pub binaries: Vec<Binary>,
    /// The loader looks into the program's own DT_RPATH before it looks into LD_LIBRARY_PATH.
    pub(crate) has_rpath: bool,
}

impl Target {
    /// Finds the program that `command` names, like a shell would, and looks at how it was built.
    pub fn find(command: &OsStr) -> Result<Target> {
        let path = resolve(command, env::var_os("PATH").as_deref())?;
        let Some(elf) = Elf::read(&path)? else {
            return Ok(Target {
                path,
                instrumentation: Instrumentation::Launcher,
                binaries: Vec::new(),
                has_rpath: false,
            });
        };
        check_machine(&path, elf.machine)?;
        let mut binaries = vec![Binary { path: path.clone(), build_id: elf.build_id.clone() }];
        let instrumentation = if elf.defines_recorder {
            Instrumentation::StaticRecorder
        } else if let Some(soname) = elf.tsan_library() {
            Instrumentation::SharedTsan { soname: soname.to_owned() }
        } else if elf.defines_tsan {
            Instrumentation::StaticTsan
        } else if elf.needed.iter().any(|soname| soname == JAVA_LAUNCHER_LIBRARY) {
            Instrumentation::Jvm
        } else {
            Instrumentation::NotInstrumented
        };
        let libraries = instrumented_libraries(&path, &elf);
        binaries.extend(
            libraries.iter().map(|(path, elf)| Binary { path: path.clone(), build_id: elf.build_id.clone() }),
        );
        let instrumentation = match instrumentation {
            Instrumentation::NotInstrumented if !libraries.is_empty() => {
                Instrumentation::Libraries(libraries.into_iter().map(|(path, _)| path).collect())
            }
            Instrumentation::NotInstrumented if is_tool(&path) => {
                binaries.clear();
                Instrumentation::Launcher
            }
            other => other,
        };
        Ok(Target { path, instrumentation, binaries, has_rpath: elf.rpath.is_some() })
    }

    /// Refuses what would run but record nothing.
    pub fn check_recordable(&self) -> Result<()> {
        let path = self.path.clone();
        match &self.instrumentation {
            Instrumentation::StaticRecorder
            | Instrumentation::Jvm
            | Instrumentation::Libraries(_)
            | Instrumentation::Launcher => Ok(()),
            Instrumentation::SharedTsan { soname } if is_replaceable(soname) => Ok(()),
            Instrumentation::SharedTsan { soname } => {
                Err(Error::OtherTsan { path, soname: soname.clone(), supported: TSAN_SONAME })
            }
            Instrumentation::StaticTsan => Err(Error::StaticTsan { path }),
            Instrumentation::NotInstrumented => Err(Error::NotInstrumented { path }),
        }
    }
}

/// Is it a program of those that are at hand everywhere? Tests are not, so that what is not built for recording there is
/// meant to start one.
fn is_tool(path: &Path) -> bool {
    let search = env::var_os("PATH").unwrap_or_default();
    path.is_absolute() && env::split_paths(&search).any(|folder| Some(folder.as_path()) == path.parent())
}

fn is_replaceable(soname: &str) -> bool {
    soname == TSAN_SONAME || CLANG_TSAN_SONAMES.contains(&soname)
}

/// A name with a slash is a path; any other is looked up in the folders of `search`.
fn resolve(command: &OsStr, search: Option<&OsStr>) -> Result<PathBuf> {
    if command.is_empty() {
        return Err(Error::NoCommand);
    }
    let not_found = || Error::CommandNotFound { name: command.to_string_lossy().into_owned() };
    if command.as_encoded_bytes().contains(&b'/') {
        let path = PathBuf::from(command);
        let metadata = fs::metadata(&path).map_err(|_| not_found())?;
        return if metadata.is_dir() {
            Err(Error::IsDirectory { path })
        } else if !is_executable(&metadata) {
            Err(Error::NotExecutable { path })
        } else {
            Ok(path)
        };
    }
    let mut refused = None;
    for folder in env::split_paths(search.unwrap_or_default()) {
        let path = folder.join(command);
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() && is_executable(&metadata) => return Ok(path),
            Ok(metadata) if metadata.is_file() => refused = refused.or(Some(path)),
            _ => {}
        }
    }
    Err(match refused {
        Some(path) => Error::NotExecutable { path },
        None => not_found(),
    })
}

fn is_executable(metadata: &fs::Metadata) -> bool {
    metadata.permissions().mode() & 0o111 != 0
}

fn check_machine(path: &Path, machine: u16) -> Result<()> {
    let own = if cfg!(target_arch = "aarch64") { EM_AARCH64 } else { EM_X86_64 };
    if machine == own {
        return Ok(());
    }
    let machine = match machine {
        EM_AARCH64 => "aarch64".to_owned(),
        EM_X86_64 => "x86-64".to_owned(),
        // Set for 32-bit files, which are not read further.
        0 => "a 32-bit or unknown machine".to_owned(),
        other => format!("ELF machine {other}"),
    };
    Err(Error::OtherMachine { path: path.to_owned(), machine })
}

/// The instrumented ones among the libraries that the program itself names.
fn instrumented_libraries(path: &Path, elf: &Elf) -> Vec<(PathBuf, Elf)> {
    elf.needed
        .iter()
        .filter(|soname| !elf::is_tsan_library(soname))
        .filter_map(|soname| elf.find_library(path, soname))
        .filter_map(|path| Some((Elf::read(&path).ok()??, path)))
        .filter(|(elf, _)| elf.is_instrumented())
        .map(|(elf, path)| (path, elf))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::OpenOptionsExt as _;

    fn write(path: &Path, mode: u32, text: &[u8]) {
        use std::io::Write as _;
        let mut file = fs::OpenOptions::new().create(true).write(true).mode(mode).open(path).unwrap();
        file.write_all(text).unwrap();
    }

    #[test]
    fn commands_are_found_like_a_shell_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        fs::create_dir_all(first.join("dir")).unwrap();
        fs::create_dir_all(&second).unwrap();
        write(&first.join("plain"), 0o644, b"");
        write(&first.join("shadowed"), 0o644, b"");
        write(&second.join("shadowed"), 0o755, b"");
        let search = env::join_paths([&first, &second]).unwrap();
        let find = |name: &str| resolve(OsStr::new(name), Some(&search));

        assert_eq!(find("shadowed").unwrap(), second.join("shadowed"));
        assert!(matches!(find("plain"), Err(Error::NotExecutable { path }) if path == first.join("plain")));
        assert!(matches!(find("dir"), Err(Error::CommandNotFound { name }) if name == "dir"));
        assert!(matches!(find(""), Err(Error::NoCommand)));
        let path = |name: &str| resolve(first.join(name).as_os_str(), None);
        assert!(matches!(path("dir"), Err(Error::IsDirectory { .. })));
        assert!(matches!(path("plain"), Err(Error::NotExecutable { .. })));
        assert!(matches!(path("nothing"), Err(Error::CommandNotFound { .. })));
    }

    #[test]
    fn what_is_no_binary_is_there_to_start_something_else() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("empty", "".as_bytes()), ("shell", b"#!/bin/sh\nexit 0\n"), ("text", b"hello")]
        {
            let path = folder.path().join(name);
            write(&path, 0o755, text);
            let target = Target::find(path.as_os_str()).unwrap();
            assert_eq!(target.instrumentation, Instrumentation::Launcher, "{name}");
            target.check_recordable().unwrap();
        }
    }

    #[test]
    fn tools_are_there_to_start_something_else() {
        for tool in ["sh", "/usr/bin/env"] {
            let target = Target::find(OsStr::new(tool)).unwrap();
            assert_eq!(
                (target.instrumentation, target.binaries),
                (Instrumentation::Launcher, vec![]),
                "{tool}"
            );
        }
    }

    #[test]
    fn other_machines_and_cut_off_binaries_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut");
        write(&path, 0o755, b"\x7fELF\x02\x01\x01");
        assert!(matches!(Target::find(path.as_os_str()), Err(Error::OtherMachine { .. })));
    }
}
