//! What unsnarl wants to know of an ELF file.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use object::elf::{self, DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, SectionHeader as _, Sym as _};
use object::{Endianness, StringTable};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The linker's fingerprint of a binary, as lowercase hexadecimal text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BuildId(String);

impl BuildId {
    /// From the bytes of the ELF note; none if there are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<BuildId> {
        let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
        let text = || bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        (!bytes.is_empty()).then(|| BuildId(text()))
    }

    /// The bytes of the ELF note.
    pub fn bytes(&self) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(self.0.get(at..at + 2).unwrap_or_default(), 16);
        (0..self.0.len()).step_by(2).map_while(|at| digit(at).ok()).collect()
    }

    /// The hexadecimal text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Maps a file for reading.
pub(crate) fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path).map_err(Error::reading("open", path))?;
    // SAFETY: the mapping is private and read-only. Should somebody truncate the file meanwhile, reading it
    // ends this process with SIGBUS; nobody does that to finished recordings and binaries.
    unsafe { Mmap::map(&file) }.map_err(Error::reading("map", path))
}

/// The parts of an ELF file that decide how it is recorded.
#[derive(Debug, Default)]
pub(crate) struct Elf {
    pub machine: u16,
    pub build_id: Option<BuildId>,
    /// DT_NEEDED entries in order.
    pub needed: Vec<String>,
    /// DT_RPATH, which the loader searches *before* LD_LIBRARY_PATH.
    pub rpath: Option<String>,
    /// DT_RUNPATH, which it searches after.
    pub runpath: Option<String>,
    pub defines_recorder: bool,
    pub defines_tsan: bool,
    /// Calls `__tsan_*` functions that some other module must define.
    pub calls_tsan: bool,
}

/// The section that marks the static recorder even in a stripped program.
const RECORDER_SECTION: &[u8] = b".unsnarl";
/// The symbol that marks it otherwise.
const RECORDER_SYMBOL: &[u8] = b"unsnarl_recorder_version";

impl Elf {
    /// Reads an ELF file's header, sections and dynamic section; `None` if it is something else.
    /// A file that is cut off or twisted gives what could be read of it.
    pub fn read(path: &Path) -> Result<Option<Elf>> {
        let bytes = match map(path) {
            Ok(bytes) => bytes,
            // An empty file cannot be mapped.
            Err(Error::Io { doing: "map", .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Elf::parse(&bytes))
    }

    fn parse(bytes: &[u8]) -> Option<Elf> {
        if !bytes.starts_with(&elf::ELFMAG) {
            return None;
        }
        let Ok(header) = FileHeader64::<Endianness>::parse(bytes) else {
            return Some(Elf::default());
        };
        let Ok(endian) = header.endian() else { return Some(Elf::default()) };
        let mut elf = Elf { machine: header.e_machine(endian), ..Elf::default() };
        let Ok(sections) = header.sections(endian, bytes) else { return Some(elf) };
        for (_, section) in sections.enumerate() {
            if sections.section_name(endian, section) == Ok(RECORDER_SECTION) {
                elf.defines_recorder = true;
            }
            if let Ok(Some(mut notes)) = section.notes(endian, bytes) {
                while let Ok(Some(note)) = notes.next() {
                    if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                        elf.build_id = BuildId::from_bytes(note.desc());
                    }
                }
            }
            if let Ok(Some((entries, link))) = section.dynamic(endian, bytes) {
                let strings = sections.strings(endian, bytes, link).unwrap_or_default();
                for entry in entries {
                    elf.note_dynamic(u32::try_from(entry.d_tag(endian)).unwrap_or(0), || {
                        dynamic_text(strings, entry.d_val(endian))
                    });
                }
            }
        }
        for kind in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
            let Ok(symbols) = sections.symbols(endian, bytes, kind) else { continue };
            for (_, symbol) in symbols.enumerate() {
                if let Ok(name) = symbols.symbol_name(endian, symbol) {
                    elf.note_symbol(name, symbol.is_undefined(endian));
                }
            }
        }
        Some(elf)
    }

    fn note_dynamic(&mut self, tag: u32, text: impl FnOnce() -> Option<String>) {
        match tag {
            DT_NEEDED => self.needed.extend(text()),
            DT_RPATH => self.rpath = text(),
            DT_RUNPATH => self.runpath = text(),
            _ => {}
        }
    }

    fn note_symbol(&mut self, name: &[u8], undefined: bool) {
        match name {
            RECORDER_SYMBOL if !undefined => self.defines_recorder = true,
            b"__tsan_init" if !undefined => self.defines_tsan = true,
            _ if undefined && name.starts_with(b"__tsan_") => self.calls_tsan = true,
            _ => {}
        }
    }

    /// The thread sanitizer library it is linked to, if any.
    pub fn tsan_library(&self) -> Option<&str> {
        self.needed.iter().map(String::as_str).find(|name| is_tsan_library(name))
    }

    /// Was any of its own code compiled with `-fsanitize=thread`, the runtime being elsewhere?
    pub fn is_instrumented(&self) -> bool {
        self.calls_tsan || self.tsan_library().is_some()
    }

    /// Where the loader will find a library that this file needs, as far as can be told from outside.
    pub fn find_library(&self, own_path: &Path, soname: &str) -> Option<PathBuf> {
        if soname.contains('/') {
            // Not searched for: a path from where the program is started.
            return Some(PathBuf::from(soname)).filter(|path| path.is_file());
        }
        let origin = own_path.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
        let library_path = std::env::var("LD_LIBRARY_PATH").ok();
        [self.rpath.as_deref(), library_path.as_deref(), self.runpath.as_deref(), Some(SYSTEM_LIBRARIES)]
            .into_iter()
            .flatten()
            .flat_map(|list| list.split(':'))
            .filter(|folder| !folder.is_empty())
            .map(|folder| folder.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin))
            .map(|folder| Path::new(&folder).join(soname))
            .find(|path| path.is_file())
    }
}

/// Is a library of this name a compiler's thread sanitizer?
pub(crate) fn is_tsan_library(soname: &str) -> bool {
    soname.starts_with("libtsan.so") || soname.starts_with("libclang_rt.tsan")
}

/// Where distributions keep libraries; whatever else ld.so.conf names is not worth asking for, since
/// instrumented libraries are the user's own.
const SYSTEM_LIBRARIES: &str = "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib";

fn dynamic_text(strings: StringTable<'_>, offset: u64) -> Option<String> {
    let text = strings.get(u32::try_from(offset).ok()?).ok()?;
    Some(String::from_utf8_lossy(text).into_owned())
}
/// The sections with debug info; those that are missing are empty.
pub(crate) fn debug_sections<'a>(
    file: &object::File<'a>,
) -> Option<gimli::DwarfSections<std::borrow::Cow<'a, [u8]>>> {
    use object::{Object as _, ObjectSection as _};
    let sections = gimli::DwarfSections::load(|id| -> Result<_, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        Ok(data.unwrap_or_default())
    });
    sections.ok()
}
