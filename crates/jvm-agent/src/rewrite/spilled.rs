//! Operands that go to local variables of their own and come back, so that a hook gets at what lies below them.

use crate::classfile::{Code, Insertions, Refusal, opcode};

/// Where they are, lowest first.
pub struct Spilled {
    /// The type, as an offset from the instruction for integers, and the variable.
    places: Vec<(u8, u16)>,
    /// The variable behind them.
    end: u16,
}

impl Spilled {
    /// Finds room for operands of these types, each told by the letter of the instructions that load and store it.
    pub fn new(types: &[u8], insertions: &mut Insertions, code: &Code) -> Result<Spilled, Refusal> {
        let mut variable = code.max_locals;
        let mut places = Vec::with_capacity(types.len());
        for &kind in types {
            let words = if matches!(kind, b'J' | b'D') { 2 } else { 1 };
            places.push((b"IJFDA".iter().position(|&letter| letter == kind).unwrap_or(0) as u8, variable));
            variable = variable.checked_add(words).ok_or(Refusal::MethodTooLarge)?;
        }
        // One more, for a result.
        let end = variable.checked_add(1).ok_or(Refusal::MethodTooLarge)?;
        insertions.more_locals = insertions.more_locals.max(end - code.max_locals);
        Ok(Spilled { places, end: variable })
    }

    /// From the operand stack to the variables.
    pub fn store(&self, out: &mut Vec<u8>) {
        self.places.iter().rev().for_each(|&place| access(out, opcode::ISTORE, place));
    }

    /// Back again.
    pub fn load(&self, out: &mut Vec<u8>) {
        self.places.iter().for_each(|&place| access(out, opcode::ILOAD, place));
    }

    /// One of them alone.
    pub fn load_one(&self, out: &mut Vec<u8>, number: usize) {
        access(out, opcode::ILOAD, self.places[number]);
    }

    /// Keeps a copy of the integer on top of the operand stack behind the operands.
    pub fn keep_result(&self, out: &mut Vec<u8>) {
        out.push(opcode::DUP);
        access(out, opcode::ISTORE, (0, self.end));
    }

    /// Gets at that copy.
    pub fn load_result(&self, out: &mut Vec<u8>) {
        access(out, opcode::ILOAD, (0, self.end));
    }
}

fn access(out: &mut Vec<u8>, base: u8, (kind, variable): (u8, u16)) {
    out.extend([opcode::WIDE, base + kind]);
    out.extend(variable.to_be_bytes());
}
