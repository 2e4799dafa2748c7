//! Puts calls of the hooks into a class. Everything inserted is straight-line code that leaves the operand stack and
//! the local variables as they were, so no type has to be computed: stack maps only move.

mod accesses;
mod calls;
mod flow;
mod handles;
mod spilled;

use std::hash::{Hash as _, Hasher as _};

use crate::classfile::{
    Attribute, ClassFile, Code, Declaration, Insertions, Instruction, Loops, Reader, Refusal, access, find,
    loops, opcode, weave,
};
use crate::collections::{self, states};
use crate::hook_class::{self, Hook};
use crate::intercept::{self, Intercepted};
use crate::memory::sites;
use crate::places::{Action, Class, Mark, Method, Places, Site};

/// Which hooks a class gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Calls and all accesses: for the classes under test.
    pub all: bool,
    /// What [`intercept::TABLE`] says.
    pub intercepted: bool,
    /// Where the class writes to its objects, in the midst of calls that others may get into.
    pub torn: bool,
    /// Iterations of loops, for the classes under test.
    pub loops: bool,
    /// Synchronized methods enter their monitor by an instruction, so that it can be seen that they are about to. Only where
    /// the class is not loaded yet.
    pub unlocked: bool,
}

/// A class with hooks.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The class file.
    pub bytes: Vec<u8>,
    /// Methods that were left as they are, and why.
    pub skipped: Vec<(String, Refusal)>,
}

/// Stack maps came with this version; the fallback without them is gone since the next.
const FIRST_WITH_STACK_MAPS: u16 = 50;
/// Since this version, classes can be constants.
const FIRST_WITH_CLASS_CONSTANTS: u16 = 49;
/// The deepest of all insertions needs this much more of the operand stack.
const MORE_STACK: u16 = 7;

/// Puts hooks into a class; its places are added to `places`. On refusal, nothing is added.
pub fn rewrite(bytes: &[u8], scope: Scope, places: &mut Places) -> Result<Rewritten, Refusal> {
    let mark = places.mark();
    let result = rewrite_class(bytes, scope, places, mark);
    if result.is_err() {
        places.back_to(mark);
    }
    result
}

fn rewrite_class(bytes: &[u8], scope: Scope, places: &mut Places, mark: Mark) -> Result<Rewritten, Refusal> {
    let mut class = ClassFile::read(bytes)?;
    let name = class.name().to_owned();
    let intercepted = intercept::of_class(&name).filter(|_| scope.intercepted);
    let index = places.classes.len() as u32;
    places.classes.push(Class {
        file: source_path(&name, class.source_file()),
        fingerprint: fingerprint(bytes),
        code_bytes: 0,
        name,
    });
    let mut skipped = Vec::new();
    let mut methods = std::mem::take(&mut class.methods);
    for method in &mut methods {
        let before = places.mark();
        let loops = Loops::default();
        let mut rewriter = MethodRewriter { class: &mut class, places, mark, index, loops, scope };
        match rewriter.rewrite(method, intercepted) {
            Ok(()) => {}
            // The other methods can do without this one.
            Err(refusal @ Refusal::MethodTooLarge) => {
                places.back_to(before);
                skipped.push((class.pool.text(method.name).unwrap_or_default().to_owned(), refusal));
            }
            Err(refusal) => return Err(refusal),
        }
    }
    class.methods = methods;
    Ok(Rewritten { bytes: class.write(), skipped })
}

/// The class file names only the file; its folder is the package's, as compilers want it.
fn source_path(class: &str, file: Option<&str>) -> String {
    let Some(file) = file else { return String::new() };
    match class.rsplit_once('/') {
        Some((package, _)) => format!("{package}/{file}"),
        None => file.to_owned(),
    }
}

/// The same for the same bytes in every run.
fn fingerprint(bytes: &[u8]) -> [u8; 16] {
    let half = |salt: u8| {
        let mut hasher = rustc_hash::FxHasher::default();
        salt.hash(&mut hasher);
        bytes.hash(&mut hasher);
        hasher.finish().to_be_bytes()
    };
    let mut fingerprint = [0; 16];
    fingerprint[..8].copy_from_slice(&half(0));
    fingerprint[8..].copy_from_slice(&half(1));
    fingerprint
}

struct MethodRewriter<'a> {
    class: &'a mut ClassFile,
    places: &'a mut Places,
    /// Before the class's own places.
    mark: Mark,
    /// The class's number.
    index: u32,
    /// Those of the method, if they are looked at.
    loops: Loops,
    scope: Scope,
}

impl MethodRewriter<'_> {
    fn rewrite(
        &mut self,
        declaration: &mut Declaration,
        intercepted: Option<&Intercepted>,
    ) -> Result<(), Refusal> {
        if declaration.access & (access::NATIVE | access::ABSTRACT) != 0 {
            return Ok(());
        }
        let pool = &self.class.pool;
        let is_code = |attribute: &Attribute| pool.text(attribute.name) == Some("Code");
        let Some(attribute) = declaration.attributes.iter().position(is_code) else { return Ok(()) };
        let code = Code::read(&declaration.attributes[attribute].content)?;
        let name = pool.text(declaration.name).unwrap_or_default().to_owned();
        let method = self.add_method(&name, &code)?;
        let mut insertions = Insertions { more_stack: MORE_STACK, ..Insertions::default() };
        if self.scope.all {
            if self.scope.loops {
                self.loops = loops(&code)?;
                self.follow_loops(&mut insertions, method)?;
            }
            self.follow_calls(&mut insertions, declaration, &code, &name, method)?;
            self.watch_instructions(&mut insertions, &code, &name, method)?;
        }
        let has_object = declaration.access & access::STATIC == 0 && name != "<init>" && keeps_this(&code);
        if self.scope.torn && has_object {
            self.watch_inside(&mut insertions, &code, method)?;
        }
        for &(intercepted_name, when, meaning) in intercepted.map_or(&[][..], |class| class.methods) {
            if intercepted_name == name {
                let site = self.site(method, 0, Action::Intercepted(meaning));
                let has_object = self.has_object(declaration, meaning);
                self.intercept(&mut insertions, &code, (when, meaning), has_object, site)?;
            }
        }
        let nothing =
            insertions.prologue.is_empty() && insertions.before.is_empty() && insertions.after.is_empty();
        if !nothing {
            let woven = weave(&code, &insertions, &self.class.pool)?;
            declaration.attributes[attribute].content = woven.write();
        }
        Ok(())
    }

    fn add_method(&mut self, name: &str, code: &Code) -> Result<u32, Refusal> {
        let class = &mut self.places.classes[self.index as usize];
        let size = code.bytes.len() as u32;
        let offset = class.code_bytes;
        // One more, so that the position behind the last instruction is still this method's.
        class.code_bytes += size + 1;
        let lines = line_numbers(code, self.class)?;
        let method = Method { class: self.index, name: name.to_owned(), offset, size, lines };
        self.places.methods.push(method);
        Ok(self.places.methods.len() as u32 - 1)
    }

    fn site(&mut self, method: u32, position: usize, action: Action) -> u32 {
        let block = self.loops.get(&position).copied().unwrap_or_default();
        self.places.add_site(Site { method, position: position as u16, block, action })
    }

    /// Pushes a site's number and calls a hook: always six bytes.
    fn call_hook(&mut self, out: &mut Vec<u8>, hook: Hook, site: u32) -> Result<(), Refusal> {
        if site >= sites::MOST {
            return Err(Refusal::TooManyPlaces);
        }
        match i16::try_from(site) {
            Ok(small) => {
                out.push(opcode::SIPUSH);
                out.extend(small.to_be_bytes());
            }
            Err(_) => {
                out.push(opcode::LDC_W);
                out.extend(self.class.pool.add_integer(site as i32)?.to_be_bytes());
            }
        }
        let method = self.class.pool.add_method(hook_class::NAME, hook.name, hook.descriptor)?;
        out.push(opcode::INVOKESTATIC);
        out.extend(method.to_be_bytes());
        Ok(())
    }

    /// Pushes the class with this number, or null where classes are no constants yet.
    fn class_constant(&self, class: u16) -> Vec<u8> {
        if self.class.version.1 < FIRST_WITH_CLASS_CONSTANTS {
            return vec![opcode::ACONST_NULL];
        }
        [&[opcode::LDC_W][..], &class.to_be_bytes()].concat()
    }

    /// Hooks at accesses, monitors and calls.
    fn watch_instructions(
        &mut self,
        insertions: &mut Insertions,
        code: &Code,
        name: &str,
        method: u32,
    ) -> Result<(), Refusal> {
        let constructed = if name == "<init>" { constructed_from(code, self.class)? } else { None };
        let usable = if name == "<init>" { constructed.unwrap_or(usize::MAX) } else { 0 };
        if let Some(from) = constructed.filter(|&from| from < code.bytes.len() && keeps_this(code)) {
            let mut born = vec![opcode::ALOAD_0];
            let site = self.site(method, from, Action::Born);
            self.call_hook(&mut born, hook_class::BORN, site)?;
            insertions.before.entry(from).or_default().extend(born);
        }
        // For each object that is being made: is a second reference to it left behind?
        let mut under_construction = Vec::new();
        for instruction in code.instructions()? {
            let at = instruction.at;
            let mut before = Vec::new();
            match instruction.opcode {
                opcode::GETFIELD..=opcode::PUTFIELD => {
                    // Before the superclass's constructor, `this` may be written to but not passed to a hook.
                    let writes = instruction.opcode == opcode::PUTFIELD;
                    if !writes || at >= usable {
                        self.field(&mut before, code, &instruction, method)?;
                    }
                }
                opcode::GETSTATIC | opcode::PUTSTATIC => {
                    self.static_field(&mut before, code, &instruction, method)?;
                }
                opcode::IALOAD..=opcode::SALOAD | opcode::IASTORE..=opcode::SASTORE => {
                    self.element(&mut before, &instruction, method)?;
                }
                opcode::NEW => {
                    under_construction.push(code.bytes.get(at + instruction.length) == Some(&opcode::DUP))
                }
                opcode::NEWARRAY | opcode::ANEWARRAY | opcode::MULTIANEWARRAY => {
                    let mut after = vec![opcode::DUP];
                    let site = self.site(method, at, Action::Born);
                    self.call_hook(&mut after, hook_class::BORN, site)?;
                    insertions.after.insert(at, after);
                }
                opcode::MONITORENTER => {
                    // As if it were a call: a place for others to come first, and to name should it have to wait.
                    let site = self.site(method, at, Action::Call { receiver: 0 });
                    self.call_hook(&mut before, hook_class::CALL, site)?;
                    before.push(opcode::DUP);
                    let site = self.site(method, at, Action::MonitorApproach { of_method: false });
                    self.call_hook(&mut before, hook_class::MONITOR, site)?;
                    before.push(opcode::DUP);
                    let site = self.site(method, at, Action::MonitorEnter);
                    let mut after = Vec::new();
                    self.call_hook(&mut after, hook_class::MONITOR, site)?;
                    insertions.after.insert(at, after);
                }
                opcode::MONITOREXIT => {
                    before.push(opcode::DUP);
                    let site = self.site(method, at, Action::MonitorExit);
                    self.call_hook(&mut before, hook_class::MONITOR, site)?;
                }
                opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE => {
                    let made = self.makes_collection(code, &instruction, &mut under_construction)?;
                    if made {
                        let mut after = vec![opcode::DUP];
                        let site = self.site(method, at, Action::CollectionBorn);
                        self.call_hook(&mut after, hook_class::BORN, site)?;
                        insertions.after.insert(at, after);
                    }
                    self.call(&mut before, insertions, code, &instruction, method)?;
                }
                _ => {}
            }
            if !before.is_empty() {
                insertions.before.entry(at).or_default().extend(before);
            }
        }
        Ok(())
    }

    /// Does this call construct a collection of the library, whose own code nobody sees, and leave it on the stack?
    fn makes_collection(
        &self,
        code: &Code,
        instruction: &Instruction,
        under_construction: &mut Vec<bool>,
    ) -> Result<bool, Refusal> {
        let member = self.class.pool.member(code.pool_operand(instruction)).ok_or(Refusal::Malformed)?;
        if instruction.opcode != opcode::INVOKESPECIAL || member.name != "<init>" {
            return Ok(false);
        }
        let is_left = under_construction.pop().unwrap_or(false);
        Ok(is_left && (collections::is_type(member.class) || states::is_type(member.class)))
    }
}

/// The position in a constructor from which on `this` is an object: behind the call of another constructor of its
/// own or its superclass. Calls that construct other objects match a `new` before them.
fn constructed_from(code: &Code, class: &ClassFile) -> Result<Option<usize>, Refusal> {
    let mut under_construction = 0;
    for instruction in code.instructions()? {
        match instruction.opcode {
            opcode::NEW => under_construction += 1,
            opcode::INVOKESPECIAL => {
                let member = class.pool.member(code.pool_operand(&instruction)).ok_or(Refusal::Malformed)?;
                if member.name == "<init>" {
                    if under_construction == 0 {
                        return Ok(Some(instruction.at + instruction.length));
                    }
                    under_construction -= 1;
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Is the first variable of a constructor the object all along? Compilers never use it for anything else.
fn keeps_this(code: &Code) -> bool {
    let stores_first = |instruction: &Instruction| match instruction.opcode {
        opcode::ASTORE_0 => true,
        opcode::ISTORE..=opcode::ASTORE => code.bytes[instruction.at + 1] == 0,
        opcode::WIDE => true,
        _ => false,
    };
    code.instructions().is_ok_and(|all| !all.iter().any(stores_first))
}

fn line_numbers(code: &Code, class: &ClassFile) -> Result<Vec<(u16, u16)>, Refusal> {
    let Some(table) = find(&code.attributes, &class.pool, "LineNumberTable") else { return Ok(Vec::new()) };
    let mut reader = Reader::new(&table.content);
    let mut lines = Vec::new();
    for _ in 0..reader.u2()? {
        lines.push((reader.u2()?, reader.u2()?));
    }
    lines.sort_unstable();
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Scope = Scope { all: true, intercepted: true, torn: true, loops: true, unlocked: true };

    #[test]
    fn what_is_no_class_is_refused_and_leaves_no_trace() {
        let mut class = hook_class::CLASS_FILE.to_vec();
        let mut places = Places::default();
        assert_eq!(rewrite(b"", ALL, &mut places).unwrap_err(), Refusal::Malformed);
        for length in 0..class.len() {
            assert!(rewrite(&class[..length], ALL, &mut places).is_err(), "{length}");
        }
        class[7] = 200;
        assert_eq!(rewrite(&class, ALL, &mut places).unwrap_err(), Refusal::UnknownVersion(200));
        assert!(places.classes.is_empty() && places.sites.is_empty());
    }

    #[test]
    fn a_class_without_code_comes_back_as_it_was() {
        let mut class = ClassFile::read(hook_class::CLASS_FILE).unwrap();
        class.methods.retain(|method| method.access & access::NATIVE != 0);
        let bytes = class.write();
        assert_eq!(rewrite(&bytes, ALL, &mut Places::default()).unwrap().bytes, bytes);
    }
}
