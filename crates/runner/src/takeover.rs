//! Brings the recorder into the tested program.
//!
//! The recorder's images travel inside the `unsnarl` binary. They are unpacked once into a folder named
//! after their content, so that versions never get into each other's way and programs linked by
//! `unsnarl cc` keep finding theirs. Folders that no version has used for a long time are removed.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::compiler;
use crate::error::{Error, Result};
use crate::lock_code;
use crate::preload::Preload;
use crate::target::{Instrumentation, Target};

/// The library that gcc's thread sanitizer builds ask the loader for, and that the recorder poses as.
pub(crate) const TSAN_SONAME: &str = "libtsan.so.2";
/// What builds of `clang -fsanitize=thread -shared-libsan` ask for: the first with the layout of distributions, the
/// second with that of clang's own releases.
pub(crate) const CLANG_TSAN_SONAMES: [&str; 2] = [
    if cfg!(target_arch = "aarch64") { "libclang_rt.tsan-aarch64.so" } else { "libclang_rt.tsan-x86_64.so" },
    "libclang_rt.tsan.so",
];
/// The same library under a name that no search path but ours has. LD_PRELOAD is given this bare name, since
/// paths in it may contain no blanks.
const PRELOADED: &str = "libunsnarl_recorder.so";
/// The static recorder's file name.
pub(crate) const ARCHIVE: &str = "libunsnarl_runtime.a";

/// The recorder's file name as an agent of a Java virtual machine.
const AGENT: &str = "libunsnarl_jvm_agent.so";

/// Runs are short, and most of their time is the virtual machine's start, half of which goes to compiling code that is hardly used any more:
/// the quick compiler alone takes a quarter off a JUnit test. Options that the user gives come later and win.
const SOON_COMPILED: &str = "-XX:TieredStopAtLevel=1";

/// Options for every Java virtual machine that is started with it in its environment.
const JAVA_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// What the unpacked files were when they were last compared with what they should be. To compare them at each start would be
/// to read as many megabytes as all else takes together.
const CHECKED: &str = "checked";

/// How the names of folders with a recorder begin.
const FOLDER: &str = "recorder-";
/// A recorder that was not used for so long is an older version's.
const KEPT_UNUSED: Duration = Duration::from_secs(60 * 24 * 3600);

/// The recorder as built: all forms of it.
#[derive(Clone, Copy, Debug)]
pub struct RecorderImages {
    /// The shared library.
    pub shared: &'static [u8],
    /// The static library.
    pub archive: &'static [u8],
    /// The agent for Java virtual machines.
    pub agent: &'static [u8],
}

/// The unpacked recorder.
#[derive(Clone, Debug)]
pub struct Recorder {
    folder: PathBuf,
}

impl Recorder {
    /// Unpacks the recorder into the user's cache folder, or a private temporary one where there is none.
    pub fn unpack(images: RecorderImages) -> Result<Recorder> {
        let cache = env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| env::home_dir().map(|home| home.join(".cache")));
        if let Some(cache) = cache
            && let Ok(recorder) = Recorder::unpack_into(&cache.join("unsnarl"), images)
        {
            return Ok(recorder);
        }
        // SAFETY: geteuid has no preconditions.
        let user = unsafe { libc::geteuid() };
        Recorder::unpack_into(&env::temp_dir().join(format!("unsnarl-{user}")), images)
    }

    /// Unpacks the recorder into a folder below `parent`, unless it is there already.
    pub fn unpack_into(parent: &Path, images: RecorderImages) -> Result<Recorder> {
        let name = format!(
            "{FOLDER}{}-{:08x}{:08x}{:08x}",
            env!("CARGO_PKG_VERSION"),
            crc32fast::hash(images.shared),
            crc32fast::hash(images.archive),
            crc32fast::hash(images.agent)
        );
        let folder = parent.join(name);
        let is_new = !folder.exists();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(Error::writing(&folder))?;
        check_owner(&folder)?;
        let shared = [TSAN_SONAME, PRELOADED].into_iter().chain(CLANG_TSAN_SONAMES);
        let texts = compiler::gcc::SUPPORT_FILES.iter().chain([&compiler::cxx_library::CONFIGURATION]);
        let files: Vec<(PathBuf, &[u8])> = shared
            .map(|name| (name, images.shared))
            .chain([(ARCHIVE, images.archive), (AGENT, images.agent)])
            .chain(texts.map(|(name, text)| (*name, text.as_bytes())))
            .map(|(name, content)| (folder.join(name), content))
            .collect();
        let as_checked = fs::read_to_string(folder.join(CHECKED)).ok();
        if as_checked.is_none() || as_checked != identities(&files) {
            files.iter().try_for_each(|(path, content)| place(path, content))?;
            if let Some(identities) = identities(&files) {
                place(&folder.join(CHECKED), identities.as_bytes())?;
            }
        }
        note_use(&folder);
        if is_new {
            remove_unused(parent);
        }
        Ok(Recorder { folder })
    }

    /// Where the recorder's files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The recorder for linking into programs.
    pub fn archive(&self) -> PathBuf {
        self.folder.join(ARCHIVE)
    }

    /// What to put before a target's own arguments so that the recorder gets loaded.
    pub fn arguments(&self, target: &Target) -> Vec<OsString> {
        match target.instrumentation {
            Instrumentation::Jvm => vec![SOON_COMPILED.into(), self.agent_option()],
            _ => Vec::new(),
        }
    }

    fn agent_option(&self) -> OsString {
        let mut option = OsString::from("-agentpath:");
        option.push(self.folder.join(AGENT));
        option
    }

    /// What to set in the environment of a target so that the recorder gets loaded. `inherited` tells the
    /// present value of a variable.
    ///
    /// Whatever the target is, programs that it starts may be built differently, so the library path is
    /// always set. Preloading is left to the two cases that need it, since it reaches every program started.
    pub fn environment(
        &self,
        target: &Target,
        inherited: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<(OsString, OsString)> {
        let mut environment = vec![prefixed("LD_LIBRARY_PATH", self.folder.as_os_str(), &inherited)];
        let loader_looks_elsewhere =
            target.has_rpath && target.instrumentation != Instrumentation::StaticRecorder;
        let nobody_asks_for_it = matches!(target.instrumentation, Instrumentation::Libraries(_));
        if loader_looks_elsewhere || nobody_asks_for_it {
            environment.push(preloading(&inherited));
        }
        if let Some(locks) = lock_code::file_for(&target.binaries, &self.folder) {
            environment.push((recording::ENV_LOCKS.into(), locks.into()));
        }
        environment.extend(without_backtraces(&inherited));
        environment.extend(without_capture(&inherited));
        if target.instrumentation == Instrumentation::Launcher {
            // Build tools and start scripts pass this on to every virtual machine that they start. Each of them says
            // so on its standard error, which `java` itself is spared.
            let mut value = OsString::from(SOON_COMPILED);
            value.push(" \"");
            value.push(self.agent_option());
            value.push("\"");
            if let Some(rest) = inherited(JAVA_OPTIONS).filter(|rest| !rest.is_empty()) {
                value.push(" ");
                value.push(rest);
            }
            environment.push((JAVA_OPTIONS.into(), value));
        }
        environment
    }

    /// What to set besides once runs of a launcher turn out to load libraries that want the recorder.
    pub fn preload(&self, target: &Target, inherited: impl Fn(&str) -> Option<OsString>) -> Option<Preload> {
        (target.instrumentation == Instrumentation::Launcher).then(|| Preload::new(preloading(&inherited)))
    }
}

fn preloading(inherited: &dyn Fn(&str) -> Option<OsString>) -> (OsString, OsString) {
    prefixed("LD_PRELOAD", OsStr::new(PRELOADED), inherited)
}

/// A list with something put before what is there already.
fn prefixed(
    variable: &str,
    first: &OsStr,
    inherited: &dyn Fn(&str) -> Option<OsString>,
) -> (OsString, OsString) {
    let mut value = first.to_owned();
    if let Some(rest) = inherited(variable).filter(|rest| !rest.is_empty()) {
        value.push(":");
        value.push(rest);
    }
    (OsString::from(variable), value)
}

/// Looking up the names of a panic's callers takes far longer than a short test, once for each failing run, and what
/// led to a failure the recorder tells. Backtraces that the program asks for by itself stay as they are.
fn without_backtraces(inherited: impl Fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    const OF_PANICS: &str = "RUST_BACKTRACE";
    const OF_THE_PROGRAM: &str = "RUST_LIB_BACKTRACE";
    let Some(wanted) = inherited(OF_PANICS) else { return Vec::new() };
    let own = inherited(OF_THE_PROGRAM).unwrap_or(wanted);
    vec![(OF_PANICS.into(), "0".into()), (OF_THE_PROGRAM.into(), own)]
}

/// Rust's test harness collects what the threads of a test print, also about their panics, in memory that they share: in failing
/// runs threads then meet there that never do in passing ones, and that would look like the cause.
fn without_capture(inherited: impl Fn(&str) -> Option<OsString>) -> Option<(OsString, OsString)> {
    const AS_IT_COMES: &str = "RUST_TEST_NOCAPTURE";
    inherited(AS_IT_COMES).is_none().then(|| (AS_IT_COMES.into(), "1".into()))
}

/// The folder's time tells when it was last used. Where it cannot be set, it tells when the folder was last changed.
fn note_use(folder: &Path) {
    if let Ok(opened) = fs::File::open(folder) {
        let _ = opened.set_modified(SystemTime::now());
    }
}

/// What cannot be removed is left to the next time.
fn remove_unused(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let used = entry.metadata().and_then(|metadata| metadata.modified());
        let is_unused = used
            .is_ok_and(|used| SystemTime::now().duration_since(used).is_ok_and(|since| since > KEPT_UNUSED));
        if is_unused && entry.file_name().as_encoded_bytes().starts_with(FOLDER.as_bytes()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Code from this folder runs inside the user's programs, so nobody else may own it.
fn check_owner(folder: &Path) -> Result<()> {
    let metadata = fs::symlink_metadata(folder).map_err(Error::reading("look at", folder))?;
    // SAFETY: geteuid has no preconditions.
    let user = unsafe { libc::geteuid() };
    if metadata.is_dir() && metadata.uid() == user && metadata.mode() & 0o022 == 0 {
        return Ok(());
    }
    let source = std::io::Error::new(
        std::io::ErrorKind::PermissionDenied,
        "the folder belongs to somebody else or others may write to it",
    );
    Err(Error::Unwritable { path: folder.to_owned(), source })
}

/// Puts a file in place in one step, so that programs starting at this moment see the old or the new one.
/// What tells these files from others with the same names, and from themselves after somebody wrote to them. None if one is missing, or has the wrong length.
fn identities(files: &[(PathBuf, &[u8])]) -> Option<String> {
    let identity = |(path, content): &(PathBuf, &[u8])| {
        let about = fs::metadata(path).ok().filter(|about| about.len() == content.len() as u64)?;
        Some(format!("{} {} {}.{:09}\n", path.display(), about.ino(), about.ctime(), about.ctime_nsec()))
    };
    files.iter().map(identity).collect()
}

fn place(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::writing(folder))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::writing(path))?;
    file.write_all(content).map_err(Error::writing(path))?;
    file.persist(path).map_err(|error| Error::writing(path)(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGES: RecorderImages = RecorderImages { shared: b"shared", archive: b"archive", agent: b"agent" };

    fn target(instrumentation: Instrumentation, has_rpath: bool) -> Target {
        Target { path: "test".into(), instrumentation, binaries: Vec::new(), has_rpath }
    }

    #[test]
    fn unpacking_twice_keeps_the_files_and_repairs_damaged_ones() {
        let parent = tempfile::tempdir().unwrap();
        let recorder = Recorder::unpack_into(parent.path(), IMAGES).unwrap();
        let shared = recorder.folder().join(TSAN_SONAME);
        let inode = fs::metadata(&shared).unwrap().ino();
        assert_eq!(Recorder::unpack_into(parent.path(), IMAGES).unwrap().folder(), recorder.folder());
        assert_eq!(fs::metadata(&shared).unwrap().ino(), inode);
        fs::write(&shared, "shar").unwrap();
        Recorder::unpack_into(parent.path(), IMAGES).unwrap();
        assert_eq!(fs::read(&shared).unwrap(), b"shared");
        assert_eq!(fs::read(recorder.folder().join(ARCHIVE)).unwrap(), b"archive");
        // Times are counted in ticks of some milliseconds.
        std::thread::sleep(Duration::from_millis(50));
        fs::write(&shared, "SHARED").unwrap();
        Recorder::unpack_into(parent.path(), IMAGES).unwrap();
        assert_eq!(fs::read(&shared).unwrap(), b"shared", "of the same length");
        let inode = fs::metadata(&shared).unwrap().ino();
        Recorder::unpack_into(parent.path(), IMAGES).unwrap();
        assert_eq!(fs::metadata(&shared).unwrap().ino(), inode);

        let newer = RecorderImages { shared: b"newer", ..IMAGES };
        assert_ne!(Recorder::unpack_into(parent.path(), newer).unwrap().folder(), recorder.folder());
    }

    #[test]
    fn a_new_recorder_takes_the_place_of_those_that_were_not_used_for_long() {
        let parent = tempfile::tempdir().unwrap();
        let unpack =
            |shared| Recorder::unpack_into(parent.path(), RecorderImages { shared, ..IMAGES }).unwrap();
        let age = |folder: &Path, age| {
            fs::File::open(folder).unwrap().set_modified(SystemTime::now() - age).unwrap();
        };
        let (old, recent, other) = (unpack(b"old"), unpack(b"recent"), parent.path().join("not a recorder"));
        fs::create_dir(&other).unwrap();
        age(old.folder(), 2 * KEPT_UNUSED);
        age(&other, 2 * KEPT_UNUSED);
        age(recent.folder(), KEPT_UNUSED / 2);

        unpack(b"recent");
        assert!(old.folder().exists(), "nothing is looked for unless something new comes");
        age(recent.folder(), 2 * KEPT_UNUSED);
        unpack(b"recent");
        unpack(b"new");
        assert!(!old.folder().exists());
        assert!(recent.folder().exists(), "using it counts");
        assert!(other.exists());
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Recorder::unpack_into(parent.path(), IMAGES).unwrap().folder;
        fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(matches!(
            Recorder::unpack_into(parent.path(), IMAGES),
            Err(Error::Unwritable { path, .. }) if path == folder
        ));
    }

    #[test]
    fn the_library_path_comes_first_and_preloading_only_where_needed() {
        let recorder = Recorder { folder: "/r".into() };
        let environment = |target: Target, present: Option<&str>| {
            recorder
                .environment(&target, |name| present.filter(|_| name.starts_with("LD_")).map(OsString::from))
                .into_iter()
                .filter(|(name, _)| name != "RUST_TEST_NOCAPTURE")
                .map(|(name, value)| format!("{}={}", name.display(), value.display()))
                .collect::<Vec<_>>()
        };
        let tsan = Instrumentation::SharedTsan { soname: TSAN_SONAME.to_owned() };
        let path_only = ["LD_LIBRARY_PATH=/r"];
        let both = ["LD_LIBRARY_PATH=/r", "LD_PRELOAD=libunsnarl_recorder.so"];
        assert_eq!(environment(target(tsan.clone(), false), None), path_only);
        assert_eq!(environment(target(tsan.clone(), false), Some("")), path_only);
        assert_eq!(environment(target(tsan.clone(), false), Some("/x:/y")), ["LD_LIBRARY_PATH=/r:/x:/y"]);
        assert_eq!(environment(target(tsan, true), None), both);
        assert_eq!(environment(target(Instrumentation::StaticRecorder, true), None), path_only);
        assert_eq!(environment(target(Instrumentation::Libraries(vec!["/l.so".into()]), false), None), both);
        let java = "JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 \"-agentpath:/r/libunsnarl_jvm_agent.so\"";
        assert_eq!(environment(target(Instrumentation::Launcher, false), None), [path_only[0], java]);
    }

    #[test]
    fn tests_print_at_once_unless_told_otherwise() {
        let set = |wish: Option<&'static str>| without_capture(|_| wish.map(OsString::from));
        assert_eq!(set(None), Some(("RUST_TEST_NOCAPTURE".into(), "1".into())));
        assert_eq!(set(Some("0")), None);
    }

    #[test]
    fn panics_are_short_and_what_the_program_asks_for_is_not() {
        let set = |panics: Option<&'static str>, own: Option<&'static str>| {
            let of = |name: &str| if name == "RUST_BACKTRACE" { panics } else { own };
            without_backtraces(|name| of(name).map(OsString::from))
        };
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let quiet = pair("RUST_BACKTRACE", "0");
        assert_eq!(set(None, Some("1")), []);
        assert_eq!(set(Some("full"), None), [quiet.clone(), pair("RUST_LIB_BACKTRACE", "full")]);
        assert_eq!(set(Some("1"), Some("0")), [quiet, pair("RUST_LIB_BACKTRACE", "0")]);
    }
}
