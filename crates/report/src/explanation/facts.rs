//! What is known about the accesses of a finding, in sentences.

use std::time::Duration;

use super::region::{comes_first, region};
use crate::model::{Access, Finding, FixPlace};
use crate::wording::{Places, all_of, distinct, plural, variable};

/// Something that holds for accesses of a finding; these are given by their place in it. Locks go by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// No lock is held at any of these accesses to one variable.
    Unlocked(Vec<usize>),
    /// The locks held at these accesses to one variable, of which none is common to all.
    NoCommonLock(Vec<(usize, Vec<String>)>),
    /// The lock that the variable of this access is part of, where another lock has the same name.
    PartOf(String, usize),
    /// A lock that is held at all of these accesses to one variable.
    CommonLock(String, Vec<usize>),
    /// A lock that is held at both accesses and given back in between.
    ReleasedBetween(String, [usize; 2]),
    /// A lock that another thread holds at the second access, so that the thread of the first and third did not hold it
    /// all the time in between.
    TakenBetween(String, [usize; 3]),
    /// Nothing makes the first access happen before the second.
    Unordered([usize; 2]),
    /// A lock that so many of so many other accesses to the variable hold, and these do not.
    UsuallyLocked {
        /// The lock.
        lock: String,
        /// The accesses without it.
        accesses: Vec<usize>,
        /// How many others hold it.
        holding: usize,
        /// Of how many.
        of: usize,
    },
    /// The thread of the second access was created, at this place, before the first access, by the thread of that.
    CreatedBefore([usize; 2], String),
    /// The thread of the first access created that of the second and had not waited for its end.
    NotJoined([usize; 2]),
    /// The thread of the first access had slept for so long, at this place, in place of waiting for that of the second.
    Slept {
        /// How long it meant to sleep.
        time: Duration,
        /// Where.
        place: String,
    },
    /// The first access freed the memory of the second.
    AfterFree([usize; 2]),
    /// The thread of the first access wrote the variable at this place, over what the second access had written.
    WrittenBack([usize; 2], String),
    /// The thread of this access had read something, at this place and under this lock, which another thread has changed
    /// since.
    LookedBefore {
        /// The access.
        access: usize,
        /// Where it had read.
        place: String,
        /// The lock, given back since.
        lock: String,
    },
    /// Each thread holds a lock that another one waits for: first the locks held, then those awaited, by thread.
    Circle,
    /// The thread of the first and the last access takes a lock that it holds; one in between waits to write.
    TakenAgain,
    /// The thread that took the lock at this access ended without giving it back.
    EndedHolding(usize),
    /// The thread that took the lock at this access waits at a place for something else.
    WaitsHolding(usize, String),
    /// The signal came before the wait, and no other came after.
    SignalMissed([usize; 2]),
    /// Both threads waited when the signal came, which woke the second.
    WokeAnother([usize; 2], usize),
    /// The first access changed what the thread of the second waits for, and no signal followed; one does at other times, at this place.
    Unsignalled([usize; 2], String),
    /// The first access read what the second wrote after it, before the thread of the first began to wait.
    Outdated([usize; 2]),
    /// These accesses raced with others while the program ran freely, so that their place in the order is a guess.
    Guessed(Vec<usize>),
}

/// The facts in sentences without their full stops, what matters most first.
pub fn sentences(finding: &Finding, facts: &[Fact]) -> Vec<String> {
    // Of two variables with one name, such as parts of a container, the same may be true.
    distinct(facts.iter().filter_map(|fact| sentence(finding, facts, fact)))
}

fn sentence(finding: &Finding, facts: &[Fact], fact: &Fact) -> Option<String> {
    let places = Places::of(finding);
    let label = |index: usize| places.label(&finding.accesses[index]);
    let thread = |index: usize| format!("thread {}", finding.accesses[index].thread);
    let object = |index: usize| variable(&finding.accesses[index].variable);
    Some(match fact {
        Fact::Unlocked(accesses) => {
            format!("no lock is held at any of these accesses to {}", object(accesses[0]))
        }
        Fact::NoCommonLock(accesses) => {
            let holding = |(index, locks): &(usize, Vec<String>)| {
                let locks = if locks.is_empty() { "no lock".to_owned() } else { list(locks) };
                format!("{} holds {locks}", thread(*index))
            };
            let each = distinct(accesses.iter().map(holding)).into_iter().map(|holder| {
                let own = accesses.iter().filter(|access| holding(access) == holder);
                let labels = distinct(own.map(|(index, _)| label(*index)));
                format!("{holder} at {}", all_of(&labels))
            });
            let each: Vec<String> = each.collect();
            format!("no lock guards all of these accesses to {}: {}", object(accesses[0].0), each.join(", "))
        }
        Fact::PartOf(lock, access) => format!("the {} here is that of `{lock}`", object(*access)),
        Fact::CommonLock(lock, accesses) => {
            let released: Vec<String> = facts
                .iter()
                .filter_map(|other| match other {
                    Fact::ReleasedBetween(given_back, between) if given_back == lock => Some(format!(
                        "{} releases it between {}",
                        thread(between[0]),
                        between_words(finding, *between)
                    )),
                    _ => None,
                })
                .collect();
            if released.is_empty() {
                let object = object(accesses[0]);
                // In Rust a lock and what it guards have one name.
                return Some(if object == variable(lock) {
                    format!("the lock of {object} is held at each of these accesses")
                } else {
                    format!("`{lock}` is held at each of these accesses to {object}")
                });
            }
            // Of two variables under one lock the same is true.
            let guarded = facts.iter().filter_map(|other| match other {
                Fact::CommonLock(common, accesses) if common == lock => Some(object(accesses[0])),
                _ => None,
            });
            let objects: Vec<String> = distinct(guarded);
            if objects[0] != object(accesses[0]) {
                return None;
            }
            let (objects, released) = (all_of(&objects), all_of(&released));
            let all = if is_of_two(finding) { "both threads" } else { "all threads" };
            if objects == variable(lock) {
                return Some(format!("{all} hold the lock of {objects} at each access, but {released}"));
            }
            format!("{all} hold `{lock}` at each access to {objects}, but {released}")
        }
        Fact::ReleasedBetween(lock, between) => {
            let is_told =
                facts.iter().any(|other| matches!(other, Fact::CommonLock(common, _) if common == lock));
            if is_told {
                return None;
            }
            format!("{} releases `{lock}` between {}", thread(between[0]), between_words(finding, *between))
        }
        Fact::TakenBetween(lock, [from, between, to]) => format!(
            "{} holds `{lock}` at {}, so that {} did not hold it all the way from {} to {}",
            thread(*between),
            label(*between),
            thread(*from),
            label(*from),
            label(*to)
        ),
        Fact::Unordered(pair) => {
            let mut unordered = facts.iter().filter(|other| matches!(other, Fact::Unordered(_)));
            let is_first = unordered.next() == Some(fact);
            match (is_first, unordered.next().is_some()) {
                (false, _) => return None,
                (true, true) => {
                    let threads = if is_of_two(finding) { "two threads" } else { "threads" };
                    format!("no synchronization orders what the {threads} do here: which comes first is luck")
                }
                (true, false) => format!(
                    "no synchronization orders {} and {}: which comes first is luck",
                    label(pair[0]),
                    label(pair[1])
                ),
            }
        }
        Fact::UsuallyLocked { lock, accesses, holding, of } => {
            let others = plural(*of as u64, "other access").replace("accesss", "accesses");
            let mut without: Vec<String> = accesses.iter().map(|&index| label(index)).collect();
            without.dedup();
            let (verb, these) = (if without.len() == 1 { "does" } else { "do" }, all_of(&without));
            format!("{holding} of {others} to {} hold `{lock}`; {these} {verb} not", object(accesses[0]))
        }
        Fact::CreatedBefore([creator, created], place) => format!(
            "{} was created at {place}, before {} came to {}",
            thread(*created),
            thread(*creator),
            label(*creator)
        ),
        Fact::NotJoined([creator, running]) => format!(
            "{} created {} and did not wait for its end before {}{}",
            thread(*creator),
            thread(*running),
            if finding.accesses[*creator].frees { "the free at " } else { "" },
            label(*creator)
        ),
        Fact::Slept { time, place } => format!(
            "{} slept at {place} for {} instead of waiting for {}, which may take longer",
            thread(0),
            humantime::format_duration(*time),
            thread(1)
        ),
        Fact::AfterFree([free, access]) => {
            format!("{} frees the memory that {} still uses", label(*free), label(*access))
        }
        Fact::WrittenBack([read, write], place) => format!(
            "{} then writes {} at {place}, over what {} wrote",
            thread(*read),
            object(*read),
            thread(*write)
        ),
        Fact::LookedBefore { access, place, lock } => format!(
            "{} goes by what it read at {place}, but released `{lock}` after that, and another thread has changed it since",
            thread(*access)
        ),
        Fact::Circle => circle(finding),
        Fact::TakenAgain if finding.accesses.len() == 3 => format!(
            "{} holds {} for reading and asks for it again, but is kept waiting by {}, which waits to write: \
             neither can go on",
            thread(0),
            object(0),
            thread(1)
        ),
        Fact::TakenAgain => format!("{} waits for {}, which it holds itself", thread(0), object(0)),
        Fact::Guessed(accesses) => {
            let labels = distinct(accesses.iter().map(|&index| label(index)));
            let (verb, whose) = if labels.len() == 1 { ("was", "its") } else { ("were", "their") };
            format!(
                "{} {verb} made while another thread was at the same variable: {whose} place in this order is a guess",
                all_of(&labels)
            )
        }
        Fact::EndedHolding(taken) => {
            format!("{} ended without releasing {}", thread(*taken), object(*taken))
        }
        Fact::WaitsHolding(taken, place) => {
            format!("{} waits at {place} and holds {} meanwhile", thread(*taken), object(*taken))
        }
        Fact::SignalMissed([signal, wait]) => {
            format!(
                "the signal at {} came before the wait at {}, and no other came after",
                label(*signal),
                label(*wait)
            )
        }
        Fact::WokeAnother([left, woken], signal) => format!(
            "{} and {} both waited for {} when the signal at {} came, which wakes one of them; {} was left, and no other came after",
            thread(*left),
            thread(*woken),
            object(*signal),
            label(*signal),
            thread(*left)
        ),
        Fact::Unsignalled([write, wait], place) => format!(
            "{} waited for {} when {} changed {} at {}; at other times the signal at {place} follows that, this time none did",
            thread(*wait),
            object(*wait),
            thread(*write),
            object(*write),
            label(*write)
        ),
        Fact::Outdated([read, write]) => format!(
            "{} looked at {} at {}, before {} wrote it at {}: what it saw was outdated when it began to wait",
            thread(*read),
            object(*read),
            label(*read),
            thread(*write),
            label(*write)
        ),
    })
}

fn is_of_two(finding: &Finding) -> bool {
    distinct(finding.accesses.iter().map(|access| access.thread)).len() <= 2
}

/// Who holds what another one waits for.
fn circle(finding: &Finding) -> String {
    let threads = finding.accesses.len() / 2;
    let (held, awaited) = finding.accesses.split_at(threads);
    if threads == 2 {
        return format!(
            "{} and {} are taken in opposite orders",
            variable(&held[0].variable),
            variable(&held[1].variable)
        );
    }
    let holds = held.iter().zip(awaited).map(|(held, awaited)| {
        format!(
            "thread {} holds {} and waits for {}",
            held.thread,
            variable(&held.variable),
            variable(&awaited.variable)
        )
    });
    format!("the threads wait in a circle: {}", holds.collect::<Vec<_>>().join(", "))
}

/// `queue.c:41 and queue.c:47 in take_one()`, in the function that encloses both. What stands before the first is come to in a later round.
fn between_words(finding: &Finding, [from, to]: [usize; 2]) -> String {
    let places = Places::of(finding);
    let label = |access: &Access| places.label(access);
    match region(finding, &[from, to]) {
        Some(region) if comes_first(&finding.accesses[to], &finding.accesses[from]) => {
            let FixPlace { first_line, last_line, .. } = region;
            format!(
                "line {last_line} and the next time at line {first_line}{}",
                super::advice::within(&region)
            )
        }
        Some(region) if region.first_line != region.last_line => {
            format!("lines {} and {}{}", region.first_line, region.last_line, super::advice::within(&region))
        }
        _ if label(&finding.accesses[from]) == label(&finding.accesses[to]) => {
            format!("{} and the next time there", label(&finding.accesses[from]))
        }
        _ => format!("{} and {}", label(&finding.accesses[from]), label(&finding.accesses[to])),
    }
}

/// `` `a` and `b` ``.
pub(super) fn list(locks: &[String]) -> String {
    let quoted: Vec<String> = locks.iter().map(|lock| format!("`{lock}`")).collect();
    all_of(&quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_given_back_from_one_round_to_the_next() {
        let given_back = |lines: [u32; 2]| {
            let access = |line: u32| {
                let frame = |function: &str, line: u32| serde_json::json!({ "function": function, "file": "a.c", "line": line });
                serde_json::json!({
                    "thread": 2, "kind": "read", "variable": "v", "function": "total", "file": "a.c", "line": line,
                    "stack": [frame("total", line), frame("main", 110)],
                })
            };
            let finding = serde_json::json!({
                "rank": 1, "tied": 1, "score": 1.0, "failed": 1, "passed": 0, "kind": "order-violation", "pattern": "RR",
                "pattern_id": null, "accesses": lines.map(access), "suspicious_functions": [], "cluster": null,
                "failing_runs": [], "evidence": [], "advice": "", "confirmation": null,
            });
            let finding = serde_json::from_value(finding).expect("all that a finding has to have");
            sentences(&finding, &[Fact::ReleasedBetween("lock".into(), [0, 1])]).join("; ")
        };
        assert_eq!(given_back([84, 87]), "thread 2 releases `lock` between lines 84 and 87 in total()");
        assert_eq!(
            given_back([87, 84]),
            "thread 2 releases `lock` between line 87 and the next time at line 84 in total()"
        );
        assert_eq!(given_back([84, 84]), "thread 2 releases `lock` between a.c:84 and the next time there");
    }
}
