//! What came of searches, as tables for the documents.

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
    let table = rows(lines, |line| &line.found);
    let rare: Vec<&Line> = lines.iter().filter(|line| line.rate < RARE).collect();
    let mut text = format!(
        "Measured on {} by `cargo xtask search{}`: median of {}.\n\n{table}",
        document::today(),
        arguments.as_typed(),
        counts(lines, 0)
    );
    if !rare.is_empty() {
        text += &format!(
            "\nFewer runs than native stress, geometric mean over the {} with a native rate below 1 %: {}.\n",
            if rare.len() == 1 { "one program".to_owned() } else { format!("{} programs", rare.len()) },
            (1..WAYS.len()).map(|way| saving(&rare, way)).collect::<Vec<_>>().join(", ")
        );
    }
    if arguments.proof {
        text += &format!(
            "\nThe same until the cause is confirmed, all runs and seconds of `unsnarl run`, median of {}:\n\n{}\n{}\n",
            counts(lines, 1),
            rows(lines, |line| &line.proven),
            (1..WAYS.len()).map(|way| proofs(lines, way)).collect::<Vec<_>>().join("; ") + "."
        );
        let last = WAYS.len() - 1;
        text += &format!(
            "\nSooner there than another way, of the programs where one of the two got there, {} was: {}.\n",
            WAYS[last].name,
            (1..last).map(|way| comparison(lines, last, way)).collect::<Vec<_>>().join(", ")
        );
    }
    text
}

/// How many searches a median is of, for failures or for proofs.
fn counts(lines: &[Line], of: usize) -> String {
    let range = |is_rare: bool| {
        let counts = lines.iter().filter(|line| (line.rate < RARE) == is_rare).map(|line| line.searches[of]);
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
fn rows(lines: &[Line], found: fn(&Line) -> &[Option<Found>]) -> String {
    let names: Vec<&str> = ["program", "native rate"].into_iter().chain(WAYS.map(|way| way.name)).collect();
    let mut table = head(&names);
    for line in lines {
        let cells = [format!("`{}`", line.name), format!("{:.2} %", 100.0 * line.rate)];
        let found = found(line).iter().map(|&found| cell(found));
        table += &row(&cells.into_iter().chain(found).collect::<Vec<_>>());
    }
    table
}

/// Until the cause was confirmed, if it was.
fn seconds(line: &Line, way: usize) -> Option<f64> {
    line.proven[way].filter(|found| found.failed).map(|found| found.seconds)
}

/// Of how many causes one way was sooner than another.
fn comparison(lines: &[Line], way: usize, other: usize) -> String {
    let never = f64::INFINITY;
    let times = |line: &Line| [way, other].map(|way| seconds(line, way).unwrap_or(never));
    let decided = || lines.iter().map(times).filter(|[one, other]| one != other);
    let sooner = decided().filter(|[one, other]| one < other).count();
    format!("{} {sooner} of {}", WAYS[other].name, decided().count())
}

/// How many causes a way has confirmed, and of how many it was the first to do so, going by time.
fn proofs(lines: &[Line], way: usize) -> String {
    let confirmed = lines.iter().filter(|line| seconds(line, way).is_some()).count();
    let is_first = |line: &&Line| {
        let best = (1..WAYS.len()).filter_map(|way| seconds(line, way)).min_by(f64::total_cmp);
        best.is_some() && seconds(line, way) == best
    };
    let first = lines.iter().filter(is_first).count();
    format!("{}: {confirmed} of {} confirmed, the first {first} times", WAYS[way].name, lines.len())
}

/// How many times fewer runs one way needs. Native stress that did not fail in time counts with all its runs, or those
/// that half of all searches need at the rate that the truth names, if these are more; another way that did not fail
/// counts with all its runs, which flatters it.
fn saving(lines: &[&Line], way: usize) -> String {
    let ratio = |line: &&Line| {
        let native = line.found[0]?;
        let needed = if native.failed { 0.0 } else { std::f64::consts::LN_2 / line.rate };
        Some(needed.max(native.runs.into()) / f64::from(line.found[way]?.runs))
    };
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
    use super::*;

    #[test]
    fn native_stress_in_vain_counts_by_the_known_rate_at_least() {
        let found = |runs, failed| Some(Found { runs, seconds: 1.0, failed });
        let mut line = Line {
            name: "x".to_owned(),
            rate: 0.005,
            searches: [1, 0],
            found: vec![found(80, true), found(4, true)],
            proven: Vec::new(),
        };
        assert_eq!(saving(&[&line], 1), "noise 20.0× (1 of 1 found)");
        line.found[0] = found(30, false);
        assert_eq!(saving(&[&line], 1), "noise 34.7× (1 of 1 found)");
        line.found[0] = found(400, false);
        assert_eq!(saving(&[&line], 1), "noise 100.0× (1 of 1 found)");
    }

    #[test]
    fn the_first_to_confirm_is_told_by_time() {
        let found = |seconds, failed| Some(Found { runs: 9, seconds, failed });
        let mut proven = vec![None, found(5.0, true), found(2.0, true), found(1.0, false)];
        proven.resize(WAYS.len(), None);
        let lines = [Line { name: "x".to_owned(), rate: 0.1, searches: [0, 1], found: Vec::new(), proven }];
        assert_eq!(proofs(&lines, 1), "noise: 1 of 1 confirmed, the first 0 times");
        assert_eq!(proofs(&lines, 2), "random: 1 of 1 confirmed, the first 1 times");
        assert_eq!(proofs(&lines, 3), "pct: 0 of 1 confirmed, the first 0 times");
        assert_eq!(comparison(&lines, 2, 1), "noise 1 of 1");
        assert_eq!(comparison(&lines, 1, 3), "pct 1 of 1");
        assert_eq!(comparison(&lines, 3, 4), "pos 0 of 0");
    }

    #[test]
    fn how_many_searches_there_were_is_told() {
        let line = |rate, count| Line {
            name: "x".to_owned(),
            rate,
            searches: [count, 0],
            found: Vec::new(),
            proven: Vec::new(),
        };
        assert_eq!(counts(&[line(0.1, 3), line(0.1, 3)], 0), "3 searches of each program");
        assert_eq!(
            counts(&[line(0.1, 3), line(0.001, 20), line(0.002, 19)], 0),
            "19 to 20 searches of each program with a native rate below 1 %, 3 of each other one"
        );
    }
}
