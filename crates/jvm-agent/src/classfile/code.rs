//! A method's code: its instructions, handlers and attributes.

use super::reader::{Reader, Refusal, i2_at, i4_at};
use super::{Attribute, attributes, write_attributes};

/// Instructions that the rewriter looks at or makes.
#[allow(missing_docs)]
pub mod opcode {
    pub const ACONST_NULL: u8 = 1;
    pub const ICONST_0: u8 = 3;
    pub const LCONST_0: u8 = 9;
    pub const SIPUSH: u8 = 17;
    pub const LDC_W: u8 = 19;
    pub const ILOAD: u8 = 21;
    pub const ALOAD_0: u8 = 42;
    pub const ILOAD_1: u8 = 27;
    pub const IALOAD: u8 = 46;
    pub const SALOAD: u8 = 53;
    pub const ISTORE: u8 = 54;
    pub const ASTORE: u8 = 58;
    pub const ASTORE_0: u8 = 75;
    pub const IASTORE: u8 = 79;
    pub const LASTORE: u8 = 80;
    pub const DASTORE: u8 = 82;
    pub const SASTORE: u8 = 86;
    pub const POP: u8 = 87;
    pub const POP2: u8 = 88;
    pub const DUP: u8 = 89;
    pub const DUP_X2: u8 = 91;
    pub const DUP2: u8 = 92;
    pub const DUP2_X1: u8 = 93;
    pub const DUP2_X2: u8 = 94;
    pub const SWAP: u8 = 95;
    pub const IINC: u8 = 132;
    pub const I2L: u8 = 133;
    pub const LCMP: u8 = 148;
    pub const GOTO: u8 = 167;
    pub const RET: u8 = 169;
    pub const IRETURN: u8 = 172;
    pub const LRETURN: u8 = 173;
    pub const RETURN: u8 = 177;
    pub const GETSTATIC: u8 = 178;
    pub const PUTSTATIC: u8 = 179;
    pub const GETFIELD: u8 = 180;
    pub const PUTFIELD: u8 = 181;
    pub const INVOKEVIRTUAL: u8 = 182;
    pub const INVOKESPECIAL: u8 = 183;
    pub const INVOKESTATIC: u8 = 184;
    pub const INVOKEINTERFACE: u8 = 185;
    pub const INVOKEDYNAMIC: u8 = 186;
    pub const NEW: u8 = 187;
    pub const NEWARRAY: u8 = 188;
    pub const ANEWARRAY: u8 = 189;
    pub const MULTIANEWARRAY: u8 = 197;
    pub const ATHROW: u8 = 191;
    pub const MONITORENTER: u8 = 194;
    pub const MONITOREXIT: u8 = 195;
    pub const TABLESWITCH: u8 = 170;
    pub const LOOKUPSWITCH: u8 = 171;
    pub const WIDE: u8 = 196;
    pub const GOTO_W: u8 = 200;
    pub const JSR_W: u8 = 201;
}

/// An exception handler: code from `start` to before `end` is covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// First position covered.
    pub start: u16,
    /// First position not covered.
    pub end: u16,
    /// Where the handler begins.
    pub target: u16,
    /// Number of the class caught, zero for everything.
    pub catches: u16,
}

/// The content of a Code attribute.
#[derive(Clone, Debug)]
pub struct Code {
    /// Deepest operand stack.
    pub max_stack: u16,
    /// Number of local variables.
    pub max_locals: u16,
    /// The instructions.
    pub bytes: Vec<u8>,
    /// In the order in which they are tried.
    pub handlers: Vec<Handler>,
    /// Lines, variables, frames and others.
    pub attributes: Vec<Attribute>,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its position.
    pub at: usize,
    /// Its length, operands and padding included.
    pub length: usize,
    /// What it does.
    pub opcode: u8,
}

/// Where an instruction can jump to other than to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Jumps {
    None,
    /// By a 16-bit distance behind the opcode.
    Short(i64),
    /// By a 32-bit distance.
    Long(i64),
    /// Switches: default, other targets.
    Switch(i64, Vec<i64>),
}

impl Code {
    /// Reads the content of a Code attribute.
    pub fn read(content: &[u8]) -> Result<Code, Refusal> {
        let mut reader = Reader::new(content);
        let (max_stack, max_locals) = (reader.u2()?, reader.u2()?);
        let length = reader.u4()? as usize;
        let bytes = reader.bytes(length)?.to_vec();
        let handlers = (0..reader.u2()?)
            .map(|_| {
                Ok(Handler {
                    start: reader.u2()?,
                    end: reader.u2()?,
                    target: reader.u2()?,
                    catches: reader.u2()?,
                })
            })
            .collect::<Result<_, Refusal>>()?;
        Ok(Code { max_stack, max_locals, bytes, handlers, attributes: attributes(&mut reader)? })
    }

    /// The content of a Code attribute.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.max_stack.to_be_bytes());
        out.extend(self.max_locals.to_be_bytes());
        out.extend((self.bytes.len() as u32).to_be_bytes());
        out.extend_from_slice(&self.bytes);
        out.extend((self.handlers.len() as u16).to_be_bytes());
        for handler in &self.handlers {
            for number in [handler.start, handler.end, handler.target, handler.catches] {
                out.extend(number.to_be_bytes());
            }
        }
        write_attributes(&self.attributes, &mut out);
        out
    }

    /// All instructions in order.
    pub fn instructions(&self) -> Result<Vec<Instruction>, Refusal> {
        let mut instructions = Vec::new();
        let mut at = 0;
        while at < self.bytes.len() {
            let length = length_at(&self.bytes, at)?;
            if at + length > self.bytes.len() {
                return Err(Refusal::Malformed);
            }
            instructions.push(Instruction { at, length, opcode: self.bytes[at] });
            at += length;
        }
        Ok(instructions)
    }

    /// The operand of an instruction that refers to the pool.
    pub fn pool_operand(&self, instruction: &Instruction) -> u16 {
        i2_at(&self.bytes, instruction.at + 1).unwrap_or(0) as u16
    }

    pub(super) fn jumps(&self, instruction: &Instruction) -> Result<Jumps, Refusal> {
        let at = instruction.at;
        let from = at as i64;
        let long = |offset| i4_at(&self.bytes, offset).map(|distance| from + i64::from(distance));
        Ok(match instruction.opcode {
            153..=168 | 198 | 199 => Jumps::Short(from + i64::from(i2_at(&self.bytes, at + 1)?)),
            opcode::GOTO_W | opcode::JSR_W => Jumps::Long(long(at + 1)?),
            opcode::TABLESWITCH => {
                let operands = (at + 4) & !3;
                let targets = (operands + 12..at + instruction.length).step_by(4);
                Jumps::Switch(long(operands)?, targets.map(long).collect::<Result<_, _>>()?)
            }
            opcode::LOOKUPSWITCH => {
                let operands = (at + 4) & !3;
                let targets = (operands + 12..at + instruction.length).step_by(8); // behind each key
                Jumps::Switch(long(operands)?, targets.map(long).collect::<Result<_, _>>()?)
            }
            _ => Jumps::None,
        })
    }
}

fn length_at(bytes: &[u8], at: usize) -> Result<usize, Refusal> {
    Ok(match bytes[at] {
        16 | 18 | 21..=25 | 54..=58 | 169 | 188 => 2,
        17 | 19 | 20 | 132 | 153..=168 | 178..=184 | 187 | 189 | 192 | 193 | 198 | 199 => 3,
        197 => 4,
        185 | 186 | 200 | 201 => 5,
        opcode::TABLESWITCH => {
            let operands = (at + 4) & !3;
            let (low, high) = (i4_at(bytes, operands + 4)?, i4_at(bytes, operands + 8)?);
            let cases = i64::from(high) - i64::from(low) + 1;
            if !(0..=0x4000).contains(&cases) {
                return Err(Refusal::Malformed);
            }
            operands + 12 + 4 * cases as usize - at
        }
        opcode::LOOKUPSWITCH => {
            let operands = (at + 4) & !3;
            let cases = i4_at(bytes, operands + 4)?;
            if !(0..=0x2000).contains(&cases) {
                return Err(Refusal::Malformed);
            }
            operands + 8 + 8 * cases as usize - at
        }
        opcode::WIDE => match bytes.get(at + 1) {
            Some(&opcode::IINC) => 6,
            Some(_) => 4,
            None => return Err(Refusal::Malformed),
        },
        0..=15 | 26..=53 | 59..=131 | 133..=152 | 172..=177 | 190 | 191 | 194 | 195 => 1,
        _ => return Err(Refusal::Malformed),
    })
}
