//! A finding as the recorder can recognize and bring it about: steps at places in the code, and their order.

use localize::{Action, Code, Detail, Finding, ObjectId, Run, SiteId, Standstill, StandstillKind, Step};
use recording::{Interleaving, InterleavingStep, Treatment};

/// Steps of a finding, to be enforced; none if a place in the code is in no known module. The run is that of the finding's
/// example, and tells which locks are held.
pub fn of(finding: &Finding, run: &Run, code: &Code) -> Option<Interleaving> {
    match &finding.detail {
        Detail::Verdict(reasoning) if reasoning.standstill.is_some() => {
            of_standstill(reasoning.standstill.as_ref()?, code)
        }
        _ => of_accesses(finding, run, code),
    }
}

fn of_accesses(finding: &Finding, run: &Run, code: &Code) -> Option<Interleaving> {
    let shape = finding.pattern.shape();
    let mut accesses: Vec<(usize, Step, SiteId)> = shape
        .steps()
        .zip(finding.pattern.sites())
        .enumerate()
        .map(|(nth, (step, &site))| (nth, step, site))
        .collect();
    // Two pairs that are put together stand one after the other; each thread does its steps as in the example.
    if shape.row().is_none() && finding.example.accesses.len() == accesses.len() {
        accesses.sort_by_key(|&(nth, ..)| finding.example.accesses[nth]);
    }
    let steps = accesses.iter().map(|&(_, step, site)| {
        place(site, code).map(|place| InterleavingStep {
            thread: step.thread,
            variable: u8::from(step.variable != 'x'),
            guard: guard(finding, site, run, code).unwrap_or(0),
            ..place
        })
    });
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let interleaving = Interleaving::new(Treatment::Enforce, &steps)?;
    if steps.len() < 4 { Some(interleaving) } else { interleaving.with_orders(&conflicts(&steps)) }
}

/// Where the outermost lock was taken that the example holds at this site.
fn guard(finding: &Finding, site: SiteId, run: &Run, code: &Code) -> Option<u64> {
    let accesses = finding.example.accesses.iter().filter_map(|&index| run.accesses.get(index));
    let access = accesses.into_iter().find(|access| access.site == site)?;
    let outermost = run.locksets.get(access.locks?.0 as usize)?.first()?;
    let (guard, site) = (code.site(outermost.taken_in), code.site(site));
    (guard.module == site.module).then_some(guard.address)
}

/// Of two variables, the order of accesses to each matters, not that of accesses to one and to the other.
fn conflicts(steps: &[InterleavingStep]) -> Vec<(usize, usize)> {
    let pairs = (0..steps.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    pairs
        .filter(|&(first, second)| {
            steps[first].thread != steps[second].thread && steps[first].variable == steps[second].variable
        })
        .collect()
}

fn of_standstill(standstill: &Standstill, code: &Code) -> Option<Interleaving> {
    let mut objects: Vec<Option<ObjectId>> = Vec::new();
    let mut variable = |action: Action| {
        let object = match action {
            Action::Lock(object) | Action::Signal(object) | Action::Wait(object) => Some(object),
            // The two accesses of an outdated decision are to one variable.
            Action::Read(_) | Action::Write(_) => None,
        };
        let known = objects.iter().position(|&known| known == object);
        known.unwrap_or_else(|| {
            objects.push(object);
            objects.len() - 1
        })
    };
    let steps = standstill.steps.iter().map(|step| {
        let (thread, variable) = (u8::try_from(step.role).ok()?, u8::try_from(variable(step.action)).ok()?);
        place(step.site, code).map(|place| InterleavingStep { thread, variable, ..place })
    });
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let interleaving = Interleaving::new(Treatment::Enforce, &steps)?;
    let threads = steps.len() / 2;
    if standstill.kind != StandstillKind::Deadlock || threads < 2 {
        return Some(interleaving);
    }
    // First all take their lock, in any order, then all wait.
    let waits = threads..steps.len();
    let orders: Vec<(usize, usize)> =
        waits.flat_map(|wait| (0..threads).map(move |take| (take, wait))).collect();
    interleaving.with_orders(&orders)
}

/// A step at this place in the code.
fn place(site: SiteId, code: &Code) -> Option<InterleavingStep> {
    let site = code.site(site);
    let module = code.module(site.module?);
    let mut build_id = [0; 32];
    build_id.get_mut(..module.build_id.len())?.copy_from_slice(&module.build_id);
    let step = InterleavingStep { build_id, address: site.address, ..InterleavingStep::default() };
    (!module.build_id.is_empty()).then_some(step)
}
