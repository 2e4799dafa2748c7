//! What came of searches, as tables for the documents.

use super::{Arguments, Found, Line, RARE, WAYS};
use crate::document::{head, row};
use crate::measure::geometric_mean;

fn cell(found: Option<Found>) -> String {
    match found {
        None => "–".to_owned(),
        Some(Found { runs, seconds, is_found: true }) => format!("{runs} ({seconds:.1} s)"),
        Some(Found { runs, .. }) => format!("> {runs}"),
    }
}

/// `dates` are those of the first and the last trial.
pub fn markdown(lines: &[Line], dates: (&str, &str), arguments: &Arguments) -> String {
    let ways = arguments.ways();
    let when = match dates {
        (first, last) if first == last => format!("on {last}"),
        (first, last) => format!("from {first} to {last}"),
    };
    format!(
        "Measured {when} by `cargo xtask search{}`: median of {} of each program in each way, and {}.\n\n\
         Runs (and seconds of these) until the first failure:\n\n{}\n\
         All runs (those that make a failing run shorter and those that try findings out included), and the seconds since the start of \
         `unsnarl run`, until the cause is confirmed:\n\n{}\n{}\n{}",
        arguments.as_typed(),
        searches(lines),
        native_runs(lines),
        failures(lines, &ways),
        rows(&[], lines, &ways, |line| &line.proven),
        proven(lines, &ways),
        until_report(lines, &ways)
    )
}

/// Who has a proof goes on to describe it.
fn until_report(lines: &[Line], ways: &[usize]) -> String {
    let mean = |way: usize| {
        let seconds = geometric_mean(lines.iter().filter_map(|line| line.until_report[way]));
        format!("{} {seconds:.2}", WAYS[way].name)
    };
    format!(
        "Seconds until the report, which also tells where exactly it goes wrong and tries out what else is suspect, on the average: {}.\n",
        ways.iter().map(|&way| mean(way)).collect::<Vec<_>>().join(", ")
    )
}

/// Until the first failure.
fn failures(lines: &[Line], ways: &[usize]) -> String {
    let rare: Vec<&Line> = lines.iter().filter(|line| is_rare(line)).collect();
    let natively: [Column; 2] = [("native rate", rate), ("native", |line| cell(line.native.median()))];
    let mut text = rows(&natively, lines, ways, |line| &line.found);
    if !rare.is_empty() {
        text += &format!(
            "\nFewer runs than native stress, geometric mean over the {} with a native rate below 1 %: {}.\n",
            if rare.len() == 1 { "one program".to_owned() } else { format!("{} programs", rare.len()) },
            ways.iter().map(|&way| saving(&rare, way)).collect::<Vec<_>>().join(", ")
        );
    }
    text
}

/// Who was how soon with the proof, going by the clock and by runs, which a busy machine does not change.
fn proven(lines: &[Line], ways: &[usize]) -> String {
    let tried: Vec<&Line> = lines.iter().filter(|line| line.trials > 0).collect();
    let all = |way: usize| {
        let [confirmed, searches] = tried.iter().fold([0, 0], |[confirmed, searches], line| {
            let [more, all] = line.proofs[way];
            [confirmed + more, searches + all]
        });
        format!("{} {confirmed} of {searches}", WAYS[way].name)
    };
    format!(
        "Searches in which the cause was confirmed: {}.\n\nGoing by seconds. {}\nGoing by runs. {}",
        ways.iter().map(|&way| all(way)).collect::<Vec<_>>().join(", "),
        proven_by(&tried, ways, seconds),
        proven_by(&tried, ways, runs)
    )
}

/// What the confirmed cause took in one way, if it was confirmed.
type Measure = fn(&Line, usize) -> Option<f64>;

fn seconds(line: &Line, way: usize) -> Option<f64> {
    line.proven[way].filter(|found| found.is_found).map(|found| found.seconds)
}

fn runs(line: &Line, way: usize) -> Option<f64> {
    line.proven_by_runs[way].filter(|found| found.is_found).map(|found| f64::from(found.runs))
}

/// Of ways one of which is a part of the last one, it is also told who is the first without that part.
fn proven_by(tried: &[&Line], ways: &[usize], measure: Measure) -> String {
    let of_all = |ways: &[usize]| {
        ways.iter().map(|&way| proofs(tried, ways, way, measure)).collect::<Vec<_>>().join("; ")
    };
    let mut text = format!("{}.\n", of_all(ways));
    let [others @ .., last] = ways else { return text };
    let without: Vec<usize> = ways.iter().copied().filter(|&way| WAYS[way].name != PART).collect();
    if without.len() < ways.len() && without.len() > 1 && *last == WAYS.len() - 1 {
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

/// How many searches a median is of.
fn searches(lines: &[Line]) -> String {
    let counts = lines.iter().map(|line| line.trials);
    let (least, most) = (counts.clone().min().unwrap_or(0), counts.max().unwrap_or(0));
    if least == most { format!("{most} searches") } else { format!("{least} to {most} searches") }
}

/// A title and what stands below it.
type Column = (&'static str, fn(&Line) -> String);

/// What came of each program in each way, behind some columns.
fn rows(columns: &[Column], lines: &[Line], ways: &[usize], found: fn(&Line) -> &[Option<Found>]) -> String {
    let titles = columns.iter().map(|(title, _)| *title).chain(ways.iter().map(|&way| WAYS[way].name));
    let mut table = head(&["program"].into_iter().chain(titles).collect::<Vec<_>>());
    for line in lines {
        let name = format!("`{}`", line.name);
        let columns = columns.iter().map(|(_, cell)| cell(line));
        let found = ways.iter().map(|&way| cell(found(line)[way]));
        table += &row(&[name].into_iter().chain(columns).chain(found).collect::<Vec<_>>());
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
    let by_all = lines.iter().filter(|line| ways.iter().all(|&way| measure(line, way).is_some()));
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
    let ratio = |line: &&Line| Some(f64::from(line.native.median()?.runs) / f64::from(line.found[way]?.runs));
    let all = lines.iter().filter(|line| line.found[way].is_some_and(|found| found.is_found)).count();
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

    fn found(runs: u32, seconds: f64, is_found: bool) -> Option<Found> {
        Some(Found { runs, seconds, is_found })
    }

    fn line(native: Stress, found: Vec<Option<Found>>, proven: Vec<Option<Found>>) -> Line {
        Line {
            name: "x".to_owned(),
            native,
            trials: 1,
            found,
            until_report: vec![Some(1.0); proven.len()],
            proven_by_runs: proven.clone(),
            proofs: proven
                .iter()
                .map(|found| [usize::from(found.is_some_and(|it| it.is_found)), 1])
                .collect(),
            proven,
        }
    }

    #[test]
    fn what_comes_after_the_proof_is_told() {
        let line = |seconds: f64| Line {
            until_report: vec![Some(seconds), None],
            ..line(native(9, 1), Vec::new(), Vec::new())
        };
        let told = until_report(&[line(1.0), line(4.0)], &[0]);
        assert!(told.ends_with("on the average: noise 2.00.\n"), "{told}");
    }

    fn native(runs: u32, failed: u32) -> Stress {
        Stress { runs, failed, seconds: 1.0 }
    }

    #[test]
    fn runs_are_compared_with_those_that_the_native_rate_calls_for() {
        let seen = line(native(1000, 5), vec![found(7, 1.0, true)], Vec::new());
        assert_eq!((rate(&seen), is_rare(&seen)), ("0.500 %".to_owned(), true));
        assert_eq!(saving(&[&seen], 0), "noise 19.9× (1 of 1 found)");
        let unseen = line(native(1000, 0), vec![found(11, 1.0, false)], Vec::new());
        assert_eq!((rate(&unseen), is_rare(&unseen)), ("< 0.300 %".to_owned(), true));
        assert_eq!(saving(&[&unseen], 0), "noise 21.1× (0 of 1 found)");
        assert!(!is_rare(&line(native(1000, 10), vec![found(1, 1.0, true)], Vec::new())));
    }

    #[test]
    fn the_first_to_confirm_is_told_by_time_and_by_runs() {
        let mut proven = vec![found(40, 2.3, true), found(50, 2.0, true), found(9, 1.0, false)];
        proven.resize(WAYS.len(), None);
        let line = line(native(9, 1), Vec::new(), proven);
        let (lines, ways) = ([&line], [0, 1, 2]);
        let told = |way, measure| proofs(&lines, &ways, way, measure);
        let says = |way: usize, measure: Measure, first: u32| {
            let within = format!("the first {first} times, within a tenth of the first {first} times");
            let text = told(way, measure);
            assert!(text.contains(&format!("1 of 1 confirmed, {within}")), "{text}");
        };
        says(0, seconds, 0);
        says(1, seconds, 1);
        says(0, runs, 1);
        says(1, runs, 0);
        assert!(told(2, seconds).starts_with("pct: 0 of 1 confirmed, the first 0 times"));
        // Those that are not compared are no measure.
        let alone = proofs(&lines, &[0], 0, seconds);
        assert!(alone.contains("the first 1 times") && alone.ends_with("2.30 on the average"), "{alone}");
        let comparison = |way, other| comparison(&lines, way, other, seconds);
        let told = |sooner, by_much, later| {
            format!("{sooner} ({by_much} by more than a tenth, {later} later by as much)")
        };
        assert_eq!(comparison(1, 0), told("noise 1 of 1", 1, 0));
        assert_eq!(comparison(0, 1), told("random 0 of 1", 0, 1));
        assert_eq!(comparison(0, 2), told("pct 1 of 1", 1, 0));
        assert_eq!(comparison(2, 3), told("pos 0 of 0", 0, 0));
    }

    #[test]
    fn a_part_of_the_mixture_is_left_out_of_the_comparison_once() {
        let ways = [3, 5, WAYS.len() - 1];
        let mut proven = vec![None; WAYS.len()];
        [2.0, 1.0, 1.5]
            .into_iter()
            .zip(ways)
            .for_each(|(seconds, way)| proven[way] = found(9, seconds, true));
        let text = super::proven(&[line(native(9, 1), Vec::new(), proven)], &ways);
        assert!(
            text.starts_with("Searches in which the cause was confirmed: pos 1 of 1, near 1 of 1"),
            "{text}"
        );
        let [all, without] = [2, 4].map(|nth| text.lines().nth(nth).unwrap());
        assert!(all.contains("mixed, directed: 1 of 1 confirmed, the first 0 times"), "{text}");
        assert!(without.contains("mixed, directed: 1 of 1 confirmed, the first 1 times"), "{text}");
        assert!(!without.contains("near:"), "{text}");
    }

    #[test]
    fn how_many_searches_there_were_is_told() {
        let line = |trials| Line { trials, ..line(native(9, 1), Vec::new(), Vec::new()) };
        assert_eq!(searches(&[line(3), line(3)]), "3 searches");
        assert_eq!(searches(&[line(3), line(20)]), "3 to 20 searches");
    }
}
