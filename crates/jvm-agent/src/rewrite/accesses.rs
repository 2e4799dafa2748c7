//! Hooks at accesses to fields and elements, and where the library writes to its own.

use super::MethodRewriter;
use crate::classfile::{Code, Insertions, Instruction, Refusal, opcode};
use crate::collections::torn;
use crate::hook_class;
use crate::places::{Action, Field};

impl MethodRewriter<'_> {
    fn field_action(&mut self, code: &Code, instruction: &Instruction) -> Result<(Action, bool), Refusal> {
        let member = self.class.pool.member(code.pool_operand(instruction)).ok_or(Refusal::Malformed)?;
        let is_wide = matches!(member.descriptor, "J" | "D");
        let field = Field {
            class: member.class.to_owned(),
            name: member.name.to_owned(),
            descriptor: member.descriptor.to_owned(),
        };
        let writes = matches!(instruction.opcode, opcode::PUTFIELD | opcode::PUTSTATIC);
        let field = self.places.add_field(self.mark, field);
        Ok((Action::Field { field, writes }, is_wide))
    }

    pub(super) fn field(
        &mut self,
        out: &mut Vec<u8>,
        code: &Code,
        instruction: &Instruction,
        method: u32,
    ) -> Result<(), Refusal> {
        let (action, is_wide) = self.field_action(code, instruction)?;
        out.extend_from_slice(match (instruction.opcode, is_wide) {
            (opcode::GETFIELD, _) => &[opcode::DUP][..],
            (_, false) => &[opcode::DUP2, opcode::POP],
            (_, true) => &[opcode::DUP2_X1, opcode::POP2, opcode::DUP_X2],
        });
        let site = self.site(method, instruction.at, action);
        self.call_hook(out, hook_class::FIELD, site)
    }

    pub(super) fn static_field(
        &mut self,
        out: &mut Vec<u8>,
        code: &Code,
        instruction: &Instruction,
        method: u32,
    ) -> Result<(), Refusal> {
        let (action, _) = self.field_action(code, instruction)?;
        let class = self.class.pool.class_of_member(code.pool_operand(instruction));
        out.extend(self.class_constant(class.ok_or(Refusal::Malformed)?));
        let site = self.site(method, instruction.at, action);
        self.call_hook(out, hook_class::STATIC_FIELD, site)
    }

    pub(super) fn element(
        &mut self,
        out: &mut Vec<u8>,
        instruction: &Instruction,
        method: u32,
    ) -> Result<(), Refusal> {
        let writes = instruction.opcode >= opcode::IASTORE;
        let first = if writes { opcode::IASTORE } else { opcode::IALOAD };
        let kind = b"IJFDABCS"[usize::from(instruction.opcode - first)];
        out.extend_from_slice(match (writes, kind) {
            (false, _) => &[opcode::DUP2][..],
            (true, b'J' | b'D') => &[opcode::DUP2_X2, opcode::POP2, opcode::DUP2_X2],
            (true, _) => &[opcode::DUP_X2, opcode::POP, opcode::DUP2_X1],
        });
        let site = self.site(method, instruction.at, Action::Element { writes, kind });
        self.call_hook(out, hook_class::ELEMENT, site)
    }

    /// Hooks where a class of the library writes to its objects: see [`torn`].
    pub(super) fn watch_inside(
        &mut self,
        insertions: &mut Insertions,
        code: &Code,
        method: u32,
    ) -> Result<(), Refusal> {
        for instruction in code.instructions()? {
            let member = || self.class.pool.member(code.pool_operand(&instruction)).ok_or(Refusal::Malformed);
            let action = match instruction.opcode {
                opcode::PUTFIELD if member()?.name == torn::COUNTER => Some(Action::Counts),
                opcode::PUTFIELD | opcode::IASTORE..=opcode::SASTORE => Some(Action::Inside),
                opcode::INVOKEVIRTUAL => {
                    torn::is_part(self.class.name(), member()?.class).then_some(Action::Inside)
                }
                _ => None,
            };
            if let Some(action) = action {
                let mut inside = vec![opcode::ALOAD_0];
                let site = self.site(method, instruction.at, action);
                self.call_hook(&mut inside, hook_class::INSIDE, site)?;
                insertions.before.entry(instruction.at).or_default().extend(inside);
            }
        }
        Ok(())
    }
}
