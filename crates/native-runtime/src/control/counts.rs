//! What a controlled run tells about itself for the plans of later ones: how often threads came to which site, and
//! which choices a bounded run had. Both end where their room does: later plans are estimates, and who enumerates
//! schedules notices. Called with the seats locked.

use recording::{Decision, RegionId, Visit};

use crate::mapping;

/// Sites in threads that are told apart.
const MOST_VISITS: u32 = 2048;
const MOST_DECISIONS: u32 = 1 << 16;

/// Numbers of visits by a hash of what they are about; zero where there is none. Half of it stays empty.
pub struct Counts {
    visits: [u16; 2 * MOST_VISITS as usize],
}

impl Counts {
    pub const fn new() -> Counts {
        Counts { visits: [0; 2 * MOST_VISITS as usize] }
    }

    /// The thread of this seat came to this site.
    pub unsafe fn visit(&mut self, seat: usize, site: usize) {
        let seat = seat as u32;
        let mut place = (site ^ (seat as usize) << 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        loop {
            place %= self.visits.len();
            let number = u32::from(self.visits[place]);
            if number == 0 {
                break;
            }
            let visit: *mut Visit = mapping::record(RegionId::Visits, number);
            if ((*visit).site, (*visit).seat) == (site as u64, seat) {
                (*visit).count = (*visit).count.saturating_add(1);
                return;
            }
            place += 1;
        }
        if mapping::record_count::<Visit>(RegionId::Visits) < MOST_VISITS
            && let Some(number) = mapping::allocate_record::<Visit>(RegionId::Visits)
        {
            self.visits[place] = number as u16;
            *mapping::record(RegionId::Visits, number) = Visit { site: site as u64, seat, count: 1 };
        }
    }

    /// There was a choice between so many threads.
    pub unsafe fn decide(&mut self, candidates: usize, preempts: bool) {
        if mapping::record_count::<Decision>(RegionId::Decisions) < MOST_DECISIONS
            && let Some(number) = mapping::allocate_record::<Decision>(RegionId::Decisions)
        {
            let candidates = candidates as u16;
            *mapping::record(RegionId::Decisions, number) =
                Decision { candidates, preempts: preempts.into() };
        }
    }
}
