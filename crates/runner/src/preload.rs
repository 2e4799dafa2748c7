//! Programs that load libraries built for recording without being built so themselves, as interpreters of scripting
//! languages do: nobody brings the recorder in which such a library asks for.
//!
//! It has to be there before the program begins, or it would not see threads start. That it is needed is known only once a
//! run has failed for want of it. Before, the recorder is kept from programs that do without, since what brings it in reaches every
//! program that is started.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output::Output;

/// How the loader complains when nobody has the hooks that a library calls.
const COMPLAINT: &[u8] = b"undefined symbol: __tsan_";

/// What brings the recorder in where it is needed. Clones learn it from each other.
#[derive(Clone, Debug)]
pub struct Preload {
    variable: (OsString, OsString),
    is_needed: Arc<AtomicBool>,
}

impl Preload {
    pub(crate) fn new(variable: (OsString, OsString)) -> Preload {
        Preload { variable, is_needed: Arc::default() }
    }

    /// What to set in the environment; nothing as long as it is not known to be needed.
    pub(crate) fn variable(&self) -> Option<(OsString, OsString)> {
        self.is_needed.load(Ordering::Relaxed).then(|| self.variable.clone())
    }

    /// Does a run that printed this need it? Then all further ones get it.
    pub(crate) fn is_missed(&self, printed: [&Output; 2]) -> bool {
        let complains =
            |output: &Output| output.text().windows(COMPLAINT.len()).any(|text| text == COMPLAINT);
        let is_missed = printed.into_iter().any(complains);
        self.is_needed.fetch_or(is_missed, Ordering::Relaxed);
        is_missed
    }
}
