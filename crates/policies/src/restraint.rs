//! Threads that switch at every other point get nowhere in long runs: a switch takes a thousand times as long as the access
//! before which it comes, and where one is as good as another they need not be that many.

use super::random::Random;

/// So many choices of a run are made. Of the later ones each is made with a chance that falls as they go on, so that of ten times
/// as many points as these about three times as many are.
const EARLY: u64 = 1 << 13;

pub struct Restraint {
    points: u64,
}

impl Restraint {
    pub const fn new() -> Restraint {
        Restraint { points: 0 }
    }

    /// Does the thread that runs go on at this point, without a choice?
    pub fn goes_on(&mut self, random: &mut Random) -> bool {
        self.points += 1;
        self.points > EARLY && random.below(self.points) >= EARLY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_choices_are_all_made_and_later_ones_ever_fewer() {
        let (mut restraint, mut random) = (Restraint::new(), Random::with_seed(7));
        let mut choices =
            |points: u64| (0..points).filter(|_| !restraint.goes_on(&mut random)).count() as u64;
        assert_eq!(choices(EARLY), EARLY);
        // EARLY times the logarithm of ten and of ten again, 18,863; the standard deviation is about 140.
        let (next, last) = (choices(9 * EARLY), choices(90 * EARLY));
        assert!((17_800..19_900).contains(&next), "{next}");
        assert!((17_800..19_900).contains(&last), "{last}");
    }
}
