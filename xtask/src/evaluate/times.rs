//! What the clock says, as Markdown.

use super::data::Times;
use super::table::or_dash;
use crate::document::{head, row};
use crate::measure;

/// What the clock says: how long the reports took, and what recording cost.
pub fn times(times: &[(String, Times)], techniques: &[String]) -> String {
    reports(times, techniques) + "\n" + &slowdowns(times)
}

/// By how much recording slows the programs down, the most slowed first.
fn slowdowns(times: &[(String, Times)]) -> String {
    let known = times.iter().filter_map(|(program, times)| Some((times.slowdown?, program.as_str())));
    let mut known: Vec<(f64, &str)> = known.collect();
    known.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let mut table = head(&["program", "recording slowdown"]);
    for (slowdown, program) in &known {
        table += &row(&[(*program).to_owned(), format!("{slowdown:.2}×")]);
    }
    if !known.is_empty() {
        let mean = measure::geometric_mean(known.iter().map(|(slowdown, _)| *slowdown));
        table += &row(&["geometric mean".to_owned(), format!("{mean:.2}×")]);
    }
    table
}

/// How long the reports took.
fn reports(times: &[(String, Times)], techniques: &[String]) -> String {
    let mut table = head(&["technique", "median seconds", "most seconds", "on"]);
    for technique in techniques {
        let mut seconds: Vec<(f64, &str)> = times
            .iter()
            .filter_map(|(program, times)| Some((*times.seconds.get(technique)?, program.as_str())))
            .collect();
        seconds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let median = seconds.get(seconds.len() / 2);
        table += &row(&[
            technique.clone(),
            or_dash(median.map(|(seconds, _)| format!("{seconds:.2}"))),
            or_dash(seconds.last().map(|(seconds, _)| format!("{seconds:.2}"))),
            or_dash(seconds.last().map(|(_, program)| program)),
        ]);
    }
    table
}
