//! Accesses as small numbers: which thread does what where. Runs have few such things and do each very often, so that to compare numbers,
//! or to look things up by them, takes the place of hashing.

use std::hash::{Hash, Hasher};

use crate::numbering::{IdNumbering, Numbering};
use crate::run::{AccessKind, SiteId, ThreadId};

/// What an access does, as a number of its run: by which actor, and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(u32);

impl Code {
    const KIND_BITS: u32 = 2;

    fn new(actor: u32, kind: AccessKind) -> Self {
        Self(actor << Self::KIND_BITS | kind as u32)
    }

    /// A thread at a site: smaller than [`Codes::actor_count`].
    #[inline]
    pub fn actor(self) -> usize {
        (self.0 >> Self::KIND_BITS) as usize
    }

    #[inline]
    pub fn kind(self) -> AccessKind {
        match self.0 & 0b11 {
            0 => AccessKind::Read,
            1 => AccessKind::Write,
            _ => AccessKind::Update,
        }
    }

    #[inline]
    pub fn writes(self) -> bool {
        self.0 & 0b11 != 0
    }

    /// The same with an update as a write.
    #[inline]
    pub fn as_written(self) -> Self {
        Self(self.0 & !0b11 | u32::from(self.writes()))
    }
}

impl From<Code> for u64 {
    fn from(code: Code) -> Self {
        u64::from(code.0)
    }
}

/// A thread at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Actor {
    thread: ThreadId,
    site: SiteId,
}

impl Hash for Actor {
    /// In one word.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.thread.0) << 32 | u64::from(self.site.0));
    }
}

/// What the codes of a run mean.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    actors: Numbering<Actor>,
    /// One more than the number of each actor, by thread and site, as far as both are small; 0 where there is none.
    small: Vec<Vec<u32>>,
    /// The number of each actor's thread, and how many accesses the actor makes.
    known: Vec<(u32, u32)>,
    threads: IdNumbering,
}

impl Codes {
    /// Threads and sites with smaller ids are looked up without a hash: with all of them, that takes 4 MiB.
    const SMALL_THREADS: usize = 64;
    const SMALL_SITES: usize = 1 << 14;

    /// The code of one more access.
    #[inline]
    pub fn add(&mut self, thread: ThreadId, site: SiteId, kind: AccessKind) -> Code {
        let known = self.small.get(thread.0 as usize).and_then(|sites| sites.get(site.0 as usize));
        let known = known.and_then(|number| number.checked_sub(1));
        let actor = known.unwrap_or_else(|| self.look_further(thread, site));
        self.known[actor as usize].1 += 1;
        Code::new(actor, kind)
    }

    #[cold]
    fn look_further(&mut self, thread: ThreadId, site: SiteId) -> u32 {
        let (actor, is_new) = self.actors.number(Actor { thread, site });
        if is_new {
            self.known.push((self.threads.number(thread.0).0, 0));
        }
        let [of_thread, of_site] = [thread.0, site.0].map(|id| id as usize);
        if of_thread < Self::SMALL_THREADS && of_site < Self::SMALL_SITES {
            self.small.resize(self.small.len().max(of_thread + 1), Vec::new());
            let sites = &mut self.small[of_thread];
            sites.resize(sites.len().max(of_site + 1), 0);
            sites[of_site] = actor + 1;
        }
        actor
    }

    pub fn actor_count(&self) -> usize {
        self.known.len()
    }

    /// The threads have numbers from 0 on, in the order in which they first come.
    pub fn thread_count(&self) -> usize {
        self.threads.ids().len()
    }

    /// Their ids, by their numbers.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.threads.ids().iter().copied().map(ThreadId)
    }

    #[inline]
    pub fn thread_number(&self, code: Code) -> u32 {
        self.known[code.actor()].0
    }

    pub fn thread(&self, code: Code) -> ThreadId {
        self.actors.keys()[code.actor()].thread
    }

    pub fn site(&self, code: Code) -> SiteId {
        self.site_of(code.actor())
    }

    /// Where an actor is.
    pub fn site_of(&self, actor: usize) -> SiteId {
        self.actors.keys()[actor].site
    }

    /// The ids of the sites, by numbers from 0 on, and the number of each actor's site.
    pub fn site_numbers(&self) -> (Vec<u32>, Vec<u32>) {
        let mut sites = IdNumbering::default();
        let numbers = self.actors.keys().iter().map(|actor| sites.number(actor.site.0).0).collect();
        (sites.into_ids(), numbers)
    }

    /// How many accesses each thread makes, by its number.
    pub fn accesses_by_thread(&self) -> Vec<u32> {
        let mut accesses = vec![0; self.thread_count()];
        for &(thread, count) in &self.known {
            accesses[thread as usize] += count;
        }
        accesses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_mean_what_was_added() {
        let mut codes = Codes::default();
        let kinds = [AccessKind::Read, AccessKind::Write, AccessKind::Update];
        let all =
            (0..7).flat_map(|thread| (0..7).flat_map(move |site| kinds.map(|kind| (thread, site, kind))));
        // Some are too large to be found without a hash.
        let ids = |thread: u32, site: u32| (ThreadId(20 * thread), SiteId(5000 * site));
        for ((thread, site), number, kind) in
            all.map(|(thread, site, kind)| (ids(thread, site), thread, kind))
        {
            let code = codes.add(thread, site, kind);
            assert_eq!((codes.thread(code), codes.site(code)), (thread, site));
            assert_eq!((code.kind(), code.writes()), (kind, kind.writes()));
            assert_eq!(code.as_written(), codes.add(thread, site, kind.as_written()));
            assert_eq!(codes.thread_number(code), number);
        }
        assert_eq!((codes.actor_count(), codes.thread_count()), (49, 7));
        assert_eq!(codes.accesses_by_thread(), [42; 7]);
    }
}
