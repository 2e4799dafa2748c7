//! A JSON report, read as any program would: by its documented keys.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::truth::Place;

/// The keys of a report that matter here.
#[derive(Deserialize)]
pub struct Report {
    pub findings: Vec<Finding>,
    /// Given by techniques that tell causes apart.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// Given by `unsnarl run`.
    #[serde(default)]
    pub effort: Option<Effort>,
}

/// Runs of every kind, and seconds since the command began.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    pub runs: u32,
    pub seconds: f64,
}

/// What an answer took.
#[derive(Deserialize, Clone, Copy)]
pub struct Effort {
    #[serde(flatten)]
    pub spent: Spent,
    /// Until the first finding was confirmed.
    #[serde(default)]
    pub until_proof: Option<Spent>,
}

/// Findings that are one cause.
#[derive(Deserialize)]
pub struct Cause {
    /// The group of failing runs that it explains.
    pub group: u64,
    pub failing_runs: Vec<u64>,
}

#[derive(Deserialize)]
pub struct Fix {
    pub action: String,
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    pub passed: u64,
    pub failed: u64,
    pub hung: u64,
    pub damaged: u64,
}

impl Runs {
    /// Those that count.
    pub fn judged(&self) -> u64 {
        self.passed + self.failed
    }

    /// Failing runs per run; none without runs.
    pub fn failure_rate(&self) -> Option<f64> {
        (self.judged() > 0).then(|| self.failed as f64 / self.judged() as f64)
    }
}

#[derive(Deserialize)]
pub struct Finding {
    pub rank: u64,
    pub tied: u64,
    pub failed: u64,
    pub passed: u64,
    #[serde(default)]
    pub kind: String,
    pub pattern: String,
    pub accesses: Vec<Access>,
    #[serde(default)]
    pub suspicious_functions: Vec<String>,
    #[serde(default)]
    pub failing_runs: Vec<u64>,
    /// What to change, where something is advised.
    #[serde(default)]
    pub fix: Option<Fix>,
    /// How sure the technique is that this is the cause, from 0 to 1; not all of them say.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// What came of trying it out, if that was done.
    #[serde(default)]
    pub confirmation: Option<Confirmation>,
}

/// Runs in which a finding was forced, forbidden, or its threads merely delayed.
#[derive(Deserialize, Serialize, Clone, Debug)]
pub struct Confirmation {
    pub verdict: String,
    pub enforced: Trial,
    pub forbidden: Trial,
    #[serde(default)]
    pub delayed: Trial,
}

impl Confirmation {
    pub fn is_confirmed(&self) -> bool {
        self.verdict == "confirmed"
    }
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug, Default)]
pub struct Trial {
    pub runs: u32,
    pub failed: u32,
}

#[derive(Deserialize)]
pub struct Access {
    pub thread: u32,
    #[serde(default)]
    pub variable: String,
    pub file: Option<String>,
    pub line: Option<u32>,
    #[serde(default)]
    pub stack: Vec<Frame>,
}

#[derive(Deserialize)]
pub struct Frame {
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl Access {
    /// The innermost place in the program's own files: what a container does inside, it does for its user's line.
    /// An access outside of all of them is where it says.
    pub fn place(&self, own_files: &[&str]) -> Option<Place> {
        let own = |file: &str| own_files.iter().find(|own| Path::new(file).ends_with(own));
        let places = self.stack.iter().map(|frame| (frame.file.as_deref(), frame.line));
        let mut places = std::iter::once((self.file.as_deref(), self.line)).chain(places);
        let inside = places.find_map(|(file, line)| Some(Place::new(own(file?)?, line?)));
        inside.or_else(|| Some(Place::new(self.file.as_deref()?, self.line?)))
    }
}

impl Finding {
    /// Where its accesses are.
    pub fn places(&self, own_files: &[&str]) -> impl Iterator<Item = Place> {
        self.accesses.iter().filter_map(|access| access.place(own_files))
    }

    /// Itself in one line: `RWR queue.size at queue.c:41, queue.c:30, queue.c:25 (failing 24, passing 1)`.
    pub fn in_short(&self, own_files: &[&str]) -> String {
        let places: Vec<String> = self
            .accesses
            .iter()
            .map(|access| access.place(own_files).map_or("?".to_owned(), |place| place.to_string()))
            .collect();
        let variable = self.accesses.first().map_or("", |access| access.variable.as_str());
        let variable = if variable.is_empty() { String::new() } else { format!("`{variable}` ") };
        format!(
            "{} {variable}at {} (failing {}, passing {})",
            self.pattern,
            places.join(", "),
            self.failed,
            self.passed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_container_does_counts_for_its_users_line() {
        let frame = |file: &str, line: u32| Frame { file: Some(file.to_owned()), line: Some(line) };
        let access = Access {
            thread: 1,
            variable: String::new(),
            file: Some("/std/vec.rs".to_owned()),
            line: Some(9),
            stack: vec![
                frame("/std/vec.rs", 9),
                frame("/home/me/src/main.rs", 41),
                frame("/home/me/src/main.rs", 7),
            ],
        };
        assert_eq!(access.place(&["src/main.rs"]), Some(Place::new("src/main.rs", 41)));
        assert_eq!(access.place(&["other.rs"]), Some(Place::new("/std/vec.rs", 9)));
        assert_eq!(access.place(&["vec.rs"]), Some(Place::new("vec.rs", 9)));
    }

    #[test]
    fn damaged_runs_do_not_count() {
        let runs = Runs { passed: 75, failed: 25, hung: 1, damaged: 3 };
        assert_eq!(runs.failure_rate(), Some(0.25));
        assert_eq!(Runs { passed: 0, failed: 0, ..runs }.failure_rate(), None);
    }
}
