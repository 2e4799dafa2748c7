//! Pairs whose order follows from that of others (section 4.1 of the paper).
//!
//! If a thread makes the accesses a and then b, another thread c and then d, and b comes before c, then a
//! comes before d: the pair (a, d) can be predicted by the pair (b, c). If both occur in failing runs only,
//! then (a, d) is to blame: otherwise some passing run would have it without (b, c).

use crate::run::ThreadId;

/// A pair in time: it encloses the pairs by which it can be predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    /// Of the head and of the tail.
    pub threads: [ThreadId; 2],
    /// Global indices of the head and of the tail.
    pub accesses: [u32; 2],
}

impl Interval {
    /// Whether this pair can be predicted by `other`, but not the other way round.
    fn is_predicted_by(&self, other: &Self) -> bool {
        let ([head, tail], [other_head, other_tail]) = (self.accesses, other.accesses);
        self != other && self.threads == other.threads && head <= other_head && other_tail <= tail
    }
}

/// For each pair whether it stays, which it does unless another can be predicted by it. No two may be equal.
pub(super) fn staying(pairs: &[Interval]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    // Whatever encloses a pair comes before it.
    order.sort_unstable_by_key(|&nth| {
        let [head, tail] = pairs[nth].accesses;
        (pairs[nth].threads, head, std::cmp::Reverse(tail))
    });
    let mut stays = vec![true; pairs.len()];
    for lane in order.chunk_by(|&a, &b| pairs[a].threads == pairs[b].threads) {
        let mut latest_tail = None;
        for &nth in lane {
            let tail = Some(pairs[nth].accesses[1]);
            stays[nth] = latest_tail < tail;
            latest_tail = latest_tail.max(tail);
        }
    }
    stays
}

/// For each couple of pairs whether it stays. Couples are compared in their order, two that have stayed so
/// far at a time: the later one goes if one of its pairs predicts one of the earlier one's, else the earlier
/// one if it is the other way round.
pub(super) fn staying_couples(couples: &[[Interval; 2]]) -> Vec<bool> {
    let predicted = |one: &[Interval; 2], other: &[Interval; 2]| {
        one.iter().any(|pair| other.iter().any(|by| pair.is_predicted_by(by)))
    };
    let mut stays = vec![true; couples.len()];
    for earlier in 0..couples.len() {
        for later in earlier + 1..couples.len() {
            if !stays[earlier] {
                break;
            }
            if !stays[later] {
                continue;
            }
            if predicted(&couples[earlier], &couples[later]) {
                stays[later] = false;
            } else if predicted(&couples[later], &couples[earlier]) {
                stays[earlier] = false;
            }
        }
    }
    stays
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(threads: [u32; 2], accesses: [u32; 2]) -> Interval {
        Interval { threads: threads.map(ThreadId), accesses }
    }

    #[test]
    fn of_nested_pairs_the_outermost_stays() {
        let pairs = [
            pair([1, 2], [3, 6]),
            pair([1, 2], [1, 8]),
            pair([1, 2], [2, 9]),
            // The same in other threads, or in the opposite direction, is nothing to compare with.
            pair([2, 1], [4, 5]),
            pair([1, 3], [4, 5]),
        ];
        assert_eq!(staying(&pairs), [false, true, true, true, true]);
    }

    #[test]
    fn a_common_end_makes_no_difference() {
        let pairs = [pair([1, 2], [1, 5]), pair([1, 2], [1, 7]), pair([1, 2], [3, 7])];
        assert_eq!(staying(&pairs), [false, true, false]);
        assert_eq!(staying(&[pairs[2], pairs[1], pairs[0]]), [false, true, false]);
    }

    #[test]
    fn a_couple_goes_with_either_of_its_pairs() {
        let (outer, inner) = (pair([1, 2], [1, 8]), pair([1, 2], [3, 6]));
        let (other, another) = (pair([2, 1], [10, 11]), pair([2, 1], [20, 21]));
        assert_eq!(staying_couples(&[[outer, other], [another, inner]]), [true, false]);
        assert_eq!(staying_couples(&[[another, inner], [outer, other]]), [false, true]);
        assert_eq!(staying_couples(&[[inner, other], [inner, another]]), [true, true]);
    }

    /// Each could be predicted by the other: the earlier one stays.
    #[test]
    fn of_couples_that_predict_each_other_the_earlier_stays() {
        let (outer, inner) = (pair([1, 2], [1, 8]), pair([1, 2], [3, 6]));
        let (other_outer, other_inner) = (pair([2, 1], [11, 18]), pair([2, 1], [13, 16]));
        assert_eq!(staying_couples(&[[outer, other_inner], [inner, other_outer]]), [true, false]);
    }
}
