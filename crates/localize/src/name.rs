//! Things that a user picks by name.

use std::error::Error;
use std::fmt;

/// A name that stands for nothing here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What was to be named: "technique", "formula".
    pub what: &'static str,
    /// The name that was given.
    pub given: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}` (known: {})", self.what, self.given, self.known.join(", "))
    }
}

impl Error for UnknownName {}

/// Finds the one of `all` that is called `given`.
pub(crate) fn pick<T: Copy>(
    what: &'static str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    given: &str,
) -> Result<T, UnknownName> {
    all.iter().copied().find(|&thing| name(thing) == given).ok_or_else(|| UnknownName {
        what,
        given: given.to_owned(),
        known: all.iter().map(|&thing| name(thing)).collect(),
    })
}
