//! What a fix would keep whole, where a finding shows only the end of it.
//!
//! A thread that does a single step of an interleaving has often begun earlier: it read the variable that it writes, or
//! looked something up under the lock and takes the lock again to use it. Forbidding the finding's own order does not
//! help there. Either the same happens with the threads in each other's place, or a thread is held back at a step whose lock the
//! other one needs. So the wider interleaving has that beginning as a step, too. Who holds no lock any more at its step, while the other one does, began
//! where it had that lock: there it looked up what the other one takes away.
//!
//! Of two variables that belong together, the example may show the second as it was used last time and the first as it is used next. A
//! fix keeps together what is done one after the other, so the wider interleaving has the two steps as the code has them.

use localize::{Access, Code, Lock, Run};
use recording::{Interleaving, InterleavingStep, Treatment};

use super::{Moment, place, place_of_access};

/// The steps with what threads that do a single one of them have begun with. None if nothing is added.
pub fn wider(steps: &[InterleavingStep], moments: &[Moment], run: &Run, code: &Code) -> Option<Interleaving> {
    let mut list: Vec<InterleavingStep> = Vec::new();
    let (steps, is_turned) = in_order_of_code(steps, moments, run, code);
    let mut fresh = steps.iter().map(|step| step.variable).max()? + 1;
    for (step, moment) in steps.iter().zip(moments) {
        let is_single = steps.iter().filter(|other| other.thread == step.thread).count() == 1;
        let mut step = *step;
        if let Some(beginning) = beginning(moment, moments, run, code).filter(|_| is_single) {
            let variable = if beginning.is_lock { fresh } else { step.variable };
            fresh += u8::from(beginning.is_lock);
            list.push(InterleavingStep { thread: step.thread, variable, ..beginning.place });
            // What is begun by taking a lock ends with a step that the lock should have guarded.
            if beginning.is_lock && step.guard == 0 && step.build_id == beginning.place.build_id {
                step.guard = beginning.place.address;
            }
        }
        list.push(step);
    }
    let is_wider = is_turned || list.len() > steps.len();
    if is_wider { Interleaving::new(Treatment::Forbid, &list) } else { None }
}

/// The steps, those of a thread within one function in the order of its code, and whether that makes a difference.
fn in_order_of_code(
    steps: &[InterleavingStep],
    moments: &[Moment],
    run: &Run,
    code: &Code,
) -> (Vec<InterleavingStep>, bool) {
    let mut ordered = steps.to_vec();
    let calls = |nth: usize| code.stack(run.accesses[moments[nth].index].stack).get(1..);
    for second in 0..steps.len() {
        let own = |first: &usize| steps[*first].thread == steps[second].thread;
        let Some(first) = (0..second).rev().find(own) else { continue };
        let is_backwards = steps[second].address < steps[first].address
            && steps[second].variable != steps[first].variable
            && steps[second].build_id == steps[first].build_id
            && calls(first) == calls(second);
        if is_backwards && ordered[..] == *steps {
            ordered.swap(first, second);
        }
    }
    let is_turned = ordered[..] != *steps;
    (ordered, is_turned)
}

struct Beginning {
    place: InterleavingStep,
    /// It is where a lock is taken, rather than an access to the variable.
    is_lock: bool,
}

fn beginning(moment: &Moment, moments: &[Moment], run: &Run, code: &Code) -> Option<Beginning> {
    let own = &run.accesses[moment.index];
    let of_thread = |access: &&Access| access.thread == moment.thread;
    let earlier =
        || run.accesses[..moment.index].iter().enumerate().rev().filter(|(_, access)| of_thread(access));
    let same = earlier().find(|(_, access)| access.location == moment.location);
    // What was done at the same place was done in the round before.
    if let Some((index, _)) = same.filter(|(_, access)| access.stack != own.stack) {
        let place = place_of_access(&Moment { index, ..*moment }, run, code)?;
        return Some(Beginning { place, is_lock: false });
    }
    let section = match outermost(own, run) {
        Some(lock) => earlier().find_map(|(_, access)| {
            outermost(access, run).filter(|held| held.object == lock.object && held.taken_in != lock.taken_in)
        }),
        None => {
            let others = moments.iter().filter(|other| other.thread != moment.thread);
            let lock = others.filter_map(|other| outermost(&run.accesses[other.index], run)).next()?;
            let held = |access: &Access| run.locksets.get(access.locks?.0 as usize);
            earlier().find_map(|(_, access)| held(access)?.iter().find(|held| held.object == lock.object))
        }
    }?;
    Some(Beginning { place: place(section.taken_in, section.taken_at, code)?, is_lock: true })
}

fn outermost<'a>(access: &Access, run: &'a Run) -> Option<&'a Lock> {
    run.locksets.get(access.locks?.0 as usize)?.first()
}
