//! The command line.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use localize::{Formula, Technique};
use recording::Noise;

use crate::search::Scheduling;
use crate::{confirm, exit};

/// Finds the thread interleaving that makes your flaky test fail.
#[derive(Parser)]
#[command(version, propagate_version = true, after_help = exit::CODES_HELP)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run a test many times and say which interleaving makes it fail
    Run(RunArguments),
    /// Build and localize a shipped buggy program
    Demo(DemoArguments),
    /// Look at a session again, with another technique or in another format
    Report(ReportArguments),
    /// Show one finding in full
    Show(ShowArguments),
    /// Show one run step by step, in thread columns
    Trace(TraceArguments),
    /// Report on parts of a session's runs, as a plan on standard input says
    #[command(hide = true)]
    Draws(DrawsArguments),
    /// Find out whether a finding is the cause, by forcing and by forbidding its interleaving
    Confirm(ConfirmArguments),
    /// Make a failing run happen again: the same threads in the same order
    Replay(ReplayArguments),
    /// Find out whether it still fails, after a fix or in CI: saved schedules and causes, tried again
    Check(CheckArguments),
    /// List, merge, export, import or delete sessions
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Run a flaky test of a Rust package many times: cargo unsnarl test NAME (also: build, run, bench, nextest)
    Cargo(CargoArguments),
    /// Print a shell's completions: source <(unsnarl completions bash)
    Completions(CompletionsArguments),
    /// Print the manual pages: unsnarl man | man -l -
    Man,
    /// Compile C for recording: a drop-in for gcc or, --with clang, for clang, as in CC="unsnarl cc" make; --loops tells
    /// iterations of loops apart
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Cc(CompileArguments),
    /// Compile C++ for recording: a drop-in for g++ or, --with clang++, for clang++
    #[command(name = "c++", disable_help_flag = true, disable_version_flag = true)]
    Cxx(CompileArguments),
}

impl RunArguments {
    /// Findings to try out.
    pub fn confirmed(&self) -> usize {
        if self.no_confirm { 0 } else { self.confirm }
    }

    /// What these words would mean behind `unsnarl run`.
    pub fn of(words: impl IntoIterator<Item = OsString>) -> RunArguments {
        let line = ["unsnarl", "run"].map(OsString::from).into_iter().chain(words);
        match Arguments::parse_from(line).command {
            Command::Run(arguments) => arguments,
            _ => unreachable!("`run` is parsed as Run"),
        }
    }
}

#[derive(Args, Clone)]
pub struct RunArguments {
    #[command(flatten)]
    pub limits: LimitArguments,
    #[command(flatten)]
    pub oracle: OracleArguments,
    #[command(flatten)]
    pub ranking: RankingArguments,
    #[command(flatten)]
    pub java: JavaArguments,
    /// Where to keep the session: a name within .unsnarl, or a path [default: the program's name]
    #[arg(long, value_name = "NAME|PATH")]
    pub session: Option<PathBuf>,
    /// How many of the first findings to try out by further runs, in which they are forced and forbidden
    #[arg(long, value_name = "FINDINGS", default_value_t = confirm::FINDINGS)]
    pub confirm: usize,
    /// Try out no finding by further runs
    #[arg(long, conflicts_with = "confirm")]
    pub no_confirm: bool,
    /// Also write the JSON report to this file (- for standard output)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// What each run reads from its standard input [default: the file that unsnarl's own comes from, else nothing]
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// The test and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    pub command: Vec<OsString>,
    /// What `cargo unsnarl` was told to do, where cargo has built the test.
    #[arg(skip)]
    pub cargo_words: Vec<OsString>,
    /// What makes `cargo unsnarl` build the test anew.
    #[arg(skip)]
    pub build_words: Vec<OsString>,
}

#[derive(Args)]
pub struct CargoArguments {
    /// The flags of `unsnarl run`, then cargo's command with its arguments
    #[command(flatten)]
    pub run: RunArguments,
}

#[derive(Args, Clone)]
#[command(next_help_heading = "How the runs are made")]
pub struct LimitArguments {
    /// Stop after this many runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Stop after this many failing runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub until_failures: Option<u32>,
    /// Begin no run after this time, as in 60s or 10m [default: enough runs of both kinds, at most a minute]
    #[arg(long, value_name = "BUDGET", value_parser = time_span)]
    pub time: Option<Duration>,
    /// Runs at the same time [default: as many as there are processors, or 1 if these get in each other's way]
    #[arg(long, value_name = "N", value_parser = some)]
    pub jobs: Option<NonZeroUsize>,
    /// What all random choices come from [default: chosen anew, and shown]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How strongly to disturb the schedule: off, low, medium or high
    #[arg(long, value_name = "LEVEL", default_value_t, value_parser = noise)]
    pub noise: Noise,
    /// Who decides which thread runs when: mixed (all of these but bounded, more often what makes the test fail), free
    /// (the operating system, disturbed by noise); or unsnarl, one thread at a time: random (at random wherever threads
    /// meet), pct (by priorities that change a few times), pos (by priorities of accesses that conflict), near (pos and,
    /// once a run has failed, runs that begin like it), surw (all orders of some accesses equally likely), bounded:K (all
    /// schedules with up to K preemptions, for small tests)
    #[arg(long, value_name = "NAME", default_value_t)]
    pub schedule: Scheduling,
    /// With mixed: neither go for orders of accesses that no run has shown, nor begin like runs that failed, nor try a suspect out early
    #[arg(long)]
    pub undirected: bool,
    /// Look at this share of all accesses only, as in 0.01 or 1%, in bursts: for tests that time out otherwise. Most of a
    /// failure's occurrences go unseen, so it takes more runs
    #[arg(long, value_name = "RATE", value_parser = share_of_accesses)]
    pub sample: Option<AccessesInAMillion>,
    /// Let sleeps and time-outs take no time, where the schedule is not free
    #[arg(long)]
    pub skip_sleeps: bool,
    /// Megabytes of events that one run may record before repeated ones are left out
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..4096))]
    pub budget: u64,
}

#[derive(Args, Clone)]
#[command(next_help_heading = "What counts as failing")]
pub struct OracleArguments {
    /// A run that takes longer has hung, which counts as failing; once one has, others need only take many times longer
    /// than those that pass
    #[arg(long, value_name = "T", value_parser = time_span, default_value = "30s")]
    pub timeout: Duration,
    /// A run that prints this regular expression has failed
    #[arg(long, value_name = "REGEX")]
    pub fail_regex: Option<String>,
    /// A run whose standard output differs from this file has failed
    #[arg(long, value_name = "FILE")]
    pub expect_stdout: Option<PathBuf>,
    /// A run after which this shell command succeeds has failed; stands in for the exit status
    #[arg(long, value_name = "CMD")]
    pub fail_if: Option<OsString>,
}

impl OracleArguments {
    /// Whether a run is judged by how it ends alone.
    pub fn is_exit_status(&self) -> bool {
        self.fail_regex.is_none() && self.expect_stdout.is_none() && self.fail_if.is_none()
    }
}

#[derive(Args, Clone)]
#[command(next_help_heading = "Java, and loops")]
pub struct JavaArguments {
    /// Java: also look into these classes of the platform, as in java.util.** or java.util.Vector
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    pub include: Vec<String>,
    /// Java, and Rust behind cargo: tell iterations of loops apart, for Locon's third level; costs time at every iteration
    #[arg(long)]
    pub loops: bool,
    /// Run this JUnit test alone; the command is java, mvn or gradle without a test of its own
    #[arg(long, value_name = "CLASS[#TEST]")]
    pub junit: Option<String>,
}

#[derive(Args, Clone)]
#[command(next_help_heading = "How suspects are found and ranked")]
pub struct RankingArguments {
    /// How to find suspects: verdict, falcon, unicorn, griffin, recon, bugaboo, locon, avio, defuse, cci or pset [default: verdict]
    #[arg(long, value_name = "NAME")]
    pub technique: Option<Technique>,
    /// How to score them: jaccard, tarantula, ochiai, dstar, op2 or barinel
    #[arg(long, value_name = "NAME", default_value_t)]
    pub formula: Formula,
    /// Accesses per location that are looked at together
    #[arg(long, value_name = "N", default_value = "5")]
    pub window: NonZeroUsize,
    /// How far apart two pairs of accesses may be to form one pattern over two variables
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub distance: usize,
    /// Findings to keep in the report
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub findings: usize,
}

#[derive(Args)]
pub struct DemoArguments {
    /// Where to put the program and its session
    #[arg(long, value_name = "FOLDER", default_value = "unsnarl-demo")]
    pub folder: PathBuf,
    /// What all random choices come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

#[derive(Args)]
pub struct CompletionsArguments {
    /// Whose completions
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub struct ReportArguments {
    /// The session: a name within .unsnarl, or a path [default: the newest]
    #[arg(long, value_name = "NAME|PATH")]
    pub session: Option<PathBuf>,
    #[command(flatten)]
    pub ranking: RankingArguments,
    /// Write the JSON report to this file instead (- for standard output)
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", conflicts_with = "format")]
    pub json: Option<PathBuf>,
    /// What the report is to look like
    #[arg(long, value_enum, default_value_t)]
    pub format: ReportFormat,
    /// Write it to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What a whole report can look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// The first screen
    #[default]
    Terminal,
    /// One self-contained page
    Html,
    /// For pasting into an issue
    Markdown,
    /// SARIF 2.1.0, for editors and code scanning
    Sarif,
    /// All of it as data
    Json,
}

/// What one finding can look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FindingFormat {
    /// Text
    #[default]
    Terminal,
    /// For pasting into an issue
    Markdown,
    /// Its picture
    Svg,
    /// Its graph, for Graphviz
    Dot,
}

#[derive(Args)]
pub struct ShowArguments {
    /// Number of the finding, as in the list
    #[arg(default_value_t = 1)]
    pub finding: usize,
    /// The session: a name within .unsnarl, or a path [default: the newest]
    #[arg(long, value_name = "NAME|PATH")]
    pub session: Option<PathBuf>,
    #[command(flatten)]
    pub ranking: RankingArguments,
    /// What it is to look like
    #[arg(long, value_enum, default_value_t)]
    pub format: FindingFormat,
    /// Write it to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct TraceArguments {
    /// Number of the run [default: the first that failed]
    pub run: Option<u32>,
    /// The session: a name within .unsnarl, or a path [default: the newest]
    #[arg(long, value_name = "NAME|PATH")]
    pub session: Option<PathBuf>,
    /// Only this thread: its number, or a part of its name; may be given more than once
    #[arg(long, value_name = "THREAD")]
    pub thread: Vec<String>,
    /// Only variables and locks with this in their names; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub variable: Vec<String>,
    /// Only steps in files with this in their paths; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub file: Vec<String>,
    /// The first step to show
    #[arg(long, value_name = "STEP", default_value_t = 1)]
    pub from: u64,
    /// The last step to show
    #[arg(long, value_name = "STEP")]
    pub to: Option<u64>,
}

#[derive(Args)]
pub struct DrawsArguments {
    /// The session: a name within .unsnarl, or a path [default: the newest]
    #[arg(long, value_name = "NAME|PATH")]
    pub session: Option<PathBuf>,
}

#[derive(Args)]
pub struct ConfirmArguments {
    /// Number of the finding, as in the list
    #[arg(default_value_t = 1)]
    pub finding: usize,
    /// The session: a name within .unsnarl, or a path [default: the newest]
    #[arg(long, value_name = "NAME|PATH")]
    pub session: Option<PathBuf>,
    /// Runs of each kind at most
    #[arg(long, value_name = "N", default_value_t = confirm::RUNS, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Begin no run after this time, as in 60s or 10m
    #[arg(long, value_name = "BUDGET", value_parser = time_span)]
    pub time: Option<Duration>,
    /// Also find the smallest set of orders that makes the test fail
    #[arg(long)]
    pub minimize: bool,
    #[command(flatten)]
    pub ranking: RankingArguments,
}

#[derive(Args)]
pub struct ReplayArguments {
    /// Number of the run [default: the first failing one]
    pub run: Option<u32>,
    /// The session: a name within .unsnarl, or a path [default: the newest]
    #[arg(long, value_name = "NAME|PATH")]
    pub session: Option<PathBuf>,
    /// How often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub times: u32,
    /// In the debugger: stop before the first access of a finding, all other threads held where they are
    #[arg(long, conflicts_with = "times")]
    pub gdb: bool,
    /// Find out when the run became certain to fail: begin like it, go on at random; the report shows it
    #[arg(long, conflicts_with_all = ["times", "gdb"])]
    pub outlook: bool,
    /// With --outlook: how long
    #[arg(long, value_name = "BUDGET", value_parser = time_span, default_value = "60s")]
    pub time: Duration,
    /// With --gdb: which finding [default: the first that the run shows]
    #[arg(long, value_name = "N", requires = "gdb")]
    pub finding: Option<usize>,
    #[command(flatten)]
    pub ranking: RankingArguments,
    /// The test and its arguments, if they are not what they were
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

#[derive(Args)]
pub struct CheckArguments {
    /// The session: a name within .unsnarl, or a path [default: the newest]
    #[arg(long, value_name = "NAME|PATH")]
    pub session: Option<PathBuf>,
    /// Runs for each cause
    #[arg(long, value_name = "N", default_value_t = confirm::RUNS, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    #[command(flatten)]
    pub ranking: RankingArguments,
    /// The test and its arguments, if they are not what they were
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

#[derive(Subcommand)]
pub enum SessionsCommand {
    /// List the sessions in .unsnarl
    List,
    /// Delete a session
    Delete {
        /// Its name
        name: String,
    },
    /// Put the runs of several sessions of one program together
    Merge {
        /// Name of the new session
        name: String,
        /// The sessions: names or paths
        #[arg(required = true, num_args = 2..)]
        sessions: Vec<PathBuf>,
    },
    /// Write a session to one file
    Export {
        /// The session: a name or a path
        session: PathBuf,
        /// The file to write
        file: PathBuf,
    },
    /// Read a session from a file that `export` wrote
    Import {
        /// The file
        file: PathBuf,
    },
}

#[derive(Args)]
pub struct CompileArguments {
    /// Everything is passed on to the compiler
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, num_args = 0..)]
    pub arguments: Vec<OsString>,
}

fn time_span(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("no time at all is too short".to_owned()),
        Ok(span) => Ok(span),
        Err(_) => Err("say it as in 500ms, 60s or 10m".to_owned()),
    }
}

fn some(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "it has to be 1 or more".to_owned())
}

/// A share of all accesses.
#[derive(Clone, Copy)]
pub struct AccessesInAMillion(pub u32);

impl std::fmt::Display for AccessesInAMillion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (f64::from(self.0) / 1e6).fmt(f)
    }
}

fn share_of_accesses(text: &str) -> Result<AccessesInAMillion, String> {
    let (number, whole) = text.strip_suffix('%').map_or((text, 1e6), |number| (number, 1e4));
    match number.trim().parse::<f64>().map(|number| (number * whole).round()) {
        Ok(share @ 1.0..1e6) => Ok(AccessesInAMillion(share as u32)),
        _ => {
            Err("say it as in 0.01 or 1%: more than nothing, less than all, in steps of a millionth"
                .to_owned())
        }
    }
}

fn noise(text: &str) -> Result<Noise, String> {
    let known = Noise::ALL.map(Noise::name).join(", ");
    text.parse().map_err(|_| format!("unknown level `{text}` (known: {known})"))
}
