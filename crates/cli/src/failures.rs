//! Failing runs by what they looked like.

use std::collections::BTreeMap;

use report::FailureGroup;
use runner::RunRecord;

/// Those that look alike, the most frequent ones first.
pub fn grouped<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> Vec<FailureGroup> {
    let mut groups: BTreeMap<&str, Vec<&RunRecord>> = BTreeMap::new();
    for record in records.into_iter().filter(|record| record.outcome.is_failing()) {
        groups.entry(record.outcome.reason()).or_default().push(record);
    }
    let group = |(reason, records): (&str, Vec<&RunRecord>)| FailureGroup {
        description: match said(&records) {
            Some(said) => format!("{reason}, last printed `{said}`"),
            None => reason.to_owned(),
        },
        runs: records.len() as u64,
    };
    let mut groups: Vec<FailureGroup> = groups.into_iter().map(group).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.runs));
    groups
}

/// What more than half of them printed last, but for its numbers: as one of them did.
fn said<'a>(records: &[&'a RunRecord]) -> Option<&'a str> {
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for said in records.iter().filter_map(|record| record.said.as_deref()) {
        alike.entry(runner::without_numbers(said)).or_default().push(said);
    }
    alike.into_values().find(|said| 2 * said.len() > records.len()).map(|said| said[0])
}

#[cfg(test)]
mod tests {
    use runner::{Outcome, RunNumber};

    use super::*;

    fn record(reason: &str, said: &str) -> RunRecord {
        RunRecord {
            run: RunNumber(1),
            plan: String::new(),
            outcome: Outcome::Fail { reason: reason.to_owned() },
            seconds: 0.1,
            processes: 1,
            warnings: Vec::new(),
            said: (!said.is_empty()).then(|| said.to_owned()),
        }
    }

    #[test]
    fn what_most_of_them_printed_last_is_told() {
        let records = [
            record("SIGABRT", ""),
            record("exit code 7", "bind to 80: Address already in use"),
            record("exit code 7", "bind to 81: Address already in use"),
            record("exit code 7", "…"),
            record("exit code 1", "one"),
            record("exit code 1", "two"),
        ];
        let told: Vec<_> =
            grouped(&records).into_iter().map(|group| (group.runs, group.description)).collect();
        let expected = [
            (3, "exit code 7, last printed `bind to 80: Address already in use`"),
            (2, "exit code 1"),
            (1, "SIGABRT"),
        ];
        assert_eq!(told, expected.map(|(runs, text)| (runs, text.to_owned())));
    }
}
