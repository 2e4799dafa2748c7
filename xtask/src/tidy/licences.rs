//! Our own licence in every crate, and none among what we build on that would bind our users.

use std::collections::BTreeSet;

use spdx::Expression;

use super::arrows::{manifest_of, metadata};
use super::{Problem, TextFile};

const OURS: &str = "MIT OR Apache-2.0";

/// Licences that ask for no more than attribution.
const PERMISSIVE: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub fn check(files: &[TextFile]) -> anyhow::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for text in ["LICENSE-MIT", "LICENSE-APACHE"] {
        if !files.iter().any(|file| file.path.as_os_str() == text) {
            problems.push(Problem::new(text, None, "the text of the licence is missing"));
        }
    }
    let mut seen = BTreeSet::new();
    for metadata in metadata()? {
        let members: BTreeSet<_> = metadata.workspace_members.iter().collect();
        for package in &metadata.packages {
            let licence = package.license.as_deref();
            if package.source.is_none() && members.contains(&package.id) {
                if licence != Some(OURS) {
                    problems.push(Problem::new(
                        manifest_of(package),
                        None,
                        format!("the licence must be {OURS}"),
                    ));
                }
            } else if seen.insert(package.id.clone()).then(|| is_permissive(licence)) == Some(false) {
                let message = format!("{} has licence {}", package.name, licence.unwrap_or("(none)"));
                problems.push(Problem::new("Cargo.lock", None, message));
            }
        }
    }
    Ok(problems)
}

fn is_permissive(licence: Option<&str>) -> bool {
    // Old crates write MIT/Apache-2.0.
    let parsed = licence.map(|licence| Expression::parse(&licence.replace('/', " OR ")));
    let Some(Ok(expression)) = parsed else { return false };
    expression.evaluate(|term| term.license.id().is_some_and(|id| PERMISSIVE.contains(&id.name)))
}

#[cfg(test)]
mod tests {
    use super::is_permissive;

    #[test]
    fn one_permissive_choice_is_enough() {
        for licence in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"]
        {
            assert!(is_permissive(Some(licence)), "{licence}");
        }
        for licence in ["GPL-3.0-only", "MIT AND LGPL-2.1-only", "whatever", ""] {
            assert!(!is_permissive(Some(licence)), "{licence}");
        }
        assert!(!is_permissive(None));
    }
}
