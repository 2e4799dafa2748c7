//! Whether a session that ended by itself had enough runs: sessions are played from recorded runs until the first cause
//! is settled, and then on until there are ten times as many.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::json;

use super::report::Finding;
use super::score::Key;
use super::{Recorded, Task, reports};
use crate::document::{head, row};
use crate::tool::Tool;

/// Sessions of each program.
const SESSIONS: u64 = 8;
/// A session that has not stopped after so many runs counts as one that does not.
const MOST_RUNS: usize = 200;
const TIMES: usize = 10;

/// What `unsnarl draws` says about a session.
#[derive(Deserialize)]
struct Stopped {
    after: Option<usize>,
    first: Option<Finding>,
    later: Option<Finding>,
}

/// A session that stopped.
#[derive(Debug, PartialEq)]
struct Stop {
    after: usize,
    /// Whether its first cause is right.
    right: bool,
    /// What came first with ten times as many runs, if that is another cause.
    changed: Option<String>,
    /// Whether it is the very same pattern.
    same_pattern: bool,
}

/// The sessions of a program.
pub struct Stops {
    program: String,
    stops: Vec<Stop>,
}

/// Plays the sessions of a program.
pub fn stops(task: &Task, recorded: &Recorded, tool: &Tool, seed: u64) -> anyhow::Result<Stops> {
    let truth = &task.subject.truth;
    let (answers, own_files) = (truth.answers()?, truth.own_files());
    let key = Key { answers: &answers, own_files: &own_files };
    let pool = &recorded.runs.pool;
    let session = |nth| json!({ "runs": pool.sequence(MOST_RUNS * TIMES, seed + nth) });
    let sessions: Vec<_> = (0..SESSIONS).map(session).collect();
    let plan = json!({ "techniques": [], "files": own_files, "draws": [], "stops": sessions });
    let mut stops = Vec::new();
    reports::each_line(tool, pool, &plan, &task.folder.join("pool"), |stopped: Stopped| {
        stops.extend(key.stop(stopped)?);
        Ok(())
    })?;
    Ok(Stops { program: truth.name.clone(), stops })
}

impl Key<'_> {
    fn stop(&self, stopped: Stopped) -> anyhow::Result<Option<Stop>> {
        let Some(after) = stopped.after else { return Ok(None) };
        let first = stopped.first.context("a session stopped without a cause")?;
        let bug = |finding: &Finding| self.answer(finding).map(|answer| self.answers[answer].bug);
        let Some(later) = stopped.later else {
            let changed = Some("nothing".to_owned());
            return Ok(Some(Stop { after, right: bug(&first).is_some(), changed, same_pattern: false }));
        };
        let threads =
            |finding: &Finding| finding.accesses.iter().map(|access| access.thread).collect::<Vec<_>>();
        let same_pattern = first.pattern == later.pattern
            && threads(&first) == threads(&later)
            && first.places(self.own_files).eq(later.places(self.own_files));
        // Patterns of one bug are one cause.
        let same = same_pattern || bug(&first).is_some() && bug(&first) == bug(&later);
        let changed = (!same).then(|| later.in_short(self.own_files));
        Ok(Some(Stop { after, right: bug(&first).is_some(), changed, same_pattern }))
    }
}

/// What came of all programs.
pub fn markdown(all: &[Stops], today: &str, command: &str) -> String {
    let stops = || all.iter().flat_map(|program| &program.stops);
    let stopped = stops().count();
    let mut after: Vec<usize> = stops().map(|stop| stop.after).collect();
    after.sort_unstable();
    let count = |is_so: fn(&Stop) -> bool| {
        let so = stops().filter(|stop| is_so(stop)).count();
        format!("{so} ({:.1} %)", 100.0 * so as f64 / stopped.max(1) as f64)
    };
    let mut table = head(&["", "sessions"]);
    let sessions = all.len() as u64 * SESSIONS;
    for (what, number) in [
        ("played".to_owned(), sessions.to_string()),
        (format!("stopped by themselves within {MOST_RUNS} runs"), stopped.to_string()),
        ("with the truth first".to_owned(), count(|stop| stop.right)),
        (
            "with the same first cause after ten times as many runs".to_owned(),
            count(|stop| stop.changed.is_none()),
        ),
        ("with the very same pattern".to_owned(), count(|stop| stop.same_pattern)),
    ] {
        table += &row(&[what, number]);
    }
    let median = after.get(after.len() / 2).map_or_else(|| "–".to_owned(), usize::to_string);
    let mut text = format!(
        "Played on {today} by `{command}`: {SESSIONS} sessions of each of {} programs. Each run of a session is any of the \
         program's recorded runs with the same chance, so that runs repeat, and a session of ten times as many runs more \
         so: it shows what chance did to the session, not what was never recorded. A session stops by itself when its first \
         cause is settled; one that ends with many runs of both kinds and without that says so, and does not count as \
         stopped. Of those that stopped, half had at most {median} runs.\n\n{table}",
        all.len()
    );
    let changes = all.iter().flat_map(|program| {
        let changed = program.stops.iter().filter_map(|stop| Some((stop, stop.changed.as_ref()?)));
        changed.map(|(stop, later)| {
            let was = if stop.right { "the truth" } else { "another cause" };
            format!("- {}: {was} after {} runs; later {later}\n", program.program, stop.after)
        })
    });
    let changes: String = changes.collect();
    if !changes.is_empty() {
        text += &format!("\nWhere the first cause changed:\n\n{changes}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::Truth;

    fn finding(text: &str) -> Option<Finding> {
        crate::evaluate::score::tests::report(&[text]).findings.pop()
    }

    /// Of the example truth, 1@queue.c:41 2@queue.c:30 1@queue.c:25 or its first two.
    fn stop(first: &str, later: &str) -> Stop {
        let answers = Truth::parse(crate::truth::tests::EXAMPLE).unwrap().answers().unwrap();
        let key = Key { answers: &answers, own_files: &["queue.c"] };
        key.stop(Stopped { after: Some(30), first: finding(first), later: finding(later) }).unwrap().unwrap()
    }

    #[test]
    fn patterns_of_one_bug_are_one_cause() {
        let (triple, pair) =
            ("1 1 RWR 1@queue.c:41 2@queue.c:30 1@queue.c:25", "1 1 RW 1@queue.c:41 2@queue.c:30");
        let other = "1 1 WW 1@queue.c:9 2@queue.c:8";
        let stop_of = |first, later| {
            let Stop { right, changed, same_pattern, .. } = stop(first, later);
            (right, changed.is_none(), same_pattern)
        };
        assert_eq!(stop_of(triple, triple), (true, true, true));
        assert_eq!(stop_of(triple, pair), (true, true, false));
        assert_eq!(stop_of(other, other), (false, true, true));
        assert_eq!(stop_of(other, pair), (false, false, false));
        assert_eq!(stop_of(pair, other), (true, false, false));
    }

    #[test]
    fn what_changed_is_told() {
        let other = "1 1 WW 1@queue.c:9 2@queue.c:8";
        let stops = vec![stop("1 1 RW 1@queue.c:41 2@queue.c:30", other), stop(other, other)];
        let text = markdown(&[Stops { program: "queue".to_owned(), stops }], "2001-01-01", "x");
        assert!(
            text.contains("| with the same first cause after ten times as many runs | 1 (50.0 %) |"),
            "{text}"
        );
        assert!(text.contains("- queue: the truth after 30 runs; later WW"), "{text}");
    }
}
