//! From a run's recordings, one per process, to what techniques read: the [`Run`], with what is known about
//! its threads, locations and locks.
//!
//! The recorder keeps turns, not accesses; a turn becomes the accesses it kept: first and last read, first and
//! last write, and one read for each further site. Every technique's rules give the same result on these as on
//! all accesses, but for what the recorder's own headers name as deviations.
//!
//! Freeing memory is a write to it, so that a use after it shows. Where nothing follows, the write is left out:
//! it ends every object's life, and would only hide the accesses before it from rules that keep a turn's write.

mod stacks;
mod switches;
mod waiting;

use std::collections::BTreeMap;
use std::ops::Range;

use recording::{EventKind, Frame, NameKind, Recording, ThreadEvent, flag};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cleaning::Cleaning;
use crate::code::{Code, Module, ModuleId, Place, Site};
use crate::left_out;
use crate::missing;
use crate::run::{
    Access, AccessKind, Gap, LocationId, LocksetId, LoopPosition, Observation, Outcome, Run, RunId, SiteId,
    StackId, ThreadId,
};
use crate::synchronization::{Lock, Nesting, ObjectId, SyncEvent, SyncKind, SyncTarget};

use stacks::Stacks;
pub use switches::TokenSwitch;

/// A run, and what its ids stand for.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What techniques read.
    pub run: Run,
    /// By [`ThreadId`].
    pub threads: Vec<Thread>,
    /// By [`LocationId`].
    pub locations: Vec<Location>,
    /// Locks, conditions and the like, by [`ObjectId`].
    pub objects: Vec<SyncObject>,
    /// Where modules were loaded.
    pub images: Vec<Image>,
    /// Names that the recorded program gave itself.
    pub names: GivenNames,
    /// Who ran when, in a controlled run.
    pub switches: Vec<TokenSwitch>,
    /// What is missing from the recording and why, in words.
    pub warnings: Vec<String>,
}

/// Names that a recording brings along, for what no debug info names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenNames {
    /// Names and types of locations.
    pub locations: BTreeMap<LocationId, GivenName>,
    /// Names of locks and the like.
    pub objects: BTreeMap<ObjectId, String>,
}

/// A location's name, and how its values read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenName {
    /// The name.
    pub text: String,
    /// The first letter of its type in Java's class files: `I` for int, `Z` for boolean, `L` for references.
    pub value_type: char,
}

/// A thread of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// As the program named it; may be empty.
    pub name: String,
    /// Its start function; none for the first thread of a process.
    pub entry: Option<SiteId>,
    /// The calls that created it.
    pub created_at: Option<StackId>,
}

/// A location of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Address in memory.
    pub address: u64,
    /// Bytes.
    pub size: u32,
    /// Module and address in its file, for static data.
    pub in_module: Option<(ModuleId, u64)>,
    /// The heap block that it lies in.
    pub block: Option<Block>,
    /// The lock that is the object which it is part of, as in Java.
    pub in_lock: Option<ObjectId>,
}

/// A heap block, as a location in it sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The calls that allocated it.
    pub allocated_at: StackId,
    /// Bytes between its start and the location.
    pub offset: u32,
}

/// A lock, condition, semaphore or barrier of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncObject {
    /// Address in memory.
    pub address: u64,
    /// Module and address in its file, for static ones.
    pub in_module: Option<(ModuleId, u64)>,
}

/// A module in the memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its addresses, those of code and data alike.
    pub addresses: Range<u64>,
    /// Which module.
    pub module: ModuleId,
    /// How far it lies from where its file says.
    pub bias: u64,
}

impl Profile {
    /// Gives sites other numbers, several of them perhaps the same: techniques then see one site. The stacks of accesses,
    /// and what threads did at locks and the like, keep theirs.
    pub fn rename_sites(&mut self, mut renamed: impl FnMut(SiteId) -> SiteId) {
        let run = &mut self.run;
        run.accesses.iter_mut().for_each(|access| access.site = renamed(access.site));
        run.free_sites.iter_mut().for_each(|site| *site = renamed(*site));
        run.observations.iter_mut().for_each(|seen| seen.site = renamed(seen.site));
        run.sort_sites();
    }

    /// Gives accesses other sites by the calls that led to them. Sites that free memory keep theirs: a run knows them without their
    /// calls where no access follows.
    pub fn tell_apart(&mut self, mut site: impl FnMut(SiteId, StackId) -> SiteId) {
        let accesses = self.run.accesses.iter_mut().filter(|access| !access.frees);
        accesses.for_each(|access| access.site = site(access.site, access.stack));
    }

    /// The module that an address lies in, and the address in its file. Processes with different images at the same
    /// address make it unknown.
    pub fn in_image(&self, address: u64) -> Option<(ModuleId, u64)> {
        let mut found = self.images.iter().filter(|image| image.addresses.contains(&address));
        let first = found.next()?;
        let same = |other: &Image| (other.module, other.bias) == (first.module, first.bias);
        found.all(same).then(|| (first.module, address.wrapping_sub(first.bias)))
    }
}

/// Puts a run together from the recordings of its processes.
pub fn profile(id: RunId, outcome: Outcome, recordings: &[Recording], code: &mut Code) -> Profile {
    let mut profile = Profile {
        run: Run::new(id, outcome),
        threads: Vec::new(),
        locations: Vec::new(),
        objects: Vec::new(),
        images: Vec::new(),
        names: GivenNames::default(),
        switches: Vec::new(),
        warnings: Vec::new(),
    };
    for recording in recordings {
        let frees = ProcessReader::new(recording, code, &mut profile).read();
        let run = &mut profile.run;
        run.free_sites.extend(frees.iter().map(|&index| run.accesses[index].site));
        left_out::last_frees(&mut profile, &frees);
    }
    profile.run.sort_sites();
    profile
}

/// Reads one process into the profile of its run.
struct ProcessReader<'a> {
    recording: &'a Recording,
    code: &'a mut Code,
    profile: &'a mut Profile,
    /// Session numbers of the recording's modules.
    modules: Vec<ModuleId>,
    /// Site and stack of each leaf met so far.
    leaves: FxHashMap<u32, (SiteId, StackId)>,
    stacks: Stacks<'a>,
    /// Where this process's threads, locations and sets of locks begin in the profile.
    first_thread: u32,
    first_location: u32,
    locksets: FxHashMap<u32, LocksetId>,
    /// Numbers of this process's locks, conditions and the like by their address.
    objects: FxHashMap<u64, ObjectId>,
    /// Leaves at which a lock was taken for reading.
    shared_at: FxHashSet<u32>,
    /// The locations a recorded location ended up as: itself, or the pieces it was cut into.
    pieces: Vec<Vec<u32>>,
    /// Per location: its last write and the reads after it, as long as their value is not known. It is what the next access finds.
    unknown_values: Vec<Vec<usize>>,
    /// The accesses that free their memory.
    frees: Vec<usize>,
    /// Per thread: when its set of held locks became which, as far as that is told.
    held: Vec<Vec<(u64, u32)>>,
    /// Per thread: where in its innermost loop it is.
    positions: Vec<Option<LoopPosition>>,
    cleaning: Cleaning,
}

impl<'a> ProcessReader<'a> {
    fn new(recording: &'a Recording, code: &'a mut Code, profile: &'a mut Profile) -> Self {
        let modules = recording
            .modules
            .iter()
            .map(|module| {
                code.module_id(&Module { build_id: module.build_id.clone(), path: module.path.clone() })
            })
            .collect();
        let first_thread = profile.threads.len() as u32;
        let first_location = profile.locations.len() as u32;
        Self {
            recording,
            code,
            profile,
            modules,
            leaves: FxHashMap::default(),
            stacks: Stacks::of(recording),
            first_thread,
            first_location,
            locksets: FxHashMap::default(),
            objects: FxHashMap::default(),
            shared_at: recording
                .events
                .iter()
                .filter(|event| event.kind == EventKind::AcquireShared)
                .map(|event| event.event.leaf)
                .collect(),
            pieces: pieces(&recording.locations),
            unknown_values: vec![Vec::new(); recording.locations.len()],
            frees: Vec::new(),
            held: held(recording),
            positions: vec![None; recording.threads.len()],
            cleaning: Cleaning::default(),
        }
    }

    /// Returns the accesses that free their memory.
    fn read(mut self) -> Vec<usize> {
        self.profile.warnings.extend(missing::from(self.recording));
        let sample = Some(self.recording.header.sample).filter(|&sample| sample != 0);
        // Of several processes, the one that was looked at least.
        self.profile.run.sampled = self.profile.run.sampled.into_iter().chain(sample).min();
        self.profile.images.extend(self.recording.modules.iter().zip(&self.modules).map(|(module, &id)| {
            Image { addresses: module.image_start..module.image_end, module: id, bias: module.bias }
        }));
        for (id, thread) in self.recording.threads.iter().enumerate() {
            let entry = (thread.entry != 0).then(|| self.site_of(thread.entry));
            let created_at = (thread.created_at != 0).then(|| self.leaf(thread.created_at).1);
            let name = thread.name.split(|&byte| byte == 0).next().unwrap_or_default();
            let name = match self.recording.name(NameKind::Thread, id as u64) {
                Some(long) => long.text.clone(),
                None => String::from_utf8_lossy(name).into_owned(),
            };
            self.profile.threads.push(Thread { name, entry, created_at });
        }
        let modules = self.recording.modules_of_locations();
        for (index, location) in self.recording.locations.iter().enumerate() {
            if let Some(name) = self.recording.name(NameKind::Location, index as u64) {
                let value_type = char::from_u32(name.size).unwrap_or('?');
                let name = GivenName { text: name.text.clone(), value_type };
                let id = LocationId(self.profile.locations.len() as u32);
                self.profile.names.locations.insert(id, name);
            }
            let in_module = modules[index].map(|module| self.data_in(module, location.address));
            let block = (location.allocated_at != 0).then(|| Block {
                allocated_at: self.leaf(location.allocated_at).1,
                offset: location.block_offset,
            });
            self.profile.locations.push(Location {
                address: location.address,
                size: location.size,
                in_module,
                block,
                in_lock: None,
            });
        }
        // A set is described by the first thread that holds it, which others may have overtaken. A larger set has the
        // larger number.
        let is_set = |event: &&ThreadEvent| event.kind == EventKind::Lockset;
        let mut sets: Vec<&ThreadEvent> = self.recording.events.iter().filter(is_set).collect();
        sets.sort_by_key(|event| event.event.object);
        sets.into_iter().for_each(|event| self.lockset(event));
        for event in &self.recording.events {
            match event.kind {
                EventKind::Gap => self.gap(event),
                EventKind::Within => self.within_turn(event),
                EventKind::Iteration => self.iteration(event),
                EventKind::Sleep => self.sleep(event),
                EventKind::Switch => self.switch(event),
                EventKind::Panic => self.cleaning.begin(event.actor(), &self.profile.run.accesses),
                kind if kind.is_access() => self.access(event),
                kind => {
                    if let Some(kind) = SyncKind::of(kind) {
                        self.synchronization(event, kind);
                    }
                }
            }
        }
        self.waits();
        self.objects_of_locations();
        self.frees
    }

    /// The locations an event is about, by their index in the recording.
    fn pieces_of(&self, event: &ThreadEvent) -> &[u32] {
        self.pieces.get(event.event.object as usize).map_or(&[], Vec::as_slice)
    }

    fn gap(&mut self, event: &ThreadEvent) {
        let before = self.profile.run.accesses.len();
        for at in 0..self.pieces_of(event).len() {
            let piece = self.pieces_of(event)[at];
            let location = LocationId(self.first_location + piece);
            self.profile.run.gaps.push(Gap { location, before });
            self.unknown_values[piece as usize].clear();
        }
    }

    fn iteration(&mut self, event: &ThreadEvent) {
        let (entry, iteration) = (event.event.object, event.event.value as u32);
        if let Some(position) = self.positions.get_mut(event.actor() as usize) {
            *position = Some(LoopPosition { entry, iteration });
        }
    }

    /// Between two other threads' accesses, so that what precedes it is its own thread's.
    fn within_turn(&mut self, event: &ThreadEvent) {
        let (site, _) = self.leaf(event.event.leaf);
        self.profile.run.observations.push(Observation { site, local: true, remote: false });
    }

    fn access(&mut self, event: &ThreadEvent) {
        if !self.is_thread(event.actor()) {
            return;
        }
        let thread = ThreadId(self.first_thread + event.actor());
        let (site, stack) = self.leaf(event.event.leaf);
        let kind = match event.kind {
            EventKind::Read | EventKind::LastRead => AccessKind::Read,
            EventKind::Update => AccessKind::Update,
            _ => AccessKind::Write,
        };
        let before = (event.event.flags & flag::VALUE != 0).then_some(event.event.value);
        let locks = self.locks_at(event);
        let in_loop = event.event.flags & flag::ITERATION != 0;
        let iteration = self.positions[event.actor() as usize].filter(|_| in_loop);
        let cleans_up = self.cleaning.includes(event.actor(), stack);
        for at in 0..self.pieces_of(event).len() {
            let piece = self.pieces_of(event)[at];
            let whole = self.pieces_of(event).len() == 1;
            let unknown = &mut self.unknown_values[piece as usize];
            if cleans_up {
                // Other things may lie there by now. What it writes, at any rate, others have not written.
                if kind.writes() {
                    unknown.clear();
                }
                continue;
            }
            if before.is_some() {
                for access in unknown.drain(..) {
                    self.profile.run.accesses[access].value = before.filter(|_| whole);
                }
            }
            if event.event.flags & flag::FREE != 0 {
                self.frees.push(self.profile.run.accesses.len());
            }
            if kind.writes() {
                unknown.clear();
            }
            if kind.writes() || before.is_none() {
                unknown.push(self.profile.run.accesses.len());
            }
            self.profile.run.accesses.push(Access {
                thread,
                location: LocationId(self.first_location + piece),
                site,
                stack,
                kind,
                uncertain: event.event.flags & flag::UNCERTAIN != 0,
                value: before.filter(|_| whole && kind == AccessKind::Read),
                before: before.filter(|_| whole && kind.writes()),
                locks,
                iteration,
                atomic: event.event.flags & flag::ATOMIC != 0,
                frees: event.event.flags & flag::FREE != 0,
            });
        }
    }

    /// The locks held at an access. Of a location's very first turn the recorder keeps no locks: none were held if
    /// the thread had taken none yet.
    fn locks_at(&self, event: &ThreadEvent) -> Option<LocksetId> {
        let set = if !event.is_stamped() {
            event.event.other
        } else if event.event.flags & flag::LOCKS != 0 {
            u32::try_from(event.event.value).ok()?
        } else {
            self.held_at(event)?
        };
        if set == 0 { Some(LocksetId(0)) } else { self.locksets.get(&set).copied() }
    }

    /// The set that the thread held at an access of which the recorder did not note it: one to bytes that no other thread
    /// had used.
    fn held_at(&self, event: &ThreadEvent) -> Option<u32> {
        let changes = self.held.get(event.actor() as usize)?;
        let before = changes.partition_point(|&(tick, _)| tick <= event.event.tick);
        match before.checked_sub(1) {
            Some(last) => (event.event.flags & flag::EXACT_TIME != 0).then(|| changes[last].1),
            None => Some(0),
        }
    }

    fn lockset(&mut self, event: &ThreadEvent) {
        let id = match self.locksets.get(&event.event.object) {
            // Told again for a further thread.
            Some(&known) => known,
            None => {
                let parent = self.locksets.get(&event.event.other).copied().unwrap_or(LocksetId(0));
                let mut locks = self.profile.run.locksets[parent.0 as usize].clone();
                let object = self.object_at(event.event.value);
                let (taken_in, taken_at) = self.leaf(event.event.leaf);
                let shared = self.shared_at.contains(&event.event.leaf);
                let tried = event.event.flags & flag::TRIED != 0;
                locks.push(Lock { object, taken_in, taken_at, shared, tried });
                // A hostile file could nest sets without end; no thread holds this many locks.
                if locks.len() > 64 {
                    return;
                }
                let id = LocksetId(self.profile.run.locksets.len() as u32);
                self.profile.run.locksets.push(locks);
                self.locksets.insert(event.event.object, id);
                id
            }
        };
        if self.profile.run.locksets[id.0 as usize].len() > 1 && self.is_thread(event.thread) {
            let thread = ThreadId(self.first_thread + event.thread);
            self.profile.run.nestings.push(Nesting { thread, locks: id });
        }
    }

    fn synchronization(&mut self, event: &ThreadEvent, kind: SyncKind) {
        if !self.is_thread(event.actor()) {
            return;
        }
        let thread = ThreadId(self.first_thread + event.actor());
        let other = match kind {
            SyncKind::Start => event.event.other,
            SyncKind::End => event.actor(),
            _ => event.event.object,
        };
        let target = if kind.concerns_thread() {
            if !self.is_thread(other) {
                return;
            }
            SyncTarget::Thread(ThreadId(self.first_thread + other))
        } else {
            SyncTarget::Object(self.object_at(event.event.value))
        };
        let (site, stack) = self.leaf(event.event.leaf);
        let before = self.profile.run.accesses.len();
        self.profile.run.synchronization.push(SyncEvent { before, thread, kind, target, site, stack });
    }

    /// Locations of objects that were used as locks. The others have no lock of their own.
    fn objects_of_locations(&mut self) {
        let first = self.profile.locations.len() - self.recording.locations.len();
        for (location, recorded) in self.profile.locations[first..].iter_mut().zip(&self.recording.locations)
        {
            if recorded.object != 0 {
                let address = recording::object_address(recorded.object.into());
                location.in_lock = self.objects.get(&address).copied();
            }
        }
    }

    fn is_thread(&self, id: u32) -> bool {
        (id as usize) < self.recording.threads.len()
    }

    fn object_at(&mut self, address: u64) -> ObjectId {
        if let Some(&known) = self.objects.get(&address) {
            return known;
        }
        let id = ObjectId(self.profile.objects.len() as u32);
        self.profile.objects.push(SyncObject { address, in_module: self.data_of(address) });
        if let Some(name) = self.recording.name(NameKind::Lock, address) {
            self.profile.names.objects.insert(id, name.text.clone());
        }
        self.objects.insert(address, id);
        id
    }

    fn data_of(&self, address: u64) -> Option<(ModuleId, u64)> {
        Some(self.data_in(self.recording.module_of_data(address)?, address))
    }

    fn data_in(&self, module: usize, address: u64) -> (ModuleId, u64) {
        (self.modules[module], address.wrapping_sub(self.recording.modules[module].bias))
    }

    fn site_of(&mut self, address: u64) -> SiteId {
        self.site_in(self.recording.module_of_code(address), address)
    }

    fn site_in(&mut self, module: Option<usize>, address: u64) -> SiteId {
        let site = match module {
            Some(index) => Site {
                module: Some(self.modules[index]),
                address: address.wrapping_sub(self.recording.modules[index].bias),
            },
            None => Site { module: None, address },
        };
        let id = self.code.site_id(site);
        // A site is where the hook returns to; the access or call is just before.
        let inside = address.wrapping_sub(1);
        if let Some(function) = self.recording.function_at(inside) {
            self.code.note_place(id, || Place {
                function: function.text.clone(),
                file: Some(function.file.clone()).filter(|file| !file.is_empty()),
                line: function.line_at((inside - function.key) as u32),
            });
        }
        id
    }

    /// Site and stack of a leaf.
    fn leaf(&mut self, leaf: u32) -> (SiteId, StackId) {
        if let Some(&known) = self.leaves.get(&leaf) {
            return known;
        }
        let (innermost, outermost) = self.stacks.ends(leaf);
        let mut site = |frame: Frame| self.site_in(frame.module, frame.address);
        let mut stack: Vec<SiteId> = innermost.into_iter().map(&mut site).collect();
        let outermost: Vec<SiteId> = outermost.into_iter().map(site).collect();
        if !outermost.is_empty() {
            stack.push(self.code.calls_left_out());
            stack.extend(outermost);
        }
        if stack.is_empty() {
            stack.push(self.site_of(0));
        }
        let known = (stack[0], self.code.stack_id(&stack));
        self.leaves.insert(leaf, known);
        known
    }
}

/// Per thread: when its set of held locks became which.
fn held(recording: &Recording) -> Vec<Vec<(u64, u32)>> {
    let mut held = vec![Vec::new(); recording.threads.len()];
    for event in recording.events.iter().filter(|event| event.kind == EventKind::Held) {
        if let Some(changes) = held.get_mut(event.thread as usize) {
            changes.push((event.event.tick, event.event.object));
        }
    }
    held
}

/// For each location the ones it was cut into, or itself.
fn pieces(locations: &[recording::Location]) -> Vec<Vec<u32>> {
    let mut pieces: Vec<Vec<u32>> = (0..locations.len() as u32).map(|id| vec![id]).collect();
    // Pieces come after what they were cut from, so going backwards each is complete when it is needed. The
    // recorder never makes more than eight of a word; a file that says otherwise is damaged, and cut short.
    const MOST: usize = 8;
    for id in (1..locations.len()).rev() {
        let parent = locations[id].parent as usize;
        if parent == 0 || parent >= id {
            continue;
        }
        let own = std::mem::take(&mut pieces[id]);
        let inherited = &mut pieces[parent];
        inherited.retain(|&piece| piece as usize != parent);
        inherited.extend(own.iter().copied());
        inherited.sort_unstable();
        inherited.truncate(MOST);
        pieces[id] = own;
    }
    pieces
}
