//! `cargo xtask tidy`: rules of the project that no compiler checks. A rule is a file here and an entry in [`RULES`].

mod arrows;
mod documents;
mod licences;
mod markers;
mod text;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::workspace;

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file, from the project's root.
    file: PathBuf,
    /// From 1; none if it is about the whole file.
    line: Option<usize>,
    message: String,
}

impl Problem {
    fn new(file: impl AsRef<Path>, line: impl Into<Option<usize>>, message: impl Into<String>) -> Problem {
        Problem { file: file.as_ref().to_owned(), line: line.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A text file of the project.
pub struct TextFile {
    /// From the project's root.
    path: PathBuf,
    content: String,
}

impl TextFile {
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.content.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    fn has_extension(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|own| own == extension)
    }
}

type Rule = fn(&[TextFile]) -> anyhow::Result<Vec<Problem>>;

const RULES: &[Rule] = &[arrows::check, licences::check, documents::check, text::check, markers::check];

pub fn tidy() -> anyhow::Result<()> {
    let files = text_files()?;
    let mut problems = Vec::new();
    for rule in RULES {
        problems.extend(rule(&files)?);
    }
    problems.sort();
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => bail!("one thing is untidy"),
        count => bail!("{count} things are untidy"),
    }
}

/// What git tracks or would add, as far as it is text.
fn text_files() -> anyhow::Result<Vec<TextFile>> {
    let mut git = std::process::Command::new("git");
    git.current_dir(workspace::root());
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]);
    let mut files = Vec::new();
    for path in workspace::output_of(&mut git)?.split_terminator('\0').map(PathBuf::from) {
        let whole = workspace::root().join(&path);
        // A file deleted but not yet committed is still listed.
        if !whole.is_file() {
            continue;
        }
        let bytes = fs::read(&whole).with_context(|| format!("cannot read {}", path.display()))?;
        if let Ok(content) = String::from_utf8(bytes) {
            files.push(TextFile { path, content });
        }
    }
    Ok(files)
}
