//! Hooks at calls of handles, and where they are made: see [`crate::handles`].

use super::MethodRewriter;
use super::spilled::Spilled;
use crate::accesses::Phase;
use crate::classfile::{Code, Insertions, Refusal, opcode};
use crate::handles::{HandleUse, Made};
use crate::hook_class;
use crate::library;
use crate::places::Action;

impl MethodRewriter<'_> {
    /// A handle is called with an object or array, an element's number or an offset, and values.
    pub(super) fn handle(
        &mut self,
        out: &mut Vec<u8>,
        insertions: &mut Insertions,
        code: &Code,
        (descriptor, what): (&str, HandleUse),
        (method, at): (u32, usize),
    ) -> Result<(), Refusal> {
        let types = library::parameters(descriptor).ok_or(Refusal::Malformed)?;
        let operands = Spilled::new(&[b"A", types.as_slice()].concat(), insertions, code)?;
        let about = |out: &mut Vec<u8>| {
            operands.load_one(out, 0);
            match types.first() {
                Some(b'A') => operands.load_one(out, 1),
                _ => out.push(opcode::ACONST_NULL),
            }
            match types.get(1) {
                Some(b'I') => {
                    operands.load_one(out, 2);
                    out.push(opcode::I2L);
                }
                Some(b'J') => operands.load_one(out, 2),
                _ => out.push(opcode::LCONST_0),
            }
        };
        operands.store(out);
        about(out);
        out.push(opcode::ICONST_0);
        let site = self.site(method, at, Action::Handle { what, phase: what.first_phase() });
        self.call_hook(out, hook_class::HANDLE, site)?;
        operands.load(out);
        if what.is_followed() {
            let mut after = Vec::new();
            let has_result = descriptor.ends_with(")Z");
            if has_result {
                operands.keep_result(&mut after);
            }
            about(&mut after);
            match has_result {
                true => operands.load_result(&mut after),
                false => after.push(opcode::ICONST_0),
            }
            let site = self.site(method, at, Action::Handle { what, phase: Phase::Done });
            self.call_hook(&mut after, hook_class::HANDLE, site)?;
            insertions.after.insert(at, after);
        }
        Ok(())
    }

    /// A handle is made for a field or for elements, or a field's offset found out.
    pub(super) fn handle_made(
        &mut self,
        out: &mut Vec<u8>,
        insertions: &mut Insertions,
        code: &Code,
        (descriptor, made, is_static): (&str, Made, bool),
        (method, at): (u32, usize),
    ) -> Result<(), Refusal> {
        let types = library::parameters(descriptor).ok_or(Refusal::Malformed)?;
        let arguments = Spilled::new(&types, insertions, code)?;
        arguments.store(out);
        arguments.load(out);
        // A name comes second, or last where types come between.
        let name = match (made, is_static) {
            (Made::ByName, true) => types.len() - 1,
            (Made::ByName, false) => 1,
            _ => 0,
        };
        let mut after = Vec::new();
        let is_offset = descriptor.ends_with('J');
        if is_offset {
            // The offset stays below what the hook takes; a copy of it goes in between.
            after.extend([opcode::DUP2, opcode::ACONST_NULL]);
            after.extend([opcode::DUP_X2, opcode::POP]);
            arguments.load_one(&mut after, 0);
            after.extend([opcode::DUP_X2, opcode::POP]);
            arguments.load_one(&mut after, name);
            after.extend([opcode::DUP_X2, opcode::POP]);
        } else {
            after.push(opcode::DUP);
            arguments.load_one(&mut after, 0);
            arguments.load_one(&mut after, name);
            after.push(opcode::LCONST_0);
        }
        let site = self.site(method, at, Action::HandleMade(made));
        self.call_hook(&mut after, hook_class::HANDLE_MADE, site)?;
        insertions.after.insert(at, after);
        Ok(())
    }
}
