//! Archives of objects, as linkers read them: taken apart, their symbols renamed, and put together again.
//!
//! Rejected: `objcopy --redefine-syms`, which renames in all members of an archive alike, and for which each compiler has another
//! program; `ar`, which mixes up members of the same name.

use std::collections::HashSet;

use object::LittleEndian;
use object::elf::{FileHeader64, SHN_UNDEF, SHT_SYMTAB, STB_LOCAL, STB_WEAK};
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader as _, SectionHeader as _, Sym as _};

const MAGIC: &[u8] = b"!<arch>\n";
/// Ends each member's header.
const HEADER_END: &str = "`\n";

/// Sizes in ELF files, and where fields are in their structures.
const SYMBOL: usize = 24;
const SYMBOL_INFO: usize = 4;
const SECTION_HEADER: usize = 64;
const SECTION_OFFSET: usize = 24;
const SECTION_SIZE: usize = 32;

/// A file of an archive.
pub(super) struct Member {
    name: Vec<u8>,
    content: Vec<u8>,
}

/// A symbol that objects share.
pub(super) struct Symbol<'a> {
    pub name: &'a str,
    /// Defined here, or asked of others?
    pub is_defined: bool,
    /// In which section it is defined; empty for those in none.
    pub section: &'a str,
}

/// What becomes of a symbol.
pub(super) enum Change {
    None,
    Name(String),
    /// Nobody needs to define it.
    Weaken,
}

/// All members of an archive; none if it is something else, such as a linker's script.
pub(super) fn members(bytes: &[u8]) -> object::Result<Vec<Member>> {
    let read = |member: object::Result<object::read::archive::ArchiveMember<'_>>| {
        let member = member?;
        Ok(Member { name: member.name().to_vec(), content: member.data(bytes)?.to_vec() })
    };
    ArchiveFile::parse(bytes)?.members().map(read).collect()
}

impl Member {
    /// Calls `visit` with each symbol that the object shares.
    pub fn symbols(&self, mut visit: impl FnMut(&Symbol<'_>)) -> object::Result<()> {
        self.each_symbol(|symbol, _| visit(symbol)).map(drop)
    }

    /// Goes through the symbols with where they are in the file; returns where the header of their names' section is.
    fn each_symbol(&self, mut visit: impl FnMut(&Symbol<'_>, usize)) -> object::Result<Option<usize>> {
        let (endian, bytes) = (LittleEndian, &*self.content);
        if !bytes.starts_with(&object::elf::ELFMAG) {
            return Ok(None);
        }
        let header = FileHeader64::<LittleEndian>::parse(bytes)?;
        let sections = header.sections(endian, bytes)?;
        let table = sections.symbols(endian, bytes, SHT_SYMTAB)?;
        if table.is_empty() {
            return Ok(None);
        }
        let begin = sections.section(table.section())?.sh_offset(endian) as usize;
        for (index, symbol) in table.enumerate() {
            if symbol.st_bind() == STB_LOCAL {
                continue;
            }
            let Ok(name) = std::str::from_utf8(table.symbol_name(endian, symbol)?) else { continue };
            let section = table.symbol_section(endian, symbol, index)?;
            let section = section.and_then(|section| sections.section(section).ok());
            let section = section.and_then(|section| sections.section_name(endian, section).ok());
            let section = section.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default();
            let is_defined = symbol.st_shndx(endian) != SHN_UNDEF;
            visit(&Symbol { name, is_defined, section }, begin + index.0 * SYMBOL);
        }
        Ok(Some(header.e_shoff(endian) as usize + table.string_section().0 * SECTION_HEADER))
    }

    /// Changes symbols. New names are added to a copy of the old ones at the end of the file: what else is named in the same
    /// section keeps its name.
    pub fn change(&mut self, change: impl Fn(&Symbol<'_>) -> Change) -> object::Result<()> {
        let mut renamed: Vec<(usize, String)> = Vec::new();
        let mut weakened = Vec::new();
        let names = self.each_symbol(|symbol, at| match change(symbol) {
            Change::None => {}
            Change::Name(name) => renamed.push((at, name)),
            Change::Weaken => weakened.push(at),
        })?;
        for at in weakened {
            let info = &mut self.content[at + SYMBOL_INFO];
            *info = STB_WEAK << 4 | *info & 0xf;
        }
        let Some(names) = names.filter(|_| !renamed.is_empty()) else { return Ok(()) };
        let (begin, size) = (self.word(names + SECTION_OFFSET), self.word(names + SECTION_SIZE));
        let mut strings = self.content[begin..begin + size].to_vec();
        for (at, name) in renamed {
            self.content[at..at + 4].copy_from_slice(&(strings.len() as u32).to_le_bytes());
            strings.extend_from_slice(name.as_bytes());
            strings.push(0);
        }
        let begin = self.content.len();
        for (at, value) in [(SECTION_OFFSET, begin), (SECTION_SIZE, strings.len())] {
            self.content[names + at..][..8].copy_from_slice(&(value as u64).to_le_bytes());
        }
        self.content.extend_from_slice(&strings);
        Ok(())
    }

    /// The eight bytes here; the reader has been there before.
    fn word(&self, at: usize) -> usize {
        self.content[at..at + 8].iter().rev().fold(0, |word, &byte| word << 8 | usize::from(byte))
    }

    /// Names that the object offers to others.
    fn defined(&self) -> object::Result<Vec<String>> {
        let mut names = Vec::new();
        self.symbols(|symbol| {
            if symbol.is_defined {
                names.push(symbol.name.to_owned());
            }
        })?;
        Ok(names)
    }
}

/// Puts members together to an archive with an index of what they define.
pub(super) fn joined(members: &[Member]) -> object::Result<Vec<u8>> {
    let defined = members.iter().map(Member::defined).collect::<object::Result<Vec<_>>>()?;
    let names: Vec<u8> = members.iter().flat_map(|member| [&member.name, &b"/\n"[..]].concat()).collect();
    let in_index = defined.iter().flatten().map(|name| name.len() + 1).sum::<usize>();
    let index_bytes = 4 * (1 + defined.iter().flatten().count()) + in_index;

    let mut at = MAGIC.len() + 2 * HEADER + even(index_bytes) + even(names.len());
    let (mut offsets, mut texts) = (Vec::new(), Vec::new());
    for (member, defined) in members.iter().zip(&defined) {
        for name in defined {
            offsets.extend_from_slice(&(at as u32).to_be_bytes());
            texts.extend_from_slice(name.as_bytes());
            texts.push(0);
        }
        at += HEADER + even(member.content.len());
    }
    let count = (defined.iter().flatten().count() as u32).to_be_bytes();

    let mut archive = MAGIC.to_vec();
    add(&mut archive, "/", &[&count[..], &offsets, &texts].concat());
    add(&mut archive, "//", &names);
    let mut name_at = 0;
    for member in members {
        add(&mut archive, &format!("/{name_at}"), &member.content);
        name_at += member.name.len() + 2;
    }
    Ok(archive)
}

/// Bytes of the text before each member: name, time, owner and group, mode, size.
const HEADER: usize = 60;

fn add(archive: &mut Vec<u8>, name: &str, content: &[u8]) {
    let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}{HEADER_END}", 0, 0, 0, 644, content.len());
    archive.extend_from_slice(header.as_bytes());
    archive.extend_from_slice(content);
    if content.len() % 2 == 1 {
        archive.push(b'\n');
    }
}

fn even(bytes: usize) -> usize {
    bytes.next_multiple_of(2)
}

/// The names that an archive's members ask others to define, or define themselves.
pub(super) fn names(
    members: &[Member],
    wanted: impl Fn(&Symbol<'_>) -> bool,
) -> object::Result<HashSet<String>> {
    let mut names = HashSet::new();
    for member in members {
        member.symbols(|symbol| {
            if wanted(symbol) {
                names.insert(symbol.name.to_owned());
            }
        })?;
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn tool(folder: &Path, line: &str) -> String {
        let output = Command::new("sh").args(["-c", line]).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Members of the same name, one with a name that is too long for a header, one of an odd number of bytes.
    #[test]
    fn an_archive_put_together_again_is_as_it_was_but_for_what_was_changed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for (name, text) in [
            ("one/same.c", "int first(void) { return 1; }"),
            ("two/same.c", "int first(void); int second(void) { return first() + 1; }"),
            ("a_name_that_is_longer_than_a_header_has_room_for.c", "int second(void), third = 3;"),
        ] {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::write(folder.join("note.txt"), "odd").unwrap();
        tool(
            folder,
            "for f in one/same two/same a_name_that_is_longer_than_a_header_has_room_for; do gcc -c $f.c -o $f.o || exit 1; done",
        );
        tool(folder, "ar qc lib.a note.txt one/same.o two/same.o a_*_for.o && ar s lib.a");

        let mut parts = members(&std::fs::read(folder.join("lib.a")).unwrap()).unwrap();
        std::fs::write(folder.join("again.a"), joined(&parts).unwrap()).unwrap();
        assert_eq!(tool(folder, "nm -s again.a"), tool(folder, "nm -s lib.a"));
        assert_eq!(tool(folder, "ar p again.a | od -c"), tool(folder, "ar p lib.a | od -c"));

        for part in &mut parts {
            let rename = |symbol: &Symbol<'_>| match symbol.name {
                "first" if symbol.is_defined => Change::Name("the_real_first".to_owned()),
                "first" => Change::Weaken,
                _ => Change::None,
            };
            part.change(rename).unwrap();
        }
        std::fs::write(folder.join("changed.a"), joined(&parts).unwrap()).unwrap();
        let symbols = tool(folder, "nm changed.a");
        assert!(symbols.contains("T the_real_first") && symbols.contains("w first"), "{symbols}");
        let index = tool(folder, "nm -s changed.a");
        assert!(index.contains("the_real_first in same.o") && !index.contains("\nfirst in"), "{index}");
        let main = "int first(void) { return 40; } int second(void), the_real_first(void);\n\
                    int main(void) { return second() + the_real_first(); }";
        std::fs::write(folder.join("main.c"), main).unwrap();
        tool(folder, "gcc main.c changed.a -o main && (./main; test $? = 42)");
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        assert!(members(b"/* GNU ld script */ GROUP ( libm.a )").is_err());
        assert!(members(MAGIC).unwrap().is_empty());
    }
}
