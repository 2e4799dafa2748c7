//! `cargo xtask jdk`: the Java platform itself under the agent. All of its classes must pass the verifier with hooks
//! in them, its compiler must compile as it does without, and its concurrency library must neither hang nor go wrong. What
//! went well is not tried again with the same unsnarl and the same JDK, so that the trials can be stopped and taken up again.

use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use tempfile::TempDir;

use crate::document::{self, head, row};
use crate::ledger::Ledger;
use crate::tool::Tool;
use crate::workspace::{self, output_of, run_quietly};

#[derive(clap::Args)]
pub struct Arguments {
    /// Try only this
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(TRIALS.map(|trial| trial.name)))]
    only: Option<String>,
    /// The JDK [default: that of `javac`]
    #[arg(long, value_name = "FOLDER")]
    home: Option<PathBuf>,
    /// The sources of the JDK's compiler [default: the JDK's own src.zip, as in package openjdk-17-source]
    #[arg(long, value_name = "ZIP")]
    sources: Option<PathBuf>,
    /// How often to run the concurrency library's program
    #[arg(long, default_value_t = 1000)]
    runs: u32,
    /// This unsnarl [default: built for release]
    #[arg(long, value_name = "PROGRAM")]
    tool: Option<PathBuf>,
    /// Also try again what went well before
    #[arg(long)]
    anew: bool,
    /// Put the table into docs/jvm.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

/// Flags for what takes long.
const ONE_RUN: &[&str] = &["--seed", "1", "--runs", "1", "--noise", "off", "--timeout", "60m"];

struct Trial {
    name: &'static str,
    task: &'static str,
    /// Says what came out, in a few words.
    run: fn(&mut Jdk) -> anyhow::Result<String>,
}

const TRIALS: [Trial; 3] = [
    Trial {
        name: "classes",
        task: "all classes of the platform, with all hooks, are linked under `-Xverify:all`",
        run: classes,
    },
    Trial {
        name: "compiler",
        task: "`javac`, instrumented, compiles its whole module to the same bytes",
        run: compiler,
    },
    Trial {
        name: "stress",
        task: "xtask/jdk/Stress.java: parallel streams, executors, futures, barriers, queues",
        run: stress,
    },
];

pub fn jdk(arguments: &Arguments) -> anyhow::Result<()> {
    let mut jdk = Jdk::find(arguments)?;
    let mut table = head(&["trial", "task", "result"]);
    let mut failed = Vec::new();
    for trial in TRIALS.iter().filter(|trial| arguments.only.as_deref().is_none_or(|name| name == trial.name))
    {
        eprintln!("{}: {}", trial.name, trial.task);
        let result = jdk.once(trial.name, trial.run).unwrap_or_else(|error| {
            failed.push(trial.name);
            format!("FAILED: {error:#}").replace('\n', " ")
        });
        eprintln!("{}: {result}", trial.name);
        table += &row(&[trial.name.to_owned(), trial.task.to_owned(), result]);
    }
    let text = format!("{} on {} by `cargo xtask jdk`.\n\n{table}", jdk.version, document::today());
    println!("{text}");
    if arguments.write {
        document::update(&workspace::root().join("docs/jvm.md"), "jdk", &text)?;
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// A JDK, and what it is tried with.
struct Jdk {
    tool: Tool,
    home: PathBuf,
    sources: PathBuf,
    runs: u32,
    folder: TempDir,
    /// As in `OpenJDK 17.0.21`.
    version: String,
    /// Of the unsnarl that is tried.
    fingerprint: u64,
    went_well: Ledger<String>,
}

impl Jdk {
    fn find(arguments: &Arguments) -> anyhow::Result<Jdk> {
        let home = match &arguments.home {
            Some(home) => home.clone(),
            None => {
                let javac =
                    output_of(Command::new("sh").args(["-c", "readlink -f \"$(command -v javac)\""]))?;
                let bin = Path::new(javac.trim()).parent().and_then(Path::parent);
                bin.filter(|home| home.join("bin/javac").exists()).context("there is no javac")?.to_owned()
            }
        };
        let sources = arguments.sources.clone().unwrap_or_else(|| home.join("lib/src.zip"));
        let tool = match &arguments.tool {
            Some(program) => Tool::given(program)?,
            None => Tool::build()?,
        };
        let scratch = workspace::scratch("jdk")?;
        let folder = tempfile::tempdir_in(&scratch)?;
        let version = version(&home)?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&fs::read(tool.program())?);
        let fingerprint = hasher.finish();
        let went_well = Ledger::open(&scratch, "went-well", arguments.anew)?;
        Ok(Jdk { tool, home, sources, runs: arguments.runs, folder, version, fingerprint, went_well })
    }

    /// The result of a trial that need not be made again once it has gone well.
    fn once(
        &mut self,
        trial: &str,
        run: impl FnOnce(&mut Jdk) -> anyhow::Result<String>,
    ) -> anyhow::Result<String> {
        let key = format!("{:x} {} {} {trial}", self.fingerprint, self.version, self.runs);
        if let Some(result) = self.went_well.get(&key) {
            return Ok(result.clone());
        }
        let result = run(self)?;
        self.went_well.put(&key, result.clone())?;
        Ok(result)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// Compiles a program that lies in xtask/jdk, and gives the command that runs it.
    fn compiled(&self, name: &str) -> anyhow::Result<Command> {
        let source = workspace::root().join(format!("xtask/jdk/{name}.java"));
        run_quietly(Command::new(self.program("javac")).arg("-d").arg(self.folder.path()).arg(source))?;
        let mut java = Command::new(self.program("java"));
        java.args(["-Xverify:all", "--add-modules", "ALL-SYSTEM", "-cp"]).arg(self.folder.path()).arg(name);
        Ok(java)
    }

    /// Runs a command under the agent, with these flags; no run may fail. With `same_output`, all runs must print what
    /// it prints without the agent.
    fn record(&self, flags: &[&str], command: &Command, same_output: bool) -> anyhow::Result<()> {
        // It stays if anything goes wrong.
        let session = workspace::scratch("jdk")?.join("session");
        drop(fs::remove_dir_all(&session));
        let mut unsnarl = self.tool.command();
        unsnarl.arg("run").arg("--session").arg(&session).args(flags);
        if same_output {
            let expected = self.folder.path().join("expected");
            let mut plain = Command::new(command.get_program());
            fs::write(&expected, output_of(plain.args(command.get_args()))?)?;
            unsnarl.arg("--expect-stdout").arg(expected);
        }
        unsnarl.arg("--").arg(command.get_program()).args(command.get_args());
        let output = unsnarl.output().context("cannot start unsnarl")?;
        const NO_RUN_FAILED: i32 = 10;
        let said = String::from_utf8_lossy(&output.stderr);
        let told = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.code() == Some(NO_RUN_FAILED), "{}: {said}\n{told}", output.status);
        Ok(fs::remove_dir_all(&session)?)
    }
}

/// As in `OpenJDK 17.0.21`.
fn version(home: &Path) -> anyhow::Result<String> {
    let said = output_of(Command::new(home.join("bin/java")).arg("--version"))?;
    let words = said.lines().next().unwrap_or_default().split(' ').take(2);
    Ok(words.map(|word| word.replace("openjdk", "OpenJDK")).collect::<Vec<_>>().join(" "))
}

fn classes(jdk: &mut Jdk) -> anyhow::Result<String> {
    let load_all = jdk.compiled("LoadAll")?;
    jdk.record(&[ONE_RUN, &["--include", "**"]].concat(), &load_all, true)?;
    let linked = fs::read_to_string(jdk.folder.path().join("expected"))?;
    Ok(format!(
        "{} linked, none refused that is not refused without hooks",
        linked.lines().next().unwrap_or_default()
    ))
}

fn compiler(jdk: &mut Jdk) -> anyhow::Result<String> {
    let (source, plain, recorded) = (
        jdk.folder.path().join("source"),
        jdk.folder.path().join("plain"),
        jdk.folder.path().join("recorded"),
    );
    for folder in [&source, &plain, &recorded] {
        drop(fs::remove_dir_all(folder));
        fs::create_dir_all(folder)?;
    }
    ensure!(jdk.sources.exists(), "there is no {} (package openjdk-17-source)", jdk.sources.display());
    let jar = jdk.program("jar");
    run_quietly(Command::new(jar).arg("xf").arg(&jdk.sources).arg("jdk.compiler").current_dir(&source))?;
    let files = output_of(Command::new("find").arg(&source).args(["-name", "*.java"]))?;
    let list = jdk.folder.path().join("files");
    fs::write(&list, &files)?;
    let command = |out: &Path| {
        let mut java = Command::new(jdk.program("java"));
        java.args(["-Xverify:all", "-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-g"]);
        java.arg("--patch-module").arg(format!("jdk.compiler={}", source.join("jdk.compiler").display()));
        java.arg("-d").arg(out).arg(format!("@{}", list.display()));
        java
    };
    run_quietly(&mut command(&plain))?;
    jdk.record(&[ONE_RUN, &["--include", "com.sun.tools.**"]].concat(), &command(&recorded), false)?;
    run_quietly(Command::new("diff").arg("-rq").arg(&plain).arg(&recorded))?;
    let classes = output_of(Command::new("find").arg(&recorded).args(["-name", "*.class"]))?;
    Ok(format!(
        "{} source files, {} class files, all the same",
        files.lines().count(),
        classes.lines().count()
    ))
}

fn stress(jdk: &mut Jdk) -> anyhow::Result<String> {
    let stress = jdk.compiled("Stress")?;
    /// Ways to run it, which take turns.
    const WAYS: [&[&str]; 4] = [
        &["--noise", "high", "--schedule", "free"],
        &["--schedule", "random"],
        &["--schedule", "pct"],
        &["--schedule", "pos"],
    ];
    /// Runs at a time.
    const BATCH: u32 = 25;
    let batches = jdk.runs.div_ceil(BATCH);
    for (batch, way) in (0..batches).zip(WAYS.into_iter().cycle()) {
        let (seed, runs) = (batch.to_string(), BATCH.to_string());
        let flags = [way, &["--seed", &seed, "--runs", &runs, "--jobs", "2", "--timeout", "2m"]].concat();
        let words = flags.join(" ");
        jdk.once(&format!("stress {words}"), |jdk| {
            eprintln!("stress: {words}");
            jdk.record(&flags, &stress, true).map(|()| String::new())
        })
        .context(words.clone())?;
    }
    Ok(format!("{} runs, no hang, no difference", batches * BATCH))
}
