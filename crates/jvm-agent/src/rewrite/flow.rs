//! Hooks where methods begin and end, and where iterations of their loops begin.

use super::{FIRST_WITH_STACK_MAPS, MethodRewriter, constructed_from, keeps_this};
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
        declaration: &mut Declaration,
        code: &Code,
        name: &str,
        method: u32,
    ) -> Result<(), Refusal> {
        let site = self.site(method, 0, Action::Method);
        let is_static = declaration.access & access::STATIC != 0;
        let own = match is_static {
            true => self.class_constant(self.class.this_class),
            false => vec![opcode::ALOAD_0],
        };
        let is_locked = declaration.access & access::SYNCHRONIZED != 0;
        let is_own_known = if is_static { own != [opcode::ACONST_NULL] } else { keeps_this(code) };
        let is_unlocked = is_locked && self.scope.unlocked && is_own_known;
        let (mut enter, mut exit) = (Vec::new(), Vec::new());
        if is_unlocked {
            declaration.access &= !access::SYNCHRONIZED;
            let approach = self.site(method, 0, Action::MonitorApproach { of_method: true });
            enter.extend_from_slice(&own);
            self.call_hook(&mut enter, hook_class::MONITOR, approach)?;
            enter.extend_from_slice(&own);
            enter.push(opcode::MONITORENTER);
        }
        if is_locked {
            enter.extend_from_slice(&own);
        }
        let hook = if is_locked { hook_class::ENTER_LOCKED } else { hook_class::ENTER };
        self.call_hook(&mut enter, hook, site)?;
        insertions.prologue.extend(enter);
        self.call_hook(&mut exit, hook_class::EXIT, site)?;
        if is_unlocked {
            exit.extend(own);
            exit.push(opcode::MONITOREXIT);
        }
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
                this: (is_unlocked && !is_static).then_some(self.class.this_class),
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
