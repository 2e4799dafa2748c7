//! `cargo xtask soak`: real programs must do under the recorder what they do without it. Each is fetched, built for the
//! recorder and put to its own test suite, or to a task whose result can be checked.

mod controlled;
mod crates;
mod ground;
mod scheduled;
mod servers;
mod tools;

use crate::document::{self, head, row};
use crate::workspace;
use ground::Ground;

#[derive(clap::Args)]
pub struct Arguments {
    /// Try only this program
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(TRIALS.map(|trial| trial.name)))]
    only: Option<String>,
    /// Instead: run each correct corpus program so many times under all schedules; none may hang, crash or fail
    #[arg(long, value_name = "RUNS")]
    controlled: Option<u32>,
    /// Instead: put pbzip2, ripgrep, crossbeam and rayon to their tasks so many times each, under all schedules
    #[arg(long, value_name = "RUNS", conflicts_with = "controlled")]
    scheduled: Option<u32>,
    /// With --controlled: only this corpus program
    #[arg(long, value_name = "NAME", requires = "controlled")]
    program: Option<String>,
    /// Put the table into docs/real-programs.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

/// A program and what it is put to.
struct Trial {
    name: &'static str,
    task: &'static str,
    /// Says what came out, in a few words.
    run: fn(&Ground) -> anyhow::Result<String>,
}

const TRIALS: [Trial; 8] = [
    Trial {
        name: "pbzip2",
        task: "compresses 4 MB with two threads; decompressed, they are the same",
        run: tools::pbzip2,
    },
    Trial {
        name: "zstd",
        task: "compresses 4 MB with `-T2`; decompressed, they are the same",
        run: tools::zstd,
    },
    Trial {
        name: "ripgrep",
        task: "searches 200 files and finds what the native one finds",
        run: tools::ripgrep,
    },
    Trial {
        name: "redis",
        task: "redis-server with two I/O threads under redis-benchmark",
        run: servers::redis,
    },
    Trial {
        name: "memcached",
        task: "four clients store 4,000 values and read them back",
        run: servers::memcached,
    },
    Trial {
        name: "parking_lot",
        task: "its own tests",
        run: |ground| crates::tests(ground, "parking_lot", "0.12"),
    },
    Trial {
        name: "crossbeam",
        task: "crossbeam-channel's own tests",
        run: |ground| crates::tests(ground, "crossbeam-channel", "0.5"),
    },
    Trial { name: "rayon", task: "its own tests", run: |ground| crates::tests(ground, "rayon", "1") },
];

pub fn soak(arguments: &Arguments) -> anyhow::Result<()> {
    let mut ground = Ground::prepare()?;
    if let Some(runs) = arguments.controlled {
        return controlled::controlled(&ground, runs, arguments.program.as_deref());
    }
    let is_meant = |trial: &&Trial| arguments.only.as_deref().is_none_or(|name| name == trial.name);
    if let Some(runs) = arguments.scheduled {
        let trials: Vec<&Trial> = TRIALS
            .iter()
            .filter(|trial| scheduled::PROGRAMS.contains(&trial.name))
            .filter(is_meant)
            .collect();
        let text = scheduled::scheduled(&mut ground, &trials, runs)?;
        println!("{text}");
        return if arguments.write { write("scheduled", &text) } else { Ok(()) };
    }
    let mut table = head(&["program", "task", "result"]);
    let mut failed = Vec::new();
    for trial in TRIALS.iter().filter(is_meant) {
        eprintln!("{}: {}", trial.name, trial.task);
        let result = (trial.run)(&ground).unwrap_or_else(|error| {
            failed.push(trial.name);
            format!("FAILED: {error:#}").replace('\n', " ")
        });
        eprintln!("{}: {result}", trial.name);
        table += &row(&[trial.name.to_owned(), trial.task.to_owned(), result]);
    }
    let text = format!("Tried on {} by `cargo xtask soak`.\n\n{table}", document::today());
    println!("{text}");
    if arguments.write {
        write("soak", &text)?;
    }
    anyhow::ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

fn write(part: &str, text: &str) -> anyhow::Result<()> {
    document::update(&workspace::root().join("docs/real-programs.md"), part, text)
}
