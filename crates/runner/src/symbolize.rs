//! Turns addresses into names, long after the run.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSymbol as _, SymbolKind};

use crate::calls::Calls;
use crate::elf::{self, BuildId, Elf};
use crate::error::{Error, Result};
use crate::rust_names;
use crate::variables::{Member, Named, TypePlace, Variables};

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// Demangled; `module+0x1234` where the binary tells nothing.
    pub function: String,
    /// As the debug info gives it.
    pub file: Option<String>,
    /// From 1 on.
    pub line: Option<u32>,
    /// From 1 on.
    pub column: Option<u32>,
    /// Was its code inlined into the next frame's function?
    pub inlined: bool,
}

/// Names addresses of binaries, each of which is read once.
pub struct Symbolizer {
    debug_folder: PathBuf,
    modules: HashMap<PathBuf, Module>,
}

/// Where distributions put the debug info that they split off, in folders by build id.
const DEBUG_FOLDER: &str = "/usr/lib/debug/.build-id";

impl Default for Symbolizer {
    fn default() -> Symbolizer {
        Symbolizer::with_debug_folder(Path::new(DEBUG_FOLDER))
    }
}

impl Symbolizer {
    /// Looks for debug info that was split off in this folder, which is laid out like `/usr/lib/debug/.build-id`.
    pub fn with_debug_folder(folder: &Path) -> Symbolizer {
        Symbolizer { debug_folder: folder.to_owned(), modules: HashMap::new() }
    }

    /// The function at an address of the file, preceded by those inlined into it there, innermost first. Never
    /// empty. `build_id` is that of the file when it ran; one that was rebuilt since is refused.
    pub fn frames(&mut self, path: &Path, build_id: Option<&BuildId>, address: u64) -> Result<&[Frame]> {
        let module = self.module(path, build_id)?;
        Ok(module.frames.entry(address).or_insert_with(|| {
            let debug_info = module.loader.as_ref().and_then(|loader| lined_frames(loader, address));
            debug_info.unwrap_or_else(|| vec![symbol_frame(&module.functions, &module.name, address)])
        }))
    }

    /// The variable with static storage at an address of the file: `queue.size`, or `queue+8` where only symbols
    /// are known; with how its values read if they have so many bytes.
    pub fn variable(
        &mut self,
        path: &Path,
        build_id: Option<&BuildId>,
        address: u64,
        size: u64,
    ) -> Result<Option<Named>> {
        let module = self.module(path, build_id)?;
        if let Some(named) = module.debug_variables().and_then(|known| known.at(address, size)) {
            return Ok(Some(named));
        }
        Ok(module.variables.find(address).map(|(name, offset)| {
            let name = if offset == 0 { name.to_owned() } else { format!("{name}+{offset}") };
            Named { name, form: None }
        }))
    }

    /// The members of this name in the types that the code at an address of the file knows.
    pub fn members(
        &mut self,
        path: &Path,
        build_id: Option<&BuildId>,
        code: u64,
        field: &str,
    ) -> Result<Vec<Member>> {
        let module = self.module(path, build_id)?;
        let known = module.debug_variables.get_or_init(|| Variables::read(&module.debug_info));
        let Some(known) = known else { return Ok(Vec::new()) };
        let Some(unit) = known.unit_of(code) else { return Ok(Vec::new()) };
        let asked = module.members.entry((unit, field.to_owned()));
        Ok(asked.or_insert_with(|| known.members(unit, field)).clone())
    }

    /// What lies so many bytes behind the lock in a member of a type that the code at an address of the file knows: the
    /// way from the member to it, such as `.len`.
    pub fn guarded(
        &mut self,
        path: &Path,
        build_id: Option<&BuildId>,
        code: u64,
        member: (&str, &str),
        behind_lock: i64,
        size: u64,
    ) -> Result<Option<Named>> {
        let module = self.module(path, build_id)?;
        let known = module.debug_variables();
        Ok(known.and_then(|known| known.guarded(code, member.0, member.1, behind_lock, size)))
    }

    /// What lies at a place within a type that the code at an address of the file knows: the way to it, such as `.count`.
    pub fn part_of(
        &mut self,
        path: &Path,
        build_id: Option<&BuildId>,
        code: u64,
        place: TypePlace<'_>,
        size: u64,
    ) -> Result<Option<Named>> {
        let known = self.module(path, build_id)?.debug_variables();
        Ok(known.and_then(|known| known.part_of(code, place, size)))
    }

    /// The function or variable that begins at an address of the file.
    pub fn beginning_at(
        &mut self,
        path: &Path,
        build_id: Option<&BuildId>,
        address: u64,
    ) -> Result<Option<String>> {
        let module = self.module(path, build_id)?;
        let found = module.functions.find(address).or_else(|| module.variables.find(address));
        Ok(found.filter(|(_, offset)| *offset == 0).map(|(name, _)| name.to_owned()))
    }

    /// Where in the file the call leads that returns to an address of it, if the instruction tells.
    pub fn called(
        &mut self,
        path: &Path,
        build_id: Option<&BuildId>,
        returns_to: u64,
    ) -> Result<Option<u64>> {
        Ok(self.module(path, build_id)?.calls.as_ref().and_then(|calls| calls.target(returns_to)))
    }

    fn module(&mut self, path: &Path, build_id: Option<&BuildId>) -> Result<&mut Module> {
        if !self.modules.contains_key(path) {
            self.modules.insert(path.to_owned(), Module::read(path, &self.debug_folder)?);
        }
        match self.modules.get_mut(path) {
            Some(module) => module.check_build(path, build_id).map(|()| module),
            None => Err(Error::Symbols { path: path.to_owned(), why: "it is gone".to_owned() }),
        }
    }
}

struct Module {
    /// The file's name without folders.
    name: String,
    build_id: Option<BuildId>,
    /// None if the debug info cannot be read.
    loader: Option<Loader>,
    functions: Symbols,
    variables: Symbols,
    /// The file that has the debug info.
    debug_info: PathBuf,
    /// None if there is no debug info. To read it all takes long, and of most libraries nobody asks for variables.
    debug_variables: OnceCell<Option<Variables>>,
    /// None if its code cannot be read.
    calls: Option<Calls>,
    frames: HashMap<u64, Vec<Frame>>,
    /// By unit and name; finding them takes long.
    members: HashMap<(usize, String), Vec<Member>>,
}

impl Module {
    fn read(path: &Path, debug_folder: &Path) -> Result<Module> {
        let symbols_error = |why: String| Error::Symbols { path: path.to_owned(), why };
        let elf = Elf::read(path)?.ok_or_else(|| symbols_error("it is not an ELF file".to_owned()))?;
        let source = split_debug_file(elf.build_id.as_ref(), debug_folder);
        let source = source.as_deref().unwrap_or(path);
        Ok(Module {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            loader: Loader::new(source).ok(),
            functions: Symbols::read(source, SymbolKind::Text).map_err(symbols_error)?,
            variables: Symbols::read(source, SymbolKind::Data).map_err(symbols_error)?,
            debug_info: source.to_owned(),
            debug_variables: OnceCell::new(),
            calls: Calls::read(path),
            build_id: elf.build_id,
            frames: HashMap::new(),
            members: HashMap::new(),
        })
    }

    fn debug_variables(&self) -> Option<&Variables> {
        self.debug_variables.get_or_init(|| Variables::read(&self.debug_info)).as_ref()
    }

    /// A build id that is not known on one side proves nothing.
    fn check_build(&self, path: &Path, recorded: Option<&BuildId>) -> Result<()> {
        match (recorded, &self.build_id) {
            (Some(recorded), Some(found)) if recorded != found => Err(Error::Rebuilt {
                path: path.to_owned(),
                recorded: recorded.clone(),
                found: found.clone(),
            }),
            _ => Ok(()),
        }
    }
}

fn split_debug_file(build_id: Option<&BuildId>, folder: &Path) -> Option<PathBuf> {
    let (first, rest) = build_id?.as_str().split_at_checked(2)?;
    let path = folder.join(first).join(format!("{rest}.debug"));
    path.is_file().then_some(path)
}

fn symbol_frame(functions: &Symbols, module: &str, address: u64) -> Frame {
    let function = match functions.find(address) {
        Some((name, _)) => name.to_owned(),
        None => format!("{module}+{address:#x}"),
    };
    Frame { function, file: None, line: None, column: None, inlined: false }
}

/// Of code that a compiler has made one of two equal pieces, it tells the function and no line. The function's last line before it is
/// near, and says more than the line of a caller.
fn lined_frames(loader: &Loader, address: u64) -> Option<Vec<Frame>> {
    let mut frames = debug_info_frames(loader, address)?;
    if frames[0].line.is_none() {
        frames[0].line = line_before(loader, address, &frames);
    }
    Some(frames)
}

/// The last line of the first frame's function before an address, in the same calls.
fn line_before(loader: &Loader, address: u64, frames: &[Frame]) -> Option<u32> {
    let rows = loader.find_location_range(address.saturating_sub(NEAR), address).ok()?;
    let mut rows: Vec<u64> =
        rows.filter(|(_, _, location)| location.line.is_some()).map(|(start, _, _)| start).collect();
    rows.sort_unstable();
    let mut lines = rows.into_iter().rev().filter_map(|start| {
        let near = debug_info_frames(loader, start)?;
        let is_same = near[0].function == frames[0].function && near[1..] == frames[1..];
        near[0].line.filter(|_| is_same)
    });
    lines.next()
}

/// So many bytes of code are looked at for a line.
const NEAR: u64 = 512;

/// None if the debug info does not reach this address.
fn debug_info_frames(loader: &Loader, address: u64) -> Option<Vec<Frame>> {
    let mut frames = Vec::new();
    let mut found = loader.find_frames(address).ok()?;
    while let Some(frame) = found.next().ok()? {
        // Line tables without functions are those of assembly; the symbol table says more there.
        let function = frame.function.as_ref()?;
        let demangled = function.demangle().ok()?;
        let function = match function.language {
            Some(gimli::DW_LANG_Rust) => rust_names::readable(&demangled),
            _ => without_tags(&demangled),
        };
        let (file, line, column) = match frame.location {
            Some(at) => (at.file.map(without_detours), at.line, at.column.filter(|&column| column > 0)),
            None => (None, None, None),
        };
        frames.push(Frame { function, file, line, column, inlined: true });
    }
    // The last one is the function itself.
    frames.last_mut()?.inlined = false;
    Some(frames)
}

/// A path without folders that it enters only to leave them again, as clang names the headers of gcc's library:
/// `/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/atomic` is a header below `/usr/include`.
fn without_detours(path: &str) -> String {
    if !path.starts_with('/') || !path.contains("/../") {
        return path.to_owned();
    }
    let mut folders: Vec<&str> = Vec::new();
    for folder in path.split('/').skip(1) {
        match folder {
            ".." => drop(folders.pop()),
            folder => folders.push(folder),
        }
    }
    format!("/{}", folders.join("/"))
}

/// A name of C++ without what tells apart the two kinds of strings that its library has.
fn without_tags(demangled: &str) -> String {
    demangled.replace("[abi:cxx11]", "")
}

/// What the symbol table knows of one kind, by address.
struct Symbols {
    sorted: Vec<Symbol>,
}

struct Symbol {
    address: u64,
    size: u64,
    name: String,
}

impl Symbols {
    fn read(path: &Path, kind: SymbolKind) -> Result<Symbols, String> {
        let bytes = elf::map(path).map_err(|error| error.to_string())?;
        let file = ElfFile64::<object::Endianness>::parse(&*bytes).map_err(|error| error.to_string())?;
        let mut sorted: Vec<Symbol> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == kind && symbol.is_definition() && symbol.size() > 0)
            .filter_map(|symbol| {
                let mangled = symbol.name().ok()?;
                let name = addr2line::demangle_auto(mangled.into(), None);
                let is_rust = kind == SymbolKind::Text && rust_names::is_mangled(mangled);
                let name = if is_rust { rust_names::readable(&name) } else { without_tags(&name) };
                Some(Symbol { address: symbol.address(), size: symbol.size(), name })
            })
            .collect();
        // Of several names for the same place the shortest is taken, the same one every time.
        sorted.sort_by(|a, b| (a.address, a.name.len(), &a.name).cmp(&(b.address, b.name.len(), &b.name)));
        sorted.dedup_by_key(|symbol| symbol.address);
        Ok(Symbols { sorted })
    }

    /// The symbol that covers this address, and how far into it the address is.
    fn find(&self, address: u64) -> Option<(&str, u64)> {
        let after = self.sorted.partition_point(|symbol| symbol.address <= address);
        let symbol = &self.sorted[after.checked_sub(1)?];
        let offset = address - symbol.address;
        (offset < symbol.size).then_some((&symbol.name, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_files_are_found_by_build_id() {
        let folder = tempfile::tempdir().unwrap();
        let id = BuildId::from_bytes(&[0xab, 0xcd, 0xef]);
        assert_eq!(split_debug_file(id.as_ref(), folder.path()), None);
        let path = folder.path().join("ab").join("cdef.debug");
        std::fs::create_dir(folder.path().join("ab")).unwrap();
        std::fs::write(&path, "").unwrap();
        assert_eq!(split_debug_file(id.as_ref(), folder.path()), Some(path));
        assert_eq!(split_debug_file(None, folder.path()), None);
    }

    #[test]
    fn a_headers_path_takes_no_detours() {
        let header = "/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/atomic_base.h";
        assert_eq!(without_detours(header), "/usr/include/c++/12/bits/atomic_base.h");
        for plain in ["/usr/include/stdio.h", "../src/pool.c", "pool.c", ""] {
            assert_eq!(without_detours(plain), plain);
        }
        assert_eq!(without_detours("/../a.c"), "/a.c", "nothing is above the root");
    }

    #[test]
    fn symbols_end_where_their_size_says() {
        let symbol = |address, size, name: &str| Symbol { address, size, name: name.to_owned() };
        let symbols = Symbols { sorted: vec![symbol(16, 8, "head"), symbol(32, 4, "count")] };
        let cases = [
            (15, None),
            (16, Some(("head", 0))),
            (23, Some(("head", 7))),
            (24, None),
            (32, Some(("count", 0))),
            (36, None),
        ];
        for (address, expected) in cases {
            assert_eq!(symbols.find(address), expected, "{address}");
        }
    }
}
