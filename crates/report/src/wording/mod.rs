//! The words in which every format speaks of a session and its findings. Nothing here is safe for a terminal or a
//! page yet: names are passed on as the target gave them.

mod finding;
mod functions;
mod places;
pub(crate) mod search;
mod sentence;
mod session;
mod window;

pub(crate) use finding::*;
pub use functions::{brief_function, enclosing_type};
pub(crate) use functions::{function, plain_function, short_function};
pub(crate) use places::*;
pub(crate) use sentence::sentence;
pub(crate) use session::*;
pub use session::{NAMES_ARE_MISSING, is_likely};
pub(crate) use window::window;

/// A number with its noun: `1 run`, `2 runs`.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    match (number, noun.ends_with("ch")) {
        (1, _) => format!("{number} {noun}"),
        (_, true) => format!("{number} {noun}es"),
        (_, false) => format!("{number} {noun}s"),
    }
}

/// Several things in one breath: `a`, `a and b`, `a, b and c`.
pub(crate) fn all_of(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A share of a hundred, with as many digits as it takes to tell it from nothing.
pub(crate) fn percentage(share: f64) -> String {
    let digits = if share >= 0.1 || share <= 0.0 { 1 } else { (-share.log10()).ceil().min(6.0) as usize };
    format!("{share:.digits$} %")
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

    #[test]
    fn things_are_listed_as_a_person_would() {
        let said = |parts: &[&str]| all_of(&parts.iter().map(|&part| part.to_owned()).collect::<Vec<_>>());
        let lists = [said(&[]), said(&["a"]), said(&["a", "b"]), said(&["a", "b", "c"])];
        assert_eq!(lists, ["", "a", "a and b", "a, b and c"]);
    }

    #[test]
    fn small_shares_are_more_than_nothing() {
        let said = ["100.0 %", "13.5 %", "0.1 %", "0.02 %", "0.003 %", "0.0 %"];
        assert_eq!([100.0, 13.51, 0.1, 0.0197, 0.0031, 0.0].map(percentage), said);
    }
}
