//! What no text of the project may contain.

use super::{Problem, TextFile};

/// A file that needs more wants splitting.
const LONGEST_SOURCE: usize = 600;

/// Put together here, so that this file does not break its own rule.
const UNFINISHED: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];

/// Folders right below the root in which somebody's own files are: a path into one is true on one machine only.
const PERSONAL_FOLDERS: [&str; 4] = ["home", "root", "Users", "work"];

/// Examples may live in the folder of this user, who is nobody.
const NOBODY: &str = "me/";

/// Hosts that a reader anywhere can reach. Others are somebody's mirror or server.
const PUBLIC_HOSTS: &[&str] = &[
    "choosealicense.com",
    "crates.io",
    "doc.rust-lang.org",
    "docs.rs",
    "doi.org",
    "example.com",
    "github.com",
    "json.schemastore.org",
    "keepachangelog.com",
    "semver.org",
    "www.apache.org",
    "www.w3.org",
];

pub fn check(files: &[TextFile]) -> anyhow::Result<Vec<Problem>> {
    Ok(files.iter().flat_map(problems).collect())
}

fn problems(file: &TextFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    let lines = file.content.lines().count();
    if file.has_extension("rs") && lines > LONGEST_SOURCE {
        let message = format!("{lines} lines: more than {LONGEST_SOURCE} want splitting");
        problems.push(Problem::new(&file.path, None, message));
    }
    for (number, line) in file.lines() {
        let found = UNFINISHED
            .iter()
            .filter(|word| line.contains(*word))
            .map(|word| format!("{word}: finish it or make it an issue"))
            .chain(personal_path(line))
            .chain(private_hosts(line));
        problems.extend(found.map(|message| Problem::new(&file.path, number, message)));
    }
    problems
}

/// A path such as the one of somebody's own folder. Not one that merely goes on like that: `a/home/b`.
fn personal_path(line: &str) -> Option<String> {
    PERSONAL_FOLDERS.iter().map(|folder| format!("/{folder}/")).find_map(|folder| {
        let is_personal = line.match_indices(&folder).any(|(at, _)| {
            let goes_on = line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~/}>)".contains(c));
            !goes_on && !line[at + folder.len()..].starts_with(NOBODY)
        });
        is_personal.then(|| format!("a path below {folder} exists on one machine only"))
    })
}

fn private_hosts(line: &str) -> impl Iterator<Item = String> {
    line.split("://").skip(1).filter_map(|rest| {
        let is_host = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
        let host = rest.split(|c| !is_host(c)).next()?.trim_end_matches('.');
        let is_private = host.contains('.') && !host.ends_with(".invalid") && !PUBLIC_HOSTS.contains(&host);
        is_private.then(|| format!("{host} is not known as a public host (see xtask/src/tidy/text.rs)"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expected: &[&str]) {
        let file = TextFile { path: "a.rs".into(), content: content.to_owned() };
        let found: Vec<String> = problems(&file).iter().map(Problem::to_string).collect();
        assert_eq!(found, expected, "{content}");
    }

    #[test]
    fn work_left_undone_is_seen() {
        let line = format!("// {}: later", UNFINISHED[0]);
        let found = format!("a.rs:2: {}: finish it or make it an issue", UNFINISHED[0]);
        check(&format!("fine\n{line}"), &[&found]);
    }

    #[test]
    fn paths_of_one_machine_are_seen() {
        let personal = |folder: &str| format!("a path below {folder} exists on one machine only");
        for folder in PERSONAL_FOLDERS.map(|folder| format!("/{folder}/")) {
            check(&format!("in {folder}ann/project"), &[&format!("a.rs:1: {}", personal(&folder))]);
            check(&format!("src{folder}ann and {folder}me/project and $HOME/.cache"), &[]);
        }
        check("/usr/lib/gcc /proc/self/maps /tmp/x", &[]);
    }

    #[test]
    fn hosts_that_not_everybody_reaches_are_seen() {
        check("https://docs.rs/clap and <https://github.com/a/b>.", &[]);
        check("file:///etc/x http://localhost:80/", &[]);
        let mirror = concat!("https:", "//crates.corp.net/index");
        let found = "a.rs:1: crates.corp.net is not known as a public host (see xtask/src/tidy/text.rs)";
        check(mirror, &[found]);
    }

    #[test]
    fn long_sources_are_seen() {
        check(&"\n".repeat(LONGEST_SOURCE), &[]);
        check(&"\n".repeat(LONGEST_SOURCE + 1), &["a.rs: 601 lines: more than 600 want splitting"]);
    }
}
