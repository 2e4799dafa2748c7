//! `cargo xtask bench`: what recording and analysis cost. Programs built in every way take turns, so that whatever else the
//! machine does meets all of them alike, and the median run of each is compared with the native one.

mod analysis;
mod growth;
mod java;
mod one_run;
pub mod programs;
mod table;
pub mod variants;
mod workloads;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};

use crate::measure;
use crate::tool::Tool;
use crate::{document, workspace};
use table::Row;
use variants::{Programs, Variant};
use workloads::{WORKLOADS, Workload};

/// In place of a workload's name.
const ONE_RUN: &str = "one-run";
const GROWTH: &str = "growth";
const ANALYSIS: &str = "analysis";
const JAVA: &str = "java";

#[derive(clap::Args)]
pub struct Arguments {
    /// Measure only this workload, or what one run costs, or the growth, or the analysis, or Java
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Runs of each program, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Put the tables into docs/performance.md (not those of a single workload)
    #[arg(long)]
    write: bool,
}

pub fn bench(arguments: &Arguments) -> anyhow::Result<()> {
    let is_asked = |name: &str| arguments.only.as_deref().is_none_or(|only| only == name);
    let chosen: Vec<&'static Workload> = WORKLOADS.iter().filter(|w| is_asked(w.name)).collect();
    let (runs_once, grows) = (is_asked(ONE_RUN), is_asked(GROWTH));
    let (analyses, runs_java) = (is_asked(ANALYSIS), is_asked(JAVA));
    if chosen.is_empty() && !runs_once && !grows && !analyses && !runs_java {
        let names: Vec<&str> =
            WORKLOADS.iter().map(|w| w.name).chain([ONE_RUN, GROWTH, ANALYSIS, JAVA]).collect();
        bail!("there is no such workload: choose one of {}", names.join(", "));
    }
    if arguments.write && arguments.only.is_some() && !chosen.is_empty() {
        bail!("the table has all workloads: measure them all to write it");
    }
    let docs = workspace::root().join("docs");
    let page = docs.join("performance.md");
    if !chosen.is_empty() || runs_once || grows {
        let tool = Tool::build()?;
        let folder = workspace::scratch("bench")?;
        if !chosen.is_empty() {
            let text = table::markdown(
                &measure_all(&chosen, &tool, &folder, arguments.repetitions)?,
                &machine(),
                arguments.repetitions,
            );
            println!("{text}");
            if arguments.write {
                document::update(&page, "bench", &text)?;
            }
        }
        if runs_once {
            let text = one_run::measure(&tool, &folder, arguments.repetitions, &machine())?;
            println!("{text}");
            if arguments.write {
                document::update(&page, "one-run", &text)?;
            }
        }
        if grows {
            let curves = growth::measure(&tool, &folder, arguments.repetitions)?;
            let text = growth::table(&curves);
            println!("{text}");
            if arguments.write {
                let text = format!("{text}\n![time against size](growth.svg)\n");
                document::update(&page, "growth", &text)?;
                std::fs::write(docs.join("growth.svg"), growth::chart(&curves).svg())?;
            }
        }
    }
    if analyses {
        let analysis = analysis::measure()?;
        let text = analysis.markdown(&machine());
        println!("{text}");
        if arguments.write {
            let text = format!("{text}\n![time of the analysis against size](plots/analysis-growth.svg)\n");
            document::update(&page, "analysis", &text)?;
            std::fs::write(docs.join("plots/analysis-growth.svg"), analysis.chart().svg())?;
        }
    }
    if runs_java {
        let text = java::measure(arguments.repetitions, &machine())?;
        println!("{text}");
        if arguments.write {
            document::update(&page, "java", &text)?;
        }
    }
    Ok(())
}

fn measure_all(
    workloads: &[&'static Workload],
    tool: &Tool,
    folder: &Path,
    repetitions: u32,
) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &workload in workloads {
        eprintln!("{}: {}", workload.name, workload.stands_for);
        let programs = match Programs::build(workload, tool, folder) {
            Ok(programs) => programs,
            // There may be nowhere to fetch it from.
            Err(error) if workload.source.is_fetched() => {
                eprintln!("{} is left out: {error:#}", workload.name);
                continue;
            }
            Err(error) => return Err(error),
        };
        rows.push(measure(workload, &programs, repetitions)?);
    }
    Ok(rows)
}

fn measure(workload: &'static Workload, programs: &Programs, repetitions: u32) -> anyhow::Result<Row> {
    let variants = programs.variants();
    let mut times: BTreeMap<Variant, Vec<Duration>> = BTreeMap::new();
    let mut expected: BTreeMap<Variant, Vec<Vec<u8>>> = BTreeMap::new();
    for _ in 0..repetitions {
        for &variant in &variants {
            let run = measure::time(&|scratch| programs.command(variant, scratch))?;
            ensure!(run.succeeded, "{} failed as {variant:?}: {}", workload.name, run.complaint);
            let printed = expected.entry(variant.baseline()).or_insert_with(|| lines(&run.printed));
            ensure!(
                *printed == lines(&run.printed),
                "{} computed something else as {variant:?}",
                workload.name
            );
            times.entry(variant).or_default().push(run.time);
        }
    }
    let mut row = Row { workload, times: BTreeMap::new(), memory: BTreeMap::new() };
    for (variant, times) in times {
        row.times.insert(variant, measure::median(times).context("nothing was run")?);
        row.memory.insert(variant, measure::peak_memory(&|scratch| programs.command(variant, scratch))?);
    }
    Ok(row)
}

/// What was printed, whichever thread came first.
fn lines(printed: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = printed.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.sort_unstable();
    lines
}

/// The machine in a few words, without its name.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model.trim());
    format!("{cores} cores, {model}")
}
