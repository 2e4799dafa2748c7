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
    /// With its number in the pool, which grows in the order of recording.
    pub record: RunRecord,
    pub file: PathBuf,
}

/// Some runs of a pool, by number, and how they are said to have ended.
#[derive(Clone, Debug, Serialize)]
pub struct Draw {
    pub failing: Vec<RunNumber>,
    pub passing: Vec<RunNumber>,
    /// The techniques whose findings are explained.
    pub explained: Vec<String>,
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
                    Outcome::Fail { .. } | Outcome::Hang { .. } => pool.failing.push(run),
                    Outcome::Damaged { .. } => pool.damaged += 1,
                }
            }
        }
        let mut in_order: Vec<&mut Run> = pool.failing.iter_mut().chain(&mut pool.passing).collect();
        in_order.sort_by(|a, b| a.file.cmp(&b.file));
        (1..).zip(in_order).for_each(|(number, run)| run.record.run = RunNumber(number));
        Ok(pool)
    }

    /// How the runs ended.
    pub fn runs(&self) -> Runs {
        let hung = self.failing.iter().filter(|run| run.record.outcome.is_hang()).count() as u64;
        let (failed, passed) = (self.failing.len() as u64, self.passing.len() as u64);
        Runs { passed, failed, hung, damaged: self.damaged }
    }

    pub fn len(&self) -> usize {
        self.failing.len() + self.passing.len()
    }

    /// All runs in the order in which they were recorded.
    pub fn in_order(&self) -> Vec<&Run> {
        let mut runs: Vec<&Run> = self.failing.iter().chain(&self.passing).collect();
        runs.sort_by_key(|run| run.record.run);
        runs
    }

    /// Every run, as it ended.
    pub fn all(&self) -> Draw {
        Draw { failing: numbers(&self.failing), passing: numbers(&self.passing), explained: Vec::new() }
    }

    /// Runs at random, the first `size` of an order that depends on `seed` alone: a smaller draw with the same seed is
    /// part of a larger one. Fewer if there are not enough.
    pub fn draw(&self, size: Size, seed: u64) -> Draw {
        let [mut failing, mut passing] = [&self.failing, &self.passing].map(|runs| shuffled(runs, seed));
        failing.truncate(size.failing);
        passing.truncate(size.passing);
        Draw { failing, passing, explained: Vec::new() }
    }

    /// Runs at random of which `failing` are said to have failed though they passed: failures without a cause.
    pub fn draw_blind(&self, size: Size, seed: u64) -> Draw {
        let mut failing = shuffled(&self.passing, seed);
        let mut passing = failing.split_off(size.failing.min(failing.len()));
        passing.truncate(size.passing);
        Draw { failing, passing, explained: Vec::new() }
    }

    /// Runs as they might have come, each of them any of the pool's with the same chance.
    pub fn sequence(&self, length: usize, seed: u64) -> Vec<RunNumber> {
        let runs = self.len();
        let any = |nth| RunNumber((scramble(seed, nth) % runs.max(1) as u64) as u32 + 1);
        (0..if runs == 0 { 0 } else { length }).map(any).collect()
    }

    /// Makes a session of some runs, as if the others had never been made.
    pub fn session(&self, folder: &Path, draw: &Draw) -> anyhow::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot delete {}", folder.display()))?;
        }
        let run_folder = folder.join("runs");
        fs::create_dir_all(&run_folder).with_context(|| format!("cannot create {}", run_folder.display()))?;
        fs::copy(&self.manifest, folder.join("manifest.json")).context("cannot copy the manifest")?;
        let mut list = String::new();
        for Run { record, file } in self.in_order() {
            let number = record.run;
            if draw.failing.contains(&number) || draw.passing.contains(&number) {
                let link = run_folder.join(format!("{:06}.run", number.0));
                fs::hard_link(file, &link).with_context(|| format!("cannot link {}", file.display()))?;
                list += &serde_json::to_string(record)?;
                list.push('\n');
            }
        }
        fs::write(folder.join("runs.jsonl"), list).context("cannot write the list of runs")
    }
}

fn numbers(runs: &[Run]) -> Vec<RunNumber> {
    runs.iter().map(|run| run.record.run).collect()
}

fn shuffled(runs: &[Run], seed: u64) -> Vec<RunNumber> {
    let mut order: Vec<(u64, RunNumber)> =
        runs.iter().enumerate().map(|(index, run)| (scramble(seed, index), run.record.run)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, run)| run).collect()
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
            said: None,
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

    #[test]
    fn a_draw_has_the_size_asked_for_and_grows_by_more_runs() {
        let pool = pool(30, 120);
        let small = pool.draw(Size { failing: 1, passing: 25 }, 7);
        let large = pool.draw(Size { failing: 5, passing: 100 }, 7);
        assert_eq!(
            [&small, &large].map(|draw| (draw.failing.len(), draw.passing.len())),
            [(1, 25), (5, 100)]
        );
        assert!(large.failing.starts_with(&small.failing) && large.passing.starts_with(&small.passing));
        assert!(large.failing.iter().all(|run| run.0 < 30) && large.passing.iter().all(|run| run.0 >= 30));
        assert_ne!(small.passing, pool.draw(Size { failing: 1, passing: 25 }, 8).passing);
        let most = pool.draw(Size { failing: 50, passing: 500 }, 7);
        assert_eq!((most.failing.len(), most.passing.len()), (30, 120));
    }

    #[test]
    fn blind_failures_are_passing_runs() {
        let blind = pool(3, 40).draw_blind(Size { failing: 5, passing: 20 }, 1);
        assert_eq!((blind.failing.len(), blind.passing.len()), (5, 20));
        let mut runs = [blind.failing, blind.passing].concat();
        assert!(runs.iter().all(|run| run.0 >= 3));
        runs.sort_unstable();
        runs.dedup();
        assert_eq!(runs.len(), 25);
        assert_eq!(pool(0, 3).draw_blind(Size { failing: 5, passing: 20 }, 1).failing.len(), 3);
    }

    #[test]
    fn sessions_with_nothing_to_find_are_different_ones() {
        use super::super::analyse::blind_draws;
        let count = |failing, passing, draw_runs| blind_draws(&pool(failing, passing), draw_runs, 1).len();
        assert_eq!(count(60, 300, Pool::draw), 6);
        assert_eq!(count(0, 300, Pool::draw_blind), 6);
        // One draw has the only failing run and all passing ones, and so have all others.
        assert_eq!(count(1, 40, Pool::draw), 1);
        assert_eq!(count(0, 40, Pool::draw), 0, "there is nothing to compare");
        assert_eq!(count(0, 1, Pool::draw_blind), 0);
    }

    #[test]
    fn a_sequence_has_failing_runs_as_often_as_the_pool() {
        let sequence = pool(30, 90).sequence(4000, 3);
        let failing = sequence.iter().filter(|run| run.0 <= 30).count();
        assert!((900..1100).contains(&failing), "{failing}");
        assert!(sequence.iter().all(|run| (1..=120).contains(&run.0)));
        assert_ne!(sequence, pool(30, 90).sequence(4000, 4));
        assert!(pool(0, 0).sequence(10, 1).is_empty());
    }

    #[test]
    fn a_draw_is_a_session_like_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = runner::Store::new(folder.path());
        let sessions = ["first", "second"].map(|name| {
            let manifest =
                runner::Manifest::new(vec!["./test".to_owned()], Default::default(), 7, Vec::new());
            let mut recorded = store.create(name, manifest).unwrap();
            for number in 1..=6 {
                let outcome = if number % 3 == 0 { Outcome::hang() } else { Outcome::Pass };
                let Run { record, .. } = run(number, outcome);
                let pid = number + if name == "second" { 6 } else { 0 };
                let process = runner::ProcessRecording { pid, bytes: vec![number as u8] };
                runner::RunFile { record: record.clone(), processes: vec![process] }
                    .write(&recorded.run_path(record.run))
                    .unwrap();
                recorded.add(record).unwrap();
            }
            recorded.folder().to_owned()
        });
        let pool = Pool::of(&sessions).unwrap();
        assert_eq!((pool.failing.len(), pool.passing.len(), pool.runs().hung), (4, 8, 4));
        for drawn in [pool.draw(Size { failing: 1, passing: 2 }, 1), pool.all()] {
            pool.session(&folder.path().join("drawn"), &drawn).unwrap();
            let session = store.open("drawn").unwrap();
            assert_eq!(session.manifest().seed, 7);
            let mut listed: Vec<RunNumber> = session.runs().iter().map(|record| record.run).collect();
            assert!(listed.is_sorted());
            for record in session.runs() {
                // Each with its own recording and outcome.
                assert_eq!(session.load(record.run).unwrap().processes[0].pid, record.run.0);
                assert_eq!(record.outcome.is_failing(), drawn.failing.contains(&record.run));
            }
            let mut asked = [drawn.failing, drawn.passing].concat();
            asked.sort_unstable();
            listed.sort_unstable();
            assert_eq!(listed, asked);
        }
    }
}
