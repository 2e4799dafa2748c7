//! What a technique may suspect: accesses, and under which circumstance.

use std::fmt;

use crate::communication::Context;
use crate::pattern::Pattern;

/// Something that runs show or do not show, the same value in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Suspect {
    pub pattern: Pattern,
    pub circumstance: Circumstance,
}

/// What must hold besides for accesses to be the same suspect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Circumstance {
    /// Nothing.
    Any,
    /// The communication contexts of source and sink.
    Contexts([Context; 2]),
    /// Who had accessed the location before.
    Previous(Previous),
}

/// Which thread made the access to a location that came just before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Previous {
    /// The same thread.
    Local,
    /// Another thread.
    Remote,
}

impl From<Pattern> for Suspect {
    fn from(pattern: Pattern) -> Self {
        Self { pattern, circumstance: Circumstance::Any }
    }
}

impl fmt::Display for Previous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Local => "previous access by the same thread",
            Self::Remote => "previous access by another thread",
        })
    }
}
