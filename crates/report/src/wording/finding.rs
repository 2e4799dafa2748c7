//! One finding: what it is called, how sure it is, what its accesses did.

use super::functions::function_title;
use super::{Places, all_of, brief_function, distinct, function, plural, variable};
use crate::model::{
    Access, AccessKind, Confirmation, Finding, Kind, NeededOrder, NeededOrders, NeededStep, Report, Runs,
    Trial, Verdict,
};

/// How many run numbers are listed before the rest is only counted.
const LISTED_RUNS: usize = 20;

/// What went wrong and on what: ``Atomicity violation on `queue.size` ``.
pub(crate) fn headline(finding: &Finding) -> String {
    let kind = match finding.kind {
        Kind::OrderViolation => "Order violation",
        Kind::AtomicityViolation | Kind::MultiVariableAtomicityViolation => "Atomicity violation",
        Kind::Deadlock => "Deadlock",
        Kind::MissedSignal => "Missed signal",
        Kind::Communication => "Suspicious communication",
    };
    let names: Vec<String> = variables(finding).into_iter().map(variable).collect();
    match names.as_slice() {
        [] => kind.to_owned(),
        [_] | [_, _] | [_, _, _] => format!("{kind} on {}", all_of(&names)),
        [one, two, more @ ..] => format!("{kind} on {one}, {two} and {} more", more.len()),
    }
}

/// The variables of a finding, in the order in which they are first accessed.
pub(crate) fn variables(finding: &Finding) -> Vec<&str> {
    distinct(finding.accesses.iter().map(|access| access.variable.as_str()))
}

/// The roles of the threads of a finding, in the order in which they first act.
pub(crate) fn threads(finding: &Finding) -> Vec<u32> {
    distinct(finding.accesses.iter().map(|access| access.thread))
}

/// In how many failing and in how many passing runs the finding was seen. A score is never shown without it.
pub(crate) fn counts(finding: &Finding, runs: &Runs) -> [String; 2] {
    let failing = plural(runs.failed, "failing run");
    let passing = plural(runs.passed, "passing run");
    [format!("{} of {failing}", finding.failed), format!("{} of {passing}", finding.passed)]
}

/// How sure it is: the confidence, or else the score, to two decimals.
pub(crate) fn score(finding: &Finding) -> String {
    if let Some(confidence) = finding.confidence {
        // Nothing is quite certain, or quite impossible.
        format!("confidence {:.0} %", (100.0 * confidence).clamp(1.0, 99.0))
    } else if finding.score.is_finite() {
        format!("score {:.2}", finding.score)
    } else {
        "score infinite".to_owned()
    }
}

/// The rank, where several findings share it.
pub(crate) fn shared_rank(finding: &Finding) -> Option<String> {
    (finding.tied > 1).then(|| format!("rank {}, shared by {}", finding.rank, finding.tied))
}

pub(crate) fn verdict(confirmation: &Confirmation) -> String {
    match (confirmation.verdict, confirmation.explained_by) {
        (Verdict::Confirmed, _) => "confirmed".to_owned(),
        (Verdict::Refuted, Some(cause)) => format!("goes along with {cause}"),
        (Verdict::Refuted, None) => "refuted".to_owned(),
        (Verdict::Inconclusive, _) => "inconclusive".to_owned(),
    }
}

/// What an access did, with the value if it is known: `read 3`, `write 4`, or `3 → 4` where it is known what it
/// replaced and both are short.
pub(crate) fn effect(access: &Access) -> String {
    /// More does not fit into a column.
    const LONGEST_CHANGE: usize = 28;
    let verb = match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write if access.frees => "free",
        AccessKind::Write => "write",
        AccessKind::Update => "update",
        AccessKind::Lock => "lock",
        AccessKind::Signal => "signal",
        AccessKind::Wait => "wait",
    };
    let (old, value) = (access.old.as_deref(), access.value_in_words());
    // Two addresses that end alike are told in full.
    let is_told_apart = old.map(brief_address) != value.map(brief_address) || old == value;
    let told = |value: &str| if is_told_apart { brief_address(value) } else { value.to_owned() };
    let (old, value) = (old.map(told), value.map(told));
    match (old, value) {
        (Some(old), Some(value)) if !access.frees && old.len() + value.len() <= LONGEST_CHANGE => {
            format!("{old} → {value}")
        }
        (_, Some(value)) => format!("{verb} {value}"),
        (_, None) => verb.to_owned(),
    }
}

/// `0x…0c70` of an address: the rest is mostly the same for all, and does not fit into a column.
fn brief_address(value: &str) -> String {
    const TOLD: usize = 4;
    const LONG: usize = 9;
    let digits =
        value.strip_prefix("0x").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    match digits.filter(|digits| digits.len() >= LONG) {
        Some(digits) => format!("0x…{}", &digits[digits.len() - TOLD..]),
        None => value.to_owned(),
    }
}

/// What an access of a finding did. Who takes a lock that another thread of it holds waits.
pub(crate) fn effect_in(finding: &Finding, index: usize) -> String {
    match holder(finding, index) {
        Some(_) => "wait".to_owned(),
        None => effect(&finding.accesses[index]),
    }
}

/// The other thread that took the same lock before.
pub(crate) fn holder(finding: &Finding, index: usize) -> Option<u32> {
    let access = &finding.accesses[index];
    let is_taken = |other: &&Access| {
        other.kind == AccessKind::Lock && other.variable == access.variable && other.thread != access.thread
    };
    let taken = finding.accesses[..index].iter().find(is_taken).map(|other| other.thread);
    taken.filter(|_| access.kind == AccessKind::Lock)
}

/// The source line of an access without indentation and alignment; empty if unknown.
pub(crate) fn source_line(access: &Access) -> String {
    let words: Vec<&str> = access.source.as_deref().unwrap_or("").split_whitespace().collect();
    words.join(" ")
}

/// The title of a thread's column: its role, and the innermost function in which all its accesses lie.
pub(crate) fn thread_title(finding: &Finding, thread: u32) -> String {
    match common_function(finding, thread) {
        Some(name) => format!("thread {thread} ({})", function_title(name)),
        None => format!("thread {thread}"),
    }
}

/// Who the threads are: `thread 1 runs pay_wages(), created at bank.c:80`. Nothing is said of a thread of which nothing
/// is known.
pub(crate) fn thread_roles(finding: &Finding) -> Vec<String> {
    let said = finding.threads.iter().filter_map(|role| {
        let mut said = Vec::new();
        said.extend(role.name.as_ref().map(|name| format!("is named `{name}`")));
        said.extend(role.start.as_ref().map(|start| format!("runs {}", brief_function(start))));
        said.extend(role.created_at.as_ref().map(|place| format!("created at {place}")));
        (!said.is_empty()).then(|| format!("thread {} {}", role.thread, said.join(", ")))
    });
    said.collect()
}

fn common_function(finding: &Finding, thread: u32) -> Option<&str> {
    let own: Vec<&Access> = finding.accesses.iter().filter(|access| access.thread == thread).collect();
    let (first, rest) = own.split_first()?;
    if rest.iter().all(|access| access.function == first.function) {
        return first.function.as_deref();
    }
    let calls = |access: &Access, depth: usize| {
        let index = access.stack.len().checked_sub(depth + 1)?;
        access.stack[index].function.clone()
    };
    let common = (0..first.stack.len())
        .take_while(|&depth| {
            let function = calls(first, depth);
            function.is_some() && rest.iter().all(|access| calls(access, depth) == function)
        })
        .last()?;
    first.stack[first.stack.len() - 1 - common].function.as_deref()
}

/// What another thread did to an access's variable since the access's own thread last touched it, as far as values
/// tell: the reason why a decision is stale or a write is lost.
pub(crate) fn since_last_time(finding: &Finding, index: usize) -> Option<String> {
    let access = &finding.accesses[index];
    if let Some(holder) = holder(finding, index) {
        return Some(format!("thread {holder} holds it"));
    }
    let earlier = &finding.accesses[..index];
    let same_variable = |other: &&Access| other.variable == access.variable;
    let own = earlier.iter().rposition(|other| same_variable(&other) && other.thread == access.thread)?;
    let change = earlier[own..].iter().filter(same_variable).rfind(|other| {
        other.thread != access.thread && matches!(other.kind, AccessKind::Write | AccessKind::Update)
    })?;
    let places = Places::of(finding);
    let (before, now) = (earlier[own].value_in_words(), access.value_in_words());
    match (access.kind, before, now) {
        (AccessKind::Read, Some(before), Some(now)) => {
            (before != now).then(|| format!("was {before} at {}", places.label(&earlier[own])))
        }
        (AccessKind::Read, ..) => None,
        _ => {
            let written = change.value_in_words()?;
            Some(format!("thread {} wrote {written} in between", change.thread))
        }
    }
}

/// An access in one line: `thread 1: read 1 (queue.size), holding queue.lock`.
pub(crate) fn access_title(access: &Access) -> String {
    let mut title = format!("thread {}: {}", access.thread, effect(access));
    if !access.variable.is_empty() {
        title.push_str(&format!(" ({})", access.variable));
    }
    if let Some(holding) = holding(access) {
        title.push_str(&format!(", {holding}"));
    }
    title
}

/// The locks held at an access, if any.
pub(crate) fn holding(access: &Access) -> Option<String> {
    let locks = access.locks.as_ref().filter(|locks| !locks.is_empty())?;
    Some(format!("holding {}", locks.join(", ")))
}

/// What came of forcing and of forbidding the order of accesses.
pub(crate) fn proof(confirmation: &Confirmation) -> String {
    if confirmation.enforced.runs == 0 && confirmation.forbidden.runs == 0 {
        return "no run could be made to take this order, nor to avoid it".to_owned();
    }
    let delayed = confirmation.delayed.map(|trial| format!("; delays alone: {}", outcome(&trial)));
    let turned = confirmation
        .turned
        .map(|trial| format!("; with the accesses to one variable swapped: {}", outcome(&trial)));
    let apart = apart(confirmation).map(|apart| format!("; {apart}"));
    let chance = confirmation.p_value.map(|p| match p {
        p if p < 0.001 => " (p < 0.001)".to_owned(),
        p => format!(" (p = {p:.3})"),
    });
    let [forced, forbidden] = forced_and_forbidden(confirmation);
    let elsewhere = (confirmation.followed == Some(0))
        .then_some("; but in failing runs that were replayed, something else decided");
    let open = open_question(confirmation).map(|open| format!("; {open}"));
    format!(
        "{forced}: {}; {forbidden}: {}{}{}{}{}{}{}",
        outcome(&confirmation.enforced),
        outcome(&confirmation.forbidden),
        // It is of these two.
        chance.unwrap_or_default(),
        delayed.unwrap_or_default(),
        turned.unwrap_or_default(),
        apart.unwrap_or_default(),
        elsewhere.unwrap_or_default(),
        open.unwrap_or_default(),
    )
}

/// So many delayed runs that fail, half of them at least, are no chance where none fails without the finding.
const MANY: u64 = 6;

/// So few runs that fail tell nothing of what it takes.
const FEW: u64 = 2;

/// Why trials have decided nothing.
fn open_question(confirmation: &Confirmation) -> Option<String> {
    let Confirmation { enforced, forbidden, delayed, came_about, followed, verdict, .. } = *confirmation;
    if verdict != Verdict::Inconclusive || followed == Some(0) {
        return None;
    }
    let delayed = delayed.unwrap_or(Trial { runs: 0, failed: 0 });
    let fails_by_delays = delayed.failed >= MANY && delayed.failed * 2 >= delayed.runs;
    if forbidden.failed == 0 && forbidden.runs >= MANY && fails_by_delays {
        return Some(
            "so the test does not fail without it, but it is not known whether it takes more than this"
                .to_owned(),
        );
    }
    let is_tried = enforced.runs >= MANY && forbidden.runs >= MANY && came_about != Some(0);
    let failed = enforced.failed + delayed.failed;
    if is_tried && forbidden.failed == 0 && failed <= FEW {
        let hardly = if failed == 0 { "no" } else { "hardly a" };
        return Some(format!(
            "{hardly} run of any kind failed, so it takes more than this, if it is part of the cause"
        ));
    }
    let came_about = came_about.filter(|&times| times * 2 < enforced.runs)?;
    Some(format!("it happened in only {came_about} of the {} forced runs", enforced.runs))
}

/// What was done about it in the two kinds of runs that are compared.
pub(crate) fn forced_and_forbidden(confirmation: &Confirmation) -> [&'static str; 2] {
    if confirmation.narrowed {
        return ["with a thread held there, in a failing run made short", "one step earlier or later"];
    }
    match confirmation.followed {
        None | Some(0) => ["forced", "forbidden"],
        Some(1) => ["a failing run replayed until it happened", "replayed to just before it, then forbidden"],
        Some(_) => ["failing runs replayed until it happened", "replayed to just before it, then forbidden"],
    }
}

/// What is left of a finding that goes along with another when that one is kept from happening.
pub(crate) fn apart(confirmation: &Confirmation) -> Option<String> {
    let trial = confirmation.apart?;
    let cause = confirmation.explained_by.map_or("the cause".to_owned(), |cause| format!("finding {cause}"));
    Some(match trial.runs {
        0 => format!("it never happens without {cause}"),
        _ => format!("forced without {cause}: {}", outcome(&trial)),
    })
}

/// How probable it is that chance made the difference, if that is known. Another finding makes it as well.
pub(crate) fn chance(confirmation: &Confirmation) -> Option<String> {
    let p = confirmation.p_value.filter(|_| confirmation.apart.is_none())?;
    let p = if p < 0.001 { "below 1 in 1000".to_owned() } else { format!("{:.1} %", 100.0 * p) };
    Some(format!("chance of such a difference if this were not the cause: {p}"))
}

/// The orders that make the test fail, each in a line below the first.
pub(crate) fn needs(needs: &NeededOrders) -> Vec<String> {
    let often = format!("fails in {} of {}", needs.failed, plural(needs.runs, "run"));
    let head = match needs.orders.len() {
        0 => format!("no order of accesses: it {often} without"),
        1 => format!("this order ({often}):"),
        more => format!("these {more} orders, each of them ({often}):"),
    };
    let order =
        |order: &NeededOrder| format!("{} before {}", needed_step(&order.first), needed_step(&order.second));
    std::iter::once(head).chain(needs.orders.iter().map(order)).collect()
}

fn needed_step(step: &NeededStep) -> String {
    let does = match step.kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Update => "updates",
        AccessKind::Lock => "takes",
        AccessKind::Signal => "signals",
        AccessKind::Wait => "waits for",
    };
    let place = match needed_place(step) {
        Some(place) if step.line.is_some() => format!(" at {place}"),
        Some(place) => format!(" in {place}"),
        None => String::new(),
    };
    format!("thread {} {does} `{}`{place}", step.thread, step.variable)
}

/// The line of a step, or else its function.
pub(crate) fn needed_place(step: &NeededStep) -> Option<String> {
    let file = step.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
    match (file, step.line, &step.function) {
        (Some(file), Some(line), _) => Some(format!("{file}:{line}")),
        (_, _, Some(name)) => Some(function(name)),
        _ => None,
    }
}

/// How many runs of a trial failed.
pub(crate) fn outcome(trial: &Trial) -> String {
    format!("{} of {} fail", trial.failed, plural(trial.runs, "run"))
}

/// The accesses in short, with their row in the table of patterns: `RWR (P4)`.
pub(crate) fn pattern(finding: &Finding) -> String {
    match &finding.pattern_id {
        Some(id) => format!("{} ({id})", finding.pattern),
        None => finding.pattern.clone(),
    }
}

/// The functions worth looking at, separated by commas.
pub(crate) fn suspicious_functions(finding: &Finding) -> String {
    let names: Vec<String> = finding.suspicious_functions.iter().map(|name| function(name)).collect();
    names.join(", ")
}

/// What stands above the accesses of the run that failed, where one that passed is beside it.
pub(crate) const FAILING_RUN: &str = "what happened in a run that failed";

/// What stands above the accesses of a run that passed.
pub(crate) fn passing_run(run: u64) -> String {
    format!("the same code in run {run}, which passed:")
}

/// What a further finding explains that those before it do not: another bug made these runs fail.
pub(crate) fn other_failures(report: &Report, index: usize) -> Option<String> {
    let is_explained =
        |run: &&u64| report.findings[..index].iter().any(|earlier| earlier.failing_runs.contains(run));
    let own = &report.findings[index].failing_runs;
    let others = own.iter().filter(|run| !is_explained(run)).count() as u64;
    let said = match index {
        0 => return None,
        1 => "that the first finding is not seen in",
        _ => "that no finding above is seen in",
    };
    (others > 0).then(|| format!("It is seen in {} {said}.", plural(others, "failing run")))
}

/// The failing runs by number; many are only counted.
pub(crate) fn run_list(runs: &[u64]) -> String {
    let numbers: Vec<String> = runs.iter().take(LISTED_RUNS).map(u64::to_string).collect();
    let noun = if runs.len() == 1 { "failing run" } else { "failing runs" };
    match runs.len().saturating_sub(LISTED_RUNS) {
        0 => format!("{noun} {}", numbers.join(", ")),
        more => format!("{noun} {} and {more} more", numbers.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(enforced: (u64, u64), forbidden: (u64, u64), delayed: (u64, u64), came_about: u64) -> String {
        let trial = |(failed, runs)| Trial { runs, failed };
        proof(&Confirmation {
            enforced: trial(enforced),
            forbidden: trial(forbidden),
            verdict: Verdict::Inconclusive,
            delayed: Some(trial(delayed)),
            came_about: Some(came_about),
            p_value: None,
            turned: None,
            apart: None,
            explained_by: None,
            followed: None,
            narrowed: false,
        })
    }

    #[test]
    fn of_an_address_its_end_is_told() {
        let said = |old: Option<&str>, value: &str| {
            let access = serde_json::json!({
                "thread": 1, "kind": "write", "variable": "current", "function": null, "file": null, "line": null,
                "column": null, "stack": [], "value": value, "old": old, "locks": [],
            });
            effect(&serde_json::from_value(access).unwrap())
        };
        assert_eq!(said(Some("0x7ffe48000c70"), "0x7ffe48000d90"), "0x…0c70 → 0x…0d90");
        assert_eq!(said(Some("0x7ffe48000c70"), "null"), "0x…0c70 → null");
        assert_eq!(said(Some("0x7ffe48000c70"), "0x7ffe58000c70"), "0x7ffe48000c70 → 0x7ffe58000c70");
        assert_eq!(said(None, "0x7ffe48000c70"), "write 0x…0c70");
        assert_eq!(said(Some("0xff"), "&sum_frame"), "0xff → &sum_frame");
    }

    #[test]
    fn what_is_undecided_says_why() {
        let needed = "so the test does not fail without it";
        assert!(told((7, 13), (0, 13), (8, 13), 13).contains(needed));
        assert!(!told((7, 13), (1, 13), (8, 13), 13).contains(needed), "one failed without it");
        assert!(!told((2, 13), (0, 13), (2, 13), 13).contains(needed), "hardly a run fails anyway");
        assert!(told((0, 9), (0, 9), (0, 9), 9).contains("; no run of any kind failed"));
        assert!(told((0, 9), (0, 9), (1, 9), 9).contains("; hardly a run of any kind failed"));
        assert!(told((0, 9), (0, 9), (0, 9), 0).ends_with("; it happened in only 0 of the 9 forced runs"));
        assert!(!told((0, 9), (1, 9), (0, 9), 9).contains("of any kind"), "it failed without it");
        assert!(told((1, 9), (1, 9), (2, 9), 2).ends_with("; it happened in only 2 of the 9 forced runs"));
        assert!(told((5, 5), (5, 5), (5, 5), 5).ends_with("delays alone: 5 of 5 runs fail"));
    }
}
