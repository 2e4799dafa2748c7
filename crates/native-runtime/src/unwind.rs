//! From a function's frame to its caller's, by the tables that compilers leave for exceptions (`.eh_frame`).
//!
//! Only what compilers write for ordinary functions is understood: frames found by the stack or the frame pointer, with
//! registers saved in them. At anything else (signal frames, trampolines) the way ends.

use crate::modules;

/// Where a thread is, or was when it called.
#[derive(Clone, Copy)]
pub struct Place {
    /// A return address.
    pub pc: u64,
    pub sp: u64,
    pub fp: u64,
}

/// DWARF's numbers of these registers.
#[cfg(target_arch = "x86_64")]
const REGISTERS: Registers = Registers { fp: 6, sp: 7, return_address: 16 };
#[cfg(target_arch = "aarch64")]
const REGISTERS: Registers = Registers { fp: 29, sp: 31, return_address: 30 };

struct Registers {
    fp: u64,
    sp: u64,
    return_address: u64,
}

impl Place {
    /// Of a call that has just been made, by its frame pointer and where the frame ends: the return address lies there.
    #[cfg(target_arch = "x86_64")]
    pub unsafe fn of_call(frame_end: usize, fp: usize) -> Place {
        let pc = (frame_end as *const u64).sub(1).read();
        Place { pc, sp: frame_end as u64, fp: fp as u64 }
    }

    /// Of a call that has just been made, by its return address and frame pointer.
    #[cfg(target_arch = "aarch64")]
    pub unsafe fn of_call(pc: usize, fp: usize) -> Place {
        Place { pc: pc as u64, sp: fp as u64, fp: fp as u64 }
    }

    /// Where the function at this place was called from; `stack_end` is one past the last address of the stack.
    pub unsafe fn caller(&self, stack_end: u64) -> Option<Place> {
        let entry = modules::unwind_entry(self.pc - 1)?;
        let rules = Rules::at(entry, self.pc - 1)?;
        let base = match rules.frame {
            register if register == REGISTERS.sp => self.sp,
            register if register == REGISTERS.fp => self.fp,
            _ => return None,
        };
        let frame = base.wrapping_add_signed(rules.distance);
        let on_stack = |address: u64| {
            (address.is_multiple_of(8) && (self.sp..stack_end.saturating_sub(7)).contains(&address))
                .then(|| (address as *const u64).read())
        };
        let saved = |distance: i64| on_stack(frame.wrapping_add_signed(distance));
        if frame <= self.sp {
            return None;
        }
        let pc = saved(rules.return_address?)?;
        let fp = match rules.fp {
            Some(distance) => saved(distance)?,
            None => self.fp,
        };
        (pc != 0).then_some(Place { pc, sp: frame, fp })
    }
}

/// Does a signal handler return to this address?
pub unsafe fn is_of_signal(return_address: u64) -> bool {
    let Some(entry) = modules::unwind_entry(return_address - 1) else { return false };
    let mut bytes = Bytes(entry);
    if bytes.length().is_none() {
        return false;
    }
    let mut common = Bytes(bytes.0 - u64::from(bytes.u32()));
    // Length, id and version come before the letters.
    common.0 += 9;
    loop {
        match common.u8() {
            0 => return false,
            b'S' => return true,
            _ => {}
        }
    }
}

/// How to find the caller's registers at one instruction.
#[derive(Clone, Copy)]
struct Rules {
    /// The frame begins at this register's value and this distance.
    frame: u64,
    distance: i64,
    /// Where registers are saved, counted from the frame's beginning; none if they are not.
    fp: Option<i64>,
    return_address: Option<i64>,
}

/// What all functions of an entry's kind have in common.
struct Common {
    code_unit: u64,
    data_unit: i64,
    has_augmentation: bool,
    initial: Program,
}

/// Instructions, as addresses.
struct Program {
    at: Bytes,
    end: u64,
}

impl Rules {
    /// By the entry at `entry`, for the function that holds `address`.
    unsafe fn at(entry: u64, address: u64) -> Option<Rules> {
        let mut bytes = Bytes(entry);
        let length = bytes.length()?;
        let end = bytes.0 + u64::from(length);
        let common = Common::read(bytes.0 - u64::from(bytes.u32()))?;
        // Where the function begins, relative to this field, and its length: the only way linkers index.
        let start = bytes.0.wrapping_add_signed(i64::from(bytes.u32() as i32));
        let size = u64::from(bytes.u32());
        if address.wrapping_sub(start) >= size {
            return None;
        }
        if common.has_augmentation {
            let more = bytes.unsigned();
            bytes.0 += more;
        }
        let mut rules = Rules { frame: u64::MAX, distance: 0, fp: None, return_address: None };
        common.run(&common.initial, None, &mut rules)?;
        let own = Program { at: bytes, end };
        let initial = rules;
        common.run(&own, Some((start, address, initial)), &mut rules)?;
        Some(rules)
    }
}

impl Common {
    unsafe fn read(at: u64) -> Option<Common> {
        let mut bytes = Bytes(at);
        let length = bytes.length()?;
        let end = bytes.0 + u64::from(length);
        let (id, version) = (bytes.u32(), bytes.u8());
        if id != 0 || version != 1 {
            return None;
        }
        let (mut has_augmentation, mut has_encoding) = (false, false);
        loop {
            match bytes.u8() {
                0 => break,
                b'z' => has_augmentation = true,
                b'R' => has_encoding = true,
                b'P' | b'L' => {}
                // S: a signal's frame, whose caller was interrupted anywhere; or something newer.
                _ => return None,
            }
        }
        let (code_unit, data_unit) = (bytes.unsigned(), bytes.signed());
        if bytes.unsigned() != REGISTERS.return_address || !has_encoding {
            return None;
        }
        if has_augmentation {
            let more = bytes.unsigned();
            bytes.0 += more;
        }
        Some(Common { code_unit, data_unit, has_augmentation, initial: Program { at: bytes, end } })
    }

    /// Follows the instructions, up to an address if one is given with the function's start and its first rules.
    unsafe fn run(
        &self,
        program: &Program,
        until: Option<(u64, u64, Rules)>,
        rules: &mut Rules,
    ) -> Option<()> {
        const REMEMBERED: usize = 8;
        let mut remembered = [*rules; REMEMBERED];
        let mut depth = 0;
        let mut bytes = Bytes(program.at.0);
        let mut location = until.map_or(0, |(start, ..)| start);
        let mut advance = |by: u64| {
            location += by * self.code_unit;
            until.is_none_or(|(_, address, _)| location <= address)
        };
        while bytes.0 < program.end {
            let instruction = bytes.u8();
            let operand = u64::from(instruction & 0x3f);
            let goes_on = match instruction >> 6 {
                1 => advance(operand),
                2 => {
                    let distance = bytes.unsigned() as i64 * self.data_unit;
                    rules.save(operand, Some(distance));
                    true
                }
                3 => {
                    rules.restore(operand, until);
                    true
                }
                _ => match instruction {
                    // Nothing.
                    0x00 => true,
                    0x02 => advance(u64::from(bytes.u8())),
                    0x03 => advance(u64::from(bytes.u16())),
                    0x04 => advance(u64::from(bytes.u32())),
                    // A register saved, restored, unknown, the same, or the same as another.
                    0x05 => {
                        let register = bytes.unsigned();
                        let distance = bytes.unsigned() as i64 * self.data_unit;
                        rules.save(register, Some(distance));
                        true
                    }
                    0x06 => {
                        let register = bytes.unsigned();
                        rules.restore(register, until);
                        true
                    }
                    // Of no caller the return address is known that is unknown here: the end of the stack.
                    0x07 if bytes.unsigned() == REGISTERS.return_address => return None,
                    0x07 => true,
                    0x08 => {
                        let register = bytes.unsigned();
                        rules.save(register, None);
                        true
                    }
                    0x0a if depth < REMEMBERED => {
                        remembered[depth] = *rules;
                        depth += 1;
                        true
                    }
                    0x0b => {
                        depth = depth.checked_sub(1)?;
                        *rules = remembered[depth];
                        true
                    }
                    // Where the frame begins: register and distance, register, distance.
                    0x0c => {
                        rules.frame = bytes.unsigned();
                        rules.distance = bytes.unsigned() as i64;
                        true
                    }
                    0x0d => {
                        rules.frame = bytes.unsigned();
                        true
                    }
                    0x0e => {
                        rules.distance = bytes.unsigned() as i64;
                        true
                    }
                    // The size of arguments, for others.
                    0x2e => {
                        bytes.unsigned();
                        true
                    }
                    // A signed return address on aarch64: its high bits are no part of it; or an expression.
                    _ => return None,
                },
            };
            if !goes_on {
                break;
            }
        }
        Some(())
    }
}

impl Rules {
    fn save(&mut self, register: u64, distance: Option<i64>) {
        if register == REGISTERS.fp {
            self.fp = distance;
        } else if register == REGISTERS.return_address {
            self.return_address = distance;
        }
    }

    fn restore(&mut self, register: u64, until: Option<(u64, u64, Rules)>) {
        if let Some((.., initial)) = until {
            let distance = if register == REGISTERS.fp { initial.fp } else { initial.return_address };
            self.save(register, distance);
        }
    }
}

/// The address of the next byte to read, in a mapped module.
struct Bytes(u64);

impl Bytes {
    unsafe fn next<T: Copy>(&mut self) -> T {
        let value = (self.0 as *const T).read_unaligned();
        self.0 += size_of::<T>() as u64;
        value
    }

    unsafe fn u8(&mut self) -> u8 {
        self.next()
    }

    unsafe fn u16(&mut self) -> u16 {
        self.next()
    }

    unsafe fn u32(&mut self) -> u32 {
        self.next()
    }

    /// Of an entry; none at the end of all, or if it takes more than 4 bytes to say.
    unsafe fn length(&mut self) -> Option<u32> {
        Some(self.u32()).filter(|&length| length != 0 && length != u32::MAX)
    }

    /// LEB128.
    unsafe fn unsigned(&mut self) -> u64 {
        let (mut value, mut shift) = (0u64, 0u32);
        loop {
            let byte = self.u8();
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 {
                return value;
            }
        }
    }

    unsafe fn signed(&mut self) -> i64 {
        let start = self.0;
        let value = self.unsigned();
        let bits = 7 * (self.0 - start) as u32;
        if bits < 64 { (value << (64 - bits)) as i64 >> (64 - bits) } else { value as i64 }
    }
}
