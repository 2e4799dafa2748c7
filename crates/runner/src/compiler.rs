//! `unsnarl cc` and `unsnarl c++`: gcc, building for the recorder.
//!
//! The user's arguments reach gcc untouched. All that is added is a pair of *spec files*, by which gcc itself
//! knows when it compiles and when it links:
//! - its compilers proper get `-fsanitize=thread` (and `-g`), while the driver does not, since it would link
//!   gcc's own thread sanitizer;
//! - programs are linked with the static recorder, whole, and export its functions to the instrumented
//!   libraries that they load. Shared libraries get nothing: their hooks are found in the program.
//!
//! Rejected: telling the modes of gcc apart by its arguments. That is what spec files are written in, with
//! response files, `-x`, `-###`, `@file` and all.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::takeover::Recorder;

const COMPILE_SPECS: &str = "compile.specs";
const LINK_SPECS: &str = "link.specs";

/// Files that gcc needs beside the recorder.
pub(crate) const SUPPORT_FILES: &[(&str, &str)] = &[
    // `cpp_unique_options` is for `-E`, which defines __SANITIZE_THREAD__ then just as a compilation does.
    (
        COMPILE_SPECS,
        "*cpp_unique_options:\n\
         + -fsanitize=thread\n\
         \n\
         *cc1_options:\n\
         + -fsanitize=thread %{!g*:-g}\n\
         \n",
    ),
    // `link_ssp` stands right before the system's libraries and is left out where those are. `%s` looks a
    // file up in the folder given by -B, whatever characters its path has.
    (
        LINK_SPECS,
        "%rename link_ssp unsnarl_link_ssp\n\
         \n\
         *link_ssp:\n\
         %(unsnarl_link_ssp) \
         %{shared:-z undefs} \
         %{!shared:%{static|static-pie:%eunsnarl cannot record a statically linked program: link without -static} \
         --build-id --dynamic-list exported.list%s \
         --whole-archive libunsnarl_runtime.a%s --no-whole-archive \
         --push-state --as-needed -ldl -lpthread -lm --pop-state}\n\
         \n",
    ),
    ("exported.list", "{ __tsan_*; __sanitizer_*; unsnarl_*; };\n"),
];

/// What is compiled; decides which compiler stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `unsnarl cc`.
    C,
    /// `unsnarl c++`.
    Cxx,
}

/// The real compiler, as a program and leading arguments: `with` if given, else the environment's `UNSNARL_CC` or
/// `UNSNARL_CXX`, else gcc or g++. Words are separated by blanks, so that `ccache gcc` works.
pub fn real_compiler(language: Language, with: Option<&str>) -> Result<Vec<OsString>> {
    let (variable, default) = match language {
        Language::C => ("UNSNARL_CC", "gcc"),
        Language::Cxx => ("UNSNARL_CXX", "g++"),
    };
    let chosen = with.map(str::to_owned).or_else(|| env::var(variable).ok());
    let chosen = chosen.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| default.to_owned());
    let words: Vec<OsString> = chosen.split_whitespace().map(OsString::from).collect();
    check_is_gcc(&chosen, &words)?;
    Ok(words)
}

/// Spec files are gcc's. clang would ignore them without a word and build programs that record nothing.
fn check_is_gcc(chosen: &str, words: &[OsString]) -> Result<()> {
    let refuse = |why| Err(Error::UnsupportedCompiler { compiler: chosen.to_owned(), why });
    if let Some(first) = words.first()
        && is_ourselves(first)
    {
        return refuse("it is unsnarl itself");
    }
    let Some(compiler) = words.last() else { return refuse("its name is empty") };
    let name = Path::new(compiler).file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.contains("clang")
        || (!name.contains("gcc") && !name.contains("g++") && introduces_as_clang(words))
    {
        return refuse("clang takes no spec files; use gcc, or build with gcc's -fsanitize=thread");
    }
    Ok(())
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

/// The whole command line of the real compiler for the user's arguments.
pub fn command_line(compiler: &[OsString], recorder: &Recorder, arguments: &[OsString]) -> Vec<OsString> {
    let folder = recorder.folder();
    let with_path = |option: &str, path: &Path| {
        let mut word = OsString::from(option);
        word.push(path);
        word
    };
    let mut line = compiler.to_vec();
    let sanitizers = Sanitizers::of(arguments);
    if sanitizers != Sanitizers::ThreadOptedOut {
        line.push(with_path("-specs=", &folder.join(COMPILE_SPECS)));
    }
    line.push(with_path("-specs=", &folder.join(LINK_SPECS)));
    // The slash makes it a folder to gcc, which otherwise takes it for the beginning of file names.
    line.push(with_path("-B", &folder.join("")));
    line.extend_from_slice(arguments);
    if sanitizers == Sanitizers::MayAskForThread {
        // Keeps the driver from linking libtsan; the compilers proper are told otherwise later in their line.
        line.push("-fno-sanitize=thread".into());
    }
    line
}

/// What the user's own arguments say about `-fsanitize=thread`.
#[derive(PartialEq)]
enum Sanitizers {
    Silent,
    MayAskForThread,
    ThreadOptedOut,
}

impl Sanitizers {
    /// The last one counts, as for gcc. A response file may contain anything.
    fn of(arguments: &[OsString]) -> Sanitizers {
        let names_thread = |list: &str| list.split(',').any(|name| name == "thread" || name == "all");
        arguments.iter().fold(Sanitizers::Silent, |before, argument| {
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
    use crate::takeover::ARCHIVE;

    #[test]
    fn the_link_specs_name_the_archive() {
        assert!(SUPPORT_FILES.iter().any(|(name, text)| *name == LINK_SPECS && text.contains(ARCHIVE)));
    }

    /// `before` and `after` are what surrounds the user's arguments.
    fn check(arguments: &str, before: &str, after: &str) {
        let folder = tempfile::tempdir().unwrap();
        let images = crate::RecorderImages { shared: b"", archive: b"" };
        let recorder = Recorder::unpack_into(folder.path(), images).unwrap();
        let words: Vec<OsString> = arguments.split_whitespace().map(OsString::from).collect();
        let line = command_line(&["gcc".into()], &recorder, &words);
        let line: Vec<String> = line.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let line = line.join(" ").replace(&*recorder.folder().to_string_lossy(), "R");
        let expected = [before, arguments, after].into_iter().filter(|part| !part.is_empty());
        assert_eq!(line, expected.collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn arguments_pass_through_untouched() {
        let both = "gcc -specs=R/compile.specs -specs=R/link.specs -BR/";
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

    #[test]
    fn compilers_that_would_ignore_the_specs_are_refused() {
        for name in ["clang", "/opt/bin/clang++-17", "ccache clang"] {
            assert!(
                matches!(real_compiler(Language::C, Some(name)), Err(Error::UnsupportedCompiler { .. })),
                "{name}"
            );
        }
        let own = env::current_exe().unwrap();
        assert!(real_compiler(Language::C, own.to_str()).is_err());
        assert_eq!(real_compiler(Language::C, Some("ccache gcc-12")).unwrap(), ["ccache", "gcc-12"]);
        assert_eq!(real_compiler(Language::Cxx, Some(" ")).unwrap(), ["g++"]);
    }
}
