//! Reading big-endian numbers from bytes that nobody vouches for.

use std::fmt;

/// Why a class was left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The bytes are no class file, or one that breaks the rules.
    Malformed,
    /// Made for a virtual machine that is newer than what this rewriter knows.
    UnknownVersion(u16),
    /// There is no more room in its constant pool.
    PoolFull,
    /// There are more places for hooks in the program than are numbered.
    TooManyPlaces,
    /// A method would grow beyond what the format or its jumps can express.
    MethodTooLarge,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Malformed => f.write_str("not a valid class file"),
            Refusal::UnknownVersion(version) => write!(f, "class file version {version} is not known"),
            Refusal::TooManyPlaces => f.write_str("the program has too many places to look at"),
            Refusal::PoolFull => f.write_str("its constant pool is full"),
            Refusal::MethodTooLarge => f.write_str("the method is too large"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A position in bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// From the first byte on.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Is everything read?
    pub fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The next bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Refusal> {
        let end = self.at.checked_add(count).ok_or(Refusal::Malformed)?;
        let bytes = self.bytes.get(self.at..end).ok_or(Refusal::Malformed)?;
        self.at = end;
        Ok(bytes)
    }

    /// One byte.
    pub fn u1(&mut self) -> Result<u8, Refusal> {
        Ok(self.bytes(1)?[0])
    }

    /// Two bytes.
    pub fn u2(&mut self) -> Result<u16, Refusal> {
        let bytes = self.bytes(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// Four bytes.
    pub fn u4(&mut self) -> Result<u32, Refusal> {
        let bytes = self.bytes(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// The number at an offset of code.
pub fn i2_at(bytes: &[u8], at: usize) -> Result<i16, Refusal> {
    let bytes = bytes.get(at..at + 2).ok_or(Refusal::Malformed)?;
    Ok(i16::from_be_bytes([bytes[0], bytes[1]]))
}

/// The number at an offset of code.
pub fn i4_at(bytes: &[u8], at: usize) -> Result<i32, Refusal> {
    let bytes = bytes.get(at..at + 4).ok_or(Refusal::Malformed)?;
    Ok(i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}
