//! The words in which every format speaks of a session and its findings. Nothing here is safe for a terminal or a
//! page yet: names are passed on as the target gave them.

mod finding;
mod functions;
mod places;
pub(crate) mod search;
mod sentence;
mod session;

pub(crate) use finding::*;
pub use functions::enclosing_type;
pub(crate) use functions::{brief_function, function};
pub(crate) use places::*;
pub(crate) use sentence::sentence;
pub(crate) use session::*;

/// A number with its noun: `1 run`, `2 runs`.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    if number == 1 { format!("{number} {noun}") } else { format!("{number} {noun}s") }
}

/// A length of time as a person would say it: `3.2 s`, `38 s`, `2 min 5 s`, `1 h 3 min`.
pub(crate) fn span(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..10 => format!("{:.1} s", seconds.clamp(0.0, 9.9)),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A location by its name, if it has one.
pub(crate) fn variable(name: &str) -> String {
    if name.is_empty() { "an unnamed location".to_owned() } else { format!("`{name}`") }
}

/// The items without those that were there before.
pub(crate) fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time() {
        let spans = [0.0, 0.04, 3.21, 9.96, 38.2, 59.6, 125.0, 3780.0, 90000.0];
        let said =
            ["0.0 s", "0.0 s", "3.2 s", "10 s", "38 s", "1 min 0 s", "2 min 5 s", "1 h 3 min", "25 h 0 min"];
        assert_eq!(spans.map(span), said);
        assert_eq!(span(-1.0), "0.0 s");
    }
}
