//! What several techniques make of a run alike, made once.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::communication::{self, Edge};
use crate::histories::Histories;
use crate::locon;
use crate::occurrences::Occurrences;
use crate::options::Options;
use crate::run::Run;
use crate::suspect::Suspect;
use crate::unicorn;

/// A run that techniques look at, one or all of them.
pub struct Scan<'r> {
    /// The run.
    pub(crate) run: &'r Run,
    pub(crate) options: Options,
    pub(crate) histories: Histories,
    unicorn: OnceCell<Occurrences>,
    pairs: OnceCell<locon::Pairs>,
    edges: OnceCell<FxHashMap<Suspect, Edge>>,
}

impl<'r> Scan<'r> {
    /// Begins to look at a run.
    pub fn new(run: &'r Run, options: &Options) -> Self {
        Self {
            run,
            options: *options,
            histories: Histories::of(run),
            unicorn: OnceCell::new(),
            pairs: OnceCell::new(),
            edges: OnceCell::new(),
        }
    }

    /// The patterns of Unicorn.
    pub(crate) fn unicorn(&self) -> &Occurrences {
        self.unicorn.get_or_init(|| unicorn::find(self))
    }

    /// The communications of Bugaboo and Recon.
    pub(crate) fn edges(&self) -> &FxHashMap<Suspect, Edge> {
        self.edges.get_or_init(|| communication::edges(self.run))
    }

    /// The pairs of Locon.
    pub(crate) fn pairs(&self) -> &locon::Pairs {
        self.pairs.get_or_init(|| locon::find(self))
    }
}
