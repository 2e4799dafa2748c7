//! Whether what is said about a bug is right: the variable, the kind, the functions and the advice. Names are compared
//! as a person would: `Queue::size_` is `size_` of any queue.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::report::Finding;
use crate::truth::Truth;

/// What of an explanation is right. Nothing is said where the truth has nothing to compare with.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained {
    pub variable: bool,
    pub kind: bool,
    pub functions: bool,
    pub advice: Advice,
}

/// How advice compares with what a good fix does.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// None was given.
    None,
    /// It asks for something else than a good fix does.
    Wrong,
    /// It amounts to a good fix.
    Right,
}

/// Compares what is said about a right finding with the truth. A program with several bugs has the explanation of all.
pub fn explained(finding: &Finding, truth: &Truth) -> Explained {
    let true_variables: BTreeSet<&str> = truth.places().map(|site| member(&site.variable)).collect();
    let named = |variable: &str| true_variables.contains(member(variable));
    Explained {
        variable: finding.accesses.iter().all(|access| named(&access.variable)),
        kind: finding.kind == truth.kind,
        functions: same_functions(&finding.suspicious_functions, &truth.explanation.suspicious_functions),
        advice: match &finding.fix {
            None => Advice::None,
            Some(fix) if truth.explanation.fixes.contains(&fix.action) => Advice::Right,
            Some(_) => Advice::Wrong,
        },
    }
}

/// The part of a variable's name that its declaration has: `size` of `frontier->items[3].size`.
fn member(variable: &str) -> &str {
    // Locks of one name are numbered.
    let variable = match variable.rsplit_once(" #") {
        Some((name, number)) if number.parse::<u32>().is_ok() => name,
        _ => variable,
    };
    // What a collection of the Java library holds as a whole, and what it holds for a key, have their collection's name.
    let variable = variable.strip_suffix(" (structure)").unwrap_or(variable);
    let name = match variable.rsplit_once('[') {
        Some((array, index)) if index.ends_with(']') => array,
        _ => variable,
    };
    name.rsplit(['.', '>', ':', ' ', '&', '*']).next().unwrap_or(name)
}

/// Each function that is said is a true one, and one of the true ones is said: with less one cannot do, and roles that
/// are at the same place have one function together.
fn same_functions(said: &[String], truth: &[String]) -> bool {
    let same = |said: &str, truth: &str| {
        let (said, truth) = (plain(said), plain(truth));
        said == truth || said.ends_with(&format!("::{truth}")) || truth.ends_with(&format!("::{said}"))
    };
    !said.is_empty() && said.iter().all(|said| truth.iter().any(|truth| same(said, truth)))
}

/// A function's name without its parameters.
fn plain(function: &str) -> &str {
    function.split(['(', '<']).next().unwrap_or(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_its_member_of_any_object() {
        for variable in [
            "queue.size",
            "frontier->size",
            "Queue::size",
            "size",
            "queues[3].size",
            "size[7]",
            "q.size #2",
            "Queue.size (structure)",
        ] {
            assert_eq!(member(variable), "size", "{variable}");
        }
    }

    #[test]
    fn functions_are_compared_without_parameters_and_namespaces() {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let truth = list(&["Budget::take", "Budget::use_one"]);
        assert!(same_functions(&list(&["sort::Budget::take(int)", "Budget::use_one"]), &truth));
        assert!(same_functions(&list(&["Budget::take"]), &truth));
        assert!(!same_functions(&list(&["Budget::retake"]), &truth));
        assert!(!same_functions(&list(&["Budget::take", "main"]), &truth));
        assert!(!same_functions(&[], &truth));
    }

    #[test]
    fn advice_is_compared_by_what_is_to_be_done() {
        let truth = crate::truth::tests::EXAMPLE.to_owned() + "[truth]\nfixes = [\"extend-lock\"]";
        let truth = Truth::parse(&truth).unwrap();
        let advice = |fix: serde_json::Value| {
            let mut finding = crate::evaluate::score::tests::report(&["1 1 RW 1@queue.c:41 2@queue.c:30"]);
            finding.findings[0].fix = serde_json::from_value(fix).unwrap();
            explained(&finding.findings[0], &truth).advice
        };
        assert_eq!(advice(serde_json::json!({ "action": "extend-lock", "locks": [] })), Advice::Right);
        assert_eq!(advice(serde_json::json!({ "action": "join" })), Advice::Wrong);
        assert_eq!(advice(serde_json::Value::Null), Advice::None);
    }
}
