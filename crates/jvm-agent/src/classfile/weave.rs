//! Puts straight-line code between the instructions of a method, and moves everything that refers to positions.
//!
//! Each old position has two new ones: where its insertions begin, which is what jumps, handlers, lines and frames
//! mean, and where the instruction itself is, by which the verifier names objects under construction.

use std::collections::BTreeMap;

use super::Attribute;
use super::code::{Code, Handler, Jumps, opcode};
use super::frames::{self, LastFrame};
use super::pool::Pool;
use super::reader::{Reader, Refusal};

/// What to put where, by old positions.
#[derive(Clone, Debug, Default)]
pub struct Insertions {
    /// Before everything else; jumps to the first instruction do not repeat it.
    pub prologue: Vec<u8>,
    /// Before an instruction, however it is reached.
    pub before: BTreeMap<usize, Vec<u8>>,
    /// After an instruction that goes on to the next one; jumps to the next one do not reach it.
    pub after: BTreeMap<usize, Vec<u8>>,
    /// What to do when the method is left by an exception.
    pub on_exception: Option<OnException>,
    /// Room on the operand stack for all of this.
    pub more_stack: u16,
    /// Local variables for all of this, numbered from `max_locals` on.
    pub more_locals: u16,
}

/// What to do when the method is left by an exception.
#[derive(Clone, Debug)]
pub struct OnException {
    /// From here to the end of the method. Not before a constructor has called its superclass's.
    pub from: usize,
    /// Runs with the exception on the stack and leaves it there.
    pub code: Vec<u8>,
    /// Number of the class of `this`, if the code uses it.
    pub this: Option<u16>,
    /// Number of the class `java/lang/Throwable`.
    pub throwable: u16,
    /// Number of the text `StackMapTable`; none for class files from before it was needed.
    pub stack_map_table: Option<u16>,
}

/// The code with everything inserted.
pub fn weave(code: &Code, insertions: &Insertions, pool: &Pool) -> Result<Code, Refusal> {
    Woven::new(code, insertions)?.finish(pool)
}

struct Woven<'a> {
    code: &'a Code,
    insertions: &'a Insertions,
    /// New positions by old ones; `u32::MAX` within instructions.
    starts: Vec<u32>,
    instructions: Vec<u32>,
    bytes: Vec<u8>,
}

const NOWHERE: u32 = u32::MAX;

impl<'a> Woven<'a> {
    fn new(code: &'a Code, insertions: &'a Insertions) -> Result<Woven<'a>, Refusal> {
        let old = code.bytes.len();
        let mut woven = Woven {
            code,
            insertions,
            starts: vec![NOWHERE; old + 1],
            instructions: vec![NOWHERE; old + 1],
            bytes: Vec::new(),
        };
        woven.place()?;
        woven.emit()?;
        Ok(woven)
    }

    fn inserted(map: &BTreeMap<usize, Vec<u8>>, at: usize) -> &[u8] {
        map.get(&at).map_or(&[], Vec::as_slice)
    }

    /// Decides where everything goes. Only switches change their length with their position.
    fn place(&mut self) -> Result<(), Refusal> {
        let mut position = self.insertions.prologue.len();
        for instruction in self.code.instructions()? {
            let at = instruction.at;
            self.starts[at] = position as u32;
            position += Self::inserted(&self.insertions.before, at).len();
            self.instructions[at] = position as u32;
            position += match instruction.opcode {
                opcode::TABLESWITCH | opcode::LOOKUPSWITCH => {
                    let padding = |at: usize| 3 - at % 4;
                    instruction.length - padding(at) + padding(position)
                }
                _ => instruction.length,
            };
            position += Self::inserted(&self.insertions.after, at).len();
        }
        self.starts[self.code.bytes.len()] = position as u32;
        Ok(())
    }

    fn emit(&mut self) -> Result<(), Refusal> {
        let code = self.code;
        self.bytes.extend_from_slice(&self.insertions.prologue);
        for instruction in code.instructions()? {
            let at = instruction.at;
            self.bytes.extend_from_slice(Self::inserted(&self.insertions.before, at));
            let here = self.bytes.len() as i64;
            debug_assert_eq!(here as u32, self.instructions[at]);
            let old = &code.bytes[at..at + instruction.length];
            match code.jumps(&instruction)? {
                Jumps::None => self.bytes.extend_from_slice(old),
                Jumps::Short(target) => {
                    let distance = i64::from(self.start(target)?) - here;
                    let distance = i16::try_from(distance).map_err(|_| Refusal::MethodTooLarge)?;
                    self.bytes.push(old[0]);
                    self.bytes.extend(distance.to_be_bytes());
                }
                Jumps::Long(target) => {
                    self.bytes.push(old[0]);
                    self.push_distance(here, target)?;
                }
                Jumps::Switch(default, targets) => {
                    self.bytes.push(old[0]);
                    self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
                    let operands = ((at + 4) & !3) - at;
                    self.push_distance(here, default)?;
                    if old[0] == opcode::TABLESWITCH {
                        self.bytes.extend_from_slice(&old[operands + 4..operands + 12]);
                        for target in targets {
                            self.push_distance(here, target)?;
                        }
                    } else {
                        self.bytes.extend_from_slice(&old[operands + 4..operands + 8]);
                        for (number, target) in targets.into_iter().enumerate() {
                            let key = operands + 8 + 8 * number;
                            self.bytes.extend_from_slice(&old[key..key + 4]);
                            self.push_distance(here, target)?;
                        }
                    }
                }
            }
            self.bytes.extend_from_slice(Self::inserted(&self.insertions.after, at));
        }
        Ok(())
    }

    fn push_distance(&mut self, here: i64, target: i64) -> Result<(), Refusal> {
        let distance = i64::from(self.start(target)?) - here;
        self.bytes.extend((distance as i32).to_be_bytes());
        Ok(())
    }

    /// The new position of a jump target.
    fn start(&self, old: i64) -> Result<u32, Refusal> {
        let known = usize::try_from(old).ok().and_then(|old| self.starts.get(old)).copied();
        known.filter(|&new| new != NOWHERE).ok_or(Refusal::Malformed)
    }

    fn short_start(&self, old: usize) -> Result<u16, Refusal> {
        u16::try_from(self.start(old as i64)?).map_err(|_| Refusal::MethodTooLarge)
    }

    fn short_instruction(&self, old: usize) -> Result<u16, Refusal> {
        let new = self.instructions.get(old).copied().filter(|&new| new != NOWHERE);
        u16::try_from(new.ok_or(Refusal::Malformed)?).map_err(|_| Refusal::MethodTooLarge)
    }

    fn finish(mut self, pool: &Pool) -> Result<Code, Refusal> {
        let mut handlers = Vec::with_capacity(self.code.handlers.len() + 1);
        for handler in &self.code.handlers {
            handlers.push(Handler {
                start: self.short_start(handler.start.into())?,
                end: self.short_start(handler.end.into())?,
                target: self.short_start(handler.target.into())?,
                catches: handler.catches,
            });
        }
        let mut last = None;
        if let Some(on_exception) = &self.insertions.on_exception {
            let end = self.short_start(self.code.bytes.len())?;
            let start = self.short_start(on_exception.from)?;
            if start < end {
                handlers.push(Handler { start, end, target: end, catches: 0 });
                self.bytes.extend_from_slice(&on_exception.code);
                self.bytes.push(opcode::ATHROW);
                last =
                    Some(LastFrame { position: end, this: on_exception.this, class: on_exception.throwable });
            }
        }
        // The format allows one byte less than its length field can say.
        if self.bytes.len() >= usize::from(u16::MAX) {
            return Err(Refusal::MethodTooLarge);
        }
        let grown = |old: u16, more: u16| old.checked_add(more).ok_or(Refusal::MethodTooLarge);
        let attributes = self.attributes(pool, last)?;
        Ok(Code {
            max_stack: grown(self.code.max_stack.max(1), self.insertions.more_stack)?,
            max_locals: grown(self.code.max_locals, self.insertions.more_locals)?,
            bytes: self.bytes,
            handlers,
            attributes,
        })
    }

    fn attributes(&self, pool: &Pool, last: Option<LastFrame>) -> Result<Vec<Attribute>, Refusal> {
        let start = |old: usize| self.short_start(old);
        let instruction = |old: usize| self.short_instruction(old);
        let mut attributes = Vec::with_capacity(self.code.attributes.len() + 1);
        let mut has_frames = false;
        for attribute in &self.code.attributes {
            let content = match pool.text(attribute.name) {
                Some("LineNumberTable") => self.lines(&attribute.content)?,
                Some("LocalVariableTable" | "LocalVariableTypeTable") => {
                    self.variables(&attribute.content)?
                }
                Some("StackMapTable") => {
                    has_frames = true;
                    frames::moved(&attribute.content, &start, &instruction, last)?
                }
                _ => attribute.content.clone(),
            };
            attributes.push(Attribute { name: attribute.name, content });
        }
        let table = self.insertions.on_exception.as_ref().and_then(|on| on.stack_map_table);
        if let (false, Some(name), Some(_)) = (has_frames, table, last) {
            let content = frames::moved(&[0, 0], &start, &instruction, last)?;
            attributes.push(Attribute { name, content });
        }
        Ok(attributes)
    }

    fn lines(&self, content: &[u8]) -> Result<Vec<u8>, Refusal> {
        let mut reader = Reader::new(content);
        let count = reader.u2()?;
        let mut out = count.to_be_bytes().to_vec();
        for _ in 0..count {
            let start = self.short_start(reader.u2()?.into())?;
            out.extend(start.to_be_bytes());
            out.extend(reader.u2()?.to_be_bytes());
        }
        Ok(out)
    }

    fn variables(&self, content: &[u8]) -> Result<Vec<u8>, Refusal> {
        let mut reader = Reader::new(content);
        let count = reader.u2()?;
        let mut out = count.to_be_bytes().to_vec();
        for _ in 0..count {
            let (from, length) = (usize::from(reader.u2()?), usize::from(reader.u2()?));
            let start = self.short_start(from)?;
            let end = self.short_start(from + length)?;
            out.extend(start.to_be_bytes());
            out.extend((end - start).to_be_bytes());
            out.extend_from_slice(reader.bytes(6)?);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP: u8 = 0;

    /// A loop: at 1 a jump forwards to 6, at 7 one back to 0.
    fn code(attributes: Vec<Attribute>) -> Code {
        let bytes = vec![26, 153, 0, 5, 4, opcode::IRETURN, 26, 167, 0xff, 0xf9];
        let handlers = vec![Handler { start: 0, end: 6, target: 6, catches: 0 }];
        Code { max_stack: 1, max_locals: 1, bytes, handlers, attributes }
    }

    fn insertions(before_the_jump: usize) -> Insertions {
        Insertions {
            prologue: vec![NOP; 2],
            before: BTreeMap::from([(1, vec![NOP; before_the_jump]), (6, vec![NOP; 3])]),
            after: BTreeMap::from([(0, vec![NOP])]),
            ..Insertions::default()
        }
    }

    #[test]
    fn jumps_and_handlers_reach_the_insertions_of_their_targets() {
        let woven = weave(&code(Vec::new()), &insertions(1), &Pool::empty()).unwrap();
        let expected = [0, 0, 26, 0, 0, 153, 0, 5, 4, opcode::IRETURN, 0, 0, 0, 26, 167, 0xff, 0xf4];
        assert_eq!(woven.bytes, expected);
        assert_eq!(woven.handlers, [Handler { start: 2, end: 10, target: 10, catches: 0 }]);
    }

    #[test]
    fn lines_and_frames_move_with_the_code() {
        let mut pool = Pool::empty();
        let (lines, frames) =
            (pool.add_text("LineNumberTable").unwrap(), pool.add_text("StackMapTable").unwrap());
        let attributes = vec![
            Attribute { name: lines, content: vec![0, 2, 0, 0, 0, 50, 0, 6, 0, 51] },
            // The same types as before at 0; at 6, with an object on the stack that the instruction at 0 made.
            Attribute { name: frames, content: vec![0, 2, 0, 64 + 5, 8, 0, 0] },
        ];
        let woven = weave(&code(attributes.clone()), &insertions(1), &pool).unwrap();
        assert_eq!(woven.attributes[0].content, [0, 2, 0, 2, 0, 50, 0, 10, 0, 51]);
        assert_eq!(woven.attributes[1].content, [0, 2, 2, 64 + 7, 8, 0, 2]);
        // Too far apart for the short form.
        let woven = weave(&code(attributes), &insertions(80), &pool).unwrap();
        assert_eq!(woven.attributes[1].content, [0, 2, 2, 247, 0, 86, 8, 0, 2]);
    }

    #[test]
    fn switches_are_padded_anew() {
        // A switch with a default and one case, both to 20, behind two bytes of padding.
        let mut bytes = vec![NOP, opcode::TABLESWITCH, 0, 0];
        for number in [19i32, 7, 7, 19] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend([opcode::RETURN; 5]);
        let code = Code { max_stack: 1, max_locals: 0, bytes, handlers: Vec::new(), attributes: Vec::new() };
        let prologue = Insertions { prologue: vec![NOP], ..Insertions::default() };
        let woven = weave(&code, &prologue, &Pool::empty()).unwrap();
        let mut expected = vec![NOP, NOP, opcode::TABLESWITCH, 0];
        for number in [18i32, 7, 7, 18] {
            expected.extend(number.to_be_bytes());
        }
        expected.extend([opcode::RETURN; 5]);
        assert_eq!(woven.bytes, expected);
    }

    #[test]
    fn a_method_that_grows_too_large_is_refused() {
        let huge = Insertions { prologue: vec![NOP; 65_530], ..Insertions::default() };
        assert_eq!(weave(&code(Vec::new()), &huge, &Pool::empty()).unwrap_err(), Refusal::MethodTooLarge);
        let far = weave(&code(Vec::new()), &insertions(40_000), &Pool::empty());
        assert_eq!(far.unwrap_err(), Refusal::MethodTooLarge);
    }
}
