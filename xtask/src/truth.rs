//! What is known about a corpus program: its truth.toml. The format is described in corpus/README.md.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::workspace;

/// A corpus program with its truth.
pub struct Subject {
    /// Where its sources are.
    pub folder: PathBuf,
    /// What is wrong with it.
    pub truth: Truth,
}

impl Subject {
    /// Whether it can be built with several sizes of noise. What others have published is as it is, and in correct programs
    /// there is nothing to be found beside it.
    pub fn has_noise(&self) -> bool {
        self.truth.has_bug() && self.folder.parent().is_none_or(|parent| !parent.ends_with(CRATES))
    }
}

/// The folder of published crates.
const CRATES: &str = "crates";

/// The kind of a correct program.
pub const NO_BUG: &str = "none";

/// The content of a truth.toml, as far as it is used here.
#[derive(Deserialize, Debug)]
pub struct Truth {
    pub name: String,
    pub language: Language,
    pub sources: Vec<String>,
    /// A kind of finding, or [`NO_BUG`].
    pub kind: String,
    /// Empty without a bug.
    #[serde(default)]
    pub pattern: String,
    pub natural_failure_rate: f64,
    /// What the sources include from the corpus.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Whether the sources also make a program without the bug.
    #[serde(default = "usually")]
    pub has_twin: bool,
    /// Whether iterations of loops have to be told apart.
    #[serde(default)]
    pub loops: bool,
    /// When a run counts as hung.
    #[serde(default = "usual_timeout")]
    pub timeout_seconds: u32,
    /// The accesses of the faulty interleaving, in order.
    #[serde(rename = "access", default)]
    pub accesses: Vec<Access>,
    /// Further places, which only alternatives name.
    #[serde(rename = "site", default)]
    pub sites: Vec<Site>,
    #[serde(rename = "alternative", default)]
    pub alternatives: Vec<Alternative>,
    /// What a good explanation says.
    #[serde(rename = "truth", default)]
    pub explanation: Explanation,
}

/// What a good explanation of the bug says.
#[derive(Deserialize, Debug, Default)]
pub struct Explanation {
    /// For each role the innermost function that encloses its accesses.
    #[serde(default)]
    pub suspicious_functions: Vec<String>,
    /// Actions of a report that amount to a good fix.
    #[serde(default)]
    pub fixes: Vec<String>,
}

#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    #[serde(rename = "c")]
    C,
    #[serde(rename = "c++", alias = "cpp")]
    Cxx,
    #[serde(rename = "rust")]
    Rust,
    #[serde(rename = "java")]
    Java,
}

/// A marked place in the sources.
#[derive(Deserialize, Debug)]
pub struct Site {
    pub marker: String,
    pub file: String,
    pub line: u32,
    pub function: String,
    #[serde(default)]
    pub variable: String,
}

/// An access of the faulty interleaving.
#[derive(Deserialize, Debug)]
pub struct Access {
    #[serde(flatten)]
    pub site: Site,
    /// The role of the thread.
    pub thread: u32,
}

/// Another answer that is just as right.
#[derive(Deserialize, Debug)]
pub struct Alternative {
    pub pattern: String,
    /// Markers of its accesses, in order.
    pub accesses: Vec<String>,
    /// The roles of their threads.
    pub threads: Vec<u32>,
    /// Which of the program's bugs it is about.
    #[serde(default = "first_bug")]
    pub bug: u32,
}

/// One answer that counts as right.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// A letter for each access.
    pub pattern: String,
    /// Where they are, in order, and the roles of their threads.
    pub accesses: Vec<(Place, u32)>,
    /// Which of the program's bugs it is about.
    pub bug: u32,
}

impl Answer {
    fn new(pattern: &str, accesses: Vec<(Place, u32)>, bug: u32) -> anyhow::Result<Answer> {
        ensure!(pattern.len() == accesses.len(), "pattern {pattern} for {} accesses", accesses.len());
        Ok(Answer { pattern: pattern.to_owned(), accesses, bug })
    }

    /// Threads that wait for one another in a circle: none of them is the first.
    pub fn is_circular(&self) -> bool {
        self.pattern.bytes().all(|letter| letter == b'L')
    }
}

/// A source line. The program's own files are named as its truth names them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
}

impl Place {
    pub fn new(file: &str, line: u32) -> Place {
        Place { file: file.to_owned(), line }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Path::new(&self.file).file_name().unwrap_or_default().to_string_lossy();
        write!(f, "{name}:{}", self.line)
    }
}

impl Truth {
    pub fn parse(text: &str) -> anyhow::Result<Truth> {
        let truth: Truth = toml::from_str(text)?;
        if truth.has_bug() {
            ensure!(!truth.accesses.is_empty(), "a program with a bug needs its accesses");
            truth.answers()?;
        } else {
            let is_bare =
                truth.accesses.is_empty() && truth.sites.is_empty() && truth.alternatives.is_empty();
            ensure!(truth.pattern.is_empty() && is_bare, "a correct program has nothing to be found");
        }
        Ok(truth)
    }

    /// Whether there is something to be found. The other programs of the corpus are correct.
    pub fn has_bug(&self) -> bool {
        self.kind != NO_BUG
    }

    /// Whether a run may hang, which only such programs have a time-out for.
    pub fn may_hang(&self) -> bool {
        self.timeout_seconds < usual_timeout()
    }

    /// The program's own files, as the truth names them: what lies elsewhere in the corpus serves all programs.
    pub fn own_files(&self) -> Vec<&str> {
        let own = self.sources.iter().chain(&self.headers).map(String::as_str);
        own.filter(|file| !file.starts_with("..")).collect()
    }

    /// All places. Two accesses may be at one of them.
    pub fn places(&self) -> impl Iterator<Item = &Site> {
        self.accesses.iter().map(|access| &access.site).chain(&self.sites)
    }

    /// The answers that count as right, the truth itself first.
    pub fn answers(&self) -> anyhow::Result<Vec<Answer>> {
        let mut by_marker = BTreeMap::new();
        for site in self.places() {
            let declared = by_marker.entry(site.marker.as_str()).or_insert(site);
            let agree = (&declared.file, declared.line) == (&site.file, site.line);
            ensure!(agree, "marker {} is declared for two places", site.marker);
        }
        let place_of = |site: &Site| Place::new(&site.file, site.line);
        let itself = self.accesses.iter().map(|access| (place_of(&access.site), access.thread));
        let mut answers = vec![Answer::new(&self.pattern, itself.collect(), first_bug())?];
        for Alternative { pattern, accesses, threads, bug } in &self.alternatives {
            let counts = (threads.len(), accesses.len());
            ensure!(counts.0 == counts.1, "{} threads for {} accesses", counts.0, counts.1);
            let mut placed = Vec::new();
            for (marker, &thread) in accesses.iter().zip(threads) {
                let Some(site) = by_marker.get(marker.as_str()) else {
                    bail!("an alternative names marker {marker}, which is not declared");
                };
                placed.push((place_of(site), thread));
            }
            answers.push(Answer::new(pattern, placed, *bug)?);
        }
        Ok(answers)
    }
}

fn usual_timeout() -> u32 {
    30
}

fn usually() -> bool {
    true
}

fn first_bug() -> u32 {
    1
}

/// All programs that were written for the corpus to be evaluated, by name.
pub fn subjects() -> anyhow::Result<Vec<Subject>> {
    subjects_in(&["c", "cpp", "java", "rust"])
}

/// Drivers of published crates with known faults, by name.
pub fn crates() -> anyhow::Result<Vec<Subject>> {
    subjects_in(&[CRATES])
}

/// Programs in which patterns that go along with the bug were planted, by name.
pub fn planted() -> anyhow::Result<Vec<Subject>> {
    subjects_in(&["planted"])
}

fn subjects_in(folders: &[&str]) -> anyhow::Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for language in folders {
        let folder = workspace::root().join("corpus").join(language);
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let folder = entry?.path();
            let path = folder.join("truth.toml");
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let truth = Truth::parse(&text).with_context(|| format!("in {}", path.display()))?;
            subjects.push(Subject { folder, truth });
        }
    }
    subjects.sort_by(|a, b| a.truth.name.cmp(&b.truth.name));
    Ok(subjects)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A check-then-act with one alternative, the pair in its middle.
    pub const EXAMPLE: &str = r#"
        name = "claim"
        language = "c"
        sources = ["claim.c", "queue.c"]
        kind = "atomicity-violation"
        pattern = "RWR"
        natural_failure_rate = 0.031
        [[access]]
        marker = "A1"
        file = "queue.c"
        line = 41
        function = "queue_size"
        thread = 1
        [[access]]
        marker = "A2"
        file = "queue.c"
        line = 30
        function = "queue_pop"
        thread = 2
        [[access]]
        marker = "A3"
        file = "queue.c"
        line = 25
        function = "queue_pop"
        thread = 1
        [[site]]
        marker = "B1"
        file = "claim.c"
        line = 7
        function = "work"
        [[alternative]]
        pattern = "RW"
        accesses = ["A1", "A2"]
        threads = [1, 2]
        [[alternative]]
        pattern = "WR"
        accesses = ["A2", "B1"]
        threads = [1, 2]
        bug = 2
    "#;

    #[test]
    fn alternatives_take_their_places_from_markers() {
        let truth = Truth::parse(EXAMPLE).unwrap();
        let answers = truth.answers().unwrap();
        let place = Place::new;
        assert_eq!(answers.len(), 3);
        assert_eq!(answers[1].accesses, [(place("queue.c", 41), 1), (place("queue.c", 30), 2)]);
        assert_eq!(answers[2].accesses, [(place("queue.c", 30), 1), (place("claim.c", 7), 2)]);
        assert_eq!(answers.iter().map(|answer| answer.bug).collect::<Vec<_>>(), [1, 1, 2]);
    }

    #[test]
    fn contradictions_are_refused() {
        let check = |from: &str, to: &str, complaint: &str| {
            let error = Truth::parse(&EXAMPLE.replacen(from, to, 1)).unwrap_err();
            assert!(format!("{error:#}").contains(complaint), "{error:#}");
        };
        check(r#"marker = "A2""#, r#"marker = "A1""#, "A1 is declared for two places");
        check(r#"pattern = "RWR""#, r#"pattern = "RW""#, "pattern RW for 3 accesses");
        check(r#"["A1", "A2"]"#, r#"["A1", "A9"]"#, "A9, which is not declared");
        check("threads = [1, 2]", "threads = [1]", "1 threads for 2 accesses");
        check(r#"language = "c""#, r#"language = "cobol""#, "cobol");
        check(r#"kind = "atomicity-violation""#, r#"kind = "none""#, "nothing to be found");
    }

    #[test]
    fn a_correct_program_has_a_truth_without_accesses() {
        let correct = |kind: &str| {
            let text = r#"
                name = "benign_a"
                language = "rust"
                sources = ["src/main.rs"]
                natural_failure_rate = 0.0
            "#;
            Truth::parse(&format!("{text}kind = \"{kind}\""))
        };
        assert!(!correct("none").unwrap().has_bug());
        let error = correct("order-violation").unwrap_err();
        assert!(format!("{error:#}").contains("needs its accesses"), "{error:#}");
    }
}
