//! Accesses of a run that techniques are not to see.

use crate::profile::Profile;
use crate::run::Access;

impl Profile {
    /// Leaves out accesses: techniques see the run as if these had not been made.
    pub fn leave_out(&mut self, mut is_left_out: impl FnMut(&Access) -> bool) {
        let accesses = self.run.accesses.iter().enumerate();
        let removed: Vec<usize> =
            accesses.filter(|(_, access)| is_left_out(access)).map(|(index, _)| index).collect();
        remove(self, &removed);
    }
}

/// Removes those of the accesses in `frees` (ascending) that are the last to their location.
pub(crate) fn last_frees(profile: &mut Profile, frees: &[usize]) {
    let run = &profile.run;
    let mut last_of = vec![0; profile.locations.len()];
    for (index, access) in run.accesses.iter().enumerate() {
        last_of[access.location.0 as usize] = index;
    }
    let mut removed: Vec<usize> = frees.to_vec();
    removed.retain(|&index| last_of[run.accesses[index].location.0 as usize] == index);
    remove(profile, &removed);
}

/// Removes the accesses with these indices, which ascend.
fn remove(profile: &mut Profile, removed: &[usize]) {
    if removed.is_empty() {
        return;
    }
    for switch in &mut profile.switches {
        switch.before -= removed.partition_point(|&index| index < switch.before);
    }
    let run = &mut profile.run;
    for gap in &mut run.gaps {
        gap.before -= removed.partition_point(|&index| index < gap.before);
    }
    for event in &mut run.synchronization {
        event.before -= removed.partition_point(|&index| index < event.before);
    }
    for sleep in &mut run.sleeps {
        sleep.before -= removed.partition_point(|&index| index < sleep.before);
    }
    let mut index = 0;
    run.accesses.retain(|_| {
        index += 1;
        removed.binary_search(&(index - 1)).is_err()
    });
}
