//! What to keep together, by the orders that a finding needs.

use crate::model::{NeededOrder, NeededOrders, NeededStep};
use crate::wording::brief_function;

/// The steps of two orders that cross: a thread does one thing before another thread does something, which in turn does something before the first goes on.
/// Orders are by time.
pub fn crossing(needs: &NeededOrders) -> Option<[&NeededStep; 4]> {
    needs.orders.iter().enumerate().find_map(|(nth, one)| {
        let crosses = |other: &&NeededOrder| {
            one.first.thread != one.second.thread
                && (one.first.thread, one.second.thread) == (other.second.thread, other.first.thread)
        };
        let other = needs.orders[nth + 1..].iter().find(crosses)?;
        Some([&one.first, &one.second, &other.first, &other.second])
    })
}

/// If what the first thread of two orders that cross does is kept together, one of the two cannot come about, and with it what needs them both.
pub fn kept_together(needs: &NeededOrders) -> Option<String> {
    let [from, .., to] = crossing(needs)?;
    let (begin, end) = (place(from)?, place(to)?);
    let both = if from.function == to.function && from.file == to.file {
        let both = if from.line == to.line { begin } else { format!("{begin} and {end}") };
        from.function.as_deref().map_or(both.clone(), |name| format!("{both} in {}", brief_function(name)))
    } else {
        format!("{} and {}", within(from, &begin), within(to, &end))
    };
    Some(format!(
        "Keep {both} together, so that no other thread comes in between: what goes wrong needs that."
    ))
}

fn place(step: &NeededStep) -> Option<String> {
    let file = step.file.as_deref()?;
    Some(format!("{}:{}", file.rsplit('/').next().unwrap_or(file), step.line?))
}

fn within(step: &NeededStep, place: &str) -> String {
    step.function
        .as_deref()
        .map_or_else(|| place.to_owned(), |name| format!("{place} in {}", brief_function(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AccessKind;

    fn step(thread: u32, function: &str, line: u32) -> NeededStep {
        NeededStep {
            thread,
            kind: AccessKind::Read,
            variable: "x".into(),
            function: Some(function.into()),
            file: Some("/src/pool.cpp".into()),
            line: Some(line),
        }
    }

    fn said(orders: &[(NeededStep, NeededStep)]) -> Option<String> {
        let orders = orders
            .iter()
            .map(|(first, second)| NeededOrder { first: first.clone(), second: second.clone() })
            .collect();
        kept_together(&NeededOrders { orders, runs: 8, failed: 8 })
    }

    #[test]
    fn what_another_thread_gets_in_between_is_kept_together() {
        let popped = (step(2, "work", 44), step(1, "drain", 32));
        let looked = (step(1, "drain", 32), step(2, "work", 48));
        let read = (step(1, "main", 85), step(2, "job", 79));
        assert_eq!(
            said(&[popped.clone(), looked.clone(), read.clone()]).unwrap(),
            "Keep pool.cpp:44 and pool.cpp:48 in work() together, so that no other thread comes in between: what goes \
             wrong needs that."
        );
        let elsewhere = (step(1, "drain", 32), step(2, "count", 9));
        assert!(
            said(&[popped, elsewhere])
                .unwrap()
                .starts_with("Keep pool.cpp:44 in work() and pool.cpp:9 in count() together")
        );
        assert_eq!(said(&[looked, read]), None, "one thread is first both times");
    }
}
