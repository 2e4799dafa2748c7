//! How the runs were made, in words.

use crate::model::Trial;
use crate::search::{PolicyRuns, Search};

/// All that is worth telling of it.
pub(crate) fn told(search: &Search) -> Vec<String> {
    [policies(search), orders(search), covered(search)].into_iter().flatten().collect()
}

/// What each way of running the test has brought, where there was more than one.
fn policies(search: &Search) -> Option<String> {
    let (first, rest) = search.policies.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let has = |of: fn(&PolicyRuns) -> bool| search.policies.iter().any(of);
    if !has(|one| one.failed > 0) || !has(|one| one.failed < one.runs) {
        return None;
    }
    let share = |one: &PolicyRuns| format!("{} {} of {}", one.name, one.failed, one.runs);
    let mut text = format!("failed by schedule: {}", share(first));
    for one in rest {
        text.push_str(&format!(", {}", share(one)));
    }
    Some(text)
}

/// How much of what could be was seen, and what going for the rest has brought.
fn orders(search: &Search) -> Option<String> {
    let orders = search.orders.filter(|orders| orders.predicted > 0)?;
    let mut text =
        format!("orders of accesses: {} of the {} predicted ones were seen", orders.seen, orders.predicted);
    let share = |trial: Trial| format!("{} of {}", trial.failed, trial.runs);
    if let Some(directed) = search.directed {
        let (directed, others) = (share(directed), share(search.undirected));
        text.push_str(&format!(
            "; {directed} runs that went for one not yet seen failed, {others} of the others"
        ));
    }
    Some(text)
}

/// What was covered for certain.
pub(crate) fn covered(search: &Search) -> Option<String> {
    let covered = search.covered?;
    let preemptions = super::plural(covered.preemptions.into(), "preemption");
    let schedules = super::plural(covered.schedules, "run");
    Some(format!("all schedules with up to {preemptions} were run: {schedules}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Covered, Orders};

    fn sample() -> Search {
        let policy =
            |name: &str, runs, failed| PolicyRuns { name: name.to_owned(), runs, failed, seconds: 1.0 };
        Search {
            policies: vec![policy("surw", 20, 8), policy("noise", 40, 0)],
            orders: Some(Orders { predicted: 112, seen: 75 }),
            directed: Some(Trial { runs: 12, failed: 4 }),
            undirected: Trial { runs: 60, failed: 8 },
            covered: None,
        }
    }

    #[test]
    fn each_way_is_told_with_its_failures() {
        let told = [policies(&sample()), orders(&sample()), covered(&sample())];
        assert_eq!(told[0].as_deref(), Some("failed by schedule: surw 8 of 20, noise 0 of 40"));
        let expected = "orders of accesses: 75 of the 112 predicted ones were seen; 4 of 12 runs that went for \
        one not yet seen \
                        failed, 8 of 60 of the others";
        assert_eq!(told[1].as_deref(), Some(expected));
        assert_eq!(told[2], None);
    }

    #[test]
    fn ways_that_do_not_differ_are_not_worth_a_line() {
        let mut search = Search { orders: None, directed: None, ..sample() };
        search.policies.iter_mut().for_each(|one| one.failed = 0);
        assert_eq!(policies(&search), None, "nothing failed");
        search.policies.iter_mut().for_each(|one| one.failed = one.runs);
        assert_eq!(policies(&search), None, "all failed");
        search.policies.truncate(1);
        search.covered = Some(Covered { preemptions: 1, schedules: 6 });
        assert_eq!((policies(&search), orders(&search)), (None, None));
        let expected = "all schedules with up to 1 preemption were run: 6 runs";
        assert_eq!(covered(&search).as_deref(), Some(expected));
    }
}
