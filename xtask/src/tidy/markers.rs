//! Truth files of the corpus name source lines; a `truth:NAME` comment stands on each of them, so that an edit of a
//! program that moves its lines is noticed.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Problem, TextFile};
use crate::truth::Truth;

const MARKER: &str = "truth:";

/// Drivers of published crates.
const CRATES: &str = "corpus/crates";

pub fn check(files: &[TextFile]) -> anyhow::Result<Vec<Problem>> {
    let truths = files.iter().filter(|f| f.path.starts_with("corpus") && f.path.ends_with("truth.toml"));
    Ok(truths.flat_map(|truth| disagreements(truth, files)).collect())
}

fn disagreements(truth_file: &TextFile, files: &[TextFile]) -> Vec<Problem> {
    let truth = match Truth::parse(&truth_file.content) {
        Ok(truth) => truth,
        Err(error) => return vec![Problem::new(&truth_file.path, None, format!("{error:#}"))],
    };
    let folder = truth_file.path.parent().unwrap_or(Path::new(""));
    // What was published never moves, and is not here to be marked.
    let is_published = truth_file.path.starts_with(CRATES);
    let mut problems = Vec::new();
    let mut declared = BTreeSet::new();
    for site in truth.places() {
        declared.insert(site.marker.as_str());
        let mut complain = |message: String| problems.push(Problem::new(&truth_file.path, None, message));
        let Some(source) = files.iter().find(|file| file.path == folder.join(&site.file)) else {
            if !is_published {
                complain(format!("{} names {}, which does not exist", site.marker, site.file));
            }
            continue;
        };
        let marked: Vec<usize> = markers(source).filter(|m| m.1 == site.marker).map(|m| m.0).collect();
        if marked != [site.line as usize] {
            complain(format!(
                "{} is said to be at {}:{}, but {MARKER}{} is at {marked:?}",
                site.marker, site.file, site.line, site.marker
            ));
        } else if let Some(head) = enclosing_head(source, site.line as usize)
            && !calls_itself(head, &site.function)
        {
            complain(format!("{} is said to be in {}, but is in `{head}`", site.marker, site.function));
        }
    }
    for source in files.iter().filter(|file| file.path.starts_with(folder) && file.path != truth_file.path) {
        for (line, marker) in markers(source).filter(|(_, marker)| !declared.contains(marker)) {
            problems.push(Problem::new(&source.path, line, format!("{MARKER}{marker} is not in truth.toml")));
        }
    }
    problems
}

/// All markers with their lines. A line may have several.
fn markers(file: &TextFile) -> impl Iterator<Item = (usize, &str)> {
    file.lines().flat_map(|(number, line)| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        line.split(MARKER)
            .skip(1)
            .filter_map(move |rest| rest.split(|c| !is_name(c)).next())
            .map(move |name| (number, name))
    })
}

/// The first line of the function around a line, going by indentation: sources of the corpus begin functions in the
/// first column, or within a class, which is not looked into.
fn enclosing_head(file: &TextFile, line: usize) -> Option<&str> {
    let before: Vec<&str> = file.content.lines().take(line).collect();
    let head =
        before.into_iter().rev().find(|text| text.starts_with(|c: char| c.is_alphabetic() || c == '_'))?;
    let is_function = head.contains('(') && !head.starts_with("class ") && !head.starts_with("struct ");
    is_function.then_some(head)
}

/// Whether a function's head has this name, which may be qualified.
fn calls_itself(head: &str, function: &str) -> bool {
    let name = function.split('(').next().unwrap_or(function);
    let name = name.rsplit("::").next().unwrap_or(name);
    head.match_indices(name).any(|(at, _)| {
        let is_part_of_word = |c: char| c.is_alphanumeric() || c == '_';
        let before = head[..at].ends_with(is_part_of_word);
        let after = head[at + name.len()..].trim_start().starts_with('(');
        !before && after
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::tests::EXAMPLE;

    /// A source with markers at lines 25, 30 and 41 of queue.c, and 7 of claim.c.
    fn corpus() -> Vec<TextFile> {
        let source = |path: &str, size: usize, special: &[(usize, &str)]| {
            let line =
                |number| special.iter().find(|(at, _)| *at == number).map_or("    x;", |(_, text)| text);
            TextFile {
                path: path.into(),
                content: (1..=size).map(|number| line(number).to_owned() + "\n").collect(),
            }
        };
        let queue = [
            (20, "int queue_pop(struct queue *queue)"),
            (25, "    size; /* truth:A3 */"),
            (30, "    size--; // truth:A2"),
            (35, "}"),
            (37, "int queue_size(struct queue *queue)"),
            (41, "    size; /* truth:A1 */"),
        ];
        let claim = [(3, "static void work(void)"), (7, "    x; /* truth:B1 */")];
        vec![
            TextFile { path: "corpus/c/claim/truth.toml".into(), content: EXAMPLE.to_owned() },
            source("corpus/c/claim/queue.c", 50, &queue),
            source("corpus/c/claim/claim.c", 10, &claim),
        ]
    }

    fn check(edit: impl Fn(&mut Vec<TextFile>), expected: &[&str]) {
        let mut files = corpus();
        edit(&mut files);
        let found: Vec<String> = super::check(&files).unwrap().iter().map(Problem::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_true_truth_passes() {
        check(|_| {}, &[]);
    }

    #[test]
    fn moved_lines_are_noticed() {
        check(
            |files| files[2].content.insert(0, '\n'),
            &["corpus/c/claim/truth.toml: B1 is said to be at claim.c:7, but truth:B1 is at [8]"],
        );
    }

    #[test]
    fn lost_and_stray_markers_are_noticed() {
        check(
            |files| files[2].content = files[2].content.replace("truth:B1", "truth:C1"),
            &[
                "corpus/c/claim/truth.toml: B1 is said to be at claim.c:7, but truth:B1 is at []",
                "corpus/c/claim/claim.c:7: truth:C1 is not in truth.toml",
            ],
        );
        check(
            |files| {
                let content = "    x; // truth:D1".to_owned();
                files.push(TextFile { path: "corpus/c/claim/src/more.c".into(), content });
            },
            &["corpus/c/claim/src/more.c:1: truth:D1 is not in truth.toml"],
        );
    }

    #[test]
    fn functions_are_checked() {
        check(
            |files| files[1].content = files[1].content.replace("queue_size(", "queue_length("),
            &["corpus/c/claim/truth.toml: A1 is said to be in queue_size, but is in \
               `int queue_length(struct queue *queue)`"],
        );
        assert!(calls_itself("void Context::set(int x)", "Context::set"));
        assert!(calls_itself("void Context::set(int x)", "ns::Context::set(int)"));
        assert!(!calls_itself("void Context::reset(int x)", "set"));
    }

    #[test]
    fn missing_sources_and_bad_truths_are_noticed() {
        check(
            |files| {
                files.remove(2);
            },
            &["corpus/c/claim/truth.toml: B1 names claim.c, which does not exist"],
        );
        check(
            |files| {
                files.truncate(1);
                files[0].path = "corpus/crates/claim/truth.toml".into();
            },
            &[],
        );
        let mut files = corpus();
        files[0].content = "name = 1".to_owned();
        assert_eq!(super::check(&files).unwrap().len(), 1);
    }
}
