//! Places in code, numbered alike for all runs of a session: modules, sites and call stacks.

use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::run::{SiteId, StackId};

/// A module (program or shared library) of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleId(pub u32);

/// What tells one module from another across runs: its build id, or its path where it has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// Empty if the linker gave it none.
    pub build_id: Vec<u8>,
    /// Where the loader found it.
    pub path: String,
}

/// A place in code, independent of where the module was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// The module, or none for code that belongs to no file.
    pub module: Option<ModuleId>,
    /// Address in the module's file: where the recorder's hook returns to, so just behind the access or call
    /// itself. Of code outside of any module, the address in memory.
    pub address: u64,
}

/// No program's code lies here.
const GAP: Site = Site { module: None, address: u64::MAX };

/// What a recording itself says about a site, for code that is in no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The function.
    pub function: String,
    /// Its source file, if known.
    pub file: Option<String>,
    /// From 1 on.
    pub line: Option<u32>,
}

/// Numbers modules, sites and stacks in the order in which they are first seen.
#[derive(Clone, Debug, Default)]
pub struct Code {
    modules: Numbering<ModuleIdentity, Module>,
    sites: Numbering<SiteIdentity, Site>,
    stacks: Numbering<Arc<[SiteId]>, Arc<[SiteId]>>,
    places: FxHashMap<SiteId, Place>,
}

/// What tells one site from another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum SiteIdentity {
    Place(Site),
    /// The same place, as far as it is reached by a call from another one.
    Called {
        place: SiteId,
        from: SiteId,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ModuleIdentity {
    BuildId(Vec<u8>),
    Path(String),
}

impl Code {
    /// The number of a module.
    pub fn module_id(&mut self, module: &Module) -> ModuleId {
        let identity = if module.build_id.is_empty() {
            ModuleIdentity::Path(module.path.clone())
        } else {
            ModuleIdentity::BuildId(module.build_id.clone())
        };
        ModuleId(self.modules.number(identity, || module.clone()))
    }

    /// The number of a site.
    pub fn site_id(&mut self, site: Site) -> SiteId {
        SiteId(self.sites.number(SiteIdentity::Place(site), || site))
    }

    /// The number of a site as far as it is reached by a call from another one: a site of its own at the same place.
    pub fn called_from(&mut self, place: SiteId, from: SiteId) -> SiteId {
        let site = self.site(place);
        let called = SiteId(self.sites.number(SiteIdentity::Called { place, from }, || site));
        if let Some(said) = self.places.get(&place).filter(|_| !self.places.contains_key(&called)).cloned() {
            self.places.insert(called, said);
        }
        called
    }

    /// The number of a stack, innermost site first.
    pub fn stack_id(&mut self, stack: &[SiteId]) -> StackId {
        if let Some(known) = self.stacks.known(stack) {
            return StackId(known);
        }
        let stack: Arc<[SiteId]> = stack.into();
        StackId(self.stacks.number(Arc::clone(&stack), || stack))
    }

    /// What stands in a stack for calls that were left out of it.
    pub fn calls_left_out(&mut self) -> SiteId {
        let gap = self.site_id(GAP);
        self.note_place(gap, || Place { function: "…".to_owned(), file: None, line: None });
        gap
    }

    /// Does this stand for calls that were left out?
    pub fn is_gap(&self, site: SiteId) -> bool {
        self.site(site) == GAP
    }

    /// Notes what a recording says about a site; all recordings of a session say the same.
    pub fn note_place(&mut self, site: SiteId, place: impl FnOnce() -> Place) {
        self.places.entry(site).or_insert_with(place);
    }

    /// What a recording said about this site.
    pub fn place(&self, site: SiteId) -> Option<&Place> {
        self.places.get(&site)
    }

    /// The module with this number.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules.items[id.0 as usize]
    }

    /// All modules by number.
    pub fn modules(&self) -> &[Module] {
        &self.modules.items
    }

    /// The site with this number.
    pub fn site(&self, id: SiteId) -> Site {
        self.sites.items[id.0 as usize]
    }

    /// All places in code, by number.
    pub fn sites(&self) -> Vec<(SiteId, Site)> {
        let places = self.sites.numbers.iter().filter_map(|(identity, &number)| match identity {
            SiteIdentity::Place(site) => Some((SiteId(number), *site)),
            SiteIdentity::Called { .. } => None,
        });
        let mut places: Vec<(SiteId, Site)> = places.collect();
        places.sort_unstable_by_key(|(number, _)| *number);
        places
    }

    /// The stack with this number, innermost site first.
    pub fn stack(&self, id: StackId) -> &[SiteId] {
        &self.stacks.items[id.0 as usize]
    }
}

#[derive(Clone, Debug)]
struct Numbering<K, T> {
    numbers: FxHashMap<K, u32>,
    items: Vec<T>,
}

impl<K, T> Default for Numbering<K, T> {
    fn default() -> Self {
        Self { numbers: FxHashMap::default(), items: Vec::new() }
    }
}

impl<K: Hash + Eq, T> Numbering<K, T> {
    fn known<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        self.numbers.get(key).copied()
    }

    fn number(&mut self, key: K, item: impl FnOnce() -> T) -> u32 {
        let items = &mut self.items;
        *self.numbers.entry(key).or_insert_with(|| {
            items.push(item());
            items.len() as u32 - 1
        })
    }
}
