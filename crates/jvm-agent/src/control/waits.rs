//! Where threads wait for one another: monitors, notifications, parking.

use super::state::Standing;
use super::{Operation, Scheduler, Seat};

impl Scheduler {
    /// The calling thread finds a monitor taken. True if others ran until it was free.
    pub fn finds_taken(&self, seat: &mut Seat, monitor: u64) -> bool {
        // A holder that nobody knows of will be gone in a moment, or the watchdog sees that it is not.
        let is_known = self.lock().is_held_by_another(seat.id, monitor);
        is_known && self.take_turn(seat, Standing::Wants(monitor), Operation::about(monitor), false)
    }

    /// The calling thread is about to wait for a notification, and gives the monitor back meanwhile.
    pub fn waits(&self, seat: &mut Seat, monitor: u64, is_timed: bool) {
        let id = seat.id;
        let goes_first = is_timed && self.goes_first(seat);
        self.leave(seat, Standing::Away, |state| {
            state.wait(id, monitor, is_timed);
            state.wait_by_the_clock(id, goes_first);
        });
    }

    /// The calling thread's wait is over but for the monitor, which it wants back.
    pub fn waited(&self, seat: &mut Seat, monitor: u64) -> bool {
        let depth = self.lock().end_wait(seat.id, monitor);
        let switched = self.take_turn(seat, Standing::Wants(monitor), Operation::about(monitor), false);
        self.lock().enter(seat.id, monitor, depth);
        switched
    }

    /// One or all who wait for this monitor's notification are to be woken.
    pub fn notifies(&self, monitor: u64, all: bool) {
        self.lock().notify(monitor, all);
    }

    /// The calling thread is about to park.
    pub fn parks(&self, seat: &mut Seat, is_timed: bool) {
        if self.lock().take_permit(seat.id) {
            return;
        }
        let id = seat.id;
        let goes_first = is_timed && self.goes_first(seat);
        self.leave(seat, Standing::Parked, |state| {
            state.park(id, is_timed);
            state.wait_by_the_clock(id, goes_first);
        });
    }

    /// A thread is about to be unparked or interrupted.
    pub fn wakes(&self, id: u32) {
        self.lock().unpark(id);
    }
}
