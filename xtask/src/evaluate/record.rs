//! Records the runs of a corpus program, through unsnarl's command line. What is recorded is not recorded again unless
//! the program or the plan changed.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use super::pool::Pool;
use crate::tool::Tool;

/// Exit codes that tell of a session as it should be: a finding, no failing run, no passing run, nothing that tells
/// them apart.
const HEALTHY: [i32; 4] = [0, 10, 11, 12];

/// Levels of noise, falling. A program that fails in most runs is recorded with less of it: passing runs are as dear.
const LEVELS: [&str; 4] = ["high", "medium", "low", "off"];

/// Runs after which a level of noise is judged.
const PILOT_RUNS: u32 = 20;

/// More attempts than this at the wanted number of passing runs are not made.
const ATTEMPTS: u32 = 6;

/// How to record, and how much.
#[derive(Clone, Serialize, Deserialize, PartialEq, Eq, Debug)]
pub struct Plan {
    pub failing: u32,
    pub passing: u32,
    /// No run begins after so many seconds.
    pub seconds: u64,
    pub seed: u64,
    /// The level of noise to begin with.
    pub noise: String,
    /// When a run counts as hung.
    pub timeout_seconds: u32,
}

/// What was recorded, and of what. Written when all is done.
#[derive(Serialize, Deserialize)]
struct Record {
    plan: Plan,
    /// Of the program's bytes.
    program: u64,
    noise: String,
    sessions: Vec<PathBuf>,
}

/// All runs of a program.
pub struct Recording {
    pub pool: Pool,
    /// The level of noise.
    pub noise: String,
    /// Tells these runs from any others.
    pub fingerprint: u64,
}

/// Records a program into `folder`, or takes what is there.
pub fn record(tool: &Tool, program: &Path, folder: &Path, plan: &Plan) -> anyhow::Result<Recording> {
    let hash = hash_of_file(program)?;
    let path = folder.join("record.json");
    let known = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Record>(&text).ok());
    let record = match known.filter(|record| record.plan == *plan && record.program == hash) {
        Some(record) => record,
        None => {
            if folder.exists() {
                fs::remove_dir_all(folder).with_context(|| format!("cannot delete {}", folder.display()))?;
            }
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            let (sessions, noise) = Recorder::new(tool, program, folder, plan).record()?;
            let record = Record { plan: plan.clone(), program: hash, noise, sessions };
            fs::write(&path, serde_json::to_string(&record)?)
                .with_context(|| format!("cannot write {}", path.display()))?;
            record
        }
    };
    record.recording()
}

/// What was recorded into `folder` before, of whatever version of the program.
pub fn recorded(folder: &Path) -> anyhow::Result<Recording> {
    let path = folder.join("record.json");
    let text = fs::read(&path).with_context(|| {
        format!("there is no {}: `cargo xtask evaluate` records what can be looked at", path.display())
    })?;
    let record: Record =
        serde_json::from_slice(&text).with_context(|| format!("cannot read {}", path.display()))?;
    record.recording()
}

impl Record {
    fn recording(self) -> anyhow::Result<Recording> {
        let pool = Pool::of(&self.sessions)?;
        let mut hasher = DefaultHasher::new();
        (self.program, serde_json::to_string(&self.plan)?, pool.len()).hash(&mut hasher);
        Ok(Recording { pool, noise: self.noise, fingerprint: hasher.finish() })
    }
}

/// A number for a file's content. Other versions of Rust may give another one: then work is done again.
pub fn hash_of_file(path: &Path) -> anyhow::Result<u64> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Ok(hasher.finish())
}

/// One program being recorded.
struct Recorder<'a> {
    tool: &'a Tool,
    program: &'a Path,
    folder: &'a Path,
    plan: &'a Plan,
    begun: Instant,
    /// Sessions so far, those with too much noise included: each has a seed of its own.
    made: u64,
}

impl<'a> Recorder<'a> {
    fn new(tool: &'a Tool, program: &'a Path, folder: &'a Path, plan: &'a Plan) -> Self {
        Recorder { tool, program, folder, plan, begun: Instant::now(), made: 0 }
    }

    /// The sessions and their level of noise.
    fn record(mut self) -> anyhow::Result<(Vec<PathBuf>, String)> {
        let first = LEVELS
            .iter()
            .position(|level| *level == self.plan.noise)
            .with_context(|| format!("unknown noise `{}`: choose from {LEVELS:?}", self.plan.noise))?;
        let mut noise = first;
        let pilot = loop {
            let session = self.session(LEVELS[noise], &["--runs", &PILOT_RUNS.to_string()])?;
            let pool = Pool::of(std::slice::from_ref(&session))?;
            if pool.failing.len() <= pool.passing.len() || noise + 1 == LEVELS.len() {
                break session;
            }
            noise += 1;
        };
        let noise = LEVELS[noise];
        let mut sessions = vec![pilot];
        let missing = self.plan.failing as usize;
        let missing = missing.saturating_sub(Pool::of(&sessions)?.failing.len());
        if missing > 0 && !self.is_over() {
            sessions.push(self.session(noise, &["--until-failures", &missing.to_string()])?);
        }
        for _ in 0..ATTEMPTS {
            let pool = Pool::of(&sessions)?;
            let missing = (self.plan.passing as usize).saturating_sub(pool.passing.len());
            if missing == 0 || self.is_over() {
                break;
            }
            let runs = missing * pool.len().max(1) / pool.passing.len().max(1);
            sessions.push(self.session(noise, &["--runs", &runs.max(missing).to_string()])?);
        }
        Ok((sessions, noise.to_owned()))
    }

    fn is_over(&self) -> bool {
        self.begun.elapsed() >= Duration::from_secs(self.plan.seconds)
    }

    fn session(&mut self, noise: &str, limit: &[&str]) -> anyhow::Result<PathBuf> {
        self.made += 1;
        let session = self.folder.join(format!("session-{}", self.made));
        let left = Duration::from_secs(self.plan.seconds).saturating_sub(self.begun.elapsed());
        let mut unsnarl = self.tool.command();
        unsnarl.args(["run", "--no-confirm", "--session"]).arg(&session).args(limit);
        unsnarl.args(["--schedule", "free"]);
        unsnarl.args(["--time", &format!("{}ms", left.as_millis().max(1))]);
        unsnarl.args(["--seed", &(self.plan.seed + self.made - 1).to_string(), "--noise", noise]);
        unsnarl.args(["--timeout", &format!("{}s", self.plan.timeout_seconds)]);
        // What the run itself has to say is not looked at.
        unsnarl.args(["--technique", "avio", "--findings", "1"]);
        healthy(unsnarl.arg("--").arg(self.program))?;
        Ok(session)
    }
}

/// Runs unsnarl, which must end as it should.
pub fn healthy(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if output.status.code().is_none_or(|code| !HEALTHY.contains(&code)) {
        bail!("{command:?} failed: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
