//! Interleavings over several variables of which one has nothing to do with the failure.
//!
//! What encloses the cause makes runs fail when it is forced, and none fail when it is forbidden, as the cause itself
//! does. But if the accesses to one of its variables come in the other order, and runs fail all the same, then that
//! variable is no part of the cause. Where two variables are, that other order makes the run a good one.

use std::collections::BTreeSet;

use recording::{Interleaving, InterleavingStep};

/// For each variable the same interleaving with the accesses to it in the other order. None of an interleaving that is
/// about one variable alone, or where each thread's own order does not allow for it.
pub fn turned(interleaving: &Interleaving) -> Vec<Interleaving> {
    let variables: BTreeSet<u8> = between_threads(interleaving)
        .filter_map(|(first, second)| shared_variable(interleaving, first, second))
        .collect();
    let several = variables.len() > 1;
    variables
        .into_iter()
        .filter(|_| several)
        .filter_map(|variable| with_other_order(interleaving, variable))
        .collect()
}

fn between_threads(interleaving: &Interleaving) -> impl Iterator<Item = (usize, usize)> {
    let steps = interleaving.steps();
    interleaving.orders().filter(|&(first, second)| steps[first].thread != steps[second].thread)
}

fn shared_variable(interleaving: &Interleaving, first: usize, second: usize) -> Option<u8> {
    let [first, second] = [first, second].map(|step| interleaving.steps()[step].variable);
    (first == second).then_some(first)
}

/// The interleaving with the accesses to this variable in the other order, if each thread's own order allows for it.
pub fn with_other_order(interleaving: &Interleaving, variable: u8) -> Option<Interleaving> {
    let wanted: Vec<(usize, usize)> = between_threads(interleaving)
        .map(|(first, second)| match shared_variable(interleaving, first, second) {
            Some(shared) if shared == variable => (second, first),
            _ => (first, second),
        })
        .collect();
    let steps = interleaving.steps();
    let of_one_thread = (0..steps.len())
        .flat_map(|second| (0..second).map(move |first| (first, second)))
        .filter(|&(first, second)| steps[first].thread == steps[second].thread);
    let list = sorted(steps.len(), &wanted.iter().copied().chain(of_one_thread).collect::<Vec<_>>())?;
    let listed: Vec<InterleavingStep> = list.iter().map(|&step| steps[step]).collect();
    let place = |step: usize| list.iter().position(|&other| other == step);
    let orders = wanted.iter().map(|&(first, second)| Some((place(first)?, place(second)?)));
    Interleaving::new(interleaving.treatment, &listed)?.with_orders(&orders.collect::<Option<Vec<_>>>()?)
}

/// Numbers below `count` such that the first of each pair comes before the second; none if there is no such list.
fn sorted(count: usize, orders: &[(usize, usize)]) -> Option<Vec<usize>> {
    let mut list: Vec<usize> = Vec::new();
    while list.len() < count {
        let is_next = |step: &usize| {
            let waits = orders.iter().any(|(first, second)| second == step && !list.contains(first));
            !list.contains(step) && !waits
        };
        let next = (0..count).find(is_next)?;
        list.push(next);
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use recording::Treatment;

    use super::*;

    /// Steps as thread and variable, each with its number as its address.
    fn interleaving(steps: &[(u8, u8)], orders: &[(usize, usize)]) -> Interleaving {
        let steps: Vec<InterleavingStep> = (1..)
            .zip(steps)
            .map(|(address, &(thread, variable))| InterleavingStep {
                thread,
                variable,
                address,
                ..InterleavingStep::default()
            })
            .collect();
        Interleaving::new(Treatment::Enforce, &steps).unwrap().with_orders(orders).unwrap()
    }

    /// By the numbers of steps: their order in the list, and the orders between them.
    fn told(interleaving: &Interleaving) -> (Vec<u64>, Vec<(u64, u64)>) {
        let number = |step: usize| interleaving.steps()[step].address;
        let orders = interleaving.orders().map(|(first, second)| (number(first), number(second)));
        ((0..interleaving.steps().len()).map(number).collect(), orders.collect())
    }

    #[test]
    fn each_variable_is_turned_by_itself() {
        // W x by one thread, R x and R y by the other, then W y by the first.
        let found = turned(&interleaving(&[(1, 0), (2, 0), (2, 1), (1, 1)], &[(0, 1), (2, 3)]));
        assert_eq!(found.len(), 2);
        assert_eq!(told(&found[0]), (vec![2, 1, 3, 4], vec![(2, 1), (3, 4)]));
        assert_eq!(told(&found[1]), (vec![1, 2, 4, 3], vec![(1, 2), (4, 3)]));
    }

    #[test]
    fn one_variable_alone_is_not_turned() {
        assert_eq!(turned(&interleaving(&[(1, 0), (2, 0), (1, 0)], &[(0, 1), (1, 2)])), []);
    }

    #[test]
    fn what_no_run_can_do_is_left_out() {
        // Both variables within one step of each other: turned, the second thread would have to be before itself.
        let crossed = interleaving(&[(1, 0), (1, 1), (2, 1), (2, 0)], &[(1, 2), (0, 3)]);
        let found = turned(&crossed);
        assert_eq!(
            found.len(),
            1,
            "only the last can be turned: {:?}",
            found.iter().map(told).collect::<Vec<_>>()
        );
    }
}
