//! What several techniques make of a run alike, made once.

use std::cell::OnceCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::cci::{self, Sightings};
use crate::communication::{self, Graph};
use crate::digest::Digest;
use crate::histories::Histories;
use crate::locon;
use crate::occurrences::Occurrences;
use crate::options::Options;
use crate::run::{Run, SiteId};
use crate::tallies::Tallies;
use crate::unicorn;
use crate::views::Views;

/// A run that techniques look at, one or all of them.
pub struct Scan<'r> {
    /// The run.
    pub(crate) run: &'r Run,
    pub(crate) options: Options,
    pub(crate) histories: Histories,
    unicorn: OnceCell<Arc<Occurrences>>,
    pairs: OnceCell<locon::Pairs>,
    graph: OnceCell<Arc<Graph>>,
    digest: OnceCell<Digest>,
    views: OnceCell<Views>,
    sites: OnceCell<FxHashMap<SiteId, Sightings>>,
    tallies: OnceCell<Tallies>,
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
            graph: OnceCell::new(),
            digest: OnceCell::new(),
            views: OnceCell::new(),
            sites: OnceCell::new(),
            tallies: OnceCell::new(),
        }
    }

    /// The patterns of Unicorn.
    pub(crate) fn unicorn(&self) -> &Arc<Occurrences> {
        self.unicorn.get_or_init(|| {
            let (found, views) = unicorn::find(self);
            self.views.get_or_init(|| views);
            Arc::new(found)
        })
    }

    /// What windows show: Falcon's views.
    pub(crate) fn views(&self) -> &Views {
        self.views.get_or_init(|| Views::of(self, |_, _, _| {}))
    }

    /// The communications of Bugaboo and Recon.
    pub(crate) fn graph(&self) -> &Arc<Graph> {
        self.graph.get_or_init(|| Arc::new(communication::graph(self)))
    }

    /// Dependencies and triples.
    pub(crate) fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| Digest::of(self))
    }

    /// The sites with recorded accesses, and where CCI's predicates hold there.
    pub(crate) fn sites(&self) -> &FxHashMap<SiteId, Sightings> {
        self.sites.get_or_init(|| cci::sightings(&self.histories))
    }

    /// What is only ever counted.
    pub(crate) fn tallies(&self) -> &Tallies {
        self.tallies.get_or_init(|| Tallies::of(self.run, &self.histories))
    }

    /// The pairs of Locon.
    pub(crate) fn pairs(&self) -> &locon::Pairs {
        self.pairs.get_or_init(|| locon::find(self))
    }
}
