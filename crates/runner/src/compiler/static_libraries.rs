//! Wholly static programs: copies of the system's libraries that leave room for the recorder.
//!
//! Usually the recorder stands before the functions of shared libraries, and asks the loader where the real ones are. In a program
//! that is linked with `-static` or `-static-pie` there is one function of each name. So such programs are linked with copies of
//! the static libraries, in which the functions that the recorder stands in front of have other names, those under which the
//! recorder asks for them (`native-runtime/src/real.rs`). As in shared libraries,
//! - what the C library itself calls is its own, so that nothing of the recorder runs before the program's constructors do;
//! - but when it takes memory from the heap or gives it back, it calls what the program calls, so that blocks that it hands to the
//!   program are known;
//! - the compiler's unwinder is like the C library in that;
//! - the other libraries call what the program calls.
//!
//! In the folder with the copies, `libc.a` is a script that has the linker load the copy and an *anchor*: an object that asks for all
//! that the recorder may call there. The recorder's own references are weak, since a program need not have a C++ or an OpenMP
//! library, and for weak ones linkers load nothing.
//!
//! Rejected: the linker's `--wrap`, which sees references between objects alone, and reaches into the C library's own calls.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Compiler;
use super::archive::{self, Change, Member, Symbol};
use crate::error::{Error, Result};
use crate::takeover::{ARCHIVE, Recorder};

/// The C library, without which nothing can be linked.
const C: &str = "c";
/// With it, those that make their own calls: its further parts, which older ones have in archives of their own, and the unwinder.
const KEEPING_TO_THEMSELVES: [&str; 5] = [C, "pthread", "rt", "dl", "gcc_eh"];
/// Other libraries with functions that the recorder stands in front of.
const OTHERS: [&str; 3] = ["stdc++", "gomp", "omp"];

/// How the recorder calls real functions in static programs.
const REAL: &str = "__unsnarl_real_";
/// In this section it has functions that only tell versions of shared ones apart.
const VERSIONS: &str = ".text.unsnarl_versions";
/// What static programs get their own functions in place of.
const UNUSED: &str = "__unsnarl_unused_";
/// These look for shared libraries, which static programs need not be able to.
const LOADERS: [&str; 2] = ["dlsym", "dlvsym"];

/// Functions that these too call as the program does.
const HEAP: [&str; 10] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "reallocarray",
];

/// Do these arguments ask for a wholly static program?
pub(super) fn are_asked_for(arguments: &[OsString]) -> bool {
    let mut words = Vec::new();
    for argument in arguments {
        match argument.as_encoded_bytes().strip_prefix(b"@") {
            // What compilers make of quotes and blanks matters to none of the options that are looked for.
            Some(_) => match fs::read_to_string(&argument.to_string_lossy()[1..]) {
                Ok(text) => words.extend(text.split_whitespace().map(str::to_owned)),
                Err(_) => words.push(argument.to_string_lossy().into_owned()),
            },
            None => words.push(argument.to_string_lossy().into_owned()),
        }
    }
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_str()));
    has(&["-static", "--static", "-static-pie", "--static-pie"])
        && !has(&["-shared", "--shared", "-r", "-c", "-S", "-E"])
}

/// A library to be copied.
struct Library {
    name: &'static str,
    path: PathBuf,
    keeps_to_itself: bool,
}

/// The folder with copies of the libraries that this compiler links, and with the recorder for them; made when it is first asked
/// for.
pub(super) fn folder(compiler: &Compiler, recorder: &Recorder, arguments: &[OsString]) -> Result<PathBuf> {
    let libraries = libraries(compiler, arguments)?;
    let identities: Vec<String> = libraries.iter().filter_map(|library| identity(&library.path)).collect();
    let folder =
        recorder.folder().join(format!("static-{:08x}", crc32fast::hash(identities.concat().as_bytes())));
    super::made_once(&folder, |folder| fill(folder, compiler, recorder, &libraries))?;
    Ok(folder)
}

/// What tells a library from others, and from itself after an update.
fn identity(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    Some(format!(
        "{} {} {} {}.{:09}\n",
        path.display(),
        about.len(),
        about.ino(),
        about.mtime(),
        about.mtime_nsec()
    ))
}

/// The libraries that there are, where this compiler's linker finds them.
fn libraries(compiler: &Compiler, arguments: &[OsString]) -> Result<Vec<Library>> {
    let mut folders = named_by_user(arguments);
    folders.extend(search_folders(compiler, arguments)?);
    let find = |name: &'static str| {
        let path =
            folders.iter().map(|folder| folder.join(format!("lib{name}.a"))).find(|path| path.is_file())?;
        Some(Library { name, path, keeps_to_itself: KEEPING_TO_THEMSELVES.contains(&name) })
    };
    let found: Vec<Library> = KEEPING_TO_THEMSELVES.into_iter().chain(OTHERS).filter_map(find).collect();
    if !found.iter().any(|library| library.name == C) {
        return Err(Error::NoStaticLibrary { compiler: compiler.to_string() });
    }
    Ok(found)
}

/// `-L` in its two forms.
fn named_by_user(arguments: &[OsString]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.to_str().and_then(|word| word.strip_prefix("-L")) {
            Some("") => folders.extend(words.next().map(PathBuf::from)),
            Some(folder) => folders.push(folder.into()),
            None => {}
        }
    }
    folders
}

/// Asked with the user's own arguments, which may name another machine or root.
fn search_folders(compiler: &Compiler, arguments: &[OsString]) -> Result<Vec<PathBuf>> {
    let mut question = Command::new(&compiler.words[0]);
    question.args(&compiler.words[1..]).args(arguments).arg("-print-search-dirs");
    let unusable = |why| Error::UnsupportedCompiler { compiler: compiler.to_string(), why };
    let output = question.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.map_err(|_| unusable("it cannot be started"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let list = text.lines().find_map(|line| line.strip_prefix("libraries: ="));
    let list =
        list.ok_or_else(|| unusable("it does not tell where its libraries are (-print-search-dirs)"))?;
    Ok(std::env::split_paths(OsStr::new(list)).collect())
}

fn fill(folder: &Path, compiler: &Compiler, recorder: &Recorder, libraries: &[Library]) -> Result<()> {
    let recorder_archive = recorder.archive();
    let mut own = read(&recorder_archive)?;
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |error: object::Error| Error::Symbols { path, why: error.to_string() }
    };
    let is_version = |symbol: &Symbol<'_>| symbol.section == VERSIONS;
    let names = |wanted: &dyn Fn(&Symbol<'_>) -> bool| {
        archive::names(&own, wanted).map_err(unreadable(&recorder_archive))
    };
    let intercepted = names(&|symbol| symbol.is_defined && !is_version(symbol))?;
    let called = names(&|symbol| !symbol.is_defined && symbol.name.starts_with(REAL))?;
    for member in &mut own {
        let changed = member.change(|symbol| match symbol {
            _ if is_version(symbol) => Change::Name(format!("{UNUSED}{}", symbol.name)),
            Symbol { name, is_defined: false, .. } if LOADERS.contains(name) => Change::Weaken,
            // The recorder asks for it, but does not stand in front of it.
            Symbol { name, is_defined: false, .. } => match name.strip_prefix(REAL) {
                Some(plain) if !intercepted.contains(plain) => Change::Name(plain.to_owned()),
                _ => Change::None,
            },
            _ => Change::None,
        });
        changed.map_err(unreadable(&recorder_archive))?;
    }
    write(&folder.join(ARCHIVE), &archive::joined(&own).map_err(unreadable(&recorder_archive))?)?;

    let mut loaded = Vec::new();
    for library in libraries {
        // A script has nothing to rename.
        if let Ok(members) = read(&library.path) {
            loaded.push((library, members));
        }
    }
    let mut of_c = HashSet::new();
    for (library, members) in loaded.iter().filter(|(library, _)| library.keeps_to_itself) {
        let offered =
            archive::names(members, |symbol| symbol.is_defined && intercepted.contains(symbol.name));
        of_c.extend(offered.map_err(unreadable(&library.path))?);
    }
    for (library, mut members) in loaded {
        let own_calls = if library.keeps_to_itself { &of_c } else { &HashSet::new() };
        let path = &library.path;
        let real = rename(&mut members, &intercepted, own_calls).map_err(unreadable(path))?;
        if real.is_empty() && (own_calls.is_empty() || members.is_empty()) {
            continue;
        }
        let name = library.name;
        let copy = archive::joined(&members).map_err(unreadable(path))?;
        write(&folder.join(format!("libunsnarl_real_{name}.a")), &copy)?;
        let mut anchored: Vec<&String> = real.iter().filter(|name| called.contains(*name)).collect();
        anchored.sort();
        let anchor = format!("unsnarl_anchor_{name}.o");
        assemble(compiler, &anchored, &folder.join(&anchor))?;
        let script =
            format!("/* The system's, beside the recorder. */\nINPUT({anchor} -lunsnarl_real_{name})\n");
        write(&folder.join(format!("lib{name}.a")), script.as_bytes())?;
    }
    Ok(())
}

/// Gives what the recorder stands in front of its other name where it is defined, and where it is among `own_calls` also where it is
/// called, but for the heap. Returns the new names of what is defined here.
fn rename(
    members: &mut [Member],
    intercepted: &HashSet<String>,
    own_calls: &HashSet<String>,
) -> object::Result<HashSet<String>> {
    let mut real = HashSet::new();
    for member in members {
        let mut defined = HashSet::new();
        member.symbols(|symbol| {
            if symbol.is_defined && intercepted.contains(symbol.name) {
                defined.insert(symbol.name.to_owned());
            }
        })?;
        let calls_own = |name: &str| own_calls.contains(name) && !HEAP.contains(&name);
        member.change(|symbol| match symbol.name {
            name if defined.contains(name) || calls_own(name) => Change::Name(format!("{REAL}{name}")),
            _ => Change::None,
        })?;
        real.extend(defined.into_iter().map(|name| format!("{REAL}{name}")));
    }
    Ok(real)
}

/// Makes an object that asks for these names. Linkers leave the section out of programs.
fn assemble(compiler: &Compiler, names: &[&String], object: &Path) -> Result<()> {
    let mut text = String::from(".section .unsnarl_anchor,\"e\",%progbits\n");
    for name in names {
        text.push_str(&format!(".quad {name}\n"));
    }
    text.push_str(".section .note.GNU-stack,\"\",%progbits\n");
    let mut assembler = Command::new(&compiler.words[0]);
    assembler.args(&compiler.words[1..]).args(["-c", "-x", "assembler", "-o"]).arg(object).arg("-");
    let mut running =
        assembler.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(Error::writing(object))?;
    if let Some(mut input) = running.stdin.take() {
        input.write_all(text.as_bytes()).map_err(Error::writing(object))?;
    }
    if !running.wait().map_err(Error::writing(object))?.success() {
        let why = "it does not assemble what static programs need";
        return Err(Error::UnsupportedCompiler { compiler: compiler.to_string(), why });
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<Member>> {
    let bytes = fs::read(path).map_err(Error::reading("read", path))?;
    let members = archive::members(&bytes);
    members.map_err(|error| Error::Symbols { path: path.to_owned(), why: error.to_string() })
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    fs::write(path, content).map_err(Error::writing(path))
}
