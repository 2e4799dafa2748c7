//! What came of searches, as tables for the documents.

use super::agenda::Goal;
use super::{Arguments, Found, Line, RARE, WAYS};
use crate::document::{self, head, row};
use crate::measure::geometric_mean;

fn cell(found: Option<Found>) -> String {
    match found {
        None => "–".to_owned(),
        Some(Found { runs, seconds, failed: true }) => format!("{runs} ({seconds:.1} s)"),
        Some(Found { runs, .. }) => format!("> {runs}"),
    }
}

pub fn markdown(lines: &[Line], arguments: &Arguments) -> String {
    let ways = arguments.ways();
    let mut text =
        format!("Measured on {} by `cargo xtask search{}`", document::today(), arguments.as_typed());
    let goals = arguments.goals();
    if goals.contains(&Goal::Failure) {
        text += &failures(lines, &ways);
    }
    if goals.contains(&Goal::Proof) {
        text += &format!(
            "{} until the cause is confirmed, all runs and seconds of `unsnarl run` from its start to its report, {:.0?} at most, median of {}:\n\n{}\n{}",
            if goals.contains(&Goal::Failure) { "\nThe same" } else { ":" },
            arguments.proof_time,
            counts(lines, 1),
            rows(lines, &ways, |line| &line.proven),
            proven(lines, &ways)
        );
    }
    text
}

/// Until the first failure.
fn failures(lines: &[Line], ways: &[usize]) -> String {
    let rare: Vec<&Line> = lines.iter().filter(|line| is_rare(line)).collect();
    let table = rows(lines, ways, |line| &line.found);
    let mut text = format!(": median of {}, and {}.\n\n{table}", counts(lines, 0), native_runs(lines));
    if !rare.is_empty() {
        text += &format!(
            "\nFewer runs than native stress, geometric mean over the {} with a native rate below 1 %: {}.\n",
            if rare.len() == 1 { "one program".to_owned() } else { format!("{} programs", rare.len()) },
            ways[1..].iter().map(|&way| saving(&rare, way)).collect::<Vec<_>>().join(", ")
        );
    }
    text
}

/// Who was how soon with the proof, going by the clock and by runs, which a busy machine does not change.
fn proven(lines: &[Line], ways: &[usize]) -> String {
    let tried: Vec<&Line> = lines.iter().filter(|line| line.searches[1] > 0).collect();
    format!(
        "Going by seconds. {}\nGoing by runs. {}",
        proven_by(&tried, ways, seconds),
        proven_by(&tried, ways, runs)
    )
}

/// What the confirmed cause took in one way, if it was confirmed.
type Measure = fn(&Line, usize) -> Option<f64>;

fn seconds(line: &Line, way: usize) -> Option<f64> {
    line.proven[way].filter(|found| found.failed).map(|found| found.seconds)
}

fn runs(line: &Line, way: usize) -> Option<f64> {
    line.proven_by_runs[way].filter(|found| found.failed).map(|found| f64::from(found.runs))
}

/// Of ways one of which is a part of the last one, it is also told who is the first without that part.
fn proven_by(tried: &[&Line], ways: &[usize], measure: Measure) -> String {
    let of_all = |ways: &[usize]| {
        ways[1..].iter().map(|&way| proofs(tried, ways, way, measure)).collect::<Vec<_>>().join("; ")
    };
    let mut text = format!("{}.\n", of_all(ways));
    let [_, others @ .., last] = ways else { return text };
    let without: Vec<usize> = ways.iter().copied().filter(|&way| WAYS[way].name != PART).collect();
    if without.len() < ways.len() && without.len() > 2 && *last == WAYS.len() - 1 {
        text += &format!("\nWithout {PART}, which {} has in it: {}.\n", WAYS[*last].name, of_all(&without));
    }
    if !others.is_empty() {
        text += &format!(
            "\nSooner there than another way, of the programs where one of the two got there, {} was: {}.\n",
            WAYS[*last].name,
            others.iter().map(|&way| comparison(tried, *last, way, measure)).collect::<Vec<_>>().join(", ")
        );
    }
    text
}

fn is_rare(line: &Line) -> bool {
    line.native.rate().is_some_and(|rate| rate < RARE)
}

/// How many runs the native rates are of.
fn native_runs(lines: &[Line]) -> String {
    let counts = lines.iter().map(|line| line.native.runs);
    let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
    if least == most { format!("{most} native runs") } else { format!("{least} to {most} native runs") }
}

fn rate(line: &Line) -> String {
    let percent = |rate: f64| format!("{:.3} %", 100.0 * rate);
    match line.native.rate() {
        None => "–".to_owned(),
        Some(rate) if line.native.failed == 0 => format!("< {}", percent(rate)),
        Some(rate) => percent(rate),
    }
}

/// How many searches a median is of, for failures or for proofs.
fn counts(lines: &[Line], of: usize) -> String {
    let range = |is_rare: bool| {
        let counts = lines.iter().filter(|line| self::is_rare(line) == is_rare).map(|line| line.searches[of]);
        let (least, most) = (counts.clone().min()?, counts.max()?);
        Some(if least == most { format!("{most}") } else { format!("{least} to {most}") })
    };
    match (range(true), range(false)) {
        (Some(rare), Some(others)) if rare != others => {
            format!(
                "{rare} searches of each program with a native rate below 1 %, {others} of each other one"
            )
        }
        (rare, others) => format!("{} searches of each program", rare.or(others).unwrap_or_default()),
    }
}

/// What came of each program in each way.
fn rows(lines: &[Line], ways: &[usize], found: fn(&Line) -> &[Option<Found>]) -> String {
    let names = ways.iter().map(|&way| WAYS[way].name);
    let mut table = head(&["program", "native rate"].into_iter().chain(names).collect::<Vec<_>>());
    for line in lines {
        let cells = [format!("`{}`", line.name), rate(line)];
        let found = ways.iter().map(|&way| cell(found(line)[way]));
        table += &row(&cells.into_iter().chain(found).collect::<Vec<_>>());
    }
    table
}

/// A way that the mixture has in it.
const PART: &str = "near";

/// Of how many causes one way was sooner than another, and by more than a tenth, and later by more than that.
fn comparison(lines: &[&Line], way: usize, other: usize, measure: Measure) -> String {
    let never = f64::INFINITY;
    let times = |line: &&Line| [way, other].map(|way| measure(line, way).unwrap_or(never));
    let decided = || lines.iter().map(times).filter(|[one, other]| one != other);
    let sooner = decided().filter(|[one, other]| one < other).count();
    let [clearly, later] =
        [[0, 1], [1, 0]].map(|[a, b]| decided().filter(|times| times[a] * NEARLY < times[b]).count());
    let all = decided().count();
    format!(
        "{} {sooner} of {all} ({clearly} by more than a tenth, {later} later by as much)",
        WAYS[other].name
    )
}

/// Who is so near the first to confirm a cause may be the first the next time.
const NEARLY: f64 = 1.1;

/// How many causes a way has confirmed, and of how many it was the first to do so, or nearly, and what it took on the average where
/// all ways did.
fn proofs(lines: &[&Line], ways: &[usize], way: usize, measure: Measure) -> String {
    let confirmed = lines.iter().filter(|line| measure(line, way).is_some()).count();
    let is_within = |line: &Line, times: f64| {
        let best = ways.iter().filter_map(|&way| measure(line, way)).min_by(f64::total_cmp);
        best.zip(measure(line, way)).is_some_and(|(best, this)| this <= best * times)
    };
    let [first, nearly] =
        [1.0, NEARLY].map(|times| lines.iter().filter(|line| is_within(line, times)).count());
    let by_all = lines.iter().filter(|line| ways[1..].iter().all(|&way| measure(line, way).is_some()));
    let mean = geometric_mean(by_all.filter_map(|line| measure(line, way)));
    format!(
        "{}: {confirmed} of {} confirmed, the first {first} times, within a tenth of the first {nearly} times, {mean:.2} on the average",
        WAYS[way].name,
        lines.len()
    )
}

/// How many times fewer runs one way needs. What did not fail in time counts with fewer runs than it needs: of native stress that
/// speaks against the tool, of another way for it.
fn saving(lines: &[&Line], way: usize) -> String {
    let ratio = |line: &&Line| Some(f64::from(line.found[0]?.runs) / f64::from(line.found[way]?.runs));
    let all = lines.iter().filter(|line| line.found[way].is_some_and(|found| found.failed)).count();
    format!(
        "{} {:.1}× ({all} of {} found)",
        WAYS[way].name,
        geometric_mean(lines.iter().filter_map(ratio)),
        lines.len()
    )
}

#[cfg(test)]
mod tests {
    use super::super::native::Stress;
    use super::*;

    fn native(runs: u32, failed: u32) -> Stress {
        Stress { trials: 1, runs, failed, seconds: 1.0 }
    }

    fn proven_line(proven: Vec<Option<Found>>) -> Line {
        let (name, native) = ("x".to_owned(), native(9, 1));
        Line { name, native, searches: [0, 1], found: Vec::new(), proven_by_runs: proven.clone(), proven }
    }

    #[test]
    fn runs_are_compared_with_those_that_the_native_rate_calls_for() {
        let found = |runs, failed| Some(Found { runs, seconds: 1.0, failed });
        let line = |native: Stress, runs, failed| Line {
            name: "x".to_owned(),
            native,
            searches: [1, 0],
            found: vec![native.median(), found(runs, failed)],
            proven: Vec::new(),
            proven_by_runs: Vec::new(),
        };
        let seen = line(native(1000, 5), 7, true);
        assert_eq!((rate(&seen), is_rare(&seen)), ("0.500 %".to_owned(), true));
        assert_eq!(saving(&[&seen], 1), "noise 19.9× (1 of 1 found)");
        let unseen = line(native(1000, 0), 11, false);
        assert_eq!((rate(&unseen), is_rare(&unseen)), ("< 0.300 %".to_owned(), true));
        assert_eq!(saving(&[&unseen], 1), "noise 21.1× (0 of 1 found)");
        assert!(!is_rare(&line(native(1000, 10), 1, true)));
    }

    #[test]
    fn the_first_to_confirm_is_told_by_time_and_by_runs() {
        let found = |runs, seconds, failed| Some(Found { runs, seconds, failed });
        let mut proven = vec![None, found(40, 2.3, true), found(50, 2.0, true), found(9, 1.0, false)];
        proven.resize(WAYS.len(), None);
        let line = proven_line(proven);
        let (lines, ways) = ([&line], [0, 1, 2, 3]);
        let told = |way, measure| proofs(&lines, &ways, way, measure);
        let says = |way: usize, measure: Measure, first: u32| {
            let within = format!("the first {first} times, within a tenth of the first {first} times");
            let text = told(way, measure);
            assert!(text.contains(&format!("1 of 1 confirmed, {within}")), "{text}");
        };
        says(1, seconds, 0);
        says(2, seconds, 1);
        says(1, runs, 1);
        says(2, runs, 0);
        assert!(told(3, seconds).starts_with("pct: 0 of 1 confirmed, the first 0 times"));
        // Those that are not compared are no measure.
        let alone = proofs(&lines, &[0, 1], 1, seconds);
        assert!(alone.contains("the first 1 times") && alone.ends_with("2.30 on the average"), "{alone}");
        let comparison = |way, other| comparison(&lines, way, other, seconds);
        let told = |sooner, by_much, later| {
            format!("{sooner} ({by_much} by more than a tenth, {later} later by as much)")
        };
        assert_eq!(comparison(2, 1), told("noise 1 of 1", 1, 0));
        assert_eq!(comparison(1, 2), told("random 0 of 1", 0, 1));
        assert_eq!(comparison(1, 3), told("pct 1 of 1", 1, 0));
        assert_eq!(comparison(3, 4), told("pos 0 of 0", 0, 0));
    }

    #[test]
    fn a_part_of_the_mixture_is_left_out_of_the_comparison_once() {
        let found = |seconds| Some(Found { runs: 9, seconds, failed: true });
        let ways = [0, 4, 6, WAYS.len() - 1];
        let mut proven = vec![None; WAYS.len()];
        [2.0, 1.0, 1.5].into_iter().zip(&ways[1..]).for_each(|(seconds, &way)| proven[way] = found(seconds));
        let text = super::proven(&[proven_line(proven)], &ways);
        let [all, without] = [0, 2].map(|nth| text.lines().nth(nth).unwrap());
        assert!(all.contains("mixed, directed: 1 of 1 confirmed, the first 0 times"), "{text}");
        assert!(without.contains("mixed, directed: 1 of 1 confirmed, the first 1 times"), "{text}");
        assert!(!without.contains("near:"), "{text}");
    }

    #[test]
    fn how_many_searches_there_were_is_told() {
        let line = |failed, count| Line {
            name: "x".to_owned(),
            native: native(1000, failed),
            searches: [count, 0],
            found: Vec::new(),
            proven: Vec::new(),
            proven_by_runs: Vec::new(),
        };
        assert_eq!(counts(&[line(100, 3), line(100, 3)], 0), "3 searches of each program");
        assert_eq!(
            counts(&[line(100, 3), line(1, 20), line(2, 19)], 0),
            "19 to 20 searches of each program with a native rate below 1 %, 3 of each other one"
        );
    }
}
