//! Names that only the recorded process knows: of code that is in no file a reader could open, and of what such code
//! works with. Recorders whose programs have debug info leave this region empty.

use crate::layout::Pod;

/// Where the addresses of numbered objects begin. They lie in no module.
const FIRST_OBJECT: u64 = 1 << 61;
const OBJECT_BYTES: u64 = 16;

/// The address of a lock or the like that has only a number.
pub const fn object_address(number: u64) -> u64 {
    FIRST_OBJECT + OBJECT_BYTES * number
}

/// The number of the object with this address.
pub const fn object_number(address: u64) -> u64 {
    address.wrapping_sub(FIRST_OBJECT) / OBJECT_BYTES
}

/// What a name is for. The numbers are part of the format.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// A function. The key is the address of its first byte, and lines follow.
    Function = 1,
    /// A location, by its index. `size` says how its values read: a type's letter in Java's class files.
    Location = 2,
    /// A lock or another synchronization object, by its address.
    Lock = 3,
    /// A thread, by its index, if its name has more bytes than its record has room for.
    Thread = 4,
}

impl NameKind {
    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<NameKind> {
        use NameKind::*;
        [Function, Location, Lock, Thread].into_iter().find(|&kind| kind as u32 == number)
    }
}

/// The start of an entry. `lines` [`LineRecord`]s follow, then the name and the file, padded to eight bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameHeader {
    /// [`NameKind`] as a number.
    pub kind: u32,
    /// Bytes of code of a function; see [`NameKind::Location`].
    pub size: u32,
    /// What is named: see [`NameKind`].
    pub key: u64,
    /// Number of lines that follow.
    pub lines: u32,
    /// Length of the name.
    pub name_bytes: u32,
    /// Length of the file's name.
    pub file_bytes: u32,
    /// Zero.
    pub reserved: u32,
}

/// From `offset` on, a function's code belongs to this line.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRecord {
    /// Bytes from the function's start.
    pub offset: u32,
    /// From 1 on.
    pub line: u32,
}

// SAFETY: repr(C) integers without padding (2 × u32, u64, 4 × u32).
unsafe impl Pod for NameHeader {}
// SAFETY: repr(C) integers without padding.
unsafe impl Pod for LineRecord {}
