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
