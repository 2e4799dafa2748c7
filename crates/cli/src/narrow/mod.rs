//! Where exactly does it go wrong? A failing run is made as short as it can be, each thread running as long as it can; then its last
//! switches are moved, stop by stop, to where the run does not fail any more. What a thread must have done there, what it must not have
//! done yet, and what another one does in between, is what went wrong ([docs](../../../../docs/narrowing.md)).

mod bench;
mod blocks;
mod comparison;
mod edges;
mod first;
mod kept;
mod legs;
mod place;
mod rows;
mod search;
mod shorter;
mod sites;
mod stand_in;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use localize::{Access, Code, Intrusion, Outcome, Profile, Run, SiteId, StackId, ThreadId};
use recording::Interleaving;
use report::{Finding, Kind, Report};
use runner::campaign::Campaign;
use runner::{RunFile, RunNumber, Schedules, Session};

use crate::analysis;
use crate::names::Names;
use bench::{Bench, OutOfTime};
use blocks::Held;
use edges::{Edges, Stand};
pub use first::{Narrowed, put_first};
use kept::Window;
pub use kept::forget;
use legs::{FOREVER, Leg};

/// Failing runs that are made shorter.
const MOST_RUNS: usize = 4;
/// Of these, as many may stay long, or be without edges, before the others are not tried any more: that is so of all of them then, mostly.
const MOST_IN_VAIN: usize = 2;
/// Switches that no thread asked for, at most, in a run whose edges are looked for.
const MOST_HELD_UP: usize = 5;
/// Accesses before the edge that may belong to what was done there: a library's function makes several.
const AROUND: usize = 4;
/// It may take as long as so many runs of the session did on average, within limits: at most this, or as long as all of them took.
const RUNS: f64 = 300.0;
const LEAST_TIME: Duration = Duration::from_secs(5);
const MOST_TIME: Duration = Duration::from_secs(30);

/// Whether it is worth a look where runs go wrong: why threads wait for ever is there to be seen, and stays first whatever that tells.
pub fn is_called_for(report: &Report) -> bool {
    let is_standstill = |first: &Finding| matches!(first.kind, Kind::Deadlock | Kind::MissedSignal);
    !report.findings.first().is_some_and(is_standstill)
}

/// Looks for where the failing runs of a session go wrong, unless that was done before, and says whether it found anything. Where none of them
/// has a schedule, one is made in which the first finding is forced.
pub fn seek(
    session: &Session,
    campaign: &Campaign,
    until: Option<Instant>,
    first: Option<Interleaving>,
) -> anyhow::Result<bool> {
    if kept::is_known(session) {
        return Ok(false);
    }
    let usual = Instant::now() + usual_time(session);
    let until = until.map_or(usual, |until| until.min(usual));
    let mut found = Vec::new();
    match find(session, campaign, until, first, &mut found) {
        Err(error) if !error.is::<OutOfTime>() => return Err(error),
        _ => {}
    }
    if !found.is_empty() {
        kept::keep(session, &found)?;
    }
    Ok(!found.is_empty())
}

fn usual_time(session: &Session) -> Duration {
    let ended = session.runs().iter().filter(|record| !record.outcome.is_hang());
    let (seconds, runs) =
        ended.fold((0.0, 0.0), |(seconds, runs), record| (seconds + record.seconds, runs + 1.0));
    let most = MOST_TIME.max(Duration::from_secs_f64(session.manifest().wall_seconds.max(0.0)));
    Duration::from_secs_f64(RUNS * seconds / f64::max(runs, 1.0)).clamp(LEAST_TIME, most)
}

fn find(
    session: &Session,
    campaign: &Campaign,
    until: Instant,
    first: Option<Interleaving>,
    found: &mut Vec<Window>,
) -> anyhow::Result<()> {
    let own = shortest_first(session);
    let stand_in = match first.filter(|_| own.is_empty()) {
        Some(first) => stand_in::find(session, campaign, first, until)?,
        None => None,
    };
    let load = |run: RunNumber| -> runner::Result<(RunNumber, RunFile)> { Ok((run, session.load(run)?)) };
    let own = own.into_iter().take(MOST_RUNS).map(load);
    let mut known: Vec<Vec<Leg>> = Vec::new();
    let mut in_vain = 0;
    for failing in own.chain(stand_in.map(Ok)) {
        let (run, file) = failing?;
        let Some(mut bench) = Bench::of(session, &file, campaign, until)? else { continue };
        let all = bench.legs.clone();
        let switches = all.len();
        let Some(legs) = shorter::shorter(all, |legs, next| bench.fails(legs, next))? else { continue };
        let held_up = legs.iter().filter(|leg| leg.until != FOREVER).count();
        // What takes many switches is not told by the last of them.
        let edges = match held_up > MOST_HELD_UP || known.contains(&legs) {
            true => Vec::new(),
            false => edges::edges(&mut bench, &legs)?,
        };
        // Where a single leg is left, somebody else would have run first.
        let [switches, left] = [switches, legs.len().max(2)].map(|legs| legs as u64 - 1);
        in_vain += usize::from(edges.is_empty());
        found.extend(edges.into_iter().map(|edges| Window { run, switches, left, edges }));
        known.push(legs);
        if !found.is_empty() || in_vain == MOST_IN_VAIN {
            break;
        }
    }
    Ok(())
}

/// Failing runs that can be followed, those with the fewest switches first.
fn shortest_first(session: &Session) -> Vec<RunNumber> {
    let failing = session.runs().iter().filter(|record| record.outcome.is_failing());
    let mut by_switches: Vec<(u64, RunNumber)> = failing
        .filter_map(|record| {
            let switches = Schedules::of(&session.load(record.run).ok()?).ok()?.switches();
            (switches > 0).then_some((switches, record.run))
        })
        .collect();
    by_switches.sort_unstable();
    by_switches.into_iter().map(|(_, run)| run).collect()
}

/// What is done at the edges.
struct Doings {
    /// The run that fails, and what is done in it.
    profile: Profile,
    intrusion: Intrusion,
    /// Where the failing run ends before the held thread goes on: what another one does, and what the held one would have had to do before it,
    /// as in a run in which it does and that passes.
    too_early: Vec<(SiteId, SiteId)>,
    /// For each other thread that has to run besides, what it does that matters to those who come next.
    through: Vec<usize>,
    /// The run in which the held thread has done one step more, and that step, if it is known.
    beyond: Option<(Profile, Vec<usize>)>,
}

fn doings(edges: &Edges, code: &mut Code, names: &mut Names) -> anyhow::Result<Option<Doings>> {
    let (held, other) = (ThreadId(edges.held), ThreadId(edges.other));
    let mut held_at = |stand: Option<&Stand>, thread: ThreadId| -> anyhow::Result<[Vec<SiteId>; 3]> {
        let Some(stand) = stand else { return Ok(Default::default()) };
        let profile = load(stand, code, names)?;
        let Some(Held { step, next, last, .. }) = blocks::at_stop(&profile, code, thread, stand.stop) else {
            return Ok(Default::default());
        };
        let site = |index: usize| profile.run.accesses[index].site;
        Ok([step, next, last].map(|indices| indices.into_iter().map(site).collect()))
    };
    let [step, _, done] = held_at(edges.before.as_ref(), held)?;
    let [mut decisive, _, decided] = held_at(edges.between.as_ref(), other)?;
    let [_, act, _] = held_at(Some(&edges.after), held)?;
    // What it is about to do at something that nobody else has used by then is not on record there: what it has done one step later, is.
    let is_unknown = edges.before.is_some() && step == done;
    let look = if is_unknown { held_at(Some(&edges.failing), held)?[2].clone() } else { step };
    let look = before_act(look, &act);
    let mut too_early = Vec::new();
    let mut beyond = None;
    if let Some(stand) = &edges.beyond {
        let profile = load(stand, code, names)?;
        if let Some(at) = blocks::at_stop(&profile, code, held, stand.stop) {
            too_early = orders_too_early(&profile, &at, &decisive);
            beyond = Some((profile, at.last));
        }
    }
    // Nor is what another one is about to do at something that nobody looks at any more, then.
    let next_of_other = match &edges.between {
        Some(stand) if decisive == decided => next_of(stand, other, code, names)?,
        _ => None,
    };
    let profile = load(&edges.failing, code, names)?;
    let Some(Held { between, next, .. }) = blocks::at_stop(&profile, code, held, edges.failing.stop) else {
        return Ok(None);
    };
    let accesses = &profile.run.accesses;
    if let Some((places, times)) = next_of_other {
        let known = blocks::goes_on_at((&profile, code), other, between.clone(), places, times);
        if !known.is_empty() {
            decisive = known.into_iter().map(|index| accesses[index].site).collect();
        }
    }
    let own = |indices: Range<usize>| indices.filter(|&index| accesses[index].thread == held);
    // What it did there in the last round, and what it does there in the next.
    let is_look = |index: &usize| look.contains(&accesses[*index].site);
    let section = blocks::section_before(&profile.run, held, between.start);
    let section: Vec<usize> = section.into_iter().rev().filter(is_look).collect();
    let mut last = first_of_each(&profile.run, &section, between.clone());
    for index in own(0..between.start).rev().filter(is_look) {
        last.entry(accesses[index].site).or_insert(index);
    }
    let next_round: Vec<usize> =
        own(between.end..accesses.len()).filter(|&index| act.contains(&accesses[index].site)).collect();
    let first = first_of_each(&profile.run, &next_round, between.clone());
    let in_order = |sites: BTreeMap<SiteId, usize>| {
        let mut indices: Vec<usize> = sites.into_values().collect();
        indices.sort_unstable();
        indices
    };
    let (mut look, act) = (in_order(last), in_order(first));
    // What a thread has for itself until another one uses it is on record only as far as it came then.
    if look.is_empty() && edges.before.is_some() {
        look = blocks::section_before(&profile.run, held, between.start);
    }
    // What it had for itself one step earlier is on record here, where others came to it.
    look = blocks::whole_round(&profile.run, look, between.start);
    let earlier = look.first().map_or(0..0, |&look| 0..look);
    let around = own(earlier).rev().take(AROUND).collect();
    let act = if act.is_empty() { next } else { act };
    let between: Vec<usize> = between.filter(|&index| accesses[index].thread != held).collect();
    let is_decisive = |index: &usize| decisive.contains(&accesses[*index].site);
    let decisive = between.iter().copied().filter(is_decisive).collect();
    let too_early = if act.is_empty() { too_early } else { Vec::new() };
    let through = edges.through.iter().filter_map(|&other| matters(&profile.run, &between, ThreadId(other)));
    let through = through.collect();
    let also = edges.through.iter().map(|&thread| ThreadId(thread)).collect();
    let intrusion = Intrusion { look, around, between, decisive, also, act };
    Ok(Some(Doings { profile, intrusion, too_early, through, beyond }))
}

/// Where a thread was that was held at a stop, and where it was to go on, by the calls that lead there; and how often it had been at the former.
fn next_of(
    stand: &Stand,
    thread: ThreadId,
    code: &mut Code,
    names: &mut Names,
) -> anyhow::Result<Option<([StackId; 2], usize)>> {
    let profile = load(stand, code, names)?;
    let held = blocks::at_stop(&profile, code, thread, stand.stop);
    let known = held.and_then(|held| Some((*held.last.last()?, held.place?)));
    Ok(known.map(|(last, place)| {
        ([profile.run.accesses[last].stack, place], blocks::times_at(&profile, code, last))
    }))
}

/// Of what others do while a thread is held, the last thing by one of them that somebody else comes upon afterwards.
fn matters(run: &Run, between: &[usize], thread: ThreadId) -> Option<usize> {
    let accesses = &run.accesses;
    let is_come_upon = |&index: &usize| {
        let Access { location, kind, .. } = accesses[index];
        accesses[index + 1..].iter().any(|later| {
            later.location == location && later.thread != thread && (kind.writes() || later.kind.writes())
        })
    };
    let own = || between.iter().rev().copied().filter(|&index| accesses[index].thread == thread);
    own().find(is_come_upon).or_else(|| own().next())
}

/// Of what a thread goes on with, or has done, the first access at each place in the order given. A loop goes over one thing after another: where
/// others have changed some of them, it is the first of these.
fn first_of_each(run: &Run, own: &[usize], between: Range<usize>) -> BTreeMap<SiteId, usize> {
    let accesses = &run.accesses;
    let is_changed = |&&index: &&usize| {
        let Access { location, thread, kind, .. } = accesses[index];
        accesses[between.clone()].iter().any(|other| {
            other.location == location && other.thread != thread && (kind.writes() || other.kind.writes())
        })
    };
    let mut first: BTreeMap<SiteId, usize> = BTreeMap::new();
    for &index in own.iter().filter(is_changed).chain(own) {
        first.entry(accesses[index].site).or_insert(index);
    }
    first
}

/// Of a section in whose midst a thread is held, what it does before the act: when it was at the rest of it, that was in an earlier round. One that is about to
/// begin the section anew has done all of it.
fn before_act(mut look: Vec<SiteId>, act: &[SiteId]) -> Vec<SiteId> {
    if let Some(at @ 1..) = look.iter().position(|site| act.contains(site)) {
        look.truncate(at);
    }
    look
}

/// What others do while a thread is held that is about the data of its last step: where that step is missing, they come too early. What is
/// decisive goes before what else they do.
fn orders_too_early(profile: &Profile, at: &Held, decisive: &[SiteId]) -> Vec<(SiteId, SiteId)> {
    let accesses = &profile.run.accesses;
    let is_own =
        |index: &usize| at.last.first().is_some_and(|&own| accesses[own].thread == accesses[*index].thread);
    let others = at.between.clone().filter(|index| !is_own(index)).collect();
    let site = |index: usize| accesses[index].site;
    let orders =
        Intrusion { between: others, act: at.last.clone(), ..Intrusion::default() }.orders(&profile.run);
    let mut orders: Vec<(SiteId, SiteId)> =
        orders.into_iter().map(|(other, own)| (site(other), site(own))).collect();
    if orders.iter().any(|(other, _)| decisive.contains(other)) {
        orders.retain(|(other, _)| decisive.contains(other));
    }
    orders
}

fn load(stand: &Stand, code: &mut Code, names: &mut Names) -> anyhow::Result<Profile> {
    let outcome = analysis::outcome(&stand.file.record.outcome).unwrap_or(Outcome::Pass);
    analysis::load_file(&stand.file, stand.file.record.run, outcome, code, names)
}

#[cfg(test)]
mod tests {
    use localize::{AccessKind, LocationId, RunId};
    use serde_json::json;

    use super::*;

    /// A generation is raised, a pointer replaced and the old one kept, in one section, again and again: another one looks when the second generation
    /// is there and the second pointer is not.
    #[test]
    fn what_comes_after_the_act_in_its_section_is_no_look() {
        let [generation, pointer, kept] = [1, 2, 3].map(SiteId);
        let section = || vec![generation, pointer, kept];
        assert_eq!(before_act(section(), &[pointer]), [generation]);
        assert_eq!(before_act(section(), &[kept]), [generation, pointer]);
        assert_eq!(before_act(section(), &[generation]), section(), "the next round");
        assert_eq!(before_act(section(), &[SiteId(4)]), section(), "another section");
    }

    /// Windows are drawn one after the other, and one of them was closed.
    #[test]
    fn what_others_have_changed_goes_before_what_comes_first() {
        let access = |thread: u32, location: u32, kind: AccessKind| Access {
            thread: ThreadId(thread),
            location: LocationId(location),
            site: SiteId(thread),
            stack: StackId(thread),
            kind,
            uncertain: false,
            value: None,
            before: None,
            locks: None,
            iteration: None,
            atomic: false,
            frees: false,
        };
        let mut run = Run::new(RunId(1), Outcome::Fail);
        let draw = |window: u32| access(1, window, AccessKind::Read);
        let (close, see) = (access(2, 1, AccessKind::Write), access(2, 0, AccessKind::Read));
        run.accesses = vec![close, see, draw(0), draw(1), draw(2)];
        let first = |between| first_of_each(&run, &[2, 3, 4], between).into_values().collect::<Vec<_>>();
        assert_eq!(first(0..2), [3]);
        assert_eq!(first(1..2), [2], "nobody has changed any");
        let last = |between| first_of_each(&run, &[4, 3, 2], between).into_values().collect::<Vec<_>>();
        assert_eq!([last(0..2), last(1..2)], [[3], [4]], "the same of what was looked at");
    }

    fn report(first: &str) -> Report {
        let finding = json!({
            "rank": 1, "tied": 1, "score": 0.9, "failed": 3, "passed": 0, "kind": first, "pattern": "RW", "accesses": [],
            "suspicious_functions": [], "cluster": null, "failing_runs": [1], "evidence": [], "advice": "",
            "confirmation": null
        });
        let session = json!({
            "name": "x", "command": ["./x"], "unsnarl_version": "0", "started": "", "seed": 1, "wall_seconds": 0.1
        });
        let runs = json!({ "passed": 1, "failed": 3, "hung": 3, "damaged": 0 });
        let report = json!({
            "schema": 1, "session": session, "runs": runs, "technique": "verdict", "warnings": [],
            "findings": [finding]
        });
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn who_waits_for_ever_is_there_to_be_seen() {
        assert!(is_called_for(&report("order-violation")) && is_called_for(&report("atomicity-violation")));
        assert!(!is_called_for(&report("deadlock")) && !is_called_for(&report("missed-signal")));
    }
}
