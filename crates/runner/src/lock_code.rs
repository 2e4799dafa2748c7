//! Finds the code of locks that were compiled into a program: Rust's standard library and parking_lot inline theirs
//! wherever they are used, as atomic operations like any other. Debug info has the names of inlined functions.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use gimli::{
    AttributeValue, DebugInfoOffset, DebuggingInformationEntry, EndianSlice, LittleEndian, UnitOffset,
    UnitSectionOffset,
};
use recording::{LockCode, LockModule, LockRole};

use crate::elf::{self, BuildId};
use crate::session::Binary;

mod names;

type Reader<'a> = EndianSlice<'a, LittleEndian>;
type Dwarf<'a> = gimli::Dwarf<Reader<'a>>;
type Unit<'a> = gimli::Unit<Reader<'a>>;
type Entry<'e, 'a> = DebuggingInformationEntry<'e, 'e, Reader<'a>>;

/// Functions are inlined this deep at most; debug info that claims more is damaged.
const DEEPEST: usize = 256;
/// Programs whose lock code is kept for the next time.
const KEPT: usize = 64;

/// The file that tells the recorder of the lock code in these binaries, made below `folder` if it is not there yet. None
/// if there is none to tell of.
pub(crate) fn file_for(binaries: &[Binary], folder: &Path) -> Option<PathBuf> {
    let folder = folder.join("locks");
    let path = folder.join(name_for(binaries));
    if !path.exists() {
        let mut content = Vec::new();
        for binary in binaries {
            content.extend(module(binary).unwrap_or_default());
        }
        fs::create_dir_all(&folder).ok()?;
        make_room(&folder);
        let mut file = tempfile::NamedTempFile::new_in(&folder).ok()?;
        std::io::Write::write_all(&mut file, &content).ok()?;
        file.persist(&path).ok()?;
    }
    let bytes = fs::metadata(&path).ok()?.len();
    (bytes > 0).then_some(path)
}

/// Names what this build of unsnarl finds in these builds of the binaries.
fn name_for(binaries: &[Binary]) -> String {
    let own = std::env::current_exe().and_then(fs::metadata);
    let own = own.and_then(|about| Ok((about.len(), about.modified()?))).ok();
    let ids = binaries.iter().filter_map(|binary| binary.build_id.as_ref()).map(BuildId::as_str);
    let text = format!("{own:?} {}", ids.collect::<Vec<_>>().join(" "));
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

/// Forgets what was not made lately.
fn make_room(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort();
    for (_, path) in files.iter().rev().skip(KEPT) {
        drop(fs::remove_file(path));
    }
}

/// What the recorder is told of one binary.
fn module(binary: &Binary) -> Option<Vec<u8>> {
    let id = binary.build_id.as_ref()?.bytes();
    let codes = codes(&binary.path)?;
    let mut module = LockModule { build_id: [0; 32], count: codes.len() as u32 };
    module.build_id.get_mut(..id.len())?.copy_from_slice(&id);
    let mut bytes = [&module.build_id[..], &module.count.to_le_bytes()].concat();
    for code in codes {
        for number in [code.start, code.end, code.role] {
            bytes.extend(number.to_le_bytes());
        }
    }
    Some(bytes)
}

/// The lock code of a binary in ascending order; none if there is no debug info that can be read, or nothing in it.
fn codes(path: &Path) -> Option<Vec<LockCode>> {
    let bytes = elf::map(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let sections = elf::debug_sections(&file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let mut units = Vec::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        units.extend(dwarf.unit(header).ok());
    }
    let mut ranges = Ranges { dwarf: &dwarf, units: &units, found: Vec::new(), roles: HashMap::new() };
    for unit in units.iter().filter(|unit| is_instrumented_rust(unit)) {
        // A unit that cannot be read to its end has still given what came before.
        let _ = ranges.read(unit);
    }
    let codes = flatten(ranges.found);
    codes.iter().any(|code| code.role > LockRole::Inside as u32).then_some(codes)
}

/// The standard library comes compiled, without hooks; only where it was inlined or instantiated is it seen.
fn is_instrumented_rust(unit: &Unit<'_>) -> bool {
    let mut entries = unit.entries();
    let Ok(Some((_, root))) = entries.next_dfs() else { return false };
    let language = root.attr_value(gimli::DW_AT_language).ok().flatten();
    let name = unit.name.map(|name| name.to_string_lossy());
    language == Some(AttributeValue::Language(gimli::DW_LANG_Rust))
        && name.is_none_or(|name| !name.starts_with("library/"))
}

/// A range of code as debug info has it: ranges nest.
struct Range {
    start: u64,
    end: u64,
    depth: usize,
    role: Option<LockRole>,
}

struct Ranges<'a> {
    dwarf: &'a Dwarf<'a>,
    /// In the order of the file.
    units: &'a [Unit<'a>],
    found: Vec<Range>,
    /// By linkage name: most names come up again and again.
    roles: HashMap<String, Option<LockRole>>,
}

impl Ranges<'_> {
    /// Every function of the unit, and what was inlined into those with a role and into whose depths roles may be.
    fn read(&mut self, unit: &Unit<'_>) -> gimli::Result<()> {
        let mut entries = unit.entries();
        let mut depth = 0isize;
        // The roles of the functions around, outermost first.
        let mut around: Vec<(isize, Option<LockRole>)> = Vec::new();
        while let Some((step, entry)) = entries.next_dfs()? {
            depth += step;
            around.retain(|(outer, _)| *outer < depth);
            let is_inlined = entry.tag() == gimli::DW_TAG_inlined_subroutine;
            if !is_inlined && entry.tag() != gimli::DW_TAG_subprogram {
                continue;
            }
            let own = self.name(unit, entry, 0).and_then(|name| self.role(name));
            let inherited = if is_inlined { around.last().and_then(|(_, role)| *role) } else { None };
            let role = match own {
                // A lock's small change, wherever it was inlined.
                Some(LockRole::Callers) if is_inlined => inherited,
                // Only the insides of a condition variable give back a lock that the program did not.
                Some(LockRole::Unlock) if inherited == Some(LockRole::Inside) => Some(LockRole::UnlockToWait),
                own => own,
            };
            // Inlined into a function without a role, it differs from its surroundings by having one.
            if role != inherited || !is_inlined && role.is_some() {
                self.add(unit, entry, around.len(), role)?;
            }
            if around.len() < DEEPEST {
                around.push((depth, role));
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        unit: &Unit<'_>,
        entry: &Entry<'_, '_>,
        depth: usize,
        role: Option<LockRole>,
    ) -> gimli::Result<()> {
        let mut ranges = self.dwarf.die_ranges(unit, entry)?;
        while let Some(range) = ranges.next()? {
            if range.begin != 0 && range.begin < range.end {
                self.found.push(Range { start: range.begin, end: range.end, depth, role });
            }
        }
        Ok(())
    }

    fn role(&mut self, name: String) -> Option<LockRole> {
        *self.roles.entry(name).or_insert_with_key(|name| names::role(name))
    }

    /// The linkage name of a function, or of what it is an instance of.
    fn name(&self, unit: &Unit<'_>, entry: &Entry<'_, '_>, depth: usize) -> Option<String> {
        if let Some(value) = entry.attr_value(gimli::DW_AT_linkage_name).ok()? {
            let name = self.dwarf.attr_string(unit, value).ok()?;
            return Some(name.to_string_lossy().into_owned());
        }
        if depth > DEEPEST {
            return None;
        }
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin).ok()?;
        let origin = match origin {
            Some(origin) => origin,
            None => entry.attr_value(gimli::DW_AT_specification).ok()??,
        };
        match origin {
            AttributeValue::UnitRef(offset) => self.name_at(unit, offset, depth),
            // Link-time optimization has functions of one unit in another.
            AttributeValue::DebugInfoRef(offset) => {
                let (unit, inside) = self.place(offset)?;
                self.name_at(unit, inside, depth)
            }
            _ => None,
        }
    }

    /// The unit that an entry is in, and where in it.
    fn place(&self, offset: DebugInfoOffset) -> Option<(&Unit<'_>, UnitOffset)> {
        let starts_before = |unit: &Unit<'_>| match unit.header.offset() {
            UnitSectionOffset::DebugInfoOffset(start) => start <= offset,
            UnitSectionOffset::DebugTypesOffset(_) => false,
        };
        let after = self.units.partition_point(starts_before);
        let unit = &self.units[after.checked_sub(1)?];
        Some((unit, offset.to_unit_offset(&unit.header)?))
    }

    fn name_at(&self, unit: &Unit<'_>, offset: UnitOffset, depth: usize) -> Option<String> {
        let entry = unit.entry(offset).ok()?;
        self.name(unit, &entry, depth + 1)
    }
}

/// From nested ranges to ones side by side: everywhere the innermost counts.
fn flatten(mut ranges: Vec<Range>) -> Vec<LockCode> {
    let mut bounds: Vec<u64> = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    // Painted from the outside in; each bound begins a piece that ends at the next.
    ranges.sort_by_key(|range| range.depth);
    let mut pieces: Vec<Option<LockRole>> = vec![None; bounds.len()];
    for range in &ranges {
        let first = bounds.partition_point(|&bound| bound < range.start);
        let last = bounds.partition_point(|&bound| bound < range.end);
        pieces[first..last].fill(range.role);
    }
    let mut codes: Vec<LockCode> = Vec::new();
    for (piece, window) in pieces.iter().zip(bounds.windows(2)) {
        let (Some(role), Ok(start), Ok(end)) = (piece, u32::try_from(window[0]), u32::try_from(window[1]))
        else {
            continue;
        };
        match codes.last_mut() {
            Some(last) if last.end == start && last.role == *role as u32 => last.end = end,
            _ => codes.push(LockCode { start, end, role: *role as u32 }),
        }
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_range_counts() {
        let range = |start, end, depth, role| Range { start, end, depth, role };
        let codes = flatten(vec![
            range(100, 200, 0, Some(LockRole::Inside)),
            range(120, 140, 1, Some(LockRole::Lock)),
            range(160, 180, 1, None),
            range(165, 170, 2, Some(LockRole::Unlock)),
            range(300, 310, 0, Some(LockRole::Inside)),
        ]);
        let flat: Vec<(u32, u32, u32)> = codes.iter().map(|code| (code.start, code.end, code.role)).collect();
        assert_eq!(
            flat,
            [(100, 120, 2), (120, 140, 3), (140, 160, 2), (165, 170, 5), (180, 200, 2), (300, 310, 2)]
        );
    }
}
