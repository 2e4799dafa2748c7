//! What recording costs in a Java virtual machine: processor time of xtask/bench/Workloads.java, by itself, with the agent
//! looking at the program's classes, with it looking at every access of the library too, and with an event for every access.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::document::{self, head, row};
use crate::workspace::{self, run_quietly};
use crate::{measure, workspace::root};

/// Names as the program takes them, and what they stand for.
const WORKLOADS: [(&str, &str); 5] = [
    ("compute", "numbers in arrays of their own"),
    ("locks", "many short critical sections"),
    ("lock-free", "one atomic variable that both threads want"),
    ("queue", "producer and consumer at a blocking queue"),
    ("text", "words counted in maps of their own"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    /// The classes under test.
    Recorded,
    /// Their library too.
    Everything,
    /// The classes under test, with an event for each access rather than for what changes hands.
    EveryAccess,
}

const VARIANTS: [Variant; 4] = [Variant::Plain, Variant::Recorded, Variant::Everything, Variant::EveryAccess];

pub struct Java {
    folder: PathBuf,
    agent: PathBuf,
}

/// Measures all workloads and gives the table.
pub fn measure(repetitions: u32, machine: &str) -> anyhow::Result<String> {
    let java = Java::build()?;
    let mut table =
        head(&["workload", "plain, s", "recorded", "and its library", "an event for every access"]);
    for (name, stands_for) in WORKLOADS {
        eprintln!("{name}: {stands_for}");
        let mut times = VARIANTS.map(|_| Vec::new());
        let mut expected = None;
        for _ in 0..repetitions {
            for (variant, times) in VARIANTS.into_iter().zip(&mut times) {
                let begun = processor_time_of_children()?;
                let run = measure::time(&|scratch| java.command(name, variant, scratch))?;
                ensure!(run.succeeded, "{name} failed: {}", run.complaint);
                let printed = expected.get_or_insert_with(|| run.printed.clone());
                ensure!(*printed == run.printed, "{name} computed something else");
                times.push(processor_time_of_children()?.saturating_sub(begun));
            }
        }
        let seconds = times.map(|times| measure::median(times).map_or(0.0, |time| time.as_secs_f64()));
        let ratio = |number: usize| format!("{:.1}×", seconds[number] / seconds[0]);
        let cells = [format!("{name}: {stands_for}"), format!("{:.2}", seconds[0])];
        table += &row(&[cells.as_slice(), &[ratio(1), ratio(2), ratio(3)]].concat());
    }
    Ok(format!(
        "Measured on {} by `cargo xtask bench --only java --repetitions {repetitions}` ({machine}).\n\n{table}",
        document::today()
    ))
}

impl Java {
    fn build() -> anyhow::Result<Java> {
        let folder = workspace::scratch("bench")?.join("java");
        let source = root().join("xtask/bench/Workloads.java");
        run_quietly(Command::new("javac").arg("-g").arg("-d").arg(&folder).arg(source))?;
        run_quietly(workspace::cargo().args(["build", "--release", "--package", "unsnarl-jvm-agent"]))?;
        let target = workspace::scratch("release")?;
        Ok(Java { folder, agent: target.join("libunsnarl_jvm_agent.so") })
    }

    fn command(&self, workload: &str, variant: Variant, scratch: &Path) -> Command {
        let mut java = Command::new("java");
        if variant != Variant::Plain {
            java.arg(format!("-agentpath:{}", self.agent.display()));
            java.env(recording::ENV_DIR, scratch).env(recording::ENV_PLAN, "seed=1,noise=off");
        }
        match variant {
            Variant::Everything => {
                java.env("UNSNARL_JVM_INCLUDE", "java.util.**");
            }
            Variant::EveryAccess => {
                // Whatever room there is.
                java.env(recording::ENV_PLAN, "seed=1,noise=off,budget=4294967296");
                java.env("UNSNARL_JVM_EVERY_ACCESS", "yes");
            }
            Variant::Plain | Variant::Recorded => {}
        }
        java.arg("-cp").arg(&self.folder).args(["Workloads", workload]);
        java
    }
}

/// All that children who have ended have used of the processors.
fn processor_time_of_children() -> anyhow::Result<Duration> {
    /// What the kernel counts in, whatever the machine.
    const TICKS_PER_SECOND: f64 = 100.0;
    let status = std::fs::read_to_string("/proc/self/stat")?;
    // Behind the name, which may contain anything: the state is the third field of all.
    let fields: Vec<&str> =
        status.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
    let ticks = |number: usize| fields.get(number - 3).and_then(|field| field.parse::<f64>().ok());
    let (user, system) = ticks(16).zip(ticks(17)).context("/proc/self/stat is not understood")?;
    Ok(Duration::from_secs_f64((user + system) / TICKS_PER_SECOND))
}
