//! Hooks at calls, and in methods of the library that mean something.

use super::MethodRewriter;
use super::spilled::Spilled;
use crate::accesses::Phase;
use crate::classfile::{Code, Declaration, Insertions, Instruction, Refusal, access, opcode};
use crate::collections::{self, By, CollectionCall};
use crate::handles;
use crate::hook_class::{self, Hook};
use crate::intercept::{self, When};
use crate::library;
use crate::places::{Action, Called};
use crate::scope;

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
        let is_static = instruction.opcode == opcode::INVOKESTATIC;
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
        let descriptor = member.descriptor.to_owned();
        let handled = handles::use_of(member.class, member.name, &descriptor);
        let made = handles::made_by(member.class, member.name, &descriptor);
        let types = library::parameters(&descriptor).ok_or(Refusal::Malformed)?;
        let on_elements = library::on_elements(member.class, member.name, is_static);
        let on_collection = collections::call_of(member.class, member.name, &types).filter(|_| !is_static);
        // It may be a collection by what its class extends.
        let on_own = match instruction.opcode {
            opcode::INVOKEVIRTUAL if scope::is_under_test(member.class) => {
                collections::inherited_call_of(member.name, &types)
            }
            _ => None,
        };
        let receiver = match on_collection {
            Some(_) => intercept::COLLECTION,
            None => intercept::class_number(member.class),
        };
        let called = Called { name: member.name.to_owned(), descriptor: descriptor.clone() };
        if let Some(what) = handled {
            self.handle(out, insertions, code, (&descriptor, what), (method, at))?;
        }
        if let Some(made) = made {
            self.handle_made(out, insertions, code, (&descriptor, made, is_static), (method, at))?;
        }
        if let Some(kind) = on_elements {
            let site = self.site(method, at, Action::Elements(kind));
            self.elements(out, insertions, code, &types[usize::from(is_static).min(types.len())..], site)?;
        }
        let told = on_collection.map(|call| (call, hook_class::COLLECTION));
        if let Some((call, hook)) = told.or(on_own.map(|call| (call, hook_class::OWN_COLLECTION))) {
            let is_virtual = instruction.opcode != opcode::INVOKESPECIAL;
            let called = is_virtual.then(|| self.places.add_called(self.mark, called));
            self.collection(out, insertions, code, (&types, call, called, hook), (method, at))?;
        }
        if never_calls_back || receiver_is_array {
            return Ok(());
        }
        let site = self.site(method, at, Action::Call { receiver });
        self.call_hook(out, hook_class::CALL, site)
    }

    /// A call that uses all of an array: what lies above that on the stack goes to local variables and comes back.
    fn elements(
        &mut self,
        out: &mut Vec<u8>,
        insertions: &mut Insertions,
        code: &Code,
        above: &[u8],
        site: u32,
    ) -> Result<(), Refusal> {
        let above = Spilled::new(above, insertions, code)?;
        above.store(out);
        out.push(opcode::DUP);
        self.call_hook(out, hook_class::ELEMENTS, site)?;
        above.load(out);
        Ok(())
    }

    /// A call of a collection with a key, with an element's number or with neither.
    fn collection(
        &mut self,
        out: &mut Vec<u8>,
        insertions: &mut Insertions,
        code: &Code,
        (types, call, called, hook): (&[u8], CollectionCall, Option<u32>, Hook),
        (method, at): (u32, usize),
    ) -> Result<(), Refusal> {
        let operands = Spilled::new(&[b"A", types].concat(), insertions, code)?;
        let about = |out: &mut Vec<u8>| {
            operands.load_one(out, 0);
            match call.by {
                By::Key => operands.load_one(out, 1),
                By::Index | By::Nothing => out.push(opcode::ACONST_NULL),
            }
            match call.by {
                By::Index => operands.load_one(out, 1),
                By::Key | By::Nothing => out.push(opcode::ICONST_0),
            }
        };
        operands.store(out);
        about(out);
        let phase = if call.is_followed { Phase::Approach } else { Phase::Whole };
        let site = self.site(method, at, Action::Collection { call, method: called, phase });
        self.call_hook(out, hook, site)?;
        operands.load(out);
        let mut after = Vec::new();
        if call.is_followed {
            about(&mut after);
            let done = Action::Collection { call, method: called, phase: Phase::Done };
            let site = self.site(method, at, done);
            self.call_hook(&mut after, hook, site)?;
        } else if call.may_ever_be_torn() {
            operands.load_one(&mut after, 0);
            self.call_hook(&mut after, hook_class::OVER, site)?;
        }
        if !after.is_empty() {
            insertions.after.insert(at, after);
        }
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
        let arguments = Spilled::new(b"AIAII", insertions, code)?;
        arguments.store(out);
        arguments.load(out);
        self.call_hook(out, hook_class::COPY, site)?;
        arguments.load(out);
        Ok(())
    }

    /// Is the first variable of an intercepted method an object to pass to the hook? In a static method it is the first argument.
    pub(super) fn has_object(&self, method: &Declaration, meaning: intercept::Meaning) -> bool {
        let is_static = method.access & access::STATIC != 0;
        let descriptor = self.class.pool.text(method.descriptor).unwrap_or_default();
        let is_meant = meaning == intercept::Meaning::Wakes || meaning.is_park();
        !is_static || is_meant && descriptor.starts_with("(L")
    }

    pub(super) fn intercept(
        &mut self,
        insertions: &mut Insertions,
        code: &Code,
        (when, meaning): (When, intercept::Meaning),
        has_object: bool,
        site: u32,
    ) -> Result<(), Refusal> {
        let object = if has_object { opcode::ALOAD_0 } else { opcode::ACONST_NULL };
        let arguments = |returns: Option<u8>| match returns {
            Some(opcode::IRETURN) if meaning.takes_result() => vec![opcode::DUP, object, opcode::SWAP],
            // Stamps: zero is a refusal.
            Some(opcode::LRETURN) if meaning.takes_result() => {
                vec![opcode::DUP2, opcode::LCONST_0, opcode::LCMP, object, opcode::SWAP]
            }
            _ if meaning.takes_element() => vec![object, opcode::ILOAD_1],
            _ => vec![object, opcode::ICONST_0],
        };
        if when == When::Entry {
            insertions.prologue.extend(arguments(None));
            return self.call_hook(&mut insertions.prologue, hook_class::INTERCEPTED, site);
        }
        for instruction in code.instructions()? {
            let fits = if meaning.takes_result() {
                matches!(instruction.opcode, opcode::IRETURN | opcode::LRETURN)
            } else {
                (opcode::IRETURN..=opcode::RETURN).contains(&instruction.opcode)
            };
            if fits {
                let before = insertions.before.entry(instruction.at).or_default();
                before.extend(arguments(Some(instruction.opcode)));
                self.call_hook(before, hook_class::INTERCEPTED, site)?;
            }
        }
        Ok(())
    }
}
