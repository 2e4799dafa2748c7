//! Looks up the source of each access and the lines around it. Sources may be missing, moved, huge, or not text at
//! all: then a line is left out, and the report does without.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::iter;
use std::path::{Component, Path, PathBuf};

use crate::model::{Access, Excerpt, Finding, Report};

/// Files beyond this size are generated data rather than code someone reads (the largest hand-fed C file in wide
/// use, SQLite's amalgamation, has 9 MB).
const LARGEST_FILE: u64 = 16 << 20;

/// What is kept of a line: more than any screen shows, less than a minified file has.
const LONGEST_LINE: usize = 400;

/// How many lines before and after an access belong to its excerpt.
pub(crate) const CONTEXT: u32 = 3;

/// Source files by the names that debug info gives them.
pub struct Sources {
    roots: Vec<PathBuf>,
    files: HashMap<String, Option<Text>>,
}

/// All accesses that a finding shows, those of the passing run included.
fn accesses_of(finding: &mut Finding) -> impl Iterator<Item = &mut Access> {
    let compared = finding.comparison.iter_mut().flat_map(|comparison| &mut comparison.accesses);
    finding.accesses.iter_mut().chain(compared)
}

/// A file, and where each of its lines begins.
struct Text {
    content: Vec<u8>,
    starts: Vec<usize>,
}

impl Sources {
    /// Looks for files under their own name if it is absolute, and under each of the roots, in this order.
    ///
    /// A source tree that was moved since it was built is found if its folder kept its name: with the root
    /// `/home/me/queue`, the file `/build/queue/src/pop.c` is looked for as `/home/me/queue/src/pop.c`.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        Sources { roots: roots.into_iter().collect(), files: HashMap::new() }
    }

    /// The text of a line (from 1), without its end and without trailing blanks; `None` if it cannot be had.
    ///
    /// Control characters are left in: each format makes them harmless in its own way.
    pub fn line(&mut self, file: &str, line: u32) -> Option<String> {
        if !self.files.contains_key(file) {
            let content = self.candidates(file).iter().find_map(|path| read(path).ok());
            self.files.insert(file.to_owned(), content.map(Text::new));
        }
        let line = self.files[file].as_ref()?.line(line)?;
        // A character has at most four bytes, so this many hold the longest line and one more character.
        let head = &line[..line.len().min(4 * (LONGEST_LINE + 1))];
        let text = String::from_utf8_lossy(head);
        let text = text.trim_end();
        if text.chars().nth(LONGEST_LINE).is_none() {
            return Some(text.to_owned());
        }
        Some(text.chars().take(LONGEST_LINE).chain(['…']).collect())
    }

    /// Fills in the source line of every access that has none yet, and the lines around all of them.
    pub fn fill_in(&mut self, report: &mut Report) {
        let mut wanted: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for access in report.findings.iter_mut().flat_map(accesses_of) {
            if let (Some(file), Some(line)) = (&access.file, access.line) {
                if access.source.is_none() {
                    access.source = self.line(file, line);
                }
                let around = line.saturating_sub(CONTEXT)..=line.saturating_add(CONTEXT);
                wanted.entry(file).or_default().extend(around);
            }
        }
        let mut excerpts: Vec<Excerpt> = Vec::new();
        for (file, lines) in wanted {
            for line in lines {
                let Some(text) = self.line(file, line) else { continue };
                match excerpts.last_mut() {
                    Some(last) if last.file == file && last.first + last.lines.len() as u32 == line => {
                        last.lines.push(text);
                    }
                    _ => excerpts.push(Excerpt { file: file.to_owned(), first: line, lines: vec![text] }),
                }
            }
        }
        report.excerpts = excerpts;
    }

    fn candidates(&self, file: &str) -> Vec<PathBuf> {
        let path = Path::new(file);
        let mut candidates = Vec::new();
        if path.is_absolute() {
            candidates.push(path.to_owned());
        }
        for root in &self.roots {
            if path.is_relative() {
                candidates.push(root.join(path));
            }
            candidates.extend(moved(root, path));
        }
        candidates
    }
}

impl Text {
    fn new(content: Vec<u8>) -> Self {
        let newlines = content.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        // What follows the last newline is a line only if there is something.
        let starts = newlines.map(|(at, _)| at + 1).filter(|start| *start < content.len());
        let starts = iter::once(0).chain(starts).collect();
        Text { content, starts }
    }

    fn line(&self, number: u32) -> Option<&[u8]> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.content.len());
        let line = &self.content[start..end];
        Some(line.strip_suffix(b"\n").unwrap_or(line))
    }
}

/// The path below the root, if one of its folders has the root's name.
fn moved(root: &Path, path: &Path) -> Option<PathBuf> {
    let name = Component::Normal(root.file_name()?);
    let mut components = path.components();
    components.find(|component| *component == name)?;
    let below = components.as_path();
    (below.file_name().is_some()).then(|| root.join(below))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe or a device could wait for ever.
    let metadata = path.metadata()?;
    if !metadata.is_file() || metadata.len() > LARGEST_FILE {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut content = Vec::new();
    // Some files, those of /proc among them, are longer than their metadata says.
    File::open(path)?.take(LARGEST_FILE).read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn sources_with(files: &[(&str, &[u8])]) -> (tempfile::TempDir, Sources) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("queue");
        for (name, content) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        (folder, Sources::new([root]))
    }

    #[test]
    fn a_line_is_given_without_its_end() {
        let (_folder, mut sources) = sources_with(&[("pop.c", b"int n;\r\n\tif (n)  \n\nlast")]);
        assert_eq!(sources.line("pop.c", 1).as_deref(), Some("int n;"));
        assert_eq!(sources.line("pop.c", 2).as_deref(), Some("\tif (n)"));
        assert_eq!(sources.line("pop.c", 3).as_deref(), Some(""));
        assert_eq!(sources.line("pop.c", 4).as_deref(), Some("last"));
    }

    #[test]
    fn what_is_not_there_is_none() {
        let (_folder, mut sources) = sources_with(&[("pop.c", b"one\n"), ("sub/x.c", b"")]);
        assert_eq!(sources.line("pop.c", 0), None);
        assert_eq!(sources.line("pop.c", 2), None);
        assert_eq!(sources.line("pop.c", 3), None);
        assert_eq!(sources.line("pop.c", u32::MAX), None);
        assert_eq!(sources.line("push.c", 1), None);
        assert_eq!(sources.line("sub", 1), None);
        assert_eq!(sources.line("", 1), None);
        assert_eq!(sources.line("a\0b", 1), None);
    }

    #[test]
    fn absolute_names_are_tried_first() {
        let (folder, mut sources) = sources_with(&[("pop.c", b"of the root\n")]);
        let elsewhere = folder.path().join("elsewhere/queue/pop.c");
        fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
        fs::write(&elsewhere, "of its own name\n").unwrap();
        assert_eq!(sources.line(elsewhere.to_str().unwrap(), 1).as_deref(), Some("of its own name"));
    }

    #[test]
    fn a_moved_tree_is_found_by_the_name_of_its_folder_only() {
        let (_folder, mut sources) = sources_with(&[("src/lib.rs", b"fn pop() {}\n")]);
        assert_eq!(sources.line("/build/queue/src/lib.rs", 1).as_deref(), Some("fn pop() {}"));
        assert_eq!(sources.line("../queue/src/lib.rs", 1).as_deref(), Some("fn pop() {}"));
        assert_eq!(sources.line("/rustc/0123/library/core/src/lib.rs", 1), None);
    }

    #[test]
    fn roots_are_tried_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let roots = ["a", "b"].map(|name| folder.path().join(name));
        for root in &roots {
            fs::create_dir(root).unwrap();
            fs::write(root.join("x.c"), root.file_name().unwrap().as_encoded_bytes()).unwrap();
        }
        let mut sources = Sources::new(roots);
        assert_eq!(sources.line("x.c", 1).as_deref(), Some("a"));
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let long = "ä".repeat(LONGEST_LINE + 7);
        let exact = "ä".repeat(LONGEST_LINE);
        let (_folder, mut sources) = sources_with(&[("long.c", format!("{long}\n{exact}\n").as_bytes())]);
        assert_eq!(sources.line("long.c", 1), Some(format!("{exact}…")));
        assert_eq!(sources.line("long.c", 2), Some(exact));
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let (_folder, mut sources) = sources_with(&[("latin1.c", b"gr\xf6\xdfe = 1;\n")]);
        assert_eq!(sources.line("latin1.c", 1).as_deref(), Some("gr\u{fffd}\u{fffd}e = 1;"));
    }

    #[test]
    fn huge_files_are_left_alone() {
        let (folder, mut sources) = sources_with(&[("huge.c", b"int n;\n")]);
        let huge = File::options().write(true).open(folder.path().join("queue/huge.c")).unwrap();
        huge.set_len(LARGEST_FILE + 1).unwrap();
        assert_eq!(sources.line("huge.c", 1), None);
    }
}
