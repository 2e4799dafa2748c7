//! Fisher's exact test: do two groups of runs differ in how often they fail?

/// The chance that the first group fails at least as often as it did, and the second at most as often as it did, if the
/// group made no difference. Each group is (failing runs, all runs).
pub fn fisher((failed, runs): (u64, u64), (other_failed, other_runs): (u64, u64)) -> f64 {
    let all_failed = failed + other_failed;
    let ways = |a: u64| choose(runs, a) + choose(other_runs, all_failed - a);
    let total = choose(runs + other_runs, all_failed);
    (failed..=all_failed.min(runs)).map(|a| (ways(a) - total).exp()).sum::<f64>().min(1.0)
}

/// The logarithm of the binomial coefficient; of zero if there is no way.
fn choose(all: u64, some: u64) -> f64 {
    if some > all {
        return f64::NEG_INFINITY;
    }
    (1..=some).map(|k| (((all - some + k) as f64) / k as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::fisher;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn a_lady_tastes_tea() {
        // Fisher's own example: three of four cups right, of four with milk first and four without.
        assert!(close(fisher((3, 4), (1, 4)), 17.0 / 70.0));
        assert!(close(fisher((4, 4), (0, 4)), 1.0 / 70.0));
    }

    #[test]
    fn no_difference_is_no_surprise() {
        assert!(close(fisher((0, 10), (0, 10)), 1.0));
        assert!(close(fisher((10, 10), (10, 10)), 1.0));
        assert!(close(fisher((0, 10), (7, 10)), 1.0));
        assert!(fisher((20, 20), (0, 20)) < 1e-10);
    }
}
