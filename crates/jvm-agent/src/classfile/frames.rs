//! StackMapTable: the types that the verifier expects at jump targets. Insertions leave the types as they are, so
//! frames only move.

use super::reader::{Reader, Refusal};

/// Moves all frames. `start` gives the new position of a jump target, `instruction` that of an instruction itself,
/// by which the verifier names objects that are not constructed yet. `last` is a further frame behind all others.
pub(super) fn moved(
    content: &[u8],
    start: &dyn Fn(usize) -> Result<u16, Refusal>,
    instruction: &dyn Fn(usize) -> Result<u16, Refusal>,
    last: Option<LastFrame>,
) -> Result<Vec<u8>, Refusal> {
    let mut reader = Reader::new(content);
    let count = reader.u2()?;
    let mut out = Vec::with_capacity(content.len() + 16);
    let total = usize::from(count) + usize::from(last.is_some());
    out.extend(u16::try_from(total).map_err(|_| Refusal::MethodTooLarge)?.to_be_bytes());
    let mut old = None;
    let mut new = None;
    for _ in 0..count {
        let tag = reader.u1()?;
        let delta = match tag {
            0..=63 => u16::from(tag),
            64..=127 => u16::from(tag - 64),
            247..=255 => reader.u2()?,
            _ => return Err(Refusal::Malformed),
        };
        // The first frame's distance counts from the start, the others' from one behind the last.
        let position = old.map_or(0, |old| old + 1) + usize::from(delta);
        old = Some(position);
        let delta = distance(&mut new, start(position)?)?;
        match tag {
            0..=63 if delta <= 63 => out.push(delta as u8),
            0..=63 => push(&mut out, 251, delta),
            64..=127 if delta <= 63 => out.push(64 + delta as u8),
            64..=127 => push(&mut out, 247, delta),
            _ => push(&mut out, tag, delta),
        }
        match tag {
            64..=127 | 247 => types(&mut reader, &mut out, 1, instruction)?,
            252..=254 => types(&mut reader, &mut out, u16::from(tag - 251), instruction)?,
            255 => {
                for _ in 0..2 {
                    let count = reader.u2()?;
                    out.extend(count.to_be_bytes());
                    types(&mut reader, &mut out, count, instruction)?;
                }
            }
            _ => {}
        }
    }
    if !reader.is_done() {
        return Err(Refusal::Malformed);
    }
    if let Some(last) = last {
        let delta = distance(&mut new, last.position)?;
        push(&mut out, 255, delta);
        // At most one local, and one object on the stack.
        for object in [last.this, Some(last.class)] {
            out.extend(u16::from(object.is_some()).to_be_bytes());
            object.into_iter().for_each(|class| {
                out.push(7);
                out.extend(class.to_be_bytes());
            });
        }
    }
    Ok(out)
}

/// The frame of an exception handler that uses no local variable but `this`.
#[derive(Clone, Copy)]
pub(super) struct LastFrame {
    pub position: u16,
    /// Number of the class of `this`, if it is used.
    pub this: Option<u16>,
    /// Number of the class of what was thrown.
    pub class: u16,
}

fn distance(last: &mut Option<u16>, position: u16) -> Result<u16, Refusal> {
    let first_possible = last.map_or(0, |last| last + 1);
    *last = Some(position);
    position.checked_sub(first_possible).ok_or(Refusal::Malformed)
}

fn push(out: &mut Vec<u8>, tag: u8, delta: u16) {
    out.push(tag);
    out.extend(delta.to_be_bytes());
}

fn types(
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
    count: u16,
    instruction: &dyn Fn(usize) -> Result<u16, Refusal>,
) -> Result<(), Refusal> {
    for _ in 0..count {
        let tag = reader.u1()?;
        out.push(tag);
        match tag {
            7 => out.extend(reader.u2()?.to_be_bytes()),
            8 => out.extend(instruction(usize::from(reader.u2()?))?.to_be_bytes()),
            0..=6 => {}
            _ => return Err(Refusal::Malformed),
        }
    }
    Ok(())
}
