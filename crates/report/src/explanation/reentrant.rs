//! Functions of the C library that keep something for all threads together, and what to call in their place.

use crate::model::{AccessKind, Finding};

/// A function, and what keeps nothing.
const FUNCTIONS: [(&str, &str); 5] = [
    ("strtok", "strtok_r"),
    ("gmtime", "gmtime_r"),
    ("localtime", "localtime_r"),
    ("asctime", "asctime_r"),
    ("ctime", "ctime_r"),
];

/// What to do about a finding whose writes are all made by such a function; none for any other.
pub fn reentrant(finding: &Finding) -> Option<String> {
    let mut writes = finding.accesses.iter().filter(|access| access.kind != AccessKind::Read).peekable();
    writes.peek()?;
    let lines: Option<Vec<&str>> = writes.map(|access| access.source.as_deref()).collect();
    let lines = lines?;
    let is_called = |&&(name, _): &&(&str, &str)| lines.iter().all(|line| calls(line, name));
    let (name, instead) = FUNCTIONS.iter().find(is_called)?;
    Some(format!(
        "Call {instead}() in place of {name}(): what {name}() keeps from one call to the next belongs to all threads together."
    ))
}

/// Whether a function of this name is called in a line of source.
fn calls(line: &str, name: &str) -> bool {
    let is_part_of_name = |text: &str| text.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    line.match_indices(name)
        .any(|(at, _)| line[at + name.len()..].trim_start().starts_with('(') && !is_part_of_name(&line[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(lines: &[(&str, &str)]) -> Finding {
        let access = |&(kind, source): &(&str, &str)| serde_json::json!({ "thread": 1, "kind": kind, "variable": "v", "source": source, "stack": [] });
        let accesses: Vec<_> = lines.iter().map(access).collect();
        serde_json::from_value(serde_json::json!({
            "rank": 1, "tied": 1, "score": 1.0, "failed": 1, "passed": 0, "kind": "order-violation",
            "pattern": "WR", "pattern_id": null, "accesses": accesses, "suspicious_functions": [], "cluster": null,
            "failing_runs": [], "evidence": [], "advice": "", "confirmation": null,
        }))
        .unwrap()
    }

    #[test]
    fn what_a_function_keeps_for_all_is_not_to_be_locked() {
        let day = "struct tm *day = gmtime(&when);";
        let advice = reentrant(&finding(&[("write", day), ("read", "print(day->tm_year);")])).unwrap();
        assert!(advice.starts_with("Call gmtime_r() in place of gmtime():"), "{advice}");
        assert_eq!(
            reentrant(&finding(&[("write", day), ("write", "count = 1;")])),
            None,
            "written elsewhere"
        );
        assert_eq!(reentrant(&finding(&[("write", "t = my_gmtime(&when);")])), None, "another function");
        assert_eq!(reentrant(&finding(&[("write", "gmtime_r(&when, &day);")])), None);
        assert_eq!(reentrant(&finding(&[("read", day)])), None, "nothing is written");
    }
}
