//! What to do about a lock that is held for reading.

mod deeds;
mod support;

use localize::LocksetId;
use localize::evidence::{Action, Witness, advise};

use deeds::run;

/// What is only read under a lock for reading, and changed under the lock for writing, need not be kept from other readers.
#[test]
fn a_lock_for_reading_is_held_longer_unless_its_holder_writes() {
    let for_writing = |text: &str, shared: &[usize]| {
        let mut run = run(text);
        for &at in shared {
            let lockset = run.accesses[at].locks.unwrap().0 as usize;
            run.locksets.push(run.locksets[lockset].clone());
            run.locksets.last_mut().unwrap().iter_mut().for_each(|lock| lock.shared = true);
            run.accesses[at].locks = Some(LocksetId(run.locksets.len() as u32 - 1));
        }
        let witness = Witness::of(&run, &[0, 1, 2]);
        let facts = witness.facts(&[0, 1, 2]);
        let fix = advise(&witness, &[0, 1, 2], &facts, &|_, _| false).unwrap();
        assert_eq!(fix.action, Action::ExtendLock);
        fix.is_for_writing(&run, &[0, 1, 2])
    };
    let looks = "1:lock(a)@1 1:R(x)@2 1:unlock(a) 2:lock(a)@3 2:W(x)@4 2:unlock(a) 1:lock(a)@5 1:R(x)@6";
    assert!(!for_writing(looks, &[0, 2]));
    assert!(!for_writing(looks, &[]), "nobody holds it for reading");
    assert!(for_writing(looks, &[0, 1, 2]), "so does who changes it");
    let acts = looks.replace("1:R(x)@6", "1:W(x)@6");
    assert!(for_writing(&acts, &[0]), "the look under the lock for reading, the act under the other");
}
