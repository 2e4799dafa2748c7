//! How long a thread waits for a lock that somebody holds before it lets the system put it to sleep.
//!
//! What a thread does with a lock is little most often, but the recorder's part makes it several times as long, so that others would
//! have to sleep where they hardly ever meet otherwise. So a thread looks at the lock some times, with pauses in between. How long these
//! should be differs from lock to lock, and each thread goes by what it has found before:
//!
//! - A lock that is held now and then is free at the first look. It is had soonest with short pauses.
//! - A lock that is not, since its holder takes it again and again, is to be left to it for longer. What changes hands with a
//!   lock each time that it is taken costs several times as much as what stays.
//! - A lock that is held for long is not worth many looks.

use core::ffi::c_int;

use crate::tls;

/// What a thread knows of the locks that it has waited for, in places by their addresses: to take one for another costs nothing but time.
pub type Patience = [Known; KNOWN];
const KNOWN: usize = 64;

#[derive(Clone, Copy)]
pub struct Known {
    /// How many times the pauses before the first look are to be doubled.
    doublings: u8,
    /// Waits in vain since the last one that was not.
    in_vain: u8,
}

/// Who can have a lock beside others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Holders {
    One,
    /// While there are readers, one that gives it back and takes it again keeps a writer out without having it for itself.
    Readers,
}

/// Looks at a lock, and pauses before the first one; twice as many before each further one, up to the most. Together they take some 40
/// microseconds, a few times as long as the system takes to let a thread sleep and wake it up.
const LOOKS: u32 = 7;
const FIRST_PAUSES: u32 = 16;
const MOST_PAUSES: u32 = 512;

/// Up to 4,096 pauses before the first look: some 100 microseconds, which is as long as a thread sleeps that is put to sleep.
const MOST_DOUBLINGS: u8 = 8;
/// So many pauses in all.
const PAUSES_IN_ALL: u32 = 16384;
/// A lock that is held at the first look in one of three waits or more is left to its holder for longer each time.
const LONGER: u8 = 2;
const SHORTER: u8 = 1;

/// Waits in vain for which there is one look less. After the most of them there are all looks again, and then once in so many.
const IN_VAIN_FOR_ONE: u8 = 4;
const MOST_IN_VAIN: u8 = 28;
const ALL_LOOKS_EVERY: u8 = 8;

impl Known {
    fn is_free_at_first_look(&mut self) {
        self.doublings = self.doublings.saturating_sub(SHORTER);
    }

    fn is_held_at_first_look(&mut self, holders: Holders) {
        if holders == Holders::One {
            self.doublings = (self.doublings + LONGER).min(MOST_DOUBLINGS);
        }
    }

    fn waited_in_vain(&mut self) {
        self.doublings = self.doublings.saturating_sub(LONGER + SHORTER);
        self.in_vain += 1;
    }

    /// The pauses before the first look, and how many looks there are.
    fn plan(&mut self) -> (u32, u32) {
        let pauses = FIRST_PAUSES << self.doublings;
        let looks = LOOKS.min(PAUSES_IN_ALL / pauses);
        if self.in_vain >= MOST_IN_VAIN {
            self.in_vain -= ALL_LOOKS_EVERY;
            return (pauses, looks);
        }
        (pauses, looks.saturating_sub((self.in_vain / IN_VAIN_FOR_ONE).into()).max(1))
    }
}

/// Takes the lock if it is free, or becomes free soon. After the first attempt there is another only when it looks free: each takes
/// the lock's line away from whoever is to give it back.
pub unsafe fn soon(
    lock: usize,
    holders: Holders,
    looks_free: impl Fn() -> bool,
    attempt: impl Fn() -> c_int,
) -> Option<c_int> {
    let result = attempt();
    if result != libc::EBUSY {
        return Some(result);
    }
    // A thread without a recorder meets nobody more often for its sake.
    let thread = (*tls::current()).thread.as_mut()?;
    let known = &mut thread.patience[place(lock)];
    let (mut pauses, looks) = known.plan();
    let most = MOST_PAUSES.max(pauses);
    for look in 0..looks {
        (0..pauses).for_each(|_| core::hint::spin_loop());
        pauses = (2 * pauses).min(most);
        let result = if looks_free() { attempt() } else { libc::EBUSY };
        let is_first = look == 0;
        if result != libc::EBUSY {
            known.in_vain = 0;
            if is_first {
                known.is_free_at_first_look();
            }
            return Some(result);
        }
        if is_first {
            known.is_held_at_first_look(holders);
        }
    }
    known.waited_in_vain();
    None
}

fn place(lock: usize) -> usize {
    (lock as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (u64::BITS - KNOWN.ilog2())
}
