//! Where exactly does it go wrong? A failing run is made as short as it can be, each thread running as long as it can; then its last
//! switches are moved, stop by stop, to where the run does not fail any more. What a thread must have done there, what it must not have
//! done yet, and what another one does in between, is what went wrong ([docs](../../../../docs/narrowing.md)).

mod bench;
mod blocks;
mod edges;
mod first;
mod kept;
mod legs;
mod search;
mod shorter;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use localize::{Code, Intrusion, Outcome, Profile, SiteId, ThreadId};
use runner::campaign::Campaign;
use runner::{RunRecord, Schedules, Session};

use crate::analysis;
use crate::names::Names;
use bench::{Bench, OutOfTime};
use blocks::Held;
use edges::{Edges, Stand};
pub use first::put_first;
use kept::Window;
use legs::{FOREVER, Leg};

/// Failing runs that are made shorter.
const MOST_RUNS: usize = 4;
/// Of these, as many may stay long before the others are not tried any more: where the stops of a thread depend on who ran before, that is so
/// of all of them.
const MOST_IN_VAIN: usize = 2;
/// Of those that got short, the ones whose edges are looked for.
const MOST_MOVED: usize = 2;
/// Switches that no thread asked for, at most, in a run whose edges are looked for.
const MOST_HELD_UP: usize = 3;
/// Accesses before the edge that may belong to what was done there: a library's function makes several.
const AROUND: usize = 4;
/// It may take as long as so many runs of the session did on average, within limits.
const RUNS: f64 = 300.0;
const LEAST_TIME: Duration = Duration::from_secs(2);
const MOST_TIME: Duration = Duration::from_secs(20);

/// Looks for where the failing runs of a session go wrong, unless that was done before, and says whether it found anything.
pub fn seek(session: &Session, campaign: &Campaign, until: Option<Instant>) -> anyhow::Result<bool> {
    if kept::is_known(session) {
        return Ok(false);
    }
    let usual = Instant::now() + usual_time(session);
    let until = until.map_or(usual, |until| until.min(usual));
    let mut found = Vec::new();
    match find(session, campaign, until, &mut found) {
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
    Duration::from_secs_f64(RUNS * seconds / f64::max(runs, 1.0)).clamp(LEAST_TIME, MOST_TIME)
}

fn find(
    session: &Session,
    campaign: &Campaign,
    until: Instant,
    found: &mut Vec<Window>,
) -> anyhow::Result<()> {
    let mut short: Vec<(usize, Vec<Leg>, Bench)> = Vec::new();
    let mut in_vain = 0;
    for record in shortest_first(session).into_iter().take(MOST_RUNS) {
        let Some(mut bench) = Bench::of(session, record, campaign, until) else { continue };
        let all = bench.legs.clone();
        let Some(legs) = shorter::shorter(all, |legs, next| bench.fails(legs, next))? else { continue };
        let held_up = legs.iter().filter(|leg| leg.until != FOREVER).count();
        // What takes many switches is not told by the last of them.
        if held_up > MOST_HELD_UP {
            in_vain += 1;
            if in_vain == MOST_IN_VAIN {
                break;
            }
            continue;
        }
        if short.iter().all(|(_, known, _)| *known != legs) {
            short.push((held_up, legs, bench));
        }
        // It takes one switch at least that a thread did not ask for, or one thread in the place of another.
        if held_up <= 1 {
            break;
        }
    }
    short.sort_by_key(|(held_up, legs, _)| (*held_up, legs.len()));
    for (_, legs, mut bench) in short.into_iter().take(MOST_MOVED) {
        let run = bench.run;
        let switches = legs.len() as u64 - 1;
        found.extend(edges::edges(&mut bench, &legs)?.into_iter().map(|edges| Window {
            run,
            switches,
            edges,
        }));
    }
    Ok(())
}

/// Failing runs that can be followed, those with the fewest switches first.
fn shortest_first(session: &Session) -> Vec<&RunRecord> {
    let failing = session.runs().iter().filter(|record| record.outcome.is_failing());
    let mut by_switches: Vec<(u64, &RunRecord)> = failing
        .filter_map(|record| {
            let switches = Schedules::of(&session.load(record.run).ok()?).ok()?.switches();
            (switches > 0).then_some((switches, record))
        })
        .collect();
    by_switches.sort_by_key(|(switches, record)| (*switches, record.run));
    by_switches.into_iter().map(|(_, record)| record).collect()
}

/// What is done at the edges, in the run that fails.
fn intrusion(
    edges: &Edges,
    code: &mut Code,
    names: &mut Names,
) -> anyhow::Result<Option<(Profile, Intrusion)>> {
    let (held, other) = (ThreadId(edges.held), ThreadId(edges.other));
    let mut held_at = |stand: Option<&Stand>, thread: ThreadId| -> anyhow::Result<[Vec<SiteId>; 2]> {
        let Some(stand) = stand else { return Ok(Default::default()) };
        let profile = load(stand, code, names)?;
        let Some(Held { step, next, .. }) = blocks::at_stop(&profile, code, thread, stand.stop) else {
            return Ok(Default::default());
        };
        let site = |index: usize| profile.run.accesses[index].site;
        Ok([step, next].map(|indices| indices.into_iter().map(site).collect()))
    };
    let [look, _] = held_at(edges.before.as_ref(), held)?;
    let [decisive, _] = held_at(edges.between.as_ref(), other)?;
    let [_, act] = held_at(Some(&edges.after), held)?;
    let profile = load(&edges.failing, code, names)?;
    let Some(Held { between, next, .. }) = blocks::at_stop(&profile, code, held, edges.failing.stop) else {
        return Ok(None);
    };
    let accesses = &profile.run.accesses;
    let own = |indices: Range<usize>| indices.filter(|&index| accesses[index].thread == held);
    // What it did there in the last round, and what it does there in the next.
    let mut last: BTreeMap<SiteId, usize> = BTreeMap::new();
    last.extend(own(0..between.start).map(|index| (accesses[index].site, index)));
    last.retain(|site, _| look.contains(site));
    let mut first: BTreeMap<SiteId, usize> = BTreeMap::new();
    for index in own(between.end..accesses.len()).filter(|&index| act.contains(&accesses[index].site)) {
        first.entry(accesses[index].site).or_insert(index);
    }
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
    let earlier = look.first().map_or(0..0, |&look| 0..look);
    let around = own(earlier).rev().take(AROUND).collect();
    let act = if act.is_empty() { next } else { act };
    let between: Vec<usize> = between.filter(|&index| accesses[index].thread != held).collect();
    let is_decisive = |index: &usize| decisive.contains(&accesses[*index].site);
    let decisive = between.iter().copied().filter(is_decisive).collect();
    let intrusion = Intrusion { look, around, between, decisive, act };
    Ok(Some((profile, intrusion)))
}

fn load(stand: &Stand, code: &mut Code, names: &mut Names) -> anyhow::Result<Profile> {
    let outcome = analysis::outcome(&stand.file.record.outcome).unwrap_or(Outcome::Pass);
    analysis::load_file(&stand.file, outcome, code, names)
}
