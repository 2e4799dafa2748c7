//! Code that clang compiled without the reads of statements that read and write, such as `x++`.
//!
//! clang leaves those reads out unless it is told `-mllvm -tsan-instrument-read-before-write=1`, which `unsnarl cc` does.
//! Whether it was told so is in the debug info if its command line is, which `unsnarl cc` also sees to.

use std::collections::HashSet;
use std::path::Path;

use gimli::{EndianSlice, LittleEndian};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget};

use crate::elf;

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
    let sections = gimli::DwarfSections::load(|id| -> Result<_, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        Ok(data.unwrap_or_default())
    });
    let sections = sections.ok()?;
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
        const HOOK: &str = "__tsan_write";
        let is_hook = |name: Result<&str, _>| name.is_ok_and(|name| name.starts_with(HOOK));
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let mut hooks: HashSet<u64> = symbols
            .filter(|symbol| symbol.is_definition() && is_hook(symbol.name()))
            .map(|symbol| symbol.address())
            .collect();
        // Those of another module are reached by stubs, which jump to what the loader finds.
        let table = file.dynamic_symbol_table();
        let imported = file.dynamic_relocations().into_iter().flatten().filter(|(_, relocation)| {
            let RelocationTarget::Symbol(index) = relocation.target() else { return false };
            let symbol = table
                .as_ref()
                .and_then(|table| object::ObjectSymbolTable::symbol_by_index(table, index).ok());
            symbol.is_some_and(|symbol| is_hook(symbol.name()))
        });
        let imported: HashSet<u64> = imported.map(|(place, _)| place).collect();
        for stubs in
            file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".plt")))
        {
            // jmp [rip + distance], within an entry of sixteen bytes.
            let jumps =
                Transfers { code: stubs.data().ok()?, start: stubs.address(), instruction: &[0xff, 0x25] };
            hooks.extend(jumps.filter(|(_, place)| imported.contains(place)).map(|(at, _)| at & !15));
        }
        let text = file.section_by_name(".text")?;
        let calls = Transfers { code: text.data().ok()?, start: text.address(), instruction: &[0xe8] };
        Some(WriteCalls {
            at: calls.filter(|(_, target)| hooks.contains(target)).map(|(at, _)| at).collect(),
        })
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

/// Everything in the code that looks like this instruction with a distance behind it: where it is, and where it leads.
/// What only looks like it leads nowhere of interest. (x86-64 only; other machines' code has none.)
struct Transfers<'a> {
    code: &'a [u8],
    start: u64,
    instruction: &'a [u8],
}

impl Iterator for Transfers<'_> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let length = self.instruction.len();
        while self.code.len() >= length + 4 {
            let (code, at) = (self.code, self.start);
            (self.code, self.start) = (&code[1..], at + 1);
            if code.starts_with(self.instruction) {
                let distance = i32::from_le_bytes(code[length..length + 4].try_into().ok()?);
                return Some((at, (at + length as u64 + 4).wrapping_add_signed(distance.into())));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_with_their_targets() {
        let code = [0x90, 0xe8, 0x10, 0, 0, 0, 0xe8, 0xfb, 0xff, 0xff, 0xff, 0xe8, 0];
        let calls = Transfers { code: &code, start: 0x1000, instruction: &[0xe8] };
        assert_eq!(calls.collect::<Vec<_>>(), [(0x1001, 0x1016), (0x1006, 0x1006)]);
    }
}
