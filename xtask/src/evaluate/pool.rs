//! All recorded runs of a program, and the smaller sessions that are drawn from them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use runner::{Outcome, RunNumber, RunRecord, Session};
use serde::{Deserialize, Serialize};

use super::report::Runs;

/// A run in one of the sessions.
#[derive(Clone, Debug)]
pub struct Run {
    pub record: RunRecord,
    pub file: PathBuf,
}

/// All runs that count.
pub struct Pool {
    pub failing: Vec<Run>,
    pub passing: Vec<Run>,
    damaged: u64,
    manifest: PathBuf,
    /// When the first session began.
    pub started: String,
}

/// How many runs to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Size {
    pub failing: usize,
    pub passing: usize,
}

impl Pool {
    pub fn of(sessions: &[PathBuf]) -> anyhow::Result<Pool> {
        let first = sessions.first().context("no session was recorded")?;
        let started = Session::open(first)?.manifest().started.clone();
        let manifest = first.join("manifest.json");
        let mut pool = Pool { failing: Vec::new(), passing: Vec::new(), damaged: 0, manifest, started };
        for folder in sessions {
            let session = Session::open(folder)?;
            for record in session.runs() {
                let run = Run { record: record.clone(), file: session.run_path(record.run) };
                match &record.outcome {
                    Outcome::Pass => pool.passing.push(run),
                    Outcome::Fail { .. } | Outcome::Hang => pool.failing.push(run),
                    Outcome::Damaged { .. } => pool.damaged += 1,
                }
            }
        }
        Ok(pool)
    }

    /// How the runs ended.
    pub fn runs(&self) -> Runs {
        let hung = self.failing.iter().filter(|run| run.record.outcome == Outcome::Hang).count() as u64;
        let (failed, passed) = (self.failing.len() as u64, self.passing.len() as u64);
        Runs { passed, failed, hung, damaged: self.damaged }
    }

    pub fn len(&self) -> usize {
        self.failing.len() + self.passing.len()
    }

    /// All runs in the order in which they were recorded.
    pub fn in_order(&self) -> Vec<&Run> {
        let mut runs: Vec<&Run> = self.failing.iter().chain(&self.passing).collect();
        runs.sort_by(|a, b| a.file.cmp(&b.file));
        runs
    }

    /// Runs at random, the first `size` of an order that depends on `seed` alone: a smaller draw with the same seed is
    /// part of a larger one. Fewer if there are not enough.
    pub fn draw(&self, size: Size, seed: u64) -> Vec<Run> {
        let mut runs: Vec<Run> = shuffled(&self.failing, seed).take(size.failing).collect();
        runs.extend(shuffled(&self.passing, seed).take(size.passing));
        runs
    }

    /// Runs at random of which `failing` are said to have failed though they passed: failures without a cause.
    pub fn draw_blind(&self, size: Size, seed: u64) -> Vec<Run> {
        let mut runs: Vec<Run> = shuffled(&self.passing, seed).take(size.failing + size.passing).collect();
        for run in runs.iter_mut().take(size.failing) {
            run.record.outcome = Outcome::Fail { reason: "bad luck".to_owned() };
        }
        runs
    }

    /// Makes a session of some runs. Their order is that of recording, as if the others had never been made.
    pub fn session(&self, folder: &Path, mut runs: Vec<Run>) -> anyhow::Result<()> {
        runs.sort_by(|a, b| a.file.cmp(&b.file));
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot delete {}", folder.display()))?;
        }
        let run_folder = folder.join("runs");
        fs::create_dir_all(&run_folder).with_context(|| format!("cannot create {}", run_folder.display()))?;
        fs::copy(&self.manifest, folder.join("manifest.json")).context("cannot copy the manifest")?;
        let mut list = String::new();
        for (number, Run { record, file }) in (1..).zip(runs) {
            let link = run_folder.join(format!("{number:06}.run"));
            fs::hard_link(&file, &link).with_context(|| format!("cannot link {}", file.display()))?;
            list += &serde_json::to_string(&RunRecord { run: RunNumber(number), ..record })?;
            list.push('\n');
        }
        fs::write(folder.join("runs.jsonl"), list).context("cannot write the list of runs")
    }
}

fn shuffled(runs: &[Run], seed: u64) -> impl Iterator<Item = Run> {
    let mut order: Vec<(u64, usize)> = (0..runs.len()).map(|index| (scramble(seed, index), index)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, index)| runs[index].clone())
}

/// A number at random for each seed and index: the finalizer of splitmix64, the same on every machine.
fn scramble(seed: u64, index: usize) -> u64 {
    let mix = |mut bits: u64| {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    mix(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_add(index as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u32, outcome: Outcome) -> Run {
        let record = RunRecord {
            run: RunNumber(number),
            plan: String::new(),
            outcome,
            seconds: 0.0,
            processes: 1,
            warnings: Vec::new(),
        };
        Run { record, file: format!("{number}").into() }
    }

    fn pool(failing: u32, passing: u32) -> Pool {
        let failed = || Outcome::Fail { reason: "it failed".to_owned() };
        Pool {
            failing: (0..failing).map(|number| run(number, failed())).collect(),
            passing: (failing..failing + passing).map(|number| run(number, Outcome::Pass)).collect(),
            damaged: 0,
            manifest: PathBuf::new(),
            started: String::new(),
        }
    }

    fn numbers(runs: &[Run]) -> Vec<u32> {
        let mut numbers: Vec<u32> = runs.iter().map(|run| run.record.run.0).collect();
        numbers.sort_unstable();
        numbers
    }

    #[test]
    fn a_draw_has_the_size_asked_for_and_grows_by_more_runs() {
        let pool = pool(30, 120);
        let small = numbers(&pool.draw(Size { failing: 1, passing: 25 }, 7));
        let large = numbers(&pool.draw(Size { failing: 5, passing: 100 }, 7));
        assert_eq!((small.len(), large.len()), (26, 105));
        assert!(small.iter().all(|run| large.contains(run)));
        assert_eq!(small.iter().filter(|&&run| run < 30).count(), 1);
        assert_ne!(small, numbers(&pool.draw(Size { failing: 1, passing: 25 }, 8)));
        assert_eq!(pool.draw(Size { failing: 50, passing: 500 }, 7).len(), 150);
    }

    #[test]
    fn blind_failures_are_passing_runs() {
        let blind = pool(3, 40).draw_blind(Size { failing: 5, passing: 20 }, 1);
        assert!(blind.iter().all(|run| run.record.run.0 >= 3));
        assert_eq!(blind.iter().filter(|run| run.record.outcome.is_failing()).count(), 5);
        assert_eq!(blind.len(), 25);
    }

    #[test]
    fn a_draw_is_a_session_like_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = runner::Store::new(folder.path());
        let manifest = runner::Manifest::new(vec!["./test".to_owned()], Default::default(), 7, Vec::new());
        let mut recorded = store.create("recorded", manifest).unwrap();
        for number in 1..=6 {
            let outcome = if number % 3 == 0 { Outcome::Hang } else { Outcome::Pass };
            let Run { record, .. } = run(number, outcome);
            let process = runner::ProcessRecording { pid: number, bytes: vec![number as u8] };
            runner::RunFile { record: record.clone(), processes: vec![process] }
                .write(&recorded.run_path(record.run))
                .unwrap();
            recorded.add(record).unwrap();
        }
        let pool = Pool::of(&[recorded.folder().to_owned()]).unwrap();
        assert_eq!((pool.failing.len(), pool.passing.len(), pool.runs().hung), (2, 4, 2));
        for drawn in [
            pool.draw(Size { failing: 1, passing: 2 }, 1),
            pool.draw_blind(Size { failing: 1, passing: 2 }, 1),
        ] {
            pool.session(&folder.path().join("drawn"), drawn.clone()).unwrap();
            let session = store.open("drawn").unwrap();
            let listed: Vec<u32> = session.runs().iter().map(|record| record.run.0).collect();
            assert_eq!(listed, [1, 2, 3]);
            assert_eq!(session.runs().iter().filter(|record| record.outcome.is_failing()).count(), 1);
            assert_eq!(session.manifest().seed, 7);
            // In the order of recording, each with its own recording.
            let pids: Vec<u32> = session
                .runs()
                .iter()
                .map(|record| session.load(record.run).unwrap().processes[0].pid)
                .collect();
            assert_eq!(pids, numbers(&drawn));
        }
    }
}
