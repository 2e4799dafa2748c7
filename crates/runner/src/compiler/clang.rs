//! clang, which finds the recorder where it looks for its own runtime.
//!
//! `-fsanitize=thread` makes clang instrument what it compiles, and link `libclang_rt.tsan` from its *resource
//! folder* into programs and nothing else. We give it a resource folder that differs from its own in this one
//! library, so that all else is decided by clang itself.
//!
//! Rejected: `-fno-sanitize-link-runtime` and naming the recorder ourselves. When a program is linked, and not a
//! library or nothing, is for clang to know.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Compiler, EXPORTED, Sanitizers, cxx_library, joined, made_once};
use crate::error::{Error, Result};
use crate::left_out_reads;
use crate::takeover::{ARCHIVE, Recorder};

/// How clang names machines.
#[cfg(target_arch = "x86_64")]
macro_rules! machine {
    () => {
        "-x86_64"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! machine {
    () => {
        "-aarch64"
    };
}

/// Where every clang looks for its runtime libraries last, so that the recorder is found there if no folder
/// before has one.
const RUNTIME_FOLDER: &str = "lib/linux";
const RUNTIME: &str = concat!("libclang_rt.tsan", machine!(), ".a");
/// Linked into C++ programs besides.
const CXX_RUNTIME: &str = concat!("libclang_rt.tsan_cxx", machine!(), ".a");
/// clang's thread sanitizer has the undefined behaviour sanitizer within; the recorder has not.
const UNDEFINED_RUNTIMES: [&str; 2] = [
    concat!("libclang_rt.ubsan_standalone", machine!(), ".a"),
    concat!("libclang_rt.ubsan_standalone_cxx", machine!(), ".a"),
];
const EMPTY_ARCHIVE: &[u8] = b"!<arch>\n";

/// Instruments nothing, though `-fsanitize=thread` is given.
const NOTHING: [&str; 4] = [
    "-tsan-instrument-memory-accesses=0",
    "-tsan-instrument-func-entry-exit=0",
    "-tsan-instrument-atomics=0",
    "-tsan-instrument-memintrinsics=0",
];

/// Announcements, of all blocks; and no jumps through tables, or iterations unrolled.
pub(super) const FLAGS_FOR_LOOPS: [&str; 3] =
    ["-fsanitize-coverage=bb,no-prune,trace-pc", "-fno-jump-tables", "-fno-unroll-loops"];

/// The whole command line for the user's arguments.
pub(super) fn command_line(
    compiler: &Compiler,
    recorder: &Recorder,
    wholly_static: Option<&Path>,
    sanitizers: &Sanitizers,
    arguments: &[OsString],
) -> Result<Vec<OsString>> {
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let resources = resource_folder(compiler, wholly_static.unwrap_or(recorder.folder()))?;
    let mut line = compiler.words.clone();
    // What comes before the user's own arguments can be overruled by them. Not all of it is used whenever clang
    // is called, which it need not tell.
    line.push("--start-no-unused-arguments".into());
    line.extend(["-resource-dir".into(), resources.clone().into(), "-g".into()]);
    let instrumentation: &[&str] =
        if *sanitizers == Sanitizers::ThreadOptedOut { &NOTHING } else { &[left_out_reads::OPTION] };
    line.extend(instrumentation.iter().flat_map(|option| ["-mllvm", option]).map(OsString::from));
    if *sanitizers != Sanitizers::ThreadOptedOut {
        line.extend(["-isystem".into(), recorder.folder().join(cxx_library::HEADERS).into()]);
    }
    // What tells reports later that the reads are there.
    line.push("-grecord-command-line".into());
    line.push("-Wl,--build-id".into());
    if let Some(folder) = wholly_static {
        // Before those that the user names.
        line.push(joined("-L", folder));
        // Linkers are not asked for the index of unwind tables here, in which the recorder looks functions up.
        line.push("-Wl,--eh-frame-hdr".into());
    }
    line.push("--end-no-unused-arguments".into());
    line.extend_from_slice(arguments);
    line.extend(["--start-no-unused-arguments", "-fsanitize=thread", "-static-libsan"].map(OsString::from));
    if has("-shared") {
        line.push("-Wl,-z,undefs".into());
    } else if has("-r") {
        // A relocatable object is no program yet.
        line.push("-fno-sanitize-link-runtime".into());
    } else if asks_for_more_sanitizers(arguments) {
        let runtimes = UNDEFINED_RUNTIMES.map(|name| resources.join(RUNTIME_FOLDER).join(name));
        let present = runtimes.into_iter().filter(|path| path.exists());
        line.extend(present.flat_map(|path| ["-Xlinker".into(), path.into()]));
    }
    line.push("--end-no-unused-arguments".into());
    Ok(line)
}

fn asks_for_more_sanitizers(arguments: &[OsString]) -> bool {
    let lists = arguments.iter().filter_map(|argument| argument.to_str()?.strip_prefix("-fsanitize="));
    lists.flat_map(|list| list.split(',')).any(|name| name != "thread")
}

/// The folder to give this clang for its own, made when it is first asked for, with the recorder that `home` has.
fn resource_folder(compiler: &Compiler, home: &Path) -> Result<PathBuf> {
    let own = own_resource_folder(compiler)?;
    let name = format!("clang-{:08x}", crc32fast::hash(own.as_os_str().as_encoded_bytes()));
    let folder = home.join(name);
    made_once(&folder, |new| imitate(&own, new, &home.join(ARCHIVE)).map_err(Error::writing(&folder)))?;
    Ok(folder)
}

fn own_resource_folder(compiler: &Compiler) -> Result<PathBuf> {
    let unusable = |why| Error::UnsupportedCompiler { compiler: compiler.to_string(), why };
    let mut question = Command::new(&compiler.words[0]);
    question.args(&compiler.words[1..]).arg("-print-resource-dir").stdin(Stdio::null());
    let output = question.output().map_err(|_| unusable("it cannot be started"))?;
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if output.status.success() && folder.is_dir() {
        return Ok(folder);
    }
    Err(unusable("it does not tell where its libraries are (-print-resource-dir)"))
}

/// Fills an empty folder with links to all that is in `own`, and the recorder for the thread sanitizer.
fn imitate(own: &Path, folder: &Path, recorder: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(own)? {
        let entry = entry?;
        if entry.file_name() != "lib" {
            symlink(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    let runtimes = folder.join(RUNTIME_FOLDER);
    fs::create_dir_all(&runtimes)?;
    link_libraries(&own.join("lib"), &folder.join("lib"))?;
    symlink(recorder, runtimes.join(RUNTIME))?;
    // Without such a list for each of its runtimes, clang has the program export everything, which those at no fixed address
    // without shared libraries cannot.
    for runtime in [RUNTIME, CXX_RUNTIME] {
        fs::write(runtimes.join(format!("{runtime}.syms")), EXPORTED)?;
    }
    fs::write(runtimes.join(CXX_RUNTIME), EMPTY_ARCHIVE)
}

/// Links to all files of a tree of folders but those of the thread sanitizer.
fn link_libraries(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.path().is_dir() {
            link_libraries(&entry.path(), &to.join(name))?;
        } else if !is_thread_sanitizer(&name) {
            symlink(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}

fn is_thread_sanitizer(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"libclang_rt.tsan")
}
