//! The constant pool: what a class refers to by number. Entries are only ever added, so that numbers stay valid.

use std::collections::HashMap;

use super::reader::{Reader, Refusal};

const UTF8: u8 = 1;
const INTEGER: u8 = 3;
const LONG: u8 = 5;
const DOUBLE: u8 = 6;
const CLASS: u8 = 7;
const METHOD: u8 = 10;
const NAME_AND_TYPE: u8 = 12;

/// A field or method as code names it: class, name, descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The class that it is looked up in, which need not be the one that declares it.
    pub class: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its type, as in `(IJ)V` or `I`.
    pub descriptor: &'a str,
}

/// A constant pool.
#[derive(Clone, Debug)]
pub struct Pool {
    /// All entries as they stand in the file.
    bytes: Vec<u8>,
    /// Where each entry begins; the second halves of long entries have none.
    offsets: Vec<Option<usize>>,
    /// Entries added, by their bytes.
    added: HashMap<Vec<u8>, u16>,
}

impl Pool {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Pool, Refusal> {
        let count = reader.u2()?;
        let mut pool = Pool { bytes: Vec::new(), offsets: vec![None], added: HashMap::new() };
        while pool.offsets.len() < usize::from(count) {
            let tag = reader.u1()?;
            pool.offsets.push(Some(pool.bytes.len()));
            pool.bytes.push(tag);
            let length = match tag {
                UTF8 => {
                    let length = reader.u2()?;
                    pool.bytes.extend(length.to_be_bytes());
                    usize::from(length)
                }
                CLASS | 8 | 16 | 19 | 20 => 2,
                15 => 3,
                INTEGER | 4 | 9 | METHOD | 11 | NAME_AND_TYPE | 17 | 18 => 4,
                LONG | DOUBLE => {
                    pool.offsets.push(None);
                    8
                }
                _ => return Err(Refusal::Malformed),
            };
            pool.bytes.extend_from_slice(reader.bytes(length)?);
        }
        // A long entry in last place would have no room for its second half.
        if pool.offsets.len() == usize::from(count) { Ok(pool) } else { Err(Refusal::Malformed) }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend((self.offsets.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.bytes);
    }

    /// An entry's content, if it is of this kind.
    fn entry(&self, index: u16, tag: u8) -> Option<&[u8]> {
        let offset = (*self.offsets.get(usize::from(index))?)?;
        (self.bytes[offset] == tag).then(|| &self.bytes[offset + 1..])
    }

    fn number(entry: &[u8], at: usize) -> u16 {
        u16::from_be_bytes([entry[at], entry[at + 1]])
    }

    /// A text. None also for the few that are not UTF-8, which no name in practice is.
    pub fn text(&self, index: u16) -> Option<&str> {
        let entry = self.entry(index, UTF8)?;
        let length = usize::from(Pool::number(entry, 0));
        std::str::from_utf8(&entry[2..2 + length]).ok()
    }

    /// The name of a class, as in `java/lang/String`.
    pub fn class(&self, index: u16) -> Option<&str> {
        self.text(Pool::number(self.entry(index, CLASS)?, 0))
    }

    /// A field or method.
    pub fn member(&self, index: u16) -> Option<Member<'_>> {
        let entry = [9, METHOD, 11].into_iter().find_map(|tag| self.entry(index, tag))?;
        let class = self.class(Pool::number(entry, 0))?;
        let (name, descriptor) = self.name_and_type(Pool::number(entry, 2))?;
        Some(Member { class, name, descriptor })
    }

    /// The number of the class that a field or method is looked up in.
    pub fn class_of_member(&self, index: u16) -> Option<u16> {
        let entry = [9, METHOD, 11].into_iter().find_map(|tag| self.entry(index, tag))?;
        Some(Pool::number(entry, 0))
    }

    fn name_and_type(&self, index: u16) -> Option<(&str, &str)> {
        let entry = self.entry(index, NAME_AND_TYPE)?;
        Some((self.text(Pool::number(entry, 0))?, self.text(Pool::number(entry, 2))?))
    }

    fn add(&mut self, tag: u8, content: &[u8]) -> Result<u16, Refusal> {
        let mut entry = vec![tag];
        entry.extend_from_slice(content);
        if let Some(&index) = self.added.get(&entry) {
            return Ok(index);
        }
        let index = u16::try_from(self.offsets.len()).ok().filter(|&index| index < u16::MAX);
        let index = index.ok_or(Refusal::PoolFull)?;
        self.offsets.push(Some(self.bytes.len()));
        self.bytes.extend_from_slice(&entry);
        self.added.insert(entry, index);
        Ok(index)
    }

    /// Adds a text.
    pub fn add_text(&mut self, text: &str) -> Result<u16, Refusal> {
        let length = u16::try_from(text.len()).map_err(|_| Refusal::Malformed)?;
        let mut content = length.to_be_bytes().to_vec();
        content.extend_from_slice(text.as_bytes());
        self.add(UTF8, &content)
    }

    /// Adds a class.
    pub fn add_class(&mut self, name: &str) -> Result<u16, Refusal> {
        let name = self.add_text(name)?;
        self.add(CLASS, &name.to_be_bytes())
    }

    /// Adds a method.
    pub fn add_method(&mut self, class: &str, name: &str, descriptor: &str) -> Result<u16, Refusal> {
        let class = self.add_class(class)?;
        let (name, descriptor) = (self.add_text(name)?, self.add_text(descriptor)?);
        let pair = [name.to_be_bytes(), descriptor.to_be_bytes()].concat();
        let pair = self.add(NAME_AND_TYPE, &pair)?;
        self.add(METHOD, &[class.to_be_bytes(), pair.to_be_bytes()].concat())
    }

    /// Adds a number.
    pub fn add_integer(&mut self, number: i32) -> Result<u16, Refusal> {
        self.add(INTEGER, &number.to_be_bytes())
    }

    /// A pool with nothing in it.
    pub fn empty() -> Pool {
        Pool { bytes: Vec::new(), offsets: vec![None], added: HashMap::new() }
    }
}
