//! A folder to work in, `unsnarl` to call in it, and programs to call it on.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

pub const UNSNARL: &str = env!("CARGO_BIN_EXE_unsnarl");

/// Longer than anything here takes on the slowest machine; only a hang gets there.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A folder of its own for each test, in which all its commands run.
pub struct Workplace {
    folder: TempDir,
}

impl Workplace {
    pub fn new() -> Workplace {
        let place = Workplace { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.scratch()).unwrap();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder for temporary files of all that is called here.
    pub fn scratch(&self) -> PathBuf {
        self.path("scratch")
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// `unsnarl` with these words, ready to be started. Findings are tried out only where that is asked for.
    pub fn unsnarl(&self, words: &str) -> Command {
        let mut command = Command::new(UNSNARL);
        let mut words = words.split_whitespace();
        let first = words.next();
        let rest: Vec<&str> = words.collect();
        let runs = matches!(first, Some("run" | "cargo")) && !rest.contains(&"--confirm");
        command.args(first).args(runs.then_some("--no-confirm")).args(rest);
        self.settle(&mut command);
        command
    }

    pub fn settle(&self, command: &mut Command) {
        clean_environment(command);
        command.current_dir(self.folder.path()).env("TMPDIR", self.scratch()).stdin(Stdio::null());
    }

    /// Calls `unsnarl` with these words.
    pub fn call(&self, words: &str) -> Seen {
        Seen::of(words, self.unsnarl(words).output().unwrap())
    }

    /// Has a shell do something, which must succeed, and gives what it printed.
    #[track_caller]
    pub fn shell(&self, line: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.settle(&mut command);
        Seen::of(line, command.output().unwrap()).exits(0).stdout
    }

    /// Writes a program, compiles it with `compiler`, and gives its path.
    pub fn compile(&self, compiler: &str, name: &str, source: &str) -> PathBuf {
        self.write(&format!("{name}.c"), source);
        self.shell(&format!("{compiler} -g -O1 -pthread {name}.c -o {name}"));
        self.path(name)
    }

    /// Makes a session of ten runs, the even ones of which fail.
    pub fn claims_session(&self, name: &str) {
        let claims = claims().display().to_string();
        self.call(&format!(
            "run --session {name} --seed 7 --jobs 1 --runs 10 -- {claims} {name}.count 2 exit"
        ))
        .exits(0);
    }

    /// The lines of a session's list of runs.
    pub fn runs(&self, session: &str) -> Vec<Value> {
        let list = fs::read_to_string(self.path(&format!(".unsnarl/{session}/runs.jsonl"))).unwrap();
        list.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What became of a session's runs, in their order.
    pub fn outcomes(&self, session: &str) -> Vec<String> {
        self.runs(session).iter().map(|run| run["outcome"].as_str().unwrap().to_owned()).collect()
    }
}

/// The caller's own settings must not reach what is tested.
fn clean_environment(command: &mut Command) {
    for name in ["UNSNARL_CC", "UNSNARL_CXX", "NO_COLOR", "CC", "CXX", "CFLAGS", "MAKEFLAGS", "LD_PRELOAD"] {
        command.env_remove(name);
    }
    command.env("XDG_CACHE_HOME", cache()).env("LC_ALL", "C");
}

/// Lasts from one test run to the next, in the build folder.
fn cache() -> &'static Path {
    Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/cli"))
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub struct Seen {
    words: String,
    code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Seen {
    pub fn of(words: &str, output: Output) -> Seen {
        let text = |bytes| String::from_utf8(bytes).expect("everything printed is UTF-8");
        Seen {
            words: words.to_owned(),
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Seen {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// All these phrases are on standard output, line breaks aside.
    #[track_caller]
    pub fn says(self, phrases: &[&str]) -> Seen {
        self.has(&self.stdout, phrases);
        self
    }

    /// All these phrases are on standard error.
    #[track_caller]
    pub fn complains(self, phrases: &[&str]) -> Seen {
        self.has(&self.stderr, phrases);
        self
    }

    #[track_caller]
    fn has(&self, text: &str, phrases: &[&str]) {
        let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = in_one_line(text);
        for phrase in phrases {
            assert!(text.contains(&in_one_line(phrase)), "`{phrase}` is missing\n{self}");
        }
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Seen { words, code, stdout, stderr } = self;
        write!(f, "$ {words}\n{stdout}{stderr}exit code {code:?}")
    }
}

/// The program that most tests run: see its first lines for its arguments.
pub fn claims() -> PathBuf {
    compiled("claims", CLAIMS)
}

pub const CLAIMS: &str = include_str!("programs/claims.c");

/// The same as a library, without a `main` of its own.
pub fn claims_library() -> String {
    CLAIMS.replace("int main(", "int claims_main(")
}

/// The `main` for it.
pub const CALLS_CLAIMS: &str =
    "int claims_main(int, char **);\nint main(int argc, char **argv) { return claims_main(argc, argv); }\n";

/// The number of the line of `claims` that ends with this comment.
pub fn claims_line(comment: &str) -> u64 {
    let comment = format!("/* {comment} */");
    let index = CLAIMS.lines().position(|line| line.ends_with(&comment));
    1 + index.unwrap_or_else(|| panic!("no line ends with {comment}")) as u64
}

/// A program built by `unsnarl cc`, once for each build of `unsnarl`. Nothing is ever replaced: other processes of
/// these tests might be running it, and the recordings of a program whose file is gone have no names.
pub fn compiled(name: &str, source: &str) -> PathBuf {
    let folder = cache().join(build_of(source));
    let program = folder.join(name);
    if !program.exists() {
        fs::create_dir_all(&folder).unwrap();
        let (source_file, beside) = (format!("{name}.c"), format!("{name}.{}", unique()));
        // The source stays there for reports to quote.
        put(&folder.join(&source_file), |file| fs::write(file, source).unwrap());
        let mut compiler = Command::new(UNSNARL);
        compiler.args(["cc", "-g", "-O1", "-pthread", &source_file, "-o", &beside]);
        compiler.current_dir(&folder);
        clean_environment(&mut compiler);
        put(&program, |file| {
            Seen::of(name, compiler.output().unwrap()).exits(0);
            fs::rename(folder.join(&beside), file).unwrap();
        });
    }
    program
}

/// Makes a file in one step, unless somebody was first.
fn put(path: &Path, make: impl FnOnce(&Path)) {
    let beside = path.with_extension(format!("new.{}", unique()));
    make(&beside);
    match fs::hard_link(&beside, path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            panic!("{}: {error}", path.display())
        }
        _ => fs::remove_file(beside).unwrap(),
    }
}

fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Names what comes of a source with this build of `unsnarl`.
fn build_of(source: &str) -> String {
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    fs::metadata(UNSNARL).unwrap().modified().unwrap().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Waits for something that is sure to come.
#[track_caller]
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The living processes with this text in their command line.
pub fn processes_with(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit())
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(mark))
        .collect()
}

/// Is this tool there? Says so if not, since a test that was left out should be seen.
pub fn present(tool: &str) -> bool {
    let found = is_present(tool);
    if !found {
        skip(&format!("there is no {tool}"));
    }
    found
}

/// Is this tool there?
pub fn is_present(tool: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(tool).is_file())
}

/// Says that a test was left out, past the test harness, which shows nothing of tests that pass.
pub fn skip(why: &str) {
    use std::io::Write as _;
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}

/// Is the recorder linked into this file?
pub fn carries_recorder(file: &Path) -> bool {
    let symbols = Command::new("nm").arg(file).output().unwrap().stdout;
    String::from_utf8_lossy(&symbols).contains("unsnarl_recorder_version")
}
