//! Reading recordings, whole or damaged. Nothing here trusts a byte of the file: a hostile recording can
//! make the result wrong, but not make the reader crash or allocate more than a few times the file's size.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::event::{Event, EventKind, flag};
use crate::kept;
use crate::layout::*;
use crate::name::{LineRecord, NameHeader, NameKind};
use crate::scheduling::{Decision, Visit};

/// Why a file is no recording, or where one stops making sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Shorter than its header.
    TooShort {
        /// The file's length.
        bytes: usize,
    },
    /// Does not begin like a recording.
    NotARecording,
    /// Made by another version.
    Version {
        /// The version found.
        found: u32,
    },
    /// A region lies outside the file, wholly or in part.
    RegionCut {
        /// Which.
        region: RegionId,
        /// Bytes missing at its end.
        missing: u64,
    },
    /// An event that makes no sense; the rest of its chunk was left out.
    BadEvent {
        /// Number of the chunk.
        chunk: usize,
        /// Byte within the chunk.
        offset: usize,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::TooShort { bytes } => write!(f, "only {bytes} bytes long, which is no recording"),
            Damage::NotARecording => f.write_str("not a recording"),
            Damage::Version { found } => {
                write!(f, "recorded in format {found}, but this unsnarl reads format {VERSION}")
            }
            Damage::RegionCut { region, missing } => {
                write!(f, "cut off: {missing} bytes of {region:?} are missing")
            }
            Damage::BadEvent { chunk, offset } => {
                write!(f, "event chunk {chunk} makes no sense from byte {offset} on")
            }
        }
    }
}

impl core::error::Error for Damage {}

/// A loaded module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// What to subtract from an address to get the file's own address.
    pub bias: u64,
    /// First address of its executable part.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// First address of the whole image.
    pub image_start: u64,
    /// One past the last.
    pub image_end: u64,
    /// Empty if the module has none.
    pub build_id: Vec<u8>,
    /// As the loader names it.
    pub path: String,
}

impl Module {
    /// Is this address in its code?
    fn holds(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// Is it anywhere in its image?
    fn holds_data(&self, address: u64) -> bool {
        (self.image_start..self.image_end).contains(&address)
    }
}

/// An instruction of a call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The one after it.
    pub address: u64,
    /// Index into [`Recording::modules`].
    pub module: Option<usize>,
}

/// A name that the recorded process gave: see [`NameKind`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// What it is for.
    pub kind: NameKind,
    /// What is named.
    pub key: u64,
    /// Bytes of code of a function; a location's type.
    pub size: u32,
    /// The name.
    pub text: String,
    /// The source file of a function, empty if unknown.
    pub file: String,
    /// Of a function: first offset and number of each line, ascending.
    pub lines: Vec<LineRecord>,
}

impl Name {
    /// The line of the code at this distance from a function's start.
    pub fn line_at(&self, offset: u32) -> Option<u32> {
        let after = self.lines.partition_point(|line| line.offset <= offset);
        Some(self.lines[after.checked_sub(1)?].line)
    }
}

/// An event and the thread that recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadEvent {
    /// Index into [`Recording::threads`].
    pub thread: u32,
    /// Its kind, already checked.
    pub kind: EventKind,
    /// The event.
    pub event: Event,
}

impl ThreadEvent {
    /// Was it recorded later than it happened, with the time of its thread's newest event before it?
    pub fn is_stamped(&self) -> bool {
        match self.kind {
            EventKind::LastRead | EventKind::LastWrite | EventKind::Iteration => true,
            EventKind::Release => self.event.other != self.thread,
            _ => false,
        }
    }

    /// The thread that did it: not the one that recorded it where a turn was closed by its successor.
    pub fn actor(&self) -> u32 {
        if self.is_stamped() { self.event.other } else { self.thread }
    }
}

/// One process's recording, decoded.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The header, as far as it concerns the whole process.
    pub header: Header,
    /// Loaded modules.
    pub modules: Vec<Module>,
    /// Threads by id; entry 0 is unused.
    pub threads: Vec<ThreadRecord>,
    /// Contexts by id; entry 0 is unused.
    pub contexts: Vec<Context>,
    /// Locations by id; entry 0 is unused.
    pub locations: Vec<Location>,
    /// Names by kind and key, the first one given for each.
    pub names: Vec<Name>,
    /// Where threads came to scheduling points.
    pub visits: Vec<Visit>,
    /// The choices that a bounded run had.
    pub decisions: Vec<Decision>,
    /// All events by tick, those that close turns included, also of the turns that were open at the end.
    pub events: Vec<ThreadEvent>,
    /// What was wrong with the file.
    pub damage: Vec<Damage>,
}

impl Recording {
    /// The context and address that a leaf stands for.
    pub fn resolve_leaf(&self, leaf: u32) -> Option<(u32, u64)> {
        let after = self.contexts.partition_point(|context| context.first_leaf <= leaf);
        let id = after.checked_sub(1)?;
        let context = &self.contexts[id];
        let distance = leaf - context.first_leaf;
        (id != 0 && distance < context.size)
            .then(|| (id as u32, context.function.wrapping_add(distance as u64)))
    }

    /// The instructions of a leaf's call stack, innermost first (where the access or call returns to), each with the
    /// module that it lay in then: where libraries are unloaded, others may come to lie at the same addresses.
    pub fn frames(&self, leaf: u32) -> impl Iterator<Item = Frame> {
        let own = self.resolve_leaf(leaf);
        let frame = own.map(|(context, address)| self.frame(context, address));
        frame.into_iter().chain(own.into_iter().flat_map(|(context, _)| self.callers(context)))
    }

    /// The calls that led into a context, innermost first.
    pub fn callers(&self, context: u32) -> impl Iterator<Item = Frame> {
        // The root has no call; a parent always precedes its children, so this ends.
        let above =
            |&id: &u32| (id > 1).then(|| self.contexts[id as usize].parent).filter(|&parent| parent < id);
        let contexts = core::iter::successors(Some(context), above);
        contexts.filter_map(|id| {
            let Context { call, parent, .. } = self.contexts[id as usize];
            (id > 1 && call != 0 && parent < id).then(|| self.frame(parent, call))
        })
    }

    /// An instruction in the function of a context.
    fn frame(&self, context: u32, address: u64) -> Frame {
        let number = self.contexts[context as usize].flags >> CONTEXT_MODULE_AT;
        let module = (number as usize).checked_sub(1);
        let holds = |&index: &usize| self.modules.get(index).is_some_and(|module| module.holds(address));
        Frame { address, module: module.filter(holds).or_else(|| self.module_of_code(address)) }
    }

    /// The name given to something.
    pub fn name(&self, kind: NameKind, key: u64) -> Option<&Name> {
        let found = self.names.binary_search_by_key(&(kind, key), |name| (name.kind, name.key));
        found.ok().map(|index| &self.names[index])
    }

    /// The named function that holds this code address.
    pub fn function_at(&self, address: u64) -> Option<&Name> {
        let after = self.names.partition_point(|name| (name.kind, name.key) <= (NameKind::Function, address));
        let name = &self.names[after.checked_sub(1)?];
        let inside = name.kind == NameKind::Function && address - name.key < u64::from(name.size);
        inside.then_some(name)
    }

    /// The module that holds this code address.
    pub fn module_of_code(&self, address: u64) -> Option<usize> {
        self.modules.iter().position(|module| module.holds(address))
    }

    /// For each location the module whose data it is. Where several have lain at its address, that is one whose code
    /// accesses it.
    pub fn modules_of_locations(&self) -> Vec<Option<usize>> {
        let holders = |address: u64| {
            let holds = move |index: &usize| self.modules[*index].holds_data(address);
            (0..self.modules.len()).filter(holds)
        };
        let mut modules: Vec<Option<usize>> =
            self.locations.iter().map(|location| holders(location.address).next()).collect();
        let is_disputed = |location: &Location| holders(location.address).nth(1).is_some();
        let mut disputed: Vec<bool> = self.locations.iter().map(is_disputed).collect();
        for event in self.events.iter().filter(|event| event.kind.is_access()) {
            let location = event.event.object as usize;
            if disputed.get(location) == Some(&true) {
                let address = self.locations[location].address;
                let mut accessing = self.frames(event.event.leaf).filter_map(|frame| frame.module);
                if let Some(module) = accessing.find(|&module| self.modules[module].holds_data(address)) {
                    (modules[location], disputed[location]) = (Some(module), false);
                }
            }
        }
        modules
    }

    /// The module whose image, code or data, holds this address.
    pub fn module_of_data(&self, address: u64) -> Option<usize> {
        self.modules.iter().position(|module| module.holds_data(address))
    }
}

/// Reads a record if the bytes are there.
fn pod<T: Pod>(bytes: &[u8], offset: usize) -> Option<T> {
    let slice = bytes.get(offset..offset.checked_add(size_of::<T>())?)?;
    // SAFETY: the slice has the size of T, any bit pattern is a T, and the read is unaligned.
    Some(unsafe { slice.as_ptr().cast::<T>().read_unaligned() })
}

/// The header alone.
pub fn header(bytes: &[u8]) -> Result<Header, Damage> {
    if bytes.len() < HEADER_BYTES {
        return Err(Damage::TooShort { bytes: bytes.len() });
    }
    let header: Header = pod(bytes, 0).ok_or(Damage::TooShort { bytes: bytes.len() })?;
    if header.magic != MAGIC {
        return Err(Damage::NotARecording);
    }
    if header.version != VERSION {
        return Err(Damage::Version { found: header.version });
    }
    Ok(header)
}

/// The used part of a region, as far as the file has it, and how many bytes are missing.
fn region_bytes<'a>(bytes: &'a [u8], region: &Region) -> (&'a [u8], u64) {
    let wanted = region.used.min(region.capacity);
    let start = usize::try_from(region.offset).unwrap_or(usize::MAX).min(bytes.len());
    let length = usize::try_from(wanted).unwrap_or(usize::MAX).min(bytes.len() - start);
    (&bytes[start..start + length], wanted - length as u64)
}

/// Copies the used parts of a recorder's sparse file into a file without holes.
pub fn compact(raw: &[u8]) -> Result<Vec<u8>, Damage> {
    let mut header = header(raw)?;
    let parts: Vec<&[u8]> = header.regions.iter().map(|region| region_bytes(raw, region).0).collect();
    let mut out = Vec::with_capacity(HEADER_BYTES + parts.iter().map(|part| part.len()).sum::<usize>());
    out.resize(HEADER_BYTES, 0);
    for (region, part) in header.regions.iter_mut().zip(parts) {
        let length = part.len() as u64;
        // A missing end stays visible to the reader: `used` is kept, only the room shrinks to it.
        let used = region.used.min(region.capacity);
        *region = Region { offset: out.len() as u64, capacity: used, used, backed: length };
        out.extend_from_slice(part);
        if used != length {
            // Later regions must not be taken for the missing bytes, so nothing may follow: cut here.
            break;
        }
    }
    // SAFETY: Header is plain old data without padding.
    let header_bytes =
        unsafe { core::slice::from_raw_parts((&raw const header).cast::<u8>(), size_of::<Header>()) };
    out[..header_bytes.len()].copy_from_slice(header_bytes);
    Ok(out)
}

/// Decodes a recording, raw or compact. Damage behind the header is noted in the result and left out.
pub fn parse(bytes: &[u8]) -> Result<Recording, Damage> {
    let header = header(bytes)?;
    let mut damage = Vec::new();
    let parts = RegionId::ALL.map(|id| {
        let (part, missing) = region_bytes(bytes, &header.regions[id as usize]);
        if missing > 0 {
            damage.push(Damage::RegionCut { region: id, missing });
        }
        part
    });
    let part = |id: RegionId| parts[id as usize];
    let mut events = Vec::new();
    for (number, chunk) in part(RegionId::Chunks).chunks(CHUNK_BYTES).enumerate() {
        if let Err(offset) = chunk_events(chunk, &mut events) {
            damage.push(Damage::BadEvent { chunk: number, offset });
        }
    }
    let mut contexts: Vec<Context> = records(part(RegionId::Contexts));
    let in_order = contexts
        .iter()
        .zip(contexts.iter().skip(1))
        .take_while(|(a, b)| a.first_leaf <= b.first_leaf)
        .count();
    contexts.truncate(in_order + 1);
    let mut locations: Vec<Location> = records(part(RegionId::Locations));
    let mut slots: Vec<Slot> = records(part(RegionId::Slots));
    kept::settle(&mut locations, &mut slots);
    let has_kept_handovers = kept::join(&locations, &mut events);
    close_open_turns(&locations, &slots, &mut events);
    // Stable, so that of events with the same tick (an access and the ones that its turn's owner made
    // later without a record of their own) the recorded one stays first. A lock is given back after what was
    // done under it.
    events.sort_by_key(|event| {
        let place = match event.kind {
            EventKind::LastRead | EventKind::LastWrite => 1,
            EventKind::Release if event.is_stamped() => 2,
            _ => 0,
        };
        // Beyond the budget, what has nothing to do with each other may have the same time.
        let object = if has_kept_handovers { event.event.object } else { 0 };
        (event.event.tick, place, object)
    });
    if has_kept_handovers {
        // What ended the turns of several threads is kept with each of them, and what several accesses ended with each.
        events.dedup_by(|a, b| a.kind.is_access() && a.actor() == b.actor() && a.event == b.event);
    }
    Ok(Recording {
        header,
        modules: modules(part(RegionId::Modules)),
        threads: records(part(RegionId::Threads)),
        contexts,
        locations,
        names: names(part(RegionId::Names)),
        visits: records(part(RegionId::Visits)).into_iter().skip(1).collect(),
        decisions: records(part(RegionId::Decisions)).into_iter().skip(1).collect(),
        events,
        damage,
    })
}

fn records<T: Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).filter_map(|chunk| pod(chunk, 0)).collect()
}

fn chunk_events(chunk: &[u8], events: &mut Vec<ThreadEvent>) -> Result<(), usize> {
    // A chunk handed out but not yet begun is all zero.
    let Some(start) = pod::<ChunkHeader>(chunk, 0) else { return Ok(()) };
    let mut thread = start.thread;
    let end = (start.used as usize).min(chunk.len());
    let mut offset = size_of::<ChunkHeader>();
    while offset + size_of::<Event>() <= end {
        let event: Event = pod(chunk, offset).ok_or(offset)?;
        let kind = EventKind::from_number(event.kind).ok_or(offset)?;
        match kind {
            EventKind::Owner => thread = event.other,
            EventKind::Nothing => {}
            _ => events.push(ThreadEvent { thread, kind, event }),
        }
        offset += size_of::<Event>();
    }
    Ok(())
}

fn modules(bytes: &[u8]) -> Vec<Module> {
    let mut modules = Vec::new();
    let mut offset = 0;
    while let Some(header) = pod::<ModuleHeader>(bytes, offset) {
        let start = offset + size_of::<ModuleHeader>();
        let Some(path) = bytes.get(start..start.saturating_add(header.path_bytes as usize)) else { break };
        let build_id = &header.build_id[..(header.build_id_bytes as usize).min(header.build_id.len())];
        modules.push(Module {
            bias: header.bias,
            start: header.start,
            end: header.end,
            image_start: header.image_start,
            image_end: header.image_end,
            build_id: build_id.to_vec(),
            path: String::from_utf8_lossy(path).into_owned(),
        });
        offset = start + (header.path_bytes as usize).next_multiple_of(8);
    }
    modules
}

fn names(bytes: &[u8]) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut offset = 0;
    while let Some(header) = pod::<NameHeader>(bytes, offset) {
        let Some(kind) = NameKind::from_number(header.kind) else { break };
        let lines_at = offset + size_of::<NameHeader>();
        let lengths = [header.lines as usize * size_of::<LineRecord>(), header.name_bytes as usize];
        let text_at = lines_at.saturating_add(lengths[0]);
        let file_at = text_at.saturating_add(lengths[1]);
        let end = file_at.saturating_add(header.file_bytes as usize);
        let Some(content) = bytes.get(lines_at..end) else { break };
        let text = |from: usize, to: usize| {
            String::from_utf8_lossy(&content[from - lines_at..to - lines_at]).into_owned()
        };
        names.push(Name {
            kind,
            key: header.key,
            size: header.size,
            text: text(text_at, file_at),
            file: text(file_at, end),
            lines: records(&content[..lengths[0]]),
        });
        offset = end.next_multiple_of(8);
    }
    names.sort_by_key(|name| (name.kind, name.key));
    names.dedup_by_key(|name| (name.kind, name.key));
    names
}

/// The process ended in the midst of turns; what their threads did last stands in the slots.
fn close_open_turns(locations: &[Location], slots: &[Slot], events: &mut Vec<ThreadEvent>) {
    // Every live slot hangs in one list, so more steps than slots means a cycle in a damaged file.
    let mut steps = slots.len();
    for (id, location) in locations.iter().enumerate().skip(1) {
        let mut next = location.slots;
        while let Some(slot) = slots.get(next as usize).filter(|_| next != 0 && steps > 0) {
            steps -= 1;
            next = slot.next;
            if slot.location as usize != id || slot.version != location.version {
                continue;
            }
            let mut close = |kind: EventKind, leaf: u32, tick: u64, locks: u32| {
                let event = Event {
                    kind: kind as u8,
                    flags: flag::LOCKS,
                    size: location.size as u8,
                    reserved: 0,
                    leaf,
                    tick,
                    object: id as u32,
                    other: slot.thread,
                    value: locks.into(),
                };
                events.push(ThreadEvent { thread: slot.thread, kind, event });
            };
            let read = (slot.reread, EventKind::LastRead, slot.read, slot.read_tick, slot.read_locks);
            let write = (slot.rewritten, EventKind::LastWrite, slot.write, slot.write_tick, slot.write_locks);
            // The later one of two is marked; without a mark, the read belongs to the write that follows it.
            let in_order = if read.0 > write.0 { [write, read] } else { [read, write] };
            for (done, kind, leaf, tick, locks) in in_order {
                if done != 0 {
                    close(kind, leaf, tick, locks);
                }
            }
        }
    }
}
