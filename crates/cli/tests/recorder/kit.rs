//! Compiles a program given as text, runs it under the recorder, and decodes what it recorded.
//!
//! A line of the program is named by a comment at its end: `counter++; //@increment` is the site `increment`.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt as _, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use recording::{Damage, Recording};
use tempfile::TempDir;

use crate::history::Process;

/// Where the build left both forms of the recorder.
pub const RECORDERS: &str = env!("OUT_DIR");
/// No test program runs nearly this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a program is linked with the recorder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// As gcc links it: the recorder takes the place of `libtsan.so.2`.
    Shared,
    /// With the recorder inside the program.
    Static,
    /// As `unsnarl cc` and `unsnarl c++` build it.
    Unsnarl,
}

/// A compiled test program in a folder of its own.
pub struct Program {
    folder: TempDir,
    pub path: PathBuf,
    source: String,
    plan: String,
    environment: Vec<(OsString, OsString)>,
    directory: OnceCell<PathBuf>,
    launcher: Vec<String>,
}

/// What a test program may be compiled with.
pub struct Compiler {
    language: &'static str,
    /// For the language, if it is not gcc's.
    program: Option<&'static str>,
    link: Link,
    flags: Vec<String>,
}

impl Compiler {
    pub fn c() -> Compiler {
        Compiler { language: "c", program: None, link: Link::Shared, flags: Vec::new() }
    }

    pub fn cpp() -> Compiler {
        Compiler { language: "c++", ..Compiler::c() }
    }

    pub fn link(mut self, link: Link) -> Compiler {
        self.link = link;
        self
    }

    /// C by another compiler, with the recorder inside the program.
    pub fn other(program: &'static str) -> Compiler {
        let flags = "-Wno-unknown-warning-option -mllvm -tsan-instrument-read-before-write=1";
        Compiler { program: Some(program), link: Link::Static, ..Compiler::c() }.flags(flags)
    }

    /// A wholly static program by `unsnarl cc` or `unsnarl c++`, which is told to call this compiler.
    pub fn wholly_static(self, program: &'static str, flag: &str) -> Compiler {
        Compiler { program: Some(program), link: Link::Unsnarl, ..self }.flags(flag)
    }

    /// More flags, separated by blanks.
    pub fn flags(mut self, flags: &str) -> Compiler {
        self.flags.extend(flags.split_whitespace().map(str::to_owned));
        self
    }

    pub fn program(&self, source: &str) -> Program {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("program");
        self.build(source, folder.path(), &path, &[]);
        Program {
            folder,
            path,
            source: source.to_owned(),
            plan: "seed=1,noise=off".to_owned(),
            environment: Vec::new(),
            directory: OnceCell::new(),
            launcher: Vec::new(),
        }
    }

    /// Compiles the source to `output`; `more` are further files to link.
    pub fn build(&self, source: &str, folder: &Path, output: &Path, more: &[&Path]) {
        let name = output.file_stem().expect("an output has a name").to_string_lossy().into_owned();
        let text = folder.join(format!("{name}.{}", if self.language == "c" { "c" } else { "cc" }));
        fs::write(&text, source).expect("the source is written");
        let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorder/kit.h");
        let mut command = self.command();
        command.arg("-include").arg(kit).args(&self.flags).arg("-o");
        match self.link {
            Link::Shared | Link::Unsnarl => {
                command.arg(output).arg(&text).args(more);
                run_tool(&mut command);
            }
            Link::Static => {
                let object = folder.join(format!("{name}.o"));
                command.arg(&object).arg("-c").arg(&text);
                run_tool(&mut command);
                let mut link = Command::new(self.name());
                link.args(&self.flags).arg("-o").arg(output).arg(&object).args(more);
                link.arg("-Wl,--whole-archive").arg(Path::new(RECORDERS).join("libunsnarl_runtime.a"));
                link.args(["-Wl,--no-whole-archive", "-pthread"]);
                run_tool(&mut link);
            }
        }
    }

    pub fn is_c(&self) -> bool {
        self.language == "c"
    }

    fn name(&self) -> &'static str {
        self.program.unwrap_or(if self.is_c() { "gcc" } else { "g++" })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.name());
        if self.link == Link::Unsnarl {
            command = Command::new(env!("CARGO_BIN_EXE_unsnarl"));
            command.arg(if self.is_c() { "cc" } else { "c++" });
            if let Some(program) = self.program {
                command.args(["--with", program]);
            }
        }
        command.args(["-fsanitize=thread", "-g", "-O1", "-Wall", "-Werror", "-pthread"]);
        // The programs are wrong on purpose.
        command.args(["-Wno-use-after-free", "-Wno-unused-function", "-Wno-infinite-recursion"]);
        command
    }
}

/// A C program with the shared recorder.
pub fn c(source: &str) -> Program {
    Compiler::c().program(source)
}

/// A C++ program with the shared recorder.
pub fn cpp(source: &str) -> Program {
    Compiler::cpp().program(source)
}

/// Says that a test was left out, past the test harness, which shows nothing of tests that pass.
pub fn skip(why: &str) {
    use std::io::Write as _;
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}

fn run_tool(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}

impl Program {
    /// Other than `seed=1,noise=off`.
    pub fn plan(mut self, plan: &str) -> Program {
        self.plan = plan.to_owned();
        self
    }

    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Program {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// From here on in a folder of their own.
    pub fn with_own_recordings(mut self) -> Program {
        let number =
            self.directory.get().map_or(0, |_| 1 + fs::read_dir(self.folder()).map_or(0, Iterator::count));
        let directory = self.folder().join(format!("recordings-{number}"));
        fs::create_dir(&directory).expect("a folder for recordings");
        self.directory = OnceCell::from(directory);
        self
    }

    /// Where recordings go, if not into the program's folder.
    pub fn record_into(self, directory: &Path) -> Program {
        self.directory.set(directory.to_owned()).expect("set once");
        self
    }

    /// Started by another program, which is given the path behind these words.
    pub fn launched_by(mut self, words: &[&str]) -> Program {
        self.launcher = words.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// The folder that the program lies and runs in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where its recordings are.
    pub fn directory(&self) -> &Path {
        self.directory.get_or_init(|| {
            let directory = self.folder().join("recordings");
            fs::create_dir(&directory).expect("a folder for recordings");
            directory
        })
    }

    /// Starts it with these arguments.
    pub fn start(&self, arguments: &[&str]) -> Running<'_> {
        let out = |name: &str| File::create(self.folder().join(name)).expect("a file for output");
        let mut command = match self.launcher.split_first() {
            Some((launcher, words)) => {
                let mut command = Command::new(launcher);
                command.args(words).arg(&self.path);
                command
            }
            None => Command::new(&self.path),
        };
        if self.plan.contains("schedule=") {
            // As the runner does: what a controlled run records is the same every time, addresses included.
            // SAFETY: a system call is all that happens between fork and exec.
            unsafe {
                command.pre_exec(|| {
                    libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
                    Ok(())
                });
            }
        }
        let child = command
            .args(arguments)
            .current_dir(self.folder())
            .env("LD_LIBRARY_PATH", RECORDERS)
            .env("UNSNARL_DIR", self.directory())
            .env("UNSNARL_PLAN", &self.plan)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(out("stdout"))
            .stderr(out("stderr"))
            .spawn()
            .expect("the program starts");
        Running { program: self, child }
    }

    /// Runs it to its end.
    pub fn run(&self) -> Finished<'_> {
        self.start(&[]).finish()
    }

    /// Runs it to its end, which must be exit code 0 without a word on stderr.
    pub fn run_well(&self) -> Finished<'_> {
        let finished = self.run();
        finished.expect_success();
        assert_eq!(finished.stderr(), "");
        finished
    }

    /// Runs it; it must succeed and leave exactly one recording.
    pub fn record(&self) -> Process<'_> {
        self.run_well().only_process()
    }

    /// The marker of a source line, counted from 1.
    pub fn marker(&self, line: u32) -> Option<&str> {
        let text = self.source.lines().nth(line.checked_sub(1)? as usize)?;
        text.split_once("//@").map(|(_, marker)| marker.trim())
    }

    fn recordings(&self) -> Vec<Recording> {
        let entries = fs::read_dir(self.directory()).expect("recordings can be listed");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "raw"));
        paths.sort();
        paths.iter().filter_map(|path| decode(path)).collect()
    }
}

/// None if the process has not begun, or not managed, to record.
fn decode(path: &Path) -> Option<Recording> {
    let file = File::open(path).expect("a recording opens");
    if file.metadata().expect("a recording's length").len() == 0 {
        return None;
    }
    // SAFETY: the recorder never shortens its file.
    let raw = unsafe { memmap2::Mmap::map(&file) }.expect("a recording maps");
    match recording::compact(&raw) {
        Ok(compact) => Some(recording::parse(&compact).expect("a recording decodes")),
        Err(Damage::NotARecording) => None,
        Err(damage) => panic!("{}: {damage}", path.display()),
    }
}

/// A program under way.
pub struct Running<'p> {
    program: &'p Program,
    child: Child,
}

impl<'p> Running<'p> {
    /// Waits for its end.
    pub fn finish(mut self) -> Finished<'p> {
        let status = self.wait_until("it ends", |running| running.child.try_wait().expect("it is our child"));
        Finished { program: self.program, status, recordings: self.program.recordings() }
    }

    /// Waits until its recordings, read while it runs, look as told, and kills it.
    pub fn kill_once(mut self, what: &str, looks_so: impl Fn(&[Recording]) -> bool) -> Finished<'p> {
        self.wait_until(what, |running| looks_so(&running.program.recordings()).then_some(()));
        self.child.kill().expect("it can be killed");
        self.finish()
    }

    /// Shows what is on record whenever it stops itself, and lets it go on; it must end well.
    pub fn look_at_each_stop(self, mut look: impl FnMut(&[Recording])) {
        let process = self.child.id() as libc::pid_t;
        loop {
            let mut status = 0;
            // SAFETY: fills in the status of our own child.
            let changed = unsafe { libc::waitpid(process, &mut status, libc::WUNTRACED) };
            assert_eq!(changed, process);
            look(&self.program.recordings());
            if !libc::WIFSTOPPED(status) {
                let ended_well = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
                assert!(ended_well, "ended with status {status:#x}");
                return;
            }
            // SAFETY: a child that is stopped is there still.
            unsafe { libc::kill(process, libc::SIGCONT) };
        }
    }

    fn wait_until<T>(&mut self, what: &str, mut happened: impl FnMut(&mut Self) -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(result) = happened(self) {
                return result;
            }
            if begun.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("waited in vain until {what}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// A program that has ended, and what it left.
pub struct Finished<'p> {
    pub program: &'p Program,
    pub status: ExitStatus,
    pub recordings: Vec<Recording>,
}

impl<'p> Finished<'p> {
    pub fn stdout(&self) -> String {
        self.text("stdout")
    }

    pub fn stderr(&self) -> String {
        self.text("stderr")
    }

    fn text(&self, name: &str) -> String {
        let bytes = fs::read(self.program.folder().join(name)).expect("its output");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub fn expect_success(&self) {
        assert!(self.status.success(), "{}: {}", self.status, self.stderr());
    }

    pub fn expect_signal(&self, signal: i32) {
        assert_eq!(self.status.signal(), Some(signal), "{}: {}", self.status, self.stderr());
    }

    /// The only process that was recorded.
    pub fn only_process(mut self) -> Process<'p> {
        assert_eq!(self.recordings.len(), 1, "recordings; stderr: {}", self.stderr());
        Process::new(self.program, self.recordings.remove(0))
    }

    /// All processes that were recorded: parents before their children, then by pid (numbers start over some day,
    /// so that a child's may be the lower), then by program executed.
    pub fn processes(mut self) -> Vec<Process<'p>> {
        let program = self.program;
        let parents: BTreeMap<u32, u32> = self
            .recordings
            .iter()
            .map(|recording| (recording.header.pid, recording.header.parent_pid))
            .collect();
        let generation = |pid| {
            std::iter::successors(Some(pid), |pid| parents.get(pid).copied()).take(parents.len() + 1).count()
        };
        self.recordings.sort_by_key(|recording| (generation(recording.header.pid), recording.header.pid));
        self.recordings.into_iter().map(|recording| Process::new(program, recording)).collect()
    }
}
