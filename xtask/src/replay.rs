//! `cargo xtask replay`: how many failing runs of the corpus fail again at the first attempt, and why the others do not.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use crate::document::{self, head, row};
use crate::evaluate::build::{self, Variant};
use crate::tool::Tool;
use crate::truth::{self, Language, Subject};
use crate::workspace;

/// How controlled runs are scheduled.
const SCHEDULES: [&str; 3] = ["random", "pct", "pos"];

#[derive(clap::Args)]
pub struct Arguments {
    /// Only these programs
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Failing runs of each program and schedule
    #[arg(long, value_name = "N", default_value_t = 3)]
    failures: u32,
    /// How long to wait for them
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u32,
    /// Put the table into docs/replay.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
}

/// What came of a program's failing runs.
#[derive(Default)]
struct Tally {
    failing: u32,
    reproduced: u32,
    /// What was said of those that did not fail again.
    others: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.failing += other.failing;
        self.reproduced += other.reproduced;
    }

    fn share(&self) -> String {
        match self.failing {
            0 => "–".to_owned(),
            failing => format!("{:.1} %", f64::from(self.reproduced) * 100.0 / f64::from(failing)),
        }
    }
}

pub fn replay(arguments: &Arguments) -> anyhow::Result<()> {
    let tool = Tool::build()?;
    let folder = workspace::scratch("replay")?;
    let mut table =
        head(&["program", "language", "failing controlled runs", "failed again at the first attempt"]);
    let mut by_language: Vec<(&str, Tally)> =
        ["C", "C++", "Rust"].into_iter().map(|language| (language, Tally::default())).collect();
    let mut all = Tally::default();
    let mut without = Vec::new();
    for subject in truth::subjects()? {
        let name = &subject.truth.name;
        let language = match subject.truth.language {
            Language::C => 0,
            Language::Cxx => 1,
            Language::Rust => 2,
            Language::Java => continue,
        };
        let wanted = arguments.only.is_empty() || arguments.only.contains(name);
        if !subject.truth.has_bug() || !wanted {
            continue;
        }
        let tally = try_out(&subject, &tool, &folder.join(name), arguments)
            .with_context(|| format!("cannot replay {name}"))?;
        eprintln!("{name}: {} of {}", tally.reproduced, tally.failing);
        if tally.failing == 0 {
            without.push(name.clone());
            continue;
        }
        let counts = [tally.failing, tally.reproduced].map(|count| count.to_string());
        let names = [name.clone(), by_language[language].0.to_owned()];
        table += &row(&names.into_iter().chain(counts).collect::<Vec<_>>());
        by_language[language].1.add(&tally);
        all.add(&tally);
        all.others.extend(tally.others.iter().map(|other| format!("- `{name}`: {other}\n")));
    }
    let mut text = format!(
        "Measured on {} by `cargo xtask replay` (up to {} failing runs of each program under each of {}, within {} s \
         each; every run replayed once).\n\n",
        document::today(),
        arguments.failures,
        SCHEDULES.join(", "),
        arguments.seconds
    );
    let mut sums = head(&["language", "failing controlled runs", "failed again", "share"]);
    for (language, tally) in by_language.iter().chain([&("all", all)]) {
        let cells = [tally.failing.to_string(), tally.reproduced.to_string(), tally.share()];
        sums += &row(&[(*language).to_owned()].into_iter().chain(cells).collect::<Vec<_>>());
        if *language == "all" && !tally.others.is_empty() {
            text += &format!("{sums}\nThose that did not:\n\n{}", tally.others.concat());
        } else if *language == "all" {
            text += &sums;
        }
    }
    text += &format!("\n{table}");
    if !without.is_empty() {
        text += &format!("\nNo controlled run failed in that time: {}.\n", without.join(", "));
    }
    println!("{text}");
    if arguments.write {
        document::update(&workspace::root().join("docs/replay.md"), "replay", &text)?;
    }
    Ok(())
}

fn try_out(subject: &Subject, tool: &Tool, folder: &Path, arguments: &Arguments) -> anyhow::Result<Tally> {
    let program = build::build(subject, tool, folder, Variant::Buggy, 1)?;
    let mut tally = Tally::default();
    for schedule in SCHEDULES {
        let session = folder.join(format!("session-{schedule}"));
        if session.exists() {
            fs::remove_dir_all(&session).with_context(|| format!("cannot delete {}", session.display()))?;
        }
        let mut run = tool.command();
        run.args(["run", "--jobs", "1", "--seed", "1", "--schedule", schedule]);
        run.args(["--until-failures", &arguments.failures.to_string()]);
        run.args(["--time", &format!("{}s", arguments.seconds)]);
        run.args(["--timeout", &format!("{}s", subject.truth.timeout_seconds), "--session"]);
        run.arg(&session).arg("--").arg(&program).output().context("cannot start unsnarl")?;
        for number in failing_runs(&session)?.into_iter().take(arguments.failures as usize) {
            let mut replay = tool.command();
            replay.args(["replay", &number.to_string(), "--session"]).arg(&session);
            let output = replay.output().context("cannot start unsnarl")?;
            tally.failing += 1;
            if output.status.success() {
                tally.reproduced += 1;
            } else {
                let said = String::from_utf8_lossy(&output.stdout);
                let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
                tally.others.push(format!("{schedule}: {}", said.join("; ")));
            }
        }
        // Recordings of thousands of passing runs are no use to anybody.
        fs::remove_dir_all(&session).with_context(|| format!("cannot delete {}", session.display()))?;
    }
    Ok(tally)
}

/// The failing runs of a session.
fn failing_runs(session: &Path) -> anyhow::Result<Vec<u32>> {
    #[derive(Deserialize)]
    struct Run {
        run: u32,
        outcome: String,
    }
    let path = session.join("runs.jsonl");
    let list = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let runs = list.lines().map(serde_json::from_str).collect::<Result<Vec<Run>, _>>()?;
    Ok(runs
        .into_iter()
        .filter(|run| ["fail", "hang"].contains(&run.outcome.as_str()))
        .map(|run| run.run)
        .collect())
}
