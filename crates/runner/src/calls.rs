//! Where a binary's calls lead, by the address that they return to.

use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;
use object::{Architecture, Object as _, ObjectSection as _, SectionKind};

use crate::elf;

/// The code of a file.
pub(crate) struct Calls {
    bytes: Mmap,
    is_arm: bool,
    /// Sections with code: their addresses, and where in the file they begin.
    sections: Vec<(Range<u64>, usize)>,
}

impl Calls {
    pub fn read(path: &Path) -> Option<Calls> {
        let bytes = elf::map(path).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let is_arm = match file.architecture() {
            Architecture::X86_64 => false,
            Architecture::Aarch64 => true,
            _ => return None,
        };
        let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
        let sections = code
            .filter_map(|section| {
                let (at, size) = section.file_range()?;
                let end = section.address().checked_add(size)?;
                Some((section.address()..end, usize::try_from(at).ok()?))
            })
            .collect();
        Some(Calls { bytes, is_arm, sections })
    }

    /// The function that is called just before this address, or the slot that holds its address. None if the instruction
    /// there is no call, or does not say where it leads.
    pub fn target(&self, returns_to: u64) -> Option<u64> {
        let inside = |(addresses, _): &&(Range<u64>, usize)| {
            addresses.start < returns_to && returns_to <= addresses.end
        };
        let (addresses, at) = self.sections.iter().find(inside)?;
        let code = self.bytes.get(*at..)?.get(..usize::try_from(returns_to - addresses.start).ok()?)?;
        if self.is_arm { branch(code, returns_to) } else { call(code, returns_to) }
    }
}

/// `call distance` or `call [rip + distance]` at the end of some code of x86-64.
fn call(code: &[u8], end: u64) -> Option<u64> {
    let (before, distance) = code.split_last_chunk()?;
    let is_call = before.ends_with(&[0xe8]) || before.ends_with(&[0xff, 0x15]);
    is_call.then(|| end.wrapping_add_signed(i32::from_le_bytes(*distance).into()))
}

/// `bl distance` at the end of some code of AArch64.
fn branch(code: &[u8], end: u64) -> Option<u64> {
    let instruction = u32::from_le_bytes(*code.last_chunk()?);
    let is_branch = instruction >> 26 == 0b10_0101;
    // The distance is in instructions, with its sign in the topmost of 26 bits.
    let distance = i64::from((instruction << 6).cast_signed() >> 4);
    is_branch.then(|| (end - 4).wrapping_add_signed(distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_tell_where_they_lead() {
        assert_eq!(call(&[0x90, 0xe8, 0x10, 0, 0, 0], 0x1006), Some(0x1016));
        assert_eq!(call(&[0xff, 0x15, 0xfa, 0xff, 0xff, 0xff], 0x1006), Some(0x1000));
        assert_eq!(call(&[0x90, 0x90, 0xff, 0xd0, 0x90, 0x90], 0x1006), None);
        assert_eq!(call(&[0x10, 0, 0], 0x1003), None);
    }

    #[test]
    fn branches_tell_where_they_lead() {
        let branch_to = |instruction: u32| branch(&instruction.to_le_bytes(), 0x1004);
        assert_eq!(branch_to(0x9400_0002), Some(0x1008));
        assert_eq!(branch_to(0x97ff_ffff), Some(0xffc));
        // A call of what a register holds.
        assert_eq!(branch_to(0xd63f_0100), None);
    }
}
