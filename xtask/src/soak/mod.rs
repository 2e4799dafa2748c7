//! `cargo xtask soak`: real programs must do under the recorder what they do without it. Each is fetched, built for the
//! recorder and put to its own test suite, or to a task whose result can be checked.

mod controlled;
mod crates;
mod ground;
mod scheduled;
mod servers;
mod tools;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::document::{self, head, row};
use crate::ledger::Ledger;
use crate::workspace;
use crates::Suite;
use ground::Ground;

#[derive(clap::Args)]
pub struct Arguments {
    /// Try only this program
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(TRIALS.map(|trial| trial.name)))]
    only: Option<String>,
    /// Instead: run each corpus program so many times under all schedules; none may hang or crash but by its own bug
    #[arg(long, value_name = "RUNS")]
    controlled: Option<u32>,
    /// Instead: put pbzip2, ripgrep, crossbeam and rayon to their tasks so many times each, under all schedules
    #[arg(long, value_name = "RUNS", conflicts_with = "controlled")]
    scheduled: Option<u32>,
    /// With --controlled: only this corpus program
    #[arg(long, value_name = "NAME", requires = "controlled")]
    program: Option<String>,
    /// With --controlled: begin no run of a program after this time, with its bug or without it
    #[arg(long, value_name = "TIME", requires = "controlled", default_value = "2m", value_parser = humantime::parse_duration)]
    time: Duration,
    /// Forget what was tried before instead of going on from there
    #[arg(long)]
    anew: bool,
    /// Put the table into docs/real-programs.md
    #[arg(long, conflicts_with_all = ["only", "program"])]
    write: bool,
}

/// A program and what it is put to.
struct Trial {
    name: &'static str,
    task: &'static str,
    /// Says what came out, in a few words.
    run: fn(&Ground) -> anyhow::Result<String>,
}

const TRIALS: [Trial; 9] = [
    Trial {
        name: "pbzip2",
        task: "compresses 4 MB (0.25 MB under control) with two threads; decompressed, they are the same",
        run: tools::pbzip2,
    },
    Trial {
        name: "zstd",
        task: "compresses 4 MB with `-T2`; decompressed, they are the same",
        run: tools::zstd,
    },
    Trial { name: "xz", task: "compresses 4 MB with `-T2`; decompressed, they are the same", run: tools::xz },
    Trial {
        name: "ripgrep",
        task: "searches 200 files (100 under control) and finds what the native one finds",
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
    Trial { name: "parking_lot", task: "its own tests", run: |ground| PARKING_LOT.run(ground) },
    Trial { name: "crossbeam", task: "crossbeam-channel's own tests", run: |ground| CROSSBEAM.run(ground) },
    Trial { name: "rayon", task: "its own tests", run: |ground| RAYON.run(ground) },
];

const PARKING_LOT: Suite =
    Suite { package: "parking_lot", version: "0.12", configuration: "", left_out: &[], apart: &[] };
const CROSSBEAM: Suite = Suite {
    package: "crossbeam-channel",
    version: "0.5",
    configuration: "--cfg miri",
    left_out: &[],
    // It counts the bytes that the process allocates, which other tests do, too.
    apart: &[("golang", "select2::main")],
};
const RAYON: Suite = Suite {
    package: "rayon",
    version: "1",
    configuration: "",
    // Hundreds of tests of the library itself, a million tasks, ranges of ten to the 27th numbers, thousands of sorts.
    left_out: &["rayon", "par_bridge_recursion", "octillion", "sort_panic_safe"],
    apart: &[],
};

/// What came of a trial.
#[derive(Serialize, Deserialize, Clone)]
struct Tried {
    date: String,
    went_well: bool,
    /// In a few words.
    result: String,
    seconds: u64,
}

impl Trial {
    fn try_out(&self, ground: &Ground) -> Tried {
        let begun = std::time::Instant::now();
        let (went_well, result) = match (self.run)(ground) {
            Ok(result) => (true, result),
            Err(error) => {
                // The page says nothing about the machine.
                let told = format!("FAILED: {error:#}").replace('\n', " ");
                (false, told.replace(&*workspace::root().to_string_lossy(), "."))
            }
        };
        Tried { date: document::today(), went_well, result, seconds: begun.elapsed().as_secs() }
    }
}

pub fn soak(arguments: &Arguments) -> anyhow::Result<()> {
    let mut ground = Ground::prepare()?;
    let anew = arguments.anew;
    if let Some(runs) = arguments.controlled {
        let (time, program) = (arguments.time, arguments.program.as_deref());
        let wanted = controlled::Wanted { runs, time, program, anew };
        return controlled::controlled(&ground, &wanted, |text| arguments.write("controlled", text));
    }
    let is_meant = |trial: &&Trial| arguments.only.as_deref().is_none_or(|name| name == trial.name);
    if let Some(runs) = arguments.scheduled {
        let trials = TRIALS.iter().filter(|trial| scheduled::PROGRAMS.contains(&trial.name));
        let trials: Vec<&Trial> = trials.filter(is_meant).collect();
        return scheduled::scheduled(&mut ground, &trials, runs, anew, |text| {
            arguments.write("scheduled", text)
        });
    }
    let mut ledger = Ledger::open(&ground.folder, "recorded", anew)?;
    let mut failed = Vec::new();
    for trial in TRIALS.iter().filter(is_meant) {
        if ledger.get(trial.name).is_none_or(|tried: &Tried| !tried.went_well) {
            eprintln!("{}: {}", trial.name, trial.task);
            ledger.put(trial.name, trial.try_out(&ground))?;
        }
        let Some(tried) = ledger.get(trial.name) else { continue };
        eprintln!("{}: {}", trial.name, tried.result);
        if !tried.went_well {
            failed.push(trial.name);
        }
        arguments.write("soak", &table(&ledger))?;
    }
    println!("{}", table(&ledger));
    anyhow::ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

fn table(ledger: &Ledger<Tried>) -> String {
    let mut table = head(&["program", "task", "result", "tried on"]);
    for trial in &TRIALS {
        if let Some(tried) = ledger.get(trial.name) {
            let cells = [trial.name, trial.task, &tried.result, &tried.date];
            table += &row(&cells.map(str::to_owned));
        }
    }
    format!("By `cargo xtask soak`:\n\n{table}")
}

impl Arguments {
    /// Replaces a part of the document, if that is asked for.
    fn write(&self, part: &str, text: &str) -> anyhow::Result<()> {
        if self.write {
            document::update(&workspace::root().join("docs/real-programs.md"), part, text)?;
        }
        Ok(())
    }
}
