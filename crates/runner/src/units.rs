//! The units of a binary's debug info, those that compilers leave in files of their own (`-gsplit-dwarf`) included.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gimli::RunTimeEndian;
use object::{Object as _, ObjectSection as _};

use crate::elf;
use crate::types::{Reader, Unit};

/// A unit with the debug info that it is a part of.
pub(crate) struct Described {
    pub(crate) dwarf: Arc<gimli::Dwarf<Reader>>,
    pub(crate) unit: Unit,
}

/// All units of a binary, and the code that each of them describes; none if there is no debug info that can be read.
#[expect(clippy::type_complexity, reason = "both are by the number of a unit")]
pub(crate) fn read(path: &Path) -> Option<(Vec<Described>, Vec<(Range<u64>, usize)>)> {
    let dwarf = Arc::new(load(path, |id| Some(id.name()))?);
    let (mut units, mut code) = (Vec::new(), Vec::new());
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let mut ranges = dwarf.unit_ranges(&unit);
        while let Some(range) = ranges.as_mut().ok().and_then(|ranges| ranges.next().ok().flatten()) {
            code.push((range.begin..range.end, units.len()));
        }
        let split = split_off(path, &dwarf, &unit);
        units.push(split.unwrap_or_else(|| Described { dwarf: Arc::clone(&dwarf), unit }));
    }
    Some((units, code))
}

fn load(
    path: &Path,
    name: impl Fn(gimli::SectionId) -> Option<&'static str>,
) -> Option<gimli::Dwarf<Reader>> {
    let bytes = elf::map(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
        let data = name(id).and_then(|name| file.section_by_name(name));
        let data = data.and_then(|section| section.uncompressed_data().ok());
        Ok(Reader::new(Arc::from(data.as_deref().unwrap_or_default()), endian))
    };
    gimli::Dwarf::load(section).ok()
}

/// What a unit says is in another file, where the compiler put it or beside the binary.
fn split_off(binary: &Path, dwarf: &gimli::Dwarf<Reader>, skeleton: &Unit) -> Option<Described> {
    let text = |text: Reader| PathBuf::from(String::from_utf8_lossy(text.bytes()).into_owned());
    let name = text(dwarf.attr_string(skeleton, skeleton.dwo_name().ok()??).ok()?);
    let folder = skeleton.comp_dir.clone().map(text).unwrap_or_default();
    let beside = binary.with_file_name(name.file_name()?);
    [folder.join(&name), beside].iter().find_map(|file| {
        let mut own = load(file, |id| id.dwo_name())?;
        own.make_dwo(dwarf);
        let header = own.units().next().ok()??;
        let mut unit = own.unit(header).ok()?;
        // One that was compiled again since describes other code.
        if unit.dwo_id != skeleton.dwo_id {
            return None;
        }
        unit.copy_relocated_attributes(skeleton);
        Some(Described { dwarf: Arc::new(own), unit })
    })
}
