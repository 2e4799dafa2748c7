//! Code that clang compiled without the reads of statements that read and write, such as `x++`.
//!
//! clang leaves those reads out unless it is told `-mllvm -tsan-instrument-read-before-write=1`, which `unsnarl cc` does.
//! Whether it was told so is in the debug info if its command line is, which `unsnarl cc` also sees to.

use std::path::Path;

use gimli::{EndianSlice, LittleEndian};

use crate::{elf, hook_calls};

type Dwarf<'a> = gimli::Dwarf<EndianSlice<'a, LittleEndian>>;
type Unit<'a> = gimli::Unit<EndianSlice<'a, LittleEndian>>;

/// Part of the option's name, and of those units' command line that have it.
pub(crate) const OPTION: &str = "-tsan-instrument-read-before-write=1";

/// The instrumented sources in a binary that do not say that their reads are all there. Empty where nothing is known.
pub fn sources(path: &Path) -> Vec<String> {
    find(path).unwrap_or_default()
}

fn find(path: &Path) -> Option<Vec<String>> {
    let bytes = elf::map(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let sections = elf::debug_sections(&file)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let mut silent = Vec::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let unit = dwarf.unit(header).ok().filter(|unit| is_silent(&dwarf, unit).unwrap_or(false));
        silent.extend(unit);
    }
    if silent.is_empty() {
        return None;
    }
    let calls = WriteCalls::of(&file)?;
    silent.retain(|unit| calls.are_in_unit(&dwarf, unit).unwrap_or(false));
    let names = silent.iter().filter_map(|unit| Some(unit.name?.to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    Some(names)
}

/// Did clang make this unit, without a word about the reads? It says what it is and, if asked to, how it was called.
fn is_silent(dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> gimli::Result<bool> {
    let mut entries = unit.entries();
    let Some((_, root)) = entries.next_dfs()? else { return Ok(false) };
    let Some(producer) = root.attr_value(gimli::DW_AT_producer)? else { return Ok(false) };
    let producer = dwarf.attr_string(unit, producer)?.to_string_lossy();
    Ok(producer.contains("clang version") && !producer.contains(OPTION))
}

/// Where a binary's code calls the hooks of writes.
struct WriteCalls {
    /// Ascending.
    at: Vec<u64>,
}

impl WriteCalls {
    fn of(file: &object::File<'_>) -> Option<WriteCalls> {
        let calls = hook_calls::find(file)?.into_iter().filter(|call| call.hook.starts_with("__tsan_write"));
        // A call is longer than a byte.
        Some(WriteCalls { at: calls.map(|call| call.returns_to - 1).collect() })
    }

    fn are_in_unit(&self, dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> gimli::Result<bool> {
        let mut ranges = dwarf.unit_ranges(unit)?;
        while let Some(range) = ranges.next()? {
            let first = self.at.partition_point(|&at| at < range.begin);
            if self.at.get(first).is_some_and(|&at| at < range.end) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
