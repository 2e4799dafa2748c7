//! Real programs under control: each is put to its task many times, with one thread running at a time. It may take longer;
//! it must not hang, crash or give another result.

use anyhow::ensure;

use super::ground::Ground;
use super::{Trial, Tried};
use crate::document::{self, head, row};
use crate::ledger::Ledger;

/// Programs that are tried: their tasks do not depend on how fast they are done.
pub const PROGRAMS: [&str; 4] = ["pbzip2", "ripgrep", "crossbeam", "rayon"];

const SCHEDULES: [&str; 4] = ["random", "pct", "pos", "surw"];

/// Makes so many runs of each, and hands over the table after each run.
pub fn scheduled(
    ground: &mut Ground,
    trials: &[&Trial],
    runs: u32,
    anew: bool,
    write: impl Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut ledger = Ledger::open(&ground.folder, "scheduled", anew)?;
    ground.is_controlled = true;
    // One run of each in turn, so that a chore that is stopped has tried them all.
    for seed in 1..=runs {
        for trial in trials {
            ground.plan = plan(seed);
            let key = key(trial, seed);
            if ledger.get(&key).is_none_or(|tried: &Tried| !tried.went_well) {
                ledger.put(&key, trial.try_out(ground))?;
                let tried = ledger.get(&key).map_or("", |tried| &tried.result);
                eprintln!("{key}: {tried}");
                write(&table(&ledger, trials, runs))?;
            }
        }
    }
    println!("{}", table(&ledger, trials, runs));
    let tried = trials.iter().flat_map(|trial| all(&ledger, trial, runs));
    let bad = tried.filter(|(_, tried)| !tried.went_well).count();
    ensure!(bad == 0, "{bad} runs did not go well");
    Ok(())
}

fn plan(seed: u32) -> String {
    format!("seed={seed},schedule={}", SCHEDULES[seed as usize % SCHEDULES.len()])
}

fn key(trial: &Trial, seed: u32) -> String {
    format!("{} {}", trial.name, plan(seed))
}

fn all<'a>(ledger: &'a Ledger<Tried>, trial: &Trial, runs: u32) -> Vec<(String, &'a Tried)> {
    let keys = (1..=runs).map(|seed| key(trial, seed));
    keys.filter_map(|key| ledger.get(&key).map(|tried| (key, tried))).collect()
}

fn table(ledger: &Ledger<Tried>, trials: &[&Trial], runs: u32) -> String {
    let mut table = head(&["program", "task", "runs", "went well", "seconds each"]);
    let mut troubles = String::new();
    for trial in trials {
        let all = all(ledger, trial, runs);
        let well = all.iter().filter(|(_, tried)| tried.went_well).count();
        let seconds: u64 = all.iter().map(|(_, tried)| tried.seconds).sum();
        let each = seconds / (all.len() as u64).max(1);
        let counts = [all.len().to_string(), well.to_string(), each.to_string()];
        let names = [trial.name.to_owned(), trial.task.to_owned()];
        table += &row(&names.into_iter().chain(counts).collect::<Vec<_>>());
        for (key, tried) in all.iter().filter(|(_, tried)| !tried.went_well) {
            troubles += &format!("- `{key}`: {}\n", tried.result);
        }
    }
    let mut text =
        format!("Tried on {} by `cargo xtask soak --scheduled {runs}`.\n\n{table}", document::today());
    if !troubles.is_empty() {
        text += &format!("\nThose that did not go well:\n\n{troubles}");
    }
    text
}
