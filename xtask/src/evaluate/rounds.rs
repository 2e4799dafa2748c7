//! How the time for recording is shared among programs. Each has a first round, in which most get enough runs of both
//! kinds. What is left of the time goes to the others, those first that will soon have enough, so that what these leave
//! is for the rest. How long each was recorded is kept with its runs: an evaluation that was stopped goes on with what is left.

use std::path::PathBuf;
use std::time::Duration;

use super::build::{self, Variant};
use super::record::{self, Plan};
use super::{Arguments, FIXED_RUNS, Recorded, Task, USUAL_NOISE, done, progress};
use crate::tool::Tool;

/// A shorter round would hardly make a run.
const SHORTEST_ROUND: Duration = Duration::from_secs(1);

/// Records all programs, one after the other, so that each has the machine to itself, as it would at a user's.
pub fn record_all(tasks: &[Task], tool: &Tool, arguments: &Arguments) -> Vec<anyhow::Result<Recorded>> {
    let bar = progress("recording", tasks.len());
    let recorded = tasks.iter().map(|task| {
        bar.set_message(task.subject.truth.name.clone());
        let recorded = task.record(tool, arguments);
        done(&bar, "recorded", task);
        recorded
    });
    let mut recorded: Vec<anyhow::Result<Recorded>> = recorded.collect();
    bar.finish_and_clear();
    let whole = arguments.time_per_program * tasks.len() as u32;
    loop {
        let wanting = tasks.iter().zip(&recorded).enumerate().flat_map(wanting).collect();
        let round = Round::of(wanting, left(whole, &recorded));
        if round.wanting.is_empty() {
            return recorded;
        }
        let bar = progress("more runs", round.wanting.len());
        for nth in 0..round.wanting.len() {
            let Wanting { task: index, variant, .. } = round.wanting[nth];
            let (task, time) = (&tasks[index], round.share(nth, left(whole, &recorded)));
            bar.set_message(task.subject.truth.name.clone());
            if let Err(error) = task.go_on(variant, &mut recorded[index], tool, time) {
                recorded[index] = Err(error);
            }
            done(&bar, "recorded more of", task);
        }
        bar.finish_and_clear();
    }
}

/// A recording that has not enough runs.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Wanting {
    /// How many seconds it will probably take.
    seconds: f64,
    task: usize,
    variant: Variant,
}

/// The recordings of a program that have not enough runs.
fn wanting((nth, (task, recorded)): (usize, (&Task, &anyhow::Result<Recorded>))) -> Vec<Wanting> {
    let Ok(Recorded { runs, fixed, .. }) = recorded else { return Vec::new() };
    let recordings = [(task.variant(), Some(runs)), (Variant::Fixed, fixed.as_ref())];
    let lacking = recordings.into_iter().filter_map(|(variant, recording)| {
        recording?.lacks().map(|seconds| Wanting { seconds, task: nth, variant })
    });
    lacking.collect()
}

/// What is left of the time.
fn left(whole: Duration, recorded: &[anyhow::Result<Recorded>]) -> Duration {
    let recordings =
        recorded.iter().flatten().flat_map(|recorded| [Some(&recorded.runs), recorded.fixed.as_ref()]);
    let spent: f64 = recordings.flatten().map(|recording| recording.seconds).sum();
    whole.saturating_sub(Duration::from_secs_f64(spent))
}

/// Recordings that are gone on with, in this order.
struct Round {
    wanting: Vec<Wanting>,
}

impl Round {
    /// None if the time that is left is not worth it.
    fn of(mut wanting: Vec<Wanting>, left: Duration) -> Round {
        wanting.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        if left < SHORTEST_ROUND * wanting.len() as u32 {
            wanting.clear();
        }
        Round { wanting }
    }

    /// The time for the `nth` if so much is left.
    fn share(&self, nth: usize, left: Duration) -> Duration {
        left / (self.wanting.len() - nth) as u32
    }
}

impl Task<'_> {
    /// What is recorded of the program itself.
    fn variant(&self) -> Variant {
        if self.subject.truth.has_bug() { Variant::Buggy } else { Variant::Flaky }
    }

    /// The first round.
    fn record(&self, tool: &Tool, arguments: &Arguments) -> anyhow::Result<Recorded> {
        let plan = arguments.plan(self.subject);
        let record = |variant: Variant, plan: &Plan| {
            let program = build::build(self.subject, tool, &self.folder, variant, self.noise_size)?;
            record::record(tool, &program, &self.runs_folder(variant), plan)
        };
        let truth = &self.subject.truth;
        let runs = record(self.variant(), &plan)?;
        if truth.has_bug() && (self.noise_size != USUAL_NOISE || arguments.java) {
            return Ok(Recorded { runs, fixed: None, slowdown: None });
        }
        let fixed_plan = Plan { failing: 0, passing: FIXED_RUNS, ..plan };
        let has_twin = truth.has_bug() && truth.has_twin;
        let fixed = has_twin.then(|| record(Variant::Fixed, &fixed_plan)).transpose()?;
        let slowdown = self.slowdown(if has_twin { Variant::Fixed } else { self.variant() }, tool)?;
        Ok(Recorded { runs, fixed, slowdown })
    }

    /// Makes more runs of what was recorded.
    fn go_on(
        &self,
        variant: Variant,
        recorded: &mut anyhow::Result<Recorded>,
        tool: &Tool,
        time: Duration,
    ) -> anyhow::Result<()> {
        let program = build::build(self.subject, tool, &self.folder, variant, self.noise_size)?;
        let recording = record::go_on(tool, &program, &self.runs_folder(variant), time)?;
        if let Ok(recorded) = recorded {
            match (variant, &mut recorded.fixed) {
                (Variant::Fixed, Some(fixed)) => *fixed = recording,
                _ => recorded.runs = recording,
            }
        }
        Ok(())
    }

    fn runs_folder(&self, variant: Variant) -> PathBuf {
        self.folder.join(format!("{}-runs", variant.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanting(seconds: f64, task: usize) -> Wanting {
        Wanting { seconds, task, variant: Variant::Buggy }
    }

    #[test]
    fn what_the_quick_leave_is_for_the_slow() {
        let round =
            Round::of(vec![wanting(500.0, 0), wanting(2.0, 1), wanting(30.0, 2)], Duration::from_secs(90));
        let order: Vec<usize> = round.wanting.iter().map(|wanting| wanting.task).collect();
        assert_eq!(order, [1, 2, 0]);
        assert_eq!(round.share(0, Duration::from_secs(90)), Duration::from_secs(30));
        // The first has used two seconds of its thirty.
        assert_eq!(round.share(1, Duration::from_secs(88)), Duration::from_secs(44));
        assert_eq!(round.share(2, Duration::from_secs(58)), Duration::from_secs(58));
    }

    #[test]
    fn a_round_needs_time() {
        let rest = || vec![wanting(500.0, 0), wanting(2.0, 1)];
        assert!(Round::of(rest(), Duration::from_millis(1900)).wanting.is_empty());
        assert_eq!(Round::of(rest(), Duration::from_secs(2)).wanting.len(), 2);
    }
}
