//! What one thread writes for another, and a third one writes over before that has read it.
//!
//! Somebody waits for an answer, it is written, and whoever clears up finds it written and takes it away before the one that waited looks. All that the two
//! threads at the end do is an order, or a look, a write and another look: that there was an answer in between is what makes it a mistake, and it is the
//! third thread's step. Passing runs tell whom it was meant for: there the reader mostly finds it.

use rustc_hash::FxHashMap;

use crate::finding::Finding;
use crate::intrusion::Row;
use crate::run::{AccessKind, LocationId, Run, SiteId, ThreadId};
use crate::shape::{Shape, Step};

/// The row that has what was written over as well, by an example in a failing run, if a third thread wrote it, and not as the first to use it. Of a finding with a look, that has to
/// be made again at the same place, as by one who waits; or it begins with what the reader itself has left there, as a question.
pub fn row(run: &Run, finding: &Finding) -> Option<Row> {
    let accesses = &run.accesses;
    let steps: Vec<Step> = finding.example.id.steps().collect();
    let indices = &finding.example.accesses;
    if steps.len() != indices.len() || steps.iter().any(|step| step.variable != 'x') {
        return None;
    }
    let is_wait = |first: usize, last: usize| accesses[first].site == accesses[last].site;
    let kinds: Vec<AccessKind> = steps.iter().map(|step| step.kind).collect();
    let (look, over, read) = match (kinds.as_slice(), indices.as_slice()) {
        (&[AccessKind::Write, AccessKind::Read], &[over, read]) => (None, over, read),
        (&[begin, AccessKind::Write, AccessKind::Read], &[look, over, read])
            if begin == AccessKind::Write || is_wait(look, read) =>
        {
            (Some(look), over, read)
        }
        _ => return None,
    };
    let is_write =
        |&index: &usize| accesses[index].location == accesses[over].location && accesses[index].kind.writes();
    let first = (look.map_or(0, |look| look + 1)..over).rev().find(is_write)?;
    let others = [over, read].map(|index| accesses[index].thread);
    // What was set up is there for all.
    let is_set_up = !accesses[..first].iter().any(|access| access.location == accesses[first].location);
    if is_set_up || others.contains(&accesses[first].thread) {
        return None;
    }
    let step = |kind, thread| Step { kind, thread, variable: 'x' };
    let (read_kind, write) = (AccessKind::Read, AccessKind::Write);
    let (shape, steps) = match look {
        Some(look) => {
            let steps = [step(kinds[0], 1), step(write, 2), step(write, 3), step(read_kind, 1)];
            (Shape::new(&steps), vec![look, first, over, read])
        }
        None => {
            let steps = [step(write, 1), step(write, 2), step(read_kind, 3)];
            (Shape::new(&steps), vec![first, over, read])
        }
    };
    let sites: Vec<SiteId> = steps.iter().map(|&index| accesses[index].site).collect();
    let calls = sites.iter().map(|site| run.calls.get(site).copied().unwrap_or(*site)).collect();
    Some(Row { shape, sites, calls, is_about_counts: false, is_around: false, to_zero: None })
}

/// Whether a thread of a run reads at the row's last place what another one has written where the row has what is written over.
pub fn is_found(run: &Run, row: &Row) -> bool {
    let [.., write, _, read] = row.sites[..] else { return false };
    let mut newest: FxHashMap<LocationId, (SiteId, ThreadId)> = FxHashMap::default();
    run.accesses.iter().any(|access| {
        let finds = newest.get(&access.location).is_some_and(|&(site, thread)| {
            access.site == read
                && access.kind != AccessKind::Write
                && site == write
                && thread != access.thread
        });
        if access.kind.writes() {
            newest.insert(access.location, (access.site, access.thread));
        }
        finds
    })
}
