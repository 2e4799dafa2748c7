//! Hooks at calls, and in methods of the library that mean something.

use super::MethodRewriter;
use crate::classfile::{Code, Insertions, Instruction, Refusal, opcode};
use crate::hook_class;
use crate::intercept::{self, When};
use crate::library;
use crate::places::Action;

impl MethodRewriter<'_> {
    pub(super) fn call(
        &mut self,
        out: &mut Vec<u8>,
        insertions: &mut Insertions,
        code: &Code,
        instruction: &Instruction,
        method: u32,
    ) -> Result<(), Refusal> {
        let at = instruction.at;
        let member = self.class.pool.member(code.pool_operand(instruction)).ok_or(Refusal::Malformed)?;
        let never_calls_back = member.class.starts_with("java/lang/")
            && !matches!(
                member.class,
                "java/lang/Thread" | "java/lang/Object" | "java/lang/Iterable" | "java/lang/Runnable"
            );
        let receiver_is_array = member.class.starts_with('[');
        let receiver = intercept::class_number(member.class);
        match (member.class, member.name, member.descriptor) {
            ("java/lang/System", "arraycopy", _) => {
                let site = self.site(method, at, Action::Copy);
                return self.copy(out, insertions, code, site);
            }
            ("java/lang/Thread", "sleep", "(J)V") => {
                let site = self.site(method, at, Action::Pause);
                return self.call_hook(out, hook_class::SLEEP, site);
            }
            ("java/lang/Thread", "yield" | "onSpinWait", _) => {
                let site = self.site(method, at, Action::Pause);
                return self.call_hook(out, hook_class::PAUSE, site);
            }
            (_, "notify" | "notifyAll", "()V") => {
                let all = member.name == "notifyAll";
                let site = self.site(method, at, Action::Notify { all });
                out.push(opcode::DUP);
                return self.call_hook(out, hook_class::MONITOR, site);
            }
            _ => {}
        }
        let is_static = instruction.opcode == opcode::INVOKESTATIC;
        if let Some(what) = library::use_of(member.class, member.name, is_static) {
            let descriptor = member.descriptor.to_owned();
            let site = self.site(method, at, Action::Use(what));
            self.uses(out, insertions, code, (&descriptor, is_static), site)?;
        }
        if never_calls_back || receiver_is_array {
            return Ok(());
        }
        let site = self.site(method, at, Action::Call { receiver });
        self.call_hook(out, hook_class::CALL, site)
    }

    /// A call that uses its object, or the array that is its first argument: what lies above that on the stack goes
    /// to local variables and comes back.
    fn uses(
        &mut self,
        out: &mut Vec<u8>,
        insertions: &mut Insertions,
        code: &Code,
        (descriptor, is_static): (&str, bool),
        site: u32,
    ) -> Result<(), Refusal> {
        let types = library::parameters(descriptor).ok_or(Refusal::Malformed)?;
        let above = &types[usize::from(is_static).min(types.len())..];
        let mut variable = code.max_locals;
        let mut places = Vec::with_capacity(above.len());
        for &kind in above {
            let words = if matches!(kind, b'J' | b'D') { 2 } else { 1 };
            places.push((b"IJFDA".iter().position(|&letter| letter == kind).unwrap_or(0) as u8, variable));
            variable = variable.checked_add(words).ok_or(Refusal::MethodTooLarge)?;
        }
        insertions.more_locals = insertions.more_locals.max(variable - code.max_locals);
        let access = |out: &mut Vec<u8>, base: u8, (kind, variable): (u8, u16)| {
            out.extend([opcode::WIDE, base + kind]);
            out.extend(variable.to_be_bytes());
        };
        places.iter().rev().for_each(|&place| access(out, opcode::ISTORE, place));
        out.push(opcode::DUP);
        self.call_hook(out, hook_class::USE, site)?;
        places.iter().for_each(|&place| access(out, opcode::ILOAD, place));
        Ok(())
    }

    /// `System.arraycopy`: its arguments go to local variables and come back twice.
    fn copy(
        &mut self,
        out: &mut Vec<u8>,
        insertions: &mut Insertions,
        code: &Code,
        site: u32,
    ) -> Result<(), Refusal> {
        let first = code.max_locals;
        const TYPES: [u8; 5] = [4, 0, 4, 0, 0];
        let mut access = |base: u8, number: usize| {
            out.extend([opcode::WIDE, base + TYPES[number]]);
            out.extend((first + number as u16).to_be_bytes());
        };
        (0..5).rev().for_each(|number| access(opcode::ISTORE, number));
        (0..5).for_each(|number| access(opcode::ILOAD, number));
        insertions.more_locals = insertions.more_locals.max(5);
        if first.checked_add(5).is_none() {
            return Err(Refusal::MethodTooLarge);
        }
        self.call_hook(out, hook_class::COPY, site)?;
        let mut access = |number: usize| {
            out.extend([opcode::WIDE, opcode::ILOAD + TYPES[number]]);
            out.extend((first + number as u16).to_be_bytes());
        };
        (0..5).for_each(&mut access);
        Ok(())
    }

    pub(super) fn intercept(
        &mut self,
        insertions: &mut Insertions,
        code: &Code,
        (when, meaning): (When, intercept::Meaning),
        is_static: bool,
        site: u32,
    ) -> Result<(), Refusal> {
        const ICONST_0: u8 = 3;
        // The first variable of a static method is its first argument.
        let has_object = !is_static || meaning == intercept::Meaning::Wakes;
        let object = if has_object { opcode::ALOAD_0 } else { opcode::ACONST_NULL };
        let mut hook = Vec::new();
        if meaning.takes_result() {
            hook.extend([opcode::DUP, object, opcode::SWAP]);
        } else if meaning.takes_element() {
            hook.extend([object, opcode::ILOAD_1]);
        } else {
            hook.extend([object, ICONST_0]);
        }
        self.call_hook(&mut hook, hook_class::INTERCEPTED, site)?;
        if when == When::Entry {
            insertions.prologue.extend(hook);
            return Ok(());
        }
        for instruction in code.instructions()? {
            let fits = if meaning.takes_result() {
                instruction.opcode == opcode::IRETURN
            } else {
                (opcode::IRETURN..=opcode::RETURN).contains(&instruction.opcode)
            };
            if fits {
                insertions.before.entry(instruction.at).or_default().extend_from_slice(&hook);
            }
        }
        Ok(())
    }
}
