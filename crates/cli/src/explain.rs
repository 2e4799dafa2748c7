//! Explains findings: what is known about their accesses in the run they are shown in, with names.

use localize::evidence::{self, Fact, Fix, Span, Witness};
use localize::{Code, Finding, ObjectId, Profile};
use report::explanation;

use crate::names::Names;

/// Adds the advice to a described finding, and returns what is known about its accesses. `profile` and `witness` are
/// those of its example's run.
pub fn explain(
    described: &mut report::Finding,
    finding: &Finding,
    witness: &Witness<'_>,
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> Vec<explanation::Fact> {
    let accesses = &finding.example.accesses;
    // Locon's second procedure shows a passing run in another order than it had.
    if accesses.is_empty() || !accesses.is_sorted() {
        return Vec::new();
    }
    let mut name = |lock: &ObjectId| names.object(*lock, profile, code);
    let facts = witness.facts(accesses);
    let fix = evidence::advise(witness, accesses, &facts);
    let named_fix = fix.as_ref().and_then(|fix| {
        Some(report::Fix {
            action: action(fix.action),
            locks: fix.locks.iter().map(&mut name).collect(),
            places: places(described, fix)?,
        })
    });
    described.advice = named_fix.as_ref().map(explanation::advice).unwrap_or_default();
    described.fix = named_fix;
    let action = fix.map(|fix| fix.action);
    facts.into_iter().filter_map(|fact| named(fact, action, profile, code, names)).collect()
}

/// Where the fix applies; none if some line is not known.
fn places(described: &report::Finding, fix: &Fix) -> Option<Vec<report::FixPlace>> {
    let place = |span: &Span| explanation::region(described, &[span.from, span.to]);
    fix.spans.iter().map(place).collect()
}

fn action(action: evidence::Action) -> report::Action {
    match action {
        evidence::Action::ExtendLock => report::Action::ExtendLock,
        evidence::Action::TakeLock => report::Action::TakeLock,
        evidence::Action::AddLock => report::Action::AddLock,
        evidence::Action::UseOneLock => report::Action::UseOneLock,
        evidence::Action::AtomicOperation => report::Action::AtomicOperation,
        evidence::Action::Join => report::Action::Join,
        evidence::Action::CreateLater => report::Action::CreateLater,
        evidence::Action::Wait => report::Action::Wait,
    }
}

/// A fact with names for its locks. Who created whom matters only where the advice is about that.
fn named(
    fact: Fact,
    action: Option<evidence::Action>,
    profile: &Profile,
    code: &Code,
    names: &mut Names,
) -> Option<explanation::Fact> {
    let mut name = |lock: ObjectId| names.object(lock, profile, code);
    Some(match fact {
        Fact::Unlocked { accesses } => explanation::Fact::Unlocked(accesses),
        Fact::NoCommonLock { accesses } => {
            let named = accesses
                .into_iter()
                .map(|(access, locks)| (access, locks.into_iter().map(&mut name).collect()))
                .collect();
            explanation::Fact::NoCommonLock(named)
        }
        Fact::CommonLock { lock, accesses } => explanation::Fact::CommonLock(name(lock), accesses),
        Fact::ReleasedBetween { lock, from, to } => {
            explanation::Fact::ReleasedBetween(name(lock), [from, to])
        }
        Fact::Unordered { first, second } => explanation::Fact::Unordered([first, second]),
        Fact::UsuallyLocked { lock, accesses, holding, of } => {
            explanation::Fact::UsuallyLocked { lock: name(lock), accesses, holding, of }
        }
        Fact::CreatedBefore { creator, created, event } if action == Some(evidence::Action::CreateLater) => {
            let place = names.place_of(profile.run.synchronization[event].stack, code);
            explanation::Fact::CreatedBefore([creator, created], place)
        }
        Fact::NotJoined { creator, running } if action == Some(evidence::Action::Join) => {
            explanation::Fact::NotJoined([creator, running])
        }
        Fact::CreatedBefore { .. } | Fact::NotJoined { .. } => return None,
        Fact::AfterFree { free, access } => explanation::Fact::AfterFree([free, access]),
    })
}

/// The accesses of a finding in a passing run, in the order in which they came there.
pub fn compare(
    finding: &Finding,
    passing: &Profile,
    code: &Code,
    names: &mut Names,
) -> Option<report::Comparison> {
    // The roles of threads are those of the pattern, which an example may show the other way round.
    if finding.example.id != finding.pattern.shape() || finding.example.accesses.is_empty() {
        return None;
    }
    let indices = evidence::counterpart(&passing.run, &finding.pattern)?;
    let mut accesses: Vec<(usize, u8)> = indices
        .into_iter()
        .zip(finding.pattern.shape().steps())
        .map(|(index, step)| (index, step.thread))
        .collect();
    accesses.sort_unstable();
    let accesses = accesses
        .into_iter()
        .map(|(index, thread)| names.access(&passing.run.accesses[index], u32::from(thread), passing, code));
    Some(report::Comparison { run: u64::from(passing.run.id.0), accesses: accesses.collect() })
}
