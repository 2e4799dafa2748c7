//! The accesses of a pattern in a run that does not show the pattern.

use rustc_hash::FxHashMap;

use crate::pattern::Pattern;
use crate::run::{LocationId, Run, SiteId, ThreadId};
use crate::shape::Step;

/// Starting points that are tried; a loop has many that tell the same.
const MOST_STARTS: usize = 200;
/// No shape has more threads.
const THREADS: usize = 3;

/// The accesses at a pattern's sites by as many threads to as many variables, in whatever order they came: for each step of the
/// pattern the index of an access, those of a thread in one round of its loop if there is one, and all as close together as can
/// be found. None unless there is one for each.
pub fn counterpart(run: &Run, pattern: &Pattern) -> Option<Vec<usize>> {
    let steps: Vec<(Step, SiteId)> = pattern.shape().steps().zip(pattern.sites().iter().copied()).collect();
    let mut by_site: FxHashMap<SiteId, Vec<usize>> = FxHashMap::default();
    for (index, access) in run.accesses.iter().enumerate() {
        if steps.iter().any(|(_, site)| *site == access.site) {
            by_site.entry(access.site).or_default().push(index);
        }
    }
    let starts = by_site.get(&steps.first()?.1)?;
    let best = starts.iter().take(MOST_STARTS).filter_map(|&start| fit(run, &steps, &by_site, start));
    best.min_by_key(|indices| {
        let (low, high) = (indices.iter().min().copied(), indices.iter().max().copied());
        (repetitions(run, &steps, &by_site, indices), high.unwrap_or(0) - low.unwrap_or(0))
    })
}

/// How often a thread comes to the places of its steps between two of these: it is in another round then.
fn repetitions(
    run: &Run,
    steps: &[(Step, SiteId)],
    by_site: &FxHashMap<SiteId, Vec<usize>>,
    indices: &[usize],
) -> usize {
    let of_role = |role: u8| {
        let own = || steps.iter().zip(indices).filter(move |((step, _), _)| step.thread == role);
        let ends = own().map(|(_, &index)| index).min().zip(own().map(|(_, &index)| index).max());
        let between = ends.map(|(low, high)| {
            let thread = run.accesses[low].thread;
            let again = own().filter_map(|((_, site), _)| by_site.get(site)).map(move |places| {
                let from = places.partition_point(|&place| place <= low);
                let inside = places[from..].iter().take_while(|&&place| place < high);
                inside
                    .filter(|&&place| run.accesses[place].thread == thread && !indices.contains(&place))
                    .count()
            });
            again.sum::<usize>()
        });
        between.unwrap_or(0)
    };
    (1..=THREADS as u8).map(of_role).sum()
}

/// Fills the steps in turn, each with the access nearest to the first one that fits what was chosen before.
fn fit(
    run: &Run,
    steps: &[(Step, SiteId)],
    by_site: &FxHashMap<SiteId, Vec<usize>>,
    start: usize,
) -> Option<Vec<usize>> {
    let mut roles: [Option<ThreadId>; THREADS] = [None; THREADS];
    let mut variables: [Option<LocationId>; 2] = [None; 2];
    let mut chosen: Vec<usize> = Vec::new();
    for (nth, (step, site)) in steps.iter().enumerate() {
        let (role, variable) = (usize::from(step.thread - 1), usize::from(step.variable != 'x'));
        let fits = |index: &usize| {
            let access = &run.accesses[*index];
            let own_thread =
                roles[role].map_or(!roles.contains(&Some(access.thread)), |own| own == access.thread);
            let own_variable = variables[variable]
                .map_or(variables[1 - variable] != Some(access.location), |own| own == access.location);
            own_thread
                && own_variable
                && access.kind.writes() == step.kind.writes()
                && (nth == 0) == (*index == start)
                && !chosen.contains(index)
        };
        let nearest =
            by_site.get(site)?.iter().copied().filter(fits).min_by_key(|index| index.abs_diff(start))?;
        roles[role] = Some(run.accesses[nearest].thread);
        variables[variable] = Some(run.accesses[nearest].location);
        chosen.push(nearest);
    }
    Some(chosen)
}
