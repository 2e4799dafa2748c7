//! Threads that wait to be woken, and are expected back by those who wake them.

use super::{Standing, State};

impl State {
    /// Is somebody on its way, or soon to be?
    pub fn is_anybody_expected(&self) -> bool {
        self.is_by_the_clock() || self.members.values().any(|member| member.standing == Standing::Expected)
    }

    /// A thread that does not arrive is one that runs no code under test, or waits again where nobody sees it; or its time-out is
    /// long, and that happens once.
    pub fn expect_no_more(&mut self) {
        if self.by_the_clock.take().is_some() {
            self.has_long_time_outs = true;
            return;
        }
        for member in self.members.values_mut().filter(|member| member.standing == Standing::Expected) {
            member.standing = Standing::Away;
        }
    }

    /// A thread parks.
    pub fn park(&mut self, id: u32, is_timed: bool) {
        if !is_timed {
            self.patient.insert(id);
        }
    }

    /// A thread that waits is on its way; another one's next park ends at once.
    pub fn unpark(&mut self, id: u32) {
        match self.stands(id) {
            Some(Standing::Parked) => self.stand(id, Standing::Expected),
            _ => {
                // It may have been interrupted in another wait.
                self.patient.remove(&id);
                self.permits.insert(id);
            }
        }
    }

    pub fn take_permit(&mut self, id: u32) -> bool {
        self.permits.remove(&id)
    }
}
