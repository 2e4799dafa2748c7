//! What the kinds of findings are, for those who meet one in an editor and have not heard of unsnarl.

use serde_json::{Value, json};

use crate::model::Kind;

struct Rule {
    kind: Kind,
    /// In one word, as SARIF wants it.
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// What usually helps.
    help: &'static str,
    /// The numbers of the common weakness that it is.
    weakness: &'static str,
}

/// In the order in which results refer to them.
const RULES: [Rule; 6] = [
    Rule {
        kind: Kind::OrderViolation,
        name: "OrderViolation",
        title: "Order violation",
        description: "Two accesses happen in the wrong order.",
        help: "One thread relies on something that another has not done yet, or has undone already, and nothing makes \
               it wait. Create the thread later, join it earlier, or wait for a condition that says that it is done.",
        weakness: "cwe-362",
    },
    Rule {
        kind: Kind::AtomicityViolation,
        name: "AtomicityViolation",
        title: "Atomicity violation",
        description: "Accesses that were meant to be one step have another thread's access in between.",
        help: "What the first access found is out of date when the second acts on it. Hold one lock over both, or make \
               them a single atomic operation. A lock around each of them does not help.",
        weakness: "cwe-362",
    },
    Rule {
        kind: Kind::MultiVariableAtomicityViolation,
        name: "MultiVariableAtomicityViolation",
        title: "Atomicity violation over several variables",
        description: "Accesses to variables that belong together have another thread's access in between.",
        help: "Another thread sees, or changes, one of the variables when the other does not fit it. Hold one lock over \
               all accesses to both. Atomic variables do not help.",
        weakness: "cwe-362",
    },
    Rule {
        kind: Kind::Deadlock,
        name: "Deadlock",
        title: "Deadlock",
        description: "Threads wait for one another.",
        help: "Each thread holds what another waits for. Take the locks in the same order everywhere, or give back what \
               is held before waiting.",
        weakness: "cwe-833",
    },
    Rule {
        kind: Kind::MissedSignal,
        name: "MissedSignal",
        title: "Missed signal",
        description: "A wait begins after its signal.",
        help: "Nobody waits yet when the signal comes, and it does not come again. Test the condition in a loop around \
               the wait, and do not give the lock back between the test and the wait.",
        weakness: "cwe-362",
    },
    Rule {
        kind: Kind::Communication,
        name: "SuspiciousCommunication",
        title: "Suspicious communication",
        description: "Data passes between threads in a way that only failing runs show.",
        help: "A thread reads what another wrote where passing runs read something else. Look at what should have been \
               written in between, or by whom.",
        weakness: "cwe-362",
    },
];

/// All of them.
pub(super) fn all() -> Vec<Value> {
    let rule = |rule: &Rule| {
        json!({
            "id": rule.kind,
            "name": rule.name,
            "shortDescription": { "text": rule.title },
            "fullDescription": { "text": rule.description },
            "help": { "text": rule.help, "markdown": format!("**{}** {}", rule.description, rule.help) },
            "defaultConfiguration": { "level": "warning" },
            "properties": { "tags": ["concurrency", format!("external/cwe/{}", rule.weakness)], "precision": "high" },
        })
    };
    RULES.iter().map(rule).collect()
}

/// The place of a kind among them.
pub(super) fn index(kind: Kind) -> Option<usize> {
    RULES.iter().position(|rule| rule.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::distinct;

    #[test]
    fn rules_have_distinct_kinds_and_names() {
        assert_eq!(distinct(RULES.iter().map(|rule| rule.kind)).len(), RULES.len());
        assert_eq!(distinct(RULES.iter().map(|rule| rule.name)).len(), RULES.len());
    }
}
