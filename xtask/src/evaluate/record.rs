//! Records the runs of a corpus program, through unsnarl's command line: for a first time, and then on as long as there are
//! not enough. What is recorded is not recorded again unless the program or the plan changed.

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
const PILOT_RUNS: usize = 20;

/// A pilot is looked at after so many runs each time.
const PILOT_ROUND: usize = 5;

/// A pilot ends early if so many more runs have ended one way than the other. A program that fails in half of its runs
/// may come to this by chance, and is well off with either level.
const CLEAR_LEAD: usize = 5;

/// A pilot takes at most this share of the time, and a level is left only if as much as [`ENOUGH_TIME`] remains.
const PILOT_TIME: f64 = 0.2;

/// The share of the time that the next level must have to be tried. A pilot that met a hang has used up most of a short time.
const ENOUGH_TIME: f64 = 0.6;

/// More attempts than this at the wanted number of passing runs are not made.
const ATTEMPTS: u32 = 6;

/// The file beside the sessions that tells of them.
const NAME: &str = "record.json";

/// How to record, and how much.
#[derive(Clone, Serialize, Deserialize, PartialEq, Eq, Debug)]
pub struct Plan {
    pub failing: u32,
    pub passing: u32,
    /// The first time, no run begins after so many seconds.
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
    /// How many sessions there were, those with too much noise included.
    made: u64,
    /// How long all of it took.
    seconds: f64,
}

/// All runs of a program.
pub struct Recording {
    pub pool: Pool,
    /// The level of noise.
    pub noise: String,
    /// Tells these runs from any others.
    pub fingerprint: u64,
    /// How long it took to make them.
    pub seconds: f64,
    plan: Plan,
}

/// Records a program into `folder`, or takes what is there.
pub fn record(tool: &Tool, program: &Path, folder: &Path, plan: &Plan) -> anyhow::Result<Recording> {
    let hash = hash_of_file(program)?;
    let known = Record::read(folder).ok().filter(|record| record.plan == *plan && record.program == hash);
    if let Some(known) = known {
        return known.recording();
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot delete {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let time = Duration::from_secs(plan.seconds);
    let mut recorder = Recorder { tool, program, folder, plan, begun: Instant::now(), time, made: 0 };
    let level = recorder.record()?;
    let (made, seconds) = (recorder.made, recorder.begun.elapsed().as_secs_f64());
    let (noise, sessions) = (level.noise.to_owned(), level.sessions);
    Record { plan: plan.clone(), program: hash, noise, sessions, made, seconds }.keep(folder)
}

/// Makes the runs that the recording of a program in `folder` still lacks, as far as `time` allows.
pub fn go_on(tool: &Tool, program: &Path, folder: &Path, time: Duration) -> anyhow::Result<Recording> {
    let mut record = Record::read(folder)?;
    let pool = Pool::of(&record.sessions)?;
    let mut level = Level {
        noise: LEVELS[position(&record.noise)?],
        sessions: std::mem::take(&mut record.sessions),
        failing: pool.failing.len(),
        passing: pool.passing.len(),
    };
    let (plan, begun, made) = (&record.plan, Instant::now(), record.made);
    let mut recorder = Recorder { tool, program, folder, plan, begun, time, made };
    recorder.fill(&mut level)?;
    let (made, seconds) = (recorder.made, record.seconds + begun.elapsed().as_secs_f64());
    Record { sessions: level.sessions, made, seconds, ..record }.keep(folder)
}

/// What was recorded into `folder` before, of whatever version of the program.
pub fn recorded(folder: &Path) -> anyhow::Result<Recording> {
    Record::read(folder)?.recording()
}

impl Record {
    fn read(folder: &Path) -> anyhow::Result<Record> {
        let path = folder.join(NAME);
        let text = fs::read(&path).with_context(|| {
            format!("there is no {}: `cargo xtask evaluate` records what can be looked at", path.display())
        })?;
        serde_json::from_slice(&text).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Writes it down in `folder`, where the sessions are.
    fn keep(self, folder: &Path) -> anyhow::Result<Recording> {
        let path = folder.join(NAME);
        fs::write(&path, serde_json::to_string(&self)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        self.recording()
    }

    fn recording(self) -> anyhow::Result<Recording> {
        let pool = Pool::of(&self.sessions)?;
        let mut hasher = DefaultHasher::new();
        (self.program, serde_json::to_string(&self.plan)?, pool.len()).hash(&mut hasher);
        let fingerprint = hasher.finish();
        Ok(Recording { pool, noise: self.noise, fingerprint, seconds: self.seconds, plan: self.plan })
    }
}

impl Recording {
    /// How many more seconds it will probably take to have enough runs of both kinds; nothing if there are enough.
    pub fn lacks(&self) -> Option<f64> {
        let Plan { failing, passing, .. } = self.plan;
        let kinds = [(self.pool.failing.len(), failing), (self.pool.passing.len(), passing)];
        kinds
            .into_iter()
            .filter_map(|(runs, wanted)| seconds_until(wanted, runs, self.seconds))
            .reduce(f64::max)
    }
}

/// How long it takes until there are as many runs of a kind as wanted, if there were so many in so many seconds. What has not
/// been seen at all may be about to be.
fn seconds_until(wanted: u32, runs: usize, seconds: f64) -> Option<f64> {
    let missing = (wanted as usize).saturating_sub(runs);
    (missing > 0).then(|| seconds * missing as f64 / (runs as f64).max(0.5))
}

/// Where a level of noise is among all of them.
fn position(noise: &str) -> anyhow::Result<usize> {
    let position = LEVELS.iter().position(|level| *level == noise);
    position.with_context(|| format!("unknown noise `{noise}`: choose from {LEVELS:?}"))
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
    /// No run begins after this.
    time: Duration,
    /// Sessions so far, those with too much noise included: each has a seed of its own.
    made: u64,
}

impl Recorder<'_> {
    /// The best of the levels of noise, with its runs.
    fn record(&mut self) -> anyhow::Result<Level> {
        let first = position(&self.plan.noise)?;
        let mut left: Vec<Level> = Vec::new();
        for (nth, noise) in LEVELS.iter().enumerate().skip(first) {
            let mut level = Level { noise, sessions: Vec::new(), failing: 0, passing: 0 };
            let leave = self.pilot(&mut level)? && nth + 1 < LEVELS.len();
            if !leave {
                self.fill(&mut level)?;
            }
            left.push(level);
            if !leave {
                break;
            }
        }
        // The last level may have been a bad idea: what a pilot has made before is then the better recording.
        let worth = |level: &Level| level.worth(self.plan);
        let best =
            left.into_iter().reduce(|best, next| if worth(&next) < worth(&best) { best } else { next });
        best.context("there is no level of noise to record with")
    }

    /// Makes the first runs with a level of noise, and says whether it is to be left for the next.
    fn pilot(&mut self, level: &mut Level) -> anyhow::Result<bool> {
        let begun = self.begun.elapsed();
        loop {
            let [time, spent] = [self.left(), self.begun.elapsed() - begun].map(|time| time.as_secs_f64());
            let whole = self.time.as_secs_f64();
            let share = PILOT_TIME * whole - spent;
            match level.judge(share <= 0.0, time >= ENOUGH_TIME * whole) {
                Judgement::Unsure => {
                    let time = Duration::from_secs_f64(share.min(time).max(0.0));
                    self.session(level, &["--runs", &PILOT_ROUND.to_string()], time)?;
                }
                judgement => return Ok(judgement == Judgement::Leave),
            }
        }
    }

    /// Makes the runs that a level's pilot has not made yet.
    fn fill(&mut self, level: &mut Level) -> anyhow::Result<()> {
        let missing = (self.plan.failing as usize).saturating_sub(level.failing);
        if missing > 0 && !self.is_over() {
            self.session(level, &["--until-failures", &missing.to_string()], self.left())?;
        }
        for _ in 0..ATTEMPTS {
            let missing = (self.plan.passing as usize).saturating_sub(level.passing);
            if missing == 0 || self.is_over() {
                break;
            }
            let runs = missing * (level.failing + level.passing).max(1) / level.passing.max(1);
            self.session(level, &["--runs", &runs.max(missing).to_string()], self.left())?;
        }
        Ok(())
    }

    fn left(&self) -> Duration {
        self.time.saturating_sub(self.begun.elapsed())
    }

    fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// Makes one more session with a level of noise, in which no run begins after `time`.
    fn session(&mut self, level: &mut Level, limit: &[&str], time: Duration) -> anyhow::Result<()> {
        self.made += 1;
        let session = self.folder.join(format!("session-{}", self.made));
        if session.exists() {
            // Somebody stopped the evaluation before this one was done.
            fs::remove_dir_all(&session).with_context(|| format!("cannot delete {}", session.display()))?;
        }
        let mut unsnarl = self.tool.command();
        unsnarl.args(["run", "--no-confirm", "--session"]).arg(&session).args(limit);
        unsnarl.args(["--schedule", "free"]);
        unsnarl.args(["--time", &format!("{}ms", time.as_millis().max(1))]);
        unsnarl.args(["--seed", &(self.plan.seed + self.made - 1).to_string(), "--noise", level.noise]);
        unsnarl.args(["--timeout", &format!("{}s", self.plan.timeout_seconds)]);
        // What the run itself has to say is not looked at.
        unsnarl.args(["--technique", "avio", "--findings", "1"]);
        healthy(unsnarl.arg("--").arg(self.program))?;
        let pool = Pool::of(std::slice::from_ref(&session))?;
        level.failing += pool.failing.len();
        level.passing += pool.passing.len();
        level.sessions.push(session);
        Ok(())
    }
}

/// What was recorded with one level of noise.
struct Level {
    noise: &'static str,
    sessions: Vec<PathBuf>,
    failing: usize,
    passing: usize,
}

/// What a pilot has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    /// More of its runs are to be made.
    Unsure,
    Stay,
    /// Most runs fail: less noise gives more passing runs.
    Leave,
}

impl Level {
    /// What is to be made of the pilot so far, if its share of the time is over, and if there is time for another level.
    fn judge(&self, is_over: bool, is_time_left: bool) -> Judgement {
        let runs = self.failing + self.passing;
        let is_clear = self.failing.abs_diff(self.passing) >= CLEAR_LEAD || runs >= PILOT_RUNS;
        if self.sessions.is_empty() || !(is_over || is_clear) {
            Judgement::Unsure
        } else if self.failing > self.passing && is_time_left {
            Judgement::Leave
        } else {
            Judgement::Stay
        }
    }

    /// How much of what is wanted was recorded: of what there is less of, then of both.
    fn worth(&self, plan: &Plan) -> (f64, f64) {
        let share = |runs: usize, wanted: u32| (runs as f64 / f64::from(wanted.max(1))).min(1.0);
        let failing = if plan.failing == 0 { 1.0 } else { share(self.failing, plan.failing) };
        let passing = share(self.passing, plan.passing);
        (failing.min(passing), failing + passing)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn level(failing: usize, passing: usize) -> Level {
        Level { noise: "high", sessions: vec![PathBuf::new()], failing, passing }
    }

    #[test]
    fn a_pilot_goes_on_until_it_is_clear_or_its_time_is_over() {
        let judge = |failing, passing| level(failing, passing).judge(false, true);
        assert_eq!(judge(4, 1), Judgement::Unsure);
        assert_eq!(judge(5, 0), Judgement::Leave);
        assert_eq!(judge(0, 5), Judgement::Stay);
        assert_eq!(judge(9, 6), Judgement::Unsure);
        assert_eq!(judge(11, 9), Judgement::Leave);
        assert_eq!(judge(10, 10), Judgement::Stay);
        assert_eq!(level(2, 1).judge(true, true), Judgement::Leave);
        assert_eq!(level(1, 2).judge(true, true), Judgement::Stay);
        let nothing = Level { sessions: Vec::new(), ..level(0, 0) };
        assert_eq!(nothing.judge(true, true), Judgement::Unsure, "one session is always made");
    }

    #[test]
    fn it_takes_as_long_again_for_as_many_more() {
        assert_eq!(seconds_until(25, 5, 4.0), Some(16.0));
        assert_eq!(seconds_until(25, 0, 4.0), Some(200.0));
        assert_eq!(seconds_until(25, 25, 4.0), None);
        assert_eq!(seconds_until(0, 0, 4.0), None);
    }

    #[test]
    fn a_level_is_left_only_with_time_for_another() {
        for failing in [1, 5, 20] {
            assert_eq!(level(failing, 0).judge(true, false), Judgement::Stay);
        }
    }

    #[test]
    fn what_has_both_kinds_of_runs_is_worth_more() {
        let plan = Plan {
            failing: 25,
            passing: 100,
            seconds: 4,
            seed: 1,
            noise: "high".to_owned(),
            timeout_seconds: 2,
        };
        let worth = |failing, passing| level(failing, passing).worth(&plan);
        assert!(worth(12, 8) > worth(0, 1));
        assert!(worth(12, 8) > worth(0, 500), "without a failing run nothing can be told");
        assert!(worth(25, 100) > worth(25, 99));
        assert_eq!(worth(25, 100), worth(80, 300));
        let fixed = Plan { failing: 0, ..plan };
        assert!(level(0, 90).worth(&fixed) > level(0, 20).worth(&fixed));
    }
}
