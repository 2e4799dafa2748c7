//! `unsnarl cc` and `unsnarl c++`: gcc or clang, building for the recorder.
//!
//! The user's arguments reach the compiler untouched. What is added around them makes it instrument what it
//! compiles, and link programs with the static recorder; gcc and clang each have their own way. Wholly static programs besides get
//! copies of the system's libraries (`static_libraries`).

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::takeover::Recorder;

mod archive;
mod clang;
pub(crate) mod cxx_library;
pub(crate) mod gcc;
mod static_libraries;

/// What a program exports to the instrumented libraries that it loads, for the linker.
const EXPORTED: &str = "{ __tsan_*; __sanitizer_*; unsnarl_*; };\n";

/// What is compiled; decides which compiler stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `unsnarl cc`.
    C,
    /// `unsnarl c++`.
    Cxx,
}

/// The real compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// The program and leading arguments.
    words: Vec<OsString>,
    family: Family,
}

/// Compilers that are told in the same way what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Gcc,
    Clang,
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.words.iter().map(|word| word.to_string_lossy()).collect();
        f.write_str(&words.join(" "))
    }
}

impl Compiler {
    /// The compiler for a language: `with` if given, else what the environment names in `UNSNARL_CC` or
    /// `UNSNARL_CXX`, else in `CC` or `CXX` unless that is `unsnarl` itself, else gcc or g++. Words are separated by
    /// blanks, so that `ccache gcc` and `clang -m64` work.
    pub fn choose(language: Language, with: Option<&str>) -> Result<Compiler> {
        Compiler::choose_from(language, with, |name| env::var(name).ok())
    }

    fn choose_from(
        language: Language,
        with: Option<&str>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Compiler> {
        let (ours, everybodys, default) = match language {
            Language::C => ("UNSNARL_CC", "CC", "gcc"),
            Language::Cxx => ("UNSNARL_CXX", "CXX", "g++"),
        };
        let said = |text: &String| !text.trim().is_empty();
        let chosen = with.map(str::to_owned).filter(said).or_else(|| environment(ours).filter(said));
        let named = || environment(everybodys).filter(|text| names_compiler(text));
        let chosen = chosen.or_else(named).unwrap_or_else(|| default.to_owned());
        Compiler::named(language, &chosen)
    }

    fn named(language: Language, chosen: &str) -> Result<Compiler> {
        let mut words: Vec<OsString> = chosen.split_whitespace().map(OsString::from).collect();
        let refuse = |why| Err(Error::UnsupportedCompiler { compiler: chosen.to_owned(), why });
        if words.iter().any(|word| is_ourselves(word)) {
            return refuse("it is unsnarl itself");
        }
        let Some(name) = program_of(chosen) else { return refuse("its name is empty") };
        let is_gcc = !name.contains("clang") && (name.contains("gcc") || name.contains("g++"));
        let family = if is_gcc || !(name.contains("clang") || introduces_as_clang(&words)) {
            Family::Gcc
        } else {
            Family::Clang
        };
        if family == Family::Clang && language == Language::Cxx {
            // `clang` is `clang++` when told so.
            words.push("--driver-mode=g++".into());
        }
        Ok(Compiler { words, family })
    }

    /// Flags for code that announces its basic blocks, in a shape in which its loops can be recognized: see
    /// [`crate::loops`]. They come before the user's own.
    pub fn flags_for_loops(&self) -> &'static [&'static str] {
        match self.family {
            Family::Gcc => &gcc::FLAGS_FOR_LOOPS,
            Family::Clang => &clang::FLAGS_FOR_LOOPS,
        }
    }

    /// The whole command line of the real compiler for the user's arguments.
    pub fn command_line(&self, recorder: &Recorder, arguments: &[OsString]) -> Result<Vec<OsString>> {
        let sanitizers = Sanitizers::of(self.words.iter().chain(arguments));
        let wholly_static = if static_libraries::are_asked_for(arguments) {
            Some(static_libraries::folder(self, recorder, arguments)?)
        } else {
            None
        };
        let wholly_static = wholly_static.as_deref();
        match self.family {
            Family::Gcc => {
                Ok(gcc::command_line(&self.words, recorder, wholly_static, &sanitizers, arguments))
            }
            Family::Clang => clang::command_line(self, recorder, wholly_static, &sanitizers, arguments),
        }
    }
}

/// Has a folder made and filled unless there is one: beside its place, so that it is there with all that belongs into it or not at
/// all, and whoever makes the same one at the same time does not disturb.
fn made_once(folder: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if folder.exists() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(Path::new("."));
    let beside = tempfile::tempdir_in(parent).map_err(Error::writing(folder))?;
    fill(beside.path())?;
    let beside = beside.keep();
    if let Err(error) = fs::rename(&beside, folder) {
        drop(fs::remove_dir_all(&beside));
        // Somebody else was faster.
        if !folder.exists() {
            return Err(Error::writing(folder)(error));
        }
    }
    Ok(())
}

/// Programs that are called with a compiler and its arguments, to save work or to have it done elsewhere.
const LAUNCHERS: [&str; 4] = ["ccache", "distcc", "icecc", "sccache"];

/// The file name of the compiler in words such as `ccache clang -m64`.
fn program_of(chosen: &str) -> Option<String> {
    let name = |word| Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned();
    chosen.split_whitespace().map(name).find(|name| !LAUNCHERS.contains(&name.as_str()))
}

/// Is this a compiler by name? `CC` may also be a script that calls `unsnarl cc`, which must not come back to it.
fn names_compiler(chosen: &str) -> bool {
    const NAMES: [&str; 6] = ["gcc", "g++", "clang", "clang++", "cc", "c++"];
    let Some(name) = program_of(chosen) else { return false };
    if chosen.split_whitespace().any(|word| is_ourselves(OsStr::new(word))) {
        return false;
    }
    // Triples before the name and versions behind it are told apart by dashes.
    let mut parts = name.split('-').rev();
    let last = parts.next().unwrap_or_default();
    let is_version = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    NAMES.contains(&if is_version { parts.next().unwrap_or_default() } else { last })
}

fn is_ourselves(program: &OsStr) -> bool {
    let own = env::current_exe().and_then(|path| path.canonicalize());
    let Ok(own) = own else { return false };
    if program.as_encoded_bytes().contains(&b'/') {
        return Path::new(program).canonicalize().is_ok_and(|path| path == own);
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find_map(|path| path.canonicalize().ok())
        .is_some_and(|path| path == own)
}

fn introduces_as_clang(words: &[OsString]) -> bool {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg("--version").stdin(Stdio::null());
    command.output().is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("clang"))
}

/// An option and a path in one word.
fn joined(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

/// What the user's own arguments say about `-fsanitize=thread`.
#[derive(PartialEq)]
enum Sanitizers {
    Silent,
    MayAskForThread,
    ThreadOptedOut,
}

impl Sanitizers {
    /// The last one counts, as for the compilers. A response file may contain anything.
    fn of<'a>(arguments: impl IntoIterator<Item = &'a OsString>) -> Sanitizers {
        let names_thread = |list: &str| list.split(',').any(|name| name == "thread" || name == "all");
        arguments.into_iter().fold(Sanitizers::Silent, |before, argument| {
            let argument = argument.to_string_lossy();
            if argument.starts_with('@') || argument.strip_prefix("-fsanitize=").is_some_and(names_thread) {
                Sanitizers::MayAskForThread
            } else if argument.strip_prefix("-fno-sanitize=").is_some_and(names_thread) {
                Sanitizers::ThreadOptedOut
            } else {
                before
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `before` and `after` are what surrounds the user's arguments.
    fn check(arguments: &str, before: &str, after: &str) {
        let folder = tempfile::tempdir().unwrap();
        let images = crate::RecorderImages { shared: b"", archive: b"", agent: b"" };
        let recorder = Recorder::unpack_into(folder.path(), images).unwrap();
        let words: Vec<OsString> = arguments.split_whitespace().map(OsString::from).collect();
        let gcc = Compiler::choose(Language::C, Some("gcc")).unwrap();
        let line = gcc.command_line(&recorder, &words).unwrap();
        let line: Vec<String> = line.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let line = line.join(" ").replace(&*recorder.folder().to_string_lossy(), "R");
        let expected = [before, arguments, after].into_iter().filter(|part| !part.is_empty());
        assert_eq!(line, expected.collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn arguments_pass_through_untouched() {
        let both = "gcc -specs=R/compile.specs -isystem R/cxx -specs=R/link.specs -BR/";
        for arguments in [
            "",
            "-c a.c",
            "a.c -o a",
            "-o",
            "-E -x c -",
            "--version",
            "-shared -Wl,-z,defs a.o",
            "-fsanitize=undefined a.c",
        ] {
            check(arguments, both, "");
        }
        for arguments in ["-fsanitize=thread a.c", "-fsanitize=undefined,thread a.c", "@flags.txt"] {
            check(arguments, both, "-fno-sanitize=thread");
        }
        check("-fno-sanitize=thread -fsanitize=thread a.c", both, "-fno-sanitize=thread");
    }

    #[test]
    fn a_file_can_be_left_out_of_the_recording() {
        let link_only = "gcc -specs=R/link.specs -BR/";
        check("-fno-sanitize=thread -c a.c", link_only, "");
        check("-fsanitize=thread -fno-sanitize=all -c a.c", link_only, "");
    }

    /// What is chosen with this flag and environment.
    fn chosen(language: Language, with: Option<&str>, environment: &[(&str, &str)]) -> String {
        let value = |name: &str| {
            let found = environment.iter().find(|(set, _)| *set == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Compiler::choose_from(language, with, value).unwrap().to_string()
    }

    #[test]
    fn the_flag_comes_before_our_variable_before_everybodys() {
        let all = [("UNSNARL_CC", "ccache gcc"), ("CC", "clang")];
        assert_eq!(chosen(Language::C, Some("gcc-12"), &all), "gcc-12");
        assert_eq!(chosen(Language::C, Some(" "), &all), "ccache gcc");
        assert_eq!(chosen(Language::C, None, &all[1..]), "clang");
        assert_eq!(chosen(Language::C, None, &[]), "gcc");
        assert_eq!(chosen(Language::Cxx, None, &all), "g++");
        assert_eq!(chosen(Language::Cxx, Some("clang-19"), &[]), "clang-19 --driver-mode=g++");
    }

    #[test]
    fn what_stands_for_unsnarl_is_not_taken_for_the_real_compiler() {
        let own = env::current_exe().unwrap().display().to_string();
        assert!(Compiler::choose(Language::C, Some(&own)).is_err());
        for cc in
            [&own, &format!("{own} cc"), &format!("ccache {own}"), "./wrapper", "build/cc.sh", "ccache", ""]
        {
            assert_eq!(chosen(Language::C, None, &[("CC", cc)]), "gcc", "{cc}");
        }
        for cc in ["cc", "x86_64-linux-gnu-gcc-12", "/opt/bin/clang-19", "ccache gcc", "distcc clang -m64"] {
            assert_eq!(chosen(Language::C, None, &[("CC", cc)]), cc);
        }
    }

    #[test]
    fn families_are_told_by_name() {
        let family = |name: &str| Compiler::choose(Language::C, Some(name)).unwrap().family;
        assert_eq!(family("ccache gcc-12"), Family::Gcc);
        assert_eq!(family("/opt/bin/clang-17"), Family::Clang);
        assert_eq!(family("ccache clang"), Family::Clang);
        assert_eq!(family("clang -m64 -std=gnu11"), Family::Clang);
        assert_eq!(family("ccache distcc /opt/bin/clang-17 -m64"), Family::Clang);
        assert_eq!(family("gcc-12 -fplugin=clang"), Family::Gcc);
    }
}
