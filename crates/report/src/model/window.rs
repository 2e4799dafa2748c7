//! How little of a failing run makes it fail.

use serde::{Deserialize, Serialize};

use super::NeededStep;

/// A failing run that was made as short as it can be, and where a thread is held in it while others run. One step earlier or later
/// the run passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The run.
    pub run: u64,
    /// How often another thread went on in it, and how often that still has to be.
    pub switches: u64,
    /// See there.
    pub left: u64,
    /// What the held thread has done last; none if it need not have done anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<NeededStep>,
    /// What others do meanwhile that have to run before that one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<NeededStep>,
    /// What another thread does meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meanwhile: Option<NeededStep>,
    /// What the held thread must not have done yet; none if the run ends before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<NeededStep>,
}
