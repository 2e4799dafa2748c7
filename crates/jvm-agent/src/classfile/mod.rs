//! Class files: reading and writing what the rewriter changes, and keeping everything else byte for byte.

mod code;
mod frames;
mod loops;
mod pool;
mod reader;
mod weave;

pub use code::{Code, Handler, Instruction, opcode};
pub use loops::{Loops, loops};
pub use pool::{Member, Pool};
pub use reader::{Reader, Refusal};
pub use weave::{Insertions, OnException, weave};

/// Class files up to this version are understood: Java 25. Newer ones may have instructions or attributes that
/// refer to code in ways the rewriter does not know.
pub const NEWEST_VERSION: u16 = 69;

/// The Java of that version.
pub const NEWEST_JAVA: u16 = NEWEST_VERSION - 44;

const MAGIC: u32 = 0xcafe_babe;

/// Access flags, as far as they matter here.
pub mod access {
    /// Belongs to the class, not to an object.
    pub const STATIC: u16 = 0x0008;
    /// Of a field: written but once.
    pub const FINAL: u16 = 0x0010;
    /// Holds the object's monitor while it runs.
    pub const SYNCHRONIZED: u16 = 0x0020;
    /// Of a field: every access is ordered.
    pub const VOLATILE: u16 = 0x0040;
    /// Implemented outside of the class.
    pub const NATIVE: u16 = 0x0100;
    /// Has no code.
    pub const ABSTRACT: u16 = 0x0400;
    /// Made by the compiler.
    pub const SYNTHETIC: u16 = 0x1000;
}

/// An attribute: the number of its name, and its content.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Number of its name in the pool.
    pub name: u16,
    /// Content.
    pub content: Vec<u8>,
}

/// A field or method.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// See [`access`].
    pub access: u16,
    /// Number of its name.
    pub name: u16,
    /// Number of its descriptor.
    pub descriptor: u16,
    /// All of its attributes.
    pub attributes: Vec<Attribute>,
}

/// A class.
#[derive(Clone, Debug)]
pub struct ClassFile {
    /// As in the file: minor, major.
    pub version: (u16, u16),
    /// What the class refers to.
    pub pool: Pool,
    /// See [`access`].
    pub access: u16,
    /// Number of its own name.
    pub this_class: u16,
    /// Number of its superclass.
    pub super_class: u16,
    /// Numbers of its interfaces.
    pub interfaces: Vec<u16>,
    /// Its fields.
    pub fields: Vec<Declaration>,
    /// Its methods.
    pub methods: Vec<Declaration>,
    /// Its own attributes.
    pub attributes: Vec<Attribute>,
}

impl ClassFile {
    /// Reads a class file.
    pub fn read(bytes: &[u8]) -> Result<ClassFile, Refusal> {
        let mut reader = Reader::new(bytes);
        if reader.u4()? != MAGIC {
            return Err(Refusal::Malformed);
        }
        let version = (reader.u2()?, reader.u2()?);
        if version.1 > NEWEST_VERSION {
            return Err(Refusal::UnknownVersion(version.1));
        }
        let class = ClassFile {
            version,
            pool: Pool::read(&mut reader)?,
            access: reader.u2()?,
            this_class: reader.u2()?,
            super_class: reader.u2()?,
            interfaces: (0..reader.u2()?).map(|_| reader.u2()).collect::<Result<_, _>>()?,
            fields: declarations(&mut reader)?,
            methods: declarations(&mut reader)?,
            attributes: attributes(&mut reader)?,
        };
        if reader.is_done() { Ok(class) } else { Err(Refusal::Malformed) }
    }

    /// The class as a file.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(MAGIC.to_be_bytes());
        out.extend(self.version.0.to_be_bytes());
        out.extend(self.version.1.to_be_bytes());
        self.pool.write(&mut out);
        for number in [self.access, self.this_class, self.super_class, self.interfaces.len() as u16] {
            out.extend(number.to_be_bytes());
        }
        self.interfaces.iter().for_each(|interface| out.extend(interface.to_be_bytes()));
        for declarations in [&self.fields, &self.methods] {
            out.extend((declarations.len() as u16).to_be_bytes());
            for declaration in declarations {
                for number in [declaration.access, declaration.name, declaration.descriptor] {
                    out.extend(number.to_be_bytes());
                }
                write_attributes(&declaration.attributes, &mut out);
            }
        }
        write_attributes(&self.attributes, &mut out);
        out
    }

    /// Its name, as in `java/lang/String`.
    pub fn name(&self) -> &str {
        self.pool.class(self.this_class).unwrap_or_default()
    }

    /// The name of its source file.
    pub fn source_file(&self) -> Option<&str> {
        let attribute = find(&self.attributes, &self.pool, "SourceFile")?;
        self.pool.text(Reader::new(&attribute.content).u2().ok()?)
    }
}

/// The attribute with this name.
pub fn find<'a>(attributes: &'a [Attribute], pool: &Pool, name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|attribute| pool.text(attribute.name) == Some(name))
}

fn declarations(reader: &mut Reader<'_>) -> Result<Vec<Declaration>, Refusal> {
    (0..reader.u2()?)
        .map(|_| {
            Ok(Declaration {
                access: reader.u2()?,
                name: reader.u2()?,
                descriptor: reader.u2()?,
                attributes: attributes(reader)?,
            })
        })
        .collect()
}

fn attributes(reader: &mut Reader<'_>) -> Result<Vec<Attribute>, Refusal> {
    (0..reader.u2()?)
        .map(|_| {
            let name = reader.u2()?;
            let length = reader.u4()? as usize;
            Ok(Attribute { name, content: reader.bytes(length)?.to_vec() })
        })
        .collect()
}

fn write_attributes(attributes: &[Attribute], out: &mut Vec<u8>) {
    out.extend((attributes.len() as u16).to_be_bytes());
    for attribute in attributes {
        out.extend(attribute.name.to_be_bytes());
        out.extend((attribute.content.len() as u32).to_be_bytes());
        out.extend_from_slice(&attribute.content);
    }
}
