//! Calling contexts: a tree of methods and the calls that led to them, as in the native recorder. Code has addresses
//! here too: each class gets a range of numbers when it is first met, and its methods follow each other in it.

use recording::{Context, LineRecord, ModuleHeader, NameKind, RegionId};
use rustc_hash::FxHashMap;

use super::file::RecordingFile;
use crate::places::Places;

/// The root of the tree: no method at all.
pub const ROOT: u32 = 1;
/// Deeper recursion is folded into the context of the same method above: nobody can read more.
const MOST_CONTEXTS: u32 = 1 << 18;
/// Where the numbers for code begin, far from those for data.
const FIRST_ADDRESS: u64 = 0x1000_0000;

/// The contexts of one recording.
#[derive(Default)]
pub struct Contexts {
    /// By parent, call address and method.
    known: FxHashMap<(u32, u64, u32), u32>,
    /// Where the code of each class begins.
    classes: FxHashMap<u32, u64>,
    /// Methods whose name is stored.
    named: FxHashMap<u32, u64>,
    next_address: u64,
    next_leaf: u32,
    /// First leaf and method of each context.
    contexts: Vec<(u32, u32)>,
}

impl Contexts {
    /// The tree with nothing but its root.
    pub fn new(file: &mut RecordingFile) -> Option<Contexts> {
        let mut contexts = Contexts {
            next_address: FIRST_ADDRESS,
            next_leaf: 1,
            contexts: vec![(0, 0)],
            ..Contexts::default()
        };
        contexts.insert(file, 0, 0, 0, (0, 1), u32::MAX)?;
        Some(contexts)
    }

    fn insert(
        &mut self,
        file: &mut RecordingFile,
        parent: u32,
        call: u64,
        entry: u64,
        (function, size): (u64, u32),
        method: u32,
    ) -> Option<u32> {
        let first_leaf = self.next_leaf;
        self.next_leaf = first_leaf.checked_add(size)?;
        let id = file.new_record::<Context>(RegionId::Contexts)?;
        *file.record(RegionId::Contexts, id) =
            Context { call, entry, function, parent, first_leaf, size, recent_child: 0, next: 0, flags: 0 };
        self.contexts.push((first_leaf, method));
        Some(id)
    }

    /// The context of a method that was called from `parent` at position `call`, if that is known.
    pub fn enter(
        &mut self,
        file: &mut RecordingFile,
        places: &Places,
        parent: u32,
        call: Option<u16>,
        method: u32,
    ) -> Option<u32> {
        let caller = self.contexts[parent as usize].1;
        // One more than the call's own address, as if it were where the call returns to.
        let call = match call {
            Some(position) if parent != ROOT => self.address(file, places, caller)? + u64::from(position) + 1,
            _ => 0,
        };
        if let Some(&known) = self.known.get(&(parent, call, method)) {
            return Some(known);
        }
        if self.contexts.len() as u32 > MOST_CONTEXTS {
            return Some(parent);
        }
        let function = self.address(file, places, method)?;
        let size = places.methods[method as usize].size + 1;
        let id = self.insert(file, parent, call, function, (function, size), method)?;
        self.known.insert((parent, call, method), id);
        Some(id)
    }

    /// The leaf of an instruction of a context's method.
    pub fn leaf(&self, context: u32, position: u16) -> u32 {
        // The address behind the instruction's first byte, as hooks of native code return to behind the access.
        self.contexts[context as usize].0 + u32::from(position) + 1
    }

    /// The address of a method's first byte. Its class becomes a module, and its name is stored, when first met.
    pub fn address(&mut self, file: &mut RecordingFile, places: &Places, method: u32) -> Option<u64> {
        if let Some(&address) = self.named.get(&method) {
            return Some(address);
        }
        let about = &places.methods[method as usize];
        let class = &places.classes[about.class as usize];
        let base = match self.classes.get(&about.class) {
            Some(&base) => base,
            None => {
                let base = self.next_address;
                let end = base + u64::from(class.code_bytes) + 1;
                self.next_address = end.next_multiple_of(16);
                self.classes.insert(about.class, base);
                add_module(file, &class.name.replace('/', "."), class.fingerprint, base, end)?;
                base
            }
        };
        let address = base + u64::from(about.offset);
        let lines: Vec<LineRecord> = about
            .lines
            .iter()
            .map(|&(offset, line)| LineRecord { offset: offset.into(), line: line.into() })
            .collect();
        let name = about.full_name(class);
        file.add_name(NameKind::Function, address, about.size + 1, (&name, &class.file), &lines);
        self.named.insert(method, address);
        Some(address)
    }
}

fn add_module(
    file: &mut RecordingFile,
    path: &str,
    fingerprint: [u8; 16],
    start: u64,
    end: u64,
) -> Option<()> {
    let mut build_id = [0; 32];
    build_id[..fingerprint.len()].copy_from_slice(&fingerprint);
    let header = ModuleHeader {
        bias: start,
        start,
        end,
        image_start: start,
        image_end: end,
        path_bytes: path.len() as u32,
        build_id_bytes: fingerprint.len() as u32,
        build_id,
    };
    let length = size_of::<ModuleHeader>() + path.len().next_multiple_of(8);
    let at = file.allocate(RegionId::Modules, length as u64)?;
    file.write(at, header);
    file.write_bytes(at + size_of::<ModuleHeader>() as u64, path.as_bytes());
    Some(())
}
