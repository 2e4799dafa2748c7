//! `cargo xtask evaluate`: the corpus end to end. Each program is built for the recorder and recorded once, with enough
//! runs of both kinds as far as the time allows; then every technique is asked about draws of these runs, and what it says is compared with the
//! program's truth file. Whatever is done is not done again next time.

mod ablation;
mod analyse;
pub mod build;
mod clusters;
mod communication;
mod compare;
mod data;
mod explanation;
mod figures;
mod noise;
mod obstacle;
mod papers;
mod plots;
mod pool;
pub mod record;
pub mod report;
mod reports;
mod rounds;
#[cfg(test)]
mod sample;
pub mod score;
mod shortage;
mod slowdown;
mod stopping;
mod table;
mod times;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use crate::tool::Tool;
use crate::truth::{self, Subject};
use crate::{document, workspace};
use analyse::{Extent, Question};
use build::Variant;
use data::{Evaluation, Outcome, Program, Times};
use pool::Pool;
use record::{Plan, Recording};
use slowdown::Twins;

/// Runs of a fixed twin: enough to draw all the runs of a table from them.
const FIXED_RUNS: u32 = 150;

/// How long each program is recorded at first. Most have enough runs by then.
const FIRST_ROUND: Duration = Duration::from_secs(5);

/// The usual size of noise. Correct programs have no other, and what needs a fixed twin is done with this one.
const USUAL_NOISE: u8 = 1;

#[derive(clap::Args)]
pub struct Arguments {
    /// Evaluate only this program (may be given several times)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Evaluate only the Java programs, and make the tables of docs/evaluation-java.md
    #[arg(long, conflicts_with_all = ["only", "crates"])]
    java: bool,
    /// Ask this unsnarl [default: built for release]
    #[arg(long, value_name = "PROGRAM")]
    tool: Option<PathBuf>,
    /// Also evaluate published crates with known faults, which cargo fetches
    #[arg(long)]
    crates: bool,
    /// How much innocent sharing the programs are built with: 0, 1 and 2 are none, some and plenty
    #[arg(long, value_name = "N", num_args = 1.., default_values_t = [USUAL_NOISE], value_parser = clap::value_parser!(u8).range(0..=2))]
    noise_size: Vec<u8>,
    /// The techniques to evaluate [default: all]
    #[arg(long, value_name = "NAME", num_args = 1..)]
    technique: Vec<localize::Technique>,
    /// How long to record a program on average: what those leave that have enough runs is for the others
    #[arg(long, value_name = "T", default_value = "15s", value_parser = humantime::parse_duration)]
    time_per_program: Duration,
    /// What all random choices come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How strongly to disturb the schedule
    #[arg(long, value_name = "LEVEL", default_value = "medium")]
    noise: String,
    /// Only tell what each part of the verdict brings, by what is recorded already; --write puts it into
    /// docs/techniques/verdict.md
    #[arg(long, conflicts_with = "stopping")]
    ablation: bool,
    /// Only tell whether sessions that stop by themselves have enough runs, by what is recorded already
    #[arg(long)]
    stopping: bool,
    /// Put the tables into docs/evaluation.md and the data into docs/evaluation.json; with --java, into its page
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

/// One program with one size of noise.
struct Task<'a> {
    subject: &'a Subject,
    noise_size: u8,
    folder: PathBuf,
}

/// What was recorded for a task.
struct Recorded {
    runs: Recording,
    fixed: Option<Recording>,
    /// Of a run by being recorded, with the usual size of noise.
    slowdown: Option<f64>,
}

pub fn evaluate(arguments: &Arguments) -> anyhow::Result<()> {
    let subjects = chosen(arguments)?;
    let tool = match &arguments.tool {
        Some(program) => Tool::given(program)?,
        None => Tool::build()?,
    };
    let folder = workspace::scratch("evaluate")?;
    let tasks: Vec<Task> = arguments
        .noise_size
        .iter()
        .flat_map(|&noise_size| subjects.iter().map(move |subject| (noise_size, subject)))
        .filter(|(noise_size, subject)| subject.has_noise() || *noise_size == USUAL_NOISE)
        .map(|(noise_size, subject)| {
            let folder = folder.join(format!("noise-{noise_size}")).join(&subject.truth.name);
            Task { subject, noise_size, folder }
        })
        .collect();
    if arguments.ablation || arguments.stopping {
        return look_closer(&tasks, &tool, arguments);
    }
    let recorded = rounds::record_all(&tasks, &tool, arguments);
    let started = recorded.iter().flatten().map(|recorded| recorded.runs.pool.started.as_str());
    let recorded_from = started.clone().min().unwrap_or_default().to_owned();
    let recorded_to = started.max().unwrap_or_default().to_owned();
    let (programs, times): (Vec<Program>, Vec<Times>) =
        analyse_all(&tasks, &recorded, &tool, arguments).into_iter().unzip();
    let times: Vec<(String, Times)> =
        programs.iter().map(|program| program.name.clone()).zip(times).collect();
    let evaluation = Evaluation {
        recorded: (recorded_from, recorded_to),
        command: command_line(),
        techniques: arguments.techniques(),
        programs,
    };
    if arguments.java {
        let text = format!(
            "Recorded on {}, evaluated by `{}`.\n\n{}",
            evaluation.recorded.0.get(..10).unwrap_or_default(),
            evaluation.command,
            papers::markdown(&evaluation)
        );
        println!("{text}");
        return match arguments.write {
            true => document::update(&workspace::root().join("docs/evaluation-java.md"), "papers", &text),
            false => Ok(()),
        };
    }
    let usual = tasks.iter().zip(&recorded).filter(|(task, _)| task.is_usual());
    let pools: Vec<(&str, &Pool)> = usual
        .filter_map(|(task, recorded)| {
            Some((task.subject.truth.name.as_str(), &recorded.as_ref().ok()?.runs.pool))
        })
        .collect();
    let figures = figures::figures(&evaluation, &pools, (&subjects, &tool, &folder), arguments)?;
    let docs = if arguments.write { workspace::root().join("docs") } else { folder };
    figures::draw(&figures, &docs.join("plots"))?;
    let calibration = plots::calibration_table(&evaluation);
    let calibration = if calibration.is_empty() {
        calibration
    } else {
        format!("\n### Confidence, stated and observed\n\n{calibration}")
    };
    let text = table::markdown(&evaluation) + &calibration + &figures::markdown(&figures);
    finish(&evaluation, &text, &times, arguments.write.then_some(docs.as_path()))
}

/// Asks what is not part of the tables, about what was recorded of the programs with the usual size of noise.
fn look_closer(tasks: &[Task], tool: &Tool, arguments: &Arguments) -> anyhow::Result<()> {
    let usual = tasks.iter().filter(|task| task.is_usual());
    let mut usual = usual.map(|task| Ok((task, task.recorded()?))).collect::<anyhow::Result<Vec<_>>>()?;
    usual.retain(|(task, Recorded { runs, .. })| {
        let can_be_compared = !runs.pool.failing.is_empty() && !runs.pool.passing.is_empty();
        if !can_be_compared {
            eprintln!("{} is left out: its runs all ended alike", task.subject.truth.name);
        }
        can_be_compared
    });
    let (today, command, seed) = (document::today(), command_line(), arguments.seed);
    let (page, part, text) = if arguments.ablation {
        let marks = usual.par_iter().map(|(task, recorded)| ablation::marks(task, recorded, tool, seed));
        let marks = marks.collect::<anyhow::Result<Vec<_>>>()?;
        ("techniques/verdict.md", "ablation", ablation::markdown(&marks, &today, &command)?)
    } else {
        let stops = usual.par_iter().map(|(task, recorded)| stopping::stops(task, recorded, tool, seed));
        let stops = stops.collect::<anyhow::Result<Vec<_>>>()?;
        ("evaluation.md", "stopping", stopping::markdown(&stops, &today, &command))
    };
    println!("{text}");
    if arguments.write {
        document::update(&workspace::root().join("docs").join(page), part, &text)?;
    }
    Ok(())
}

impl Arguments {
    fn techniques(&self) -> Vec<String> {
        let all = || localize::Technique::all().map(|technique| technique.to_string()).collect();
        if self.technique.is_empty() {
            all()
        } else {
            self.technique.iter().map(ToString::to_string).collect()
        }
    }

    fn plan(&self, subject: &Subject) -> Plan {
        Plan {
            failing: analyse::FULL.failing as u32,
            passing: analyse::FULL.passing as u32,
            seconds: self.time_per_program.min(FIRST_ROUND).as_secs(),
            seed: self.seed,
            noise: self.noise.clone(),
            timeout_seconds: subject.truth.timeout_seconds,
        }
    }
}

fn chosen(arguments: &Arguments) -> anyhow::Result<Vec<Subject>> {
    let mut subjects = truth::subjects()?;
    if arguments.crates {
        subjects.extend(truth::crates()?);
    }
    let only = &arguments.only;
    let unknown: Vec<&String> =
        only.iter().filter(|name| subjects.iter().all(|subject| subject.truth.name != **name)).collect();
    if !unknown.is_empty() {
        let names: Vec<&str> = subjects.iter().map(|subject| subject.truth.name.as_str()).collect();
        bail!("the corpus has no {unknown:?}: choose from {}", names.join(", "));
    }
    subjects.retain(|subject| only.is_empty() || only.contains(&subject.truth.name));
    subjects.retain(|subject| !arguments.java || papers::is_meant(subject));
    Ok(subjects)
}

impl Task<'_> {
    /// A program with a bug and the usual size of noise.
    fn is_usual(&self) -> bool {
        self.subject.truth.has_bug() && self.noise_size == USUAL_NOISE
    }

    /// What was recorded last time, without asking whether the program has changed since.
    fn recorded(&self) -> anyhow::Result<Recorded> {
        let runs = record::recorded(&self.folder.join("buggy-runs"))?;
        let fixed = self.folder.join("fixed-runs");
        let fixed = fixed.exists().then(|| record::recorded(&fixed)).transpose()?;
        Ok(Recorded { runs, fixed, slowdown: None })
    }

    fn slowdown(&self, variant: Variant, tool: &Tool) -> anyhow::Result<Option<f64>> {
        let recorded = build::build(self.subject, tool, &self.folder, variant, self.noise_size)?;
        let native = build::build_native(self.subject, &self.folder, variant, self.noise_size)?;
        let twins = Twins {
            recorded: &recorded,
            native: &native,
            timeout_seconds: self.subject.truth.timeout_seconds,
        };
        slowdown::slowdown(&twins, tool, &self.folder)
    }

    fn analyse(
        &self,
        recorded: &Recorded,
        tool: &Tool,
        arguments: &Arguments,
    ) -> anyhow::Result<(Outcome, Times)> {
        let question = Question {
            subject: self.subject,
            techniques: &arguments.techniques(),
            extent: match self.noise_size {
                _ if arguments.java => Extent::Full,
                USUAL_NOISE => Extent::Whole,
                _ => Extent::Ends,
            },
            seed: arguments.seed,
            runs: &recorded.runs,
            fixed: recorded.fixed.as_ref(),
            folder: &self.folder,
        };
        let (analysis, seconds) = question.answer(tool)?;
        let outcome = Outcome {
            runs: recorded.runs.pool.runs(),
            noise: recorded.runs.noise.clone(),
            fixed_runs: recorded.fixed.as_ref().map(|fixed| fixed.pool.runs()),
            analysis,
        };
        Ok((outcome, Times { seconds, slowdown: recorded.slowdown }))
    }

    fn program(&self, answer: anyhow::Result<(Outcome, Times)>) -> (Program, Times) {
        let truth = &self.subject.truth;
        let (result, times, trouble) = match answer {
            Ok((outcome, times)) => (Some(outcome), times, None),
            Err(error) => (None, Times::default(), Some(format!("{error:#}"))),
        };
        let program = Program {
            name: truth.name.clone(),
            kind: truth.kind.clone(),
            pattern: truth.pattern.clone(),
            natural_failure_rate: truth.natural_failure_rate,
            noise_size: self.noise_size,
            trouble,
            result,
        };
        (program, times)
    }
}

/// On all processors. A program that cannot be evaluated does not keep the others from it.
fn analyse_all(
    tasks: &[Task],
    recorded: &[anyhow::Result<Recorded>],
    tool: &Tool,
    arguments: &Arguments,
) -> Vec<(Program, Times)> {
    let bar = progress("analysing", tasks.len());
    let programs = tasks.par_iter().zip(recorded).map(|(task, recorded)| {
        bar.set_message(task.subject.truth.name.clone());
        let answer = match recorded {
            Ok(recorded) => task.analyse(recorded, tool, arguments),
            Err(error) => Err(anyhow::anyhow!("{error:#}")),
        };
        done(&bar, "analysed", task);
        task.program(answer)
    });
    let programs = programs.collect();
    bar.finish_and_clear();
    programs
}

/// Moves the bar on; where nobody sees one, a line says it.
fn done(bar: &ProgressBar, word: &str, task: &Task) {
    bar.inc(1);
    if bar.is_hidden() {
        let (name, size) = (&task.subject.truth.name, task.noise_size);
        eprintln!(
            "{word} {name} with noise size {size}: {} of {}",
            bar.position(),
            bar.length().unwrap_or(0)
        );
    }
}

fn progress(what: &'static str, length: usize) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {msg:<20} {elapsed} (left: {eta})");
    ProgressBar::new(length as u64).with_style(style.expect("the template is right")).with_prefix(what)
}

/// Shows the tables, keeps them if asked to, and complains about what could not be evaluated.
fn finish(
    evaluation: &Evaluation,
    text: &str,
    times: &[(String, Times)],
    docs: Option<&Path>,
) -> anyhow::Result<()> {
    let times = times::times(times, &evaluation.techniques);
    println!("{text}\n{times}");
    for line in compare::with_committed(evaluation) {
        println!("{line}");
    }
    if let Some(docs) = docs {
        document::update(&docs.join("evaluation.md"), "evaluation", text)?;
        document::update(&docs.join("evaluation.md"), "times", &times)?;
        let json = serde_json::to_string(evaluation)? + "\n";
        fs::write(docs.join("evaluation.json"), json).context("cannot write docs/evaluation.json")?;
    }
    let troubled: Vec<String> = evaluation
        .programs
        .iter()
        .filter_map(|program| Some(format!("{}: {}", program.name, program.trouble.as_ref()?)))
        .collect();
    if !troubled.is_empty() {
        bail!("not evaluated:\n{}", troubled.join("\n"));
    }
    Ok(())
}

/// As a person would type it.
fn command_line() -> String {
    let arguments = std::env::args().skip(1);
    std::iter::once("cargo xtask".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}
