//! Tells the recorder where loops are in the programs that ask for it: those whose compiler announces every basic
//! block (`-fsanitize-coverage=trace-pc`, which `unsnarl cc --loops` adds).
//!
//! Which block is in which loop is read off the machine code: blocks and jumps of each function (`blocks`), and
//! the loops among them (`nesting`). docs/design/loops.md gives the reasons.

mod announcements;
mod blocks;
mod nesting;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind, SymbolKind};
use recording::{BYTES_PER_BLOCK, Block, LOOPS_MAGIC, LoopTable};
use tempfile::TempDir;

use crate::elf;
use crate::error::{Error, Result};
use crate::session::Binary;
use announcements::Announcements;

/// Writes the tables of these binaries into a folder for the recorder. None if none of them announces its blocks.
pub fn tables(binaries: &[Binary]) -> Result<Option<TempDir>> {
    let mut folder = None;
    for binary in binaries {
        let Some(build_id) = &binary.build_id else { continue };
        let Some(blocks) = in_file(&binary.path)? else { continue };
        let folder = match &mut folder {
            Some(folder) => folder,
            none => {
                let made = tempfile::Builder::new().prefix("unsnarl-loops-").tempdir();
                none.insert(made.map_err(Error::writing(&std::env::temp_dir()))?)
            }
        };
        write(&folder.path().join(build_id.as_str()), &blocks)?;
    }
    Ok(folder)
}

/// What each announcement in a binary's code means, by the address to which it returns. None if there are no
/// announcements, or if the machine is not one whose code is understood.
fn in_file(path: &Path) -> Result<Option<BTreeMap<u64, Block>>> {
    let bytes = elf::map(path)?;
    let Ok(file) = object::File::parse(&*bytes) else { return Ok(None) };
    let Some(mut announcements) = Announcements::of(&file) else { return Ok(None) };
    let functions = functions(&file);
    for (&start, code) in &functions {
        if !blocks::can_return(code, start) {
            announcements.note_end(start);
        }
    }
    let mut table = BTreeMap::new();
    let mut loops = 0;
    for (&start, code) in &functions {
        nesting::describe(&blocks::of_function(code, start, &announcements), &mut loops, &mut table);
    }
    Ok(Some(table))
}

/// The code of each function, by its address. Several names may stand for one.
fn functions<'a>(file: &object::File<'a>) -> BTreeMap<u64, &'a [u8]> {
    let mut functions = BTreeMap::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let Ok(code) = section.data() else { continue };
        let within = section.address()..section.address() + code.len() as u64;
        let symbols = file.symbols().filter(|symbol| {
            symbol.kind() == SymbolKind::Text && symbol.size() > 0 && within.contains(&symbol.address())
        });
        for symbol in symbols {
            let from = (symbol.address() - within.start) as usize;
            let rest = &code[from..];
            functions.insert(symbol.address(), &rest[..rest.len().min(symbol.size() as usize)]);
        }
    }
    functions
}

fn write(path: &Path, blocks: &BTreeMap<u64, Block>) -> Result<()> {
    let per_block = BYTES_PER_BLOCK as u64;
    let start = blocks.first_key_value().map_or(0, |(&first, _)| first / per_block * per_block);
    let count = blocks.last_key_value().map_or(0, |(&last, _)| (last - start) / per_block + 1);
    let mut table = vec![Block::OUTSIDE; count as usize];
    for (address, &block) in blocks {
        table[((address - start) / per_block) as usize] = block;
    }
    let header = LoopTable { magic: LOOPS_MAGIC, start, blocks: count };
    let mut file = fs::File::create(path).map_err(Error::writing(path))?;
    let words = [header.magic, header.start, header.blocks].map(u64::to_le_bytes);
    let bytes: Vec<u8> =
        words.into_iter().flatten().chain(table.iter().flat_map(|block| block.to_bytes())).collect();
    file.write_all(&bytes).map_err(Error::writing(path))
}
