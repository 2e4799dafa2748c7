//! Corpus programs under every schedule. A correct one, or the fixed twin of one with a bug, runs to its end in
//! whichever order its threads run, so that anything else is our own doing. One with a bug may fail, but it must not hang
//! unless that is its bug, and what was recorded must be whole.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::ensure;
use runner::{Outcome, Session};
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use crate::document::{self, head, row};
use crate::evaluate::build::{self, Variant};
use crate::evaluate::record::healthy;
use crate::ledger::Ledger;
use crate::truth::{self, Language, Subject, Truth};

const SCHEDULES: [&str; 6] = ["random", "pct", "pos", "surw", "bounded:1", "mixed"];

/// Kinds of bugs that make a program hang.
const HANGING: [&str; 2] = ["deadlock", "missed-signal"];

/// What is wanted.
pub struct Wanted<'a> {
    /// Of each program, under all schedules together.
    pub runs: u32,
    /// After which no run of a program begins, with its bug or without it.
    pub time: Duration,
    /// Only this program.
    pub program: Option<&'a str>,
    /// Forget what was tried before.
    pub anew: bool,
}

/// What runs of a program under one schedule came to.
#[derive(Serialize, Deserialize, Default, Clone)]
struct Tally {
    /// How they ended, and how many of them.
    ends: BTreeMap<String, u32>,
    /// There are no other runs of this kind.
    is_all: bool,
    /// Runs that must not be.
    troubles: Vec<String>,
}

impl Tally {
    fn made(&self) -> u32 {
        self.ends.values().sum()
    }

    fn add(&mut self, other: &Tally) {
        for (end, count) in &other.ends {
            *self.ends.entry(end.clone()).or_default() += count;
        }
        self.is_all |= other.is_all;
        self.troubles.extend_from_slice(&other.troubles);
    }

    fn told(&self) -> String {
        let ends: Vec<String> = self.ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
        ends.join(", ")
    }
}

/// Runs the programs, and hands over the table after each of them.
pub fn controlled(
    ground: &Ground,
    wanted: &Wanted<'_>,
    write: impl Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut ledger = Ledger::open(&ground.folder, "controlled", wanted.anew)?;
    let mut subjects = truth::subjects()?;
    subjects.extend(truth::crates()?);
    subjects.extend(truth::planted()?);
    subjects.retain(|subject| subject.truth.language != Language::Java);
    let is_meant = |name: &str| wanted.program.is_none_or(|wanted| wanted == name);
    // Where nothing may fail, a failure says most.
    for correct in [true, false] {
        let mut meant: Vec<&Subject> = subjects.iter().filter(|one| is_meant(&one.truth.name)).collect();
        // When it was stopped before, those come first that have had no turn yet.
        meant.sort_by_key(|subject| total(&ledger, &subject.truth, correct).made());
        for subject in meant {
            let Some(variant) = variant(&subject.truth, correct) else { continue };
            let tally = try_out(ground, &mut ledger, subject, variant, wanted)?;
            eprintln!("{} ({}): {}", subject.truth.name, variant.name(), tally.told());
            tally.troubles.iter().for_each(|trouble| eprintln!("  NOT WELL: {trouble}"));
            write(&table(&subjects, &ledger, wanted))?;
        }
    }
    let troubles = subjects.iter().map(|subject| total(&ledger, &subject.truth, true).troubles.len());
    let others = subjects.iter().map(|subject| total(&ledger, &subject.truth, false).troubles.len());
    let count: usize = troubles.chain(others).sum();
    ensure!(count == 0, "{count} runs did not go well");
    Ok(())
}

/// The program without its bug, or with it, if there is such a one.
fn variant(truth: &Truth, correct: bool) -> Option<Variant> {
    match (correct, truth.has_bug()) {
        (true, true) => truth.has_twin.then_some(Variant::Fixed),
        (true, false) | (false, true) => Some(Variant::Buggy),
        (false, false) => None,
    }
}

fn key(truth: &Truth, variant: Variant, schedule: &str) -> String {
    format!("{} {} {schedule}", truth.name, variant.name())
}

/// All that is known about a program.
fn total(ledger: &Ledger<Tally>, truth: &Truth, correct: bool) -> Tally {
    let mut total = Tally::default();
    if let Some(variant) = variant(truth, correct) {
        let tallies = SCHEDULES.iter().filter_map(|schedule| ledger.get(&key(truth, variant, schedule)));
        tallies.for_each(|tally| total.add(tally));
    }
    total
}

/// Makes the runs that are missing, as many as there is time for.
fn try_out(
    ground: &Ground,
    ledger: &mut Ledger<Tally>,
    subject: &Subject,
    variant: Variant,
    wanted: &Wanted<'_>,
) -> anyhow::Result<Tally> {
    let truth = &subject.truth;
    let each = wanted.runs.div_ceil(SCHEDULES.len() as u32);
    let mut all = Tally::default();
    let mut program = None;
    for schedule in SCHEDULES {
        let key = key(truth, variant, schedule);
        let mut tally = ledger.get(&key).cloned().unwrap_or_default();
        // What did not go well may be mended by now.
        if !tally.troubles.is_empty() {
            tally = Tally::default();
        }
        if tally.made() < each && !tally.is_all {
            let program = match &program {
                Some(program) => program,
                None => {
                    let folder = ground.folder.join(&truth.name);
                    program.insert(build::build(subject, &ground.tool, &folder, variant, 1)?)
                }
            };
            let session = ground.folder.join(&truth.name).join("session");
            drop(fs::remove_dir_all(&session));
            let mut unsnarl = ground.tool.command();
            unsnarl.args(["run", "--no-confirm", "--session"]).arg(&session).args(["--schedule", schedule]);
            unsnarl.args(["--runs", &(each - tally.made()).to_string()]);
            let seed = tally.made();
            unsnarl.args(["--seed", &seed.to_string()]);
            let time = wanted.time / SCHEDULES.len() as u32;
            unsnarl.args(["--time", &format!("{}ms", time.as_millis())]);
            unsnarl.args(["--timeout", &format!("{}s", timeout(truth, variant))]);
            unsnarl.args(["--technique", "avio", "--findings", "1", "--"]).arg(program);
            let begun = Instant::now();
            let ended = healthy(&mut unsnarl);
            tally.is_all = schedule.starts_with("bounded") && begun.elapsed() < time;
            tally.troubles.extend(ended.err().map(|error| format!("--schedule {schedule}: {error:#}")));
            if session.exists() {
                for record in Session::open(&session)?.runs() {
                    let outcome = &record.outcome;
                    *tally.ends.entry(outcome.reason().to_owned()).or_default() += 1;
                    if !is_well(truth, variant, outcome) {
                        let (run, reason) = (record.run, outcome.reason());
                        tally
                            .troubles
                            .push(format!("--schedule {schedule} --seed {seed}, run {run}: {reason}"));
                    }
                }
                drop(fs::remove_dir_all(&session));
            }
            ledger.put(&key, tally.clone())?;
        }
        all.add(&tally);
    }
    Ok(all)
}

/// In seconds. Where no run may hang, a slow one must not be taken for one that does: the machine may be busy with
/// other things, and a controlled run waits for it at each switch.
fn timeout(truth: &Truth, variant: Variant) -> u32 {
    if is_well(truth, variant, &Outcome::hang()) { truth.timeout_seconds } else { 120 }
}

fn is_well(truth: &Truth, variant: Variant, outcome: &Outcome) -> bool {
    let is_buggy = truth.has_bug() && variant == Variant::Buggy;
    match outcome {
        Outcome::Pass => true,
        Outcome::Fail { .. } => is_buggy,
        Outcome::Hang { .. } => is_buggy && HANGING.contains(&truth.kind.as_str()),
        Outcome::Damaged { .. } => false,
    }
}

fn table(subjects: &[Subject], ledger: &Ledger<Tally>, wanted: &Wanted<'_>) -> String {
    let mut table = head(&["program", "without its bug", "with its bug", "not well"]);
    let (mut runs, mut bad) = (0, 0);
    for subject in subjects {
        let truth = &subject.truth;
        let (correct, buggy) = (total(ledger, truth, true), total(ledger, truth, false));
        let troubles = correct.troubles.len() + buggy.troubles.len();
        runs += correct.made() + buggy.made();
        bad += troubles;
        if correct.made() + buggy.made() > 0 {
            table += &row(&[truth.name.clone(), correct.told(), buggy.told(), troubles.to_string()]);
        }
    }
    format!(
        "Tried on {} by `cargo xtask soak --controlled {}`: {runs} runs, {bad} of which did not go well.\n\n{table}",
        document::today(),
        wanted.runs
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_bug_of_the_program_may_happen() {
        let of_kind = |kind: &str| {
            let text = truth::tests::EXAMPLE.replace("atomicity-violation", kind);
            Truth::parse(&text).unwrap()
        };
        let fail = Outcome::Fail { reason: "exit code 1".to_owned() };
        let damaged = Outcome::Damaged { why: "no recording".to_owned() };
        let (race, deadlock) = (of_kind("atomicity-violation"), of_kind("deadlock"));
        assert!(is_well(&race, Variant::Buggy, &fail) && !is_well(&race, Variant::Fixed, &fail));
        assert!(is_well(&deadlock, Variant::Buggy, &Outcome::hang()));
        assert!(!is_well(&race, Variant::Buggy, &Outcome::hang()));
        assert!(!is_well(&deadlock, Variant::Fixed, &Outcome::hang()));
        assert!(!is_well(&race, Variant::Buggy, &damaged) && is_well(&race, Variant::Fixed, &Outcome::Pass));
    }
}
