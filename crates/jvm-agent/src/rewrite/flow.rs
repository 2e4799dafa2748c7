//! Hooks where methods begin and end, and where iterations of their loops begin.

use super::{FIRST_WITH_STACK_MAPS, MethodRewriter, constructed_from};
use crate::classfile::{Code, Declaration, Insertions, OnException, Refusal, access, opcode};
use crate::hook_class;
use crate::places::Action;

impl MethodRewriter<'_> {
    /// Hooks where iterations begin.
    pub(super) fn follow_loops(&mut self, insertions: &mut Insertions, method: u32) -> Result<(), Refusal> {
        let mut heads: Vec<usize> =
            self.loops.iter().filter(|(_, block)| block.begins_iteration()).map(|(&at, _)| at).collect();
        heads.sort_unstable();
        for at in heads {
            let site = self.site(method, at, Action::Loop);
            let mut begins = Vec::new();
            self.call_hook(&mut begins, hook_class::LOOP, site)?;
            insertions.before.insert(at, begins);
        }
        Ok(())
    }

    /// Hooks at the method's start and at all of its ends.
    pub(super) fn follow_calls(
        &mut self,
        insertions: &mut Insertions,
        declaration: &Declaration,
        code: &Code,
        name: &str,
        method: u32,
    ) -> Result<(), Refusal> {
        let site = self.site(method, 0, Action::Method);
        let mut enter = Vec::new();
        if declaration.access & access::SYNCHRONIZED == 0 {
            self.call_hook(&mut enter, hook_class::ENTER, site)?;
        } else if declaration.access & access::STATIC == 0 {
            enter.push(opcode::ALOAD_0);
            self.call_hook(&mut enter, hook_class::ENTER_LOCKED, site)?;
        } else {
            enter.extend(self.class_constant(self.class.this_class));
            self.call_hook(&mut enter, hook_class::ENTER_LOCKED, site)?;
        }
        insertions.prologue.extend(enter);
        let mut exit = Vec::new();
        self.call_hook(&mut exit, hook_class::EXIT, site)?;
        for instruction in code.instructions()? {
            if (opcode::IRETURN..=opcode::RETURN).contains(&instruction.opcode) {
                insertions.before.entry(instruction.at).or_default().extend_from_slice(&exit);
            }
        }
        let from = if name == "<init>" { constructed_from(code, self.class)? } else { Some(0) };
        if let Some(from) = from {
            let has_frames = self.class.version.1 >= FIRST_WITH_STACK_MAPS;
            insertions.on_exception = Some(OnException {
                from,
                code: exit,
                throwable: self.class.pool.add_class("java/lang/Throwable")?,
                stack_map_table: if has_frames {
                    Some(self.class.pool.add_text("StackMapTable")?)
                } else {
                    None
                },
            });
        }
        Ok(())
    }
}
