//! What the documents name must exist: paths within the project, and the targets of links.

use std::path::Path;

use super::{Problem, TextFile};
use crate::workspace;

/// Words that begin like this are paths within the project.
const FOLDERS: &[&str] = &["crates/", "corpus/", "docs/", "xtask/", ".ci/"];

pub fn check(files: &[TextFile]) -> anyhow::Result<Vec<Problem>> {
    let exists = |path: &Path| workspace::root().join(path).exists();
    Ok(files.iter().filter(|file| file.has_extension("md")).flat_map(|file| missing(file, &exists)).collect())
}

fn missing(file: &TextFile, exists: &dyn Fn(&Path) -> bool) -> Vec<Problem> {
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let mut problems = Vec::new();
    for (line, text) in file.lines() {
        let named = named_paths(text).map(|path| (path, Path::new(path).to_owned()));
        let linked = linked_files(text).map(|path| (path, folder.join(path)));
        for (name, path) in named.chain(linked) {
            if !exists(&path) {
                problems.push(Problem::new(&file.path, line, format!("{name} does not exist")));
            }
        }
    }
    problems.dedup();
    problems
}

/// Paths in running text and in code. Those with a placeholder such as `<name>` are not meant literally.
fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let is_separator = |c: char| c.is_whitespace() || "`\"'(),;|[]".contains(c);
    text.split(is_separator)
        .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)))
        .filter(|word| !word.contains(['<', '*', '{', '…', '$']))
        .map(|word| word.split([':', '#']).next().unwrap_or(word).trim_end_matches('.'))
}

/// Targets of Markdown links that are files of the project.
fn linked_files(text: &str) -> impl Iterator<Item = &str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ', '#']).next())
        .filter(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The project has crates/runner, docs/guide.md and README.md.
    fn check(path: &str, content: &str, expected: &[&str]) {
        let file = TextFile { path: path.into(), content: content.to_owned() };
        let exists = |path: &Path| {
            ["crates/runner", "docs/guide.md", "README.md"].iter().any(|there| path == Path::new(there))
        };
        let found: Vec<String> = missing(&file, &exists).iter().map(Problem::to_string).collect();
        assert_eq!(found, expected, "{content}");
    }

    #[test]
    fn paths_must_exist() {
        check("README.md", "see `crates/runner`, docs/guide.md:12 and (crates/runner).", &[]);
        check("A.md", "text\n`crates/shared`", &["A.md:2: crates/shared does not exist"]);
        check("A.md", "crates/gone.", &["A.md:1: crates/gone does not exist"]);
        check("A.md", "corpus/<language>/<name>/ and crates/*/src", &[]);
        check("A.md", "a/b and othercrates/x", &[]);
    }

    #[test]
    fn links_are_relative_to_their_document() {
        check("README.md", "[guide](docs/guide.md#start) [us](https://github.com/)", &[]);
        check("docs/a.md", "[guide](guide.md) [self](#there)", &[]);
        check("docs/a.md", "[x](README.md)", &["docs/a.md:1: README.md does not exist"]);
    }
}
