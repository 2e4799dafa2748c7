//! Real programs under control: each is put to its task many times, with one thread running at a time. It may take longer;
//! it must not hang, crash or give another result.

use std::time::Instant;

use super::Trial;
use super::ground::Ground;
use crate::document::{self, head, row};

/// Programs that are tried: their tasks do not depend on how fast they are done.
pub const PROGRAMS: [&str; 4] = ["pbzip2", "ripgrep", "crossbeam", "rayon"];

const SCHEDULES: [&str; 4] = ["random", "pct", "pos", "surw"];

/// So many runs of each, as a table.
pub fn scheduled(ground: &mut Ground, trials: &[&Trial], runs: u32) -> anyhow::Result<String> {
    let mut table = head(&["program", "task", "runs", "went well", "seconds"]);
    let mut troubles = String::new();
    for trial in trials {
        let begun = Instant::now();
        let mut well = 0;
        for seed in 1..=runs {
            let schedule = SCHEDULES[seed as usize % SCHEDULES.len()];
            ground.plan = format!("seed={seed},schedule={schedule}");
            match (trial.run)(ground) {
                Ok(result) => {
                    well += 1;
                    eprintln!("{} {}: {result}", trial.name, ground.plan);
                }
                Err(error) => {
                    eprintln!("{} {}: FAILED: {error:#}", trial.name, ground.plan);
                    let told = format!("{error:#}").replace('\n', " ");
                    troubles += &format!("- {}, `{}`: {told}\n", trial.name, ground.plan);
                }
            }
        }
        let counts = [runs.to_string(), well.to_string(), begun.elapsed().as_secs().to_string()];
        let names = [trial.name.to_owned(), trial.task.to_owned()];
        table += &row(&names.into_iter().chain(counts).collect::<Vec<_>>());
    }
    let mut text =
        format!("Tried on {} by `cargo xtask soak --scheduled {runs}`.\n\n{table}", document::today());
    if !troubles.is_empty() {
        text += &format!("\nThose that did not go well:\n\n{troubles}");
    }
    Ok(text)
}
