//! Where a binary's code calls the hooks of a thread sanitizer: its accesses, as the recorder tells them apart.

use std::collections::HashMap;
use std::path::Path;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, ObjectSymbolTable as _, RelocationTarget};

use crate::elf;

/// What all hooks' names begin with.
const HOOK: &str = "__tsan_";

/// A call of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The address behind the call, as in the file: how recordings name it.
    pub returns_to: u64,
    /// The hook's name, as in `__tsan_read4`.
    pub hook: String,
}

/// All calls of hooks in a file, by address. Empty where nothing is known of its code.
pub fn in_file(path: &Path) -> Vec<HookCall> {
    let Ok(bytes) = elf::map(path) else { return Vec::new() };
    let file = object::File::parse(&*bytes).ok();
    file.and_then(|file| find(&file)).unwrap_or_default()
}

pub(crate) fn find(file: &object::File<'_>) -> Option<Vec<HookCall>> {
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let mut hooks: HashMap<u64, &str> = symbols
        .filter(|symbol| symbol.is_definition())
        .filter_map(|symbol| Some((symbol.address(), hook_name(symbol.name().ok()?)?)))
        .collect();
    // Those of another module are reached through slots, which the loader fills.
    let table = file.dynamic_symbol_table();
    let slots: HashMap<u64, &str> = file
        .dynamic_relocations()
        .into_iter()
        .flatten()
        .filter_map(|(slot, relocation)| {
            let RelocationTarget::Symbol(index) = relocation.target() else { return None };
            let symbol = table.as_ref()?.symbol_by_index(index).ok()?;
            Some((slot, hook_name(symbol.name().ok()?)?))
        })
        .collect();
    for stubs in file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".plt"))) {
        // jmp [rip + distance], within an entry of sixteen bytes.
        let jumps =
            Transfers { code: stubs.data().ok()?, start: stubs.address(), instruction: &[0xff, 0x25] };
        hooks.extend(jumps.filter_map(|(at, _, slot)| Some((at & !15, *slots.get(&slot)?))));
    }
    let text = file.section_by_name(".text")?;
    let calls =
        |instruction| Transfers { code: text.data().unwrap_or_default(), start: text.address(), instruction };
    // call distance, and call [rip + distance].
    let direct = calls(&[0xe8]).filter_map(|(_, end, target)| Some((end, *hooks.get(&target)?)));
    let indirect = calls(&[0xff, 0x15]).filter_map(|(_, end, slot)| Some((end, *slots.get(&slot)?)));
    let found =
        direct.chain(indirect).map(|(returns_to, hook)| HookCall { returns_to, hook: hook.to_owned() });
    let mut found: Vec<HookCall> = found.collect();
    found.sort_by_key(|call| call.returns_to);
    Some(found)
}

/// The name without its library's version, if it is a hook's.
fn hook_name(name: &str) -> Option<&str> {
    name.starts_with(HOOK).then(|| name.split('@').next().unwrap_or(name))
}

/// Everything in the code that looks like this instruction with a distance behind it: where it is, where it ends, and
/// where it leads. What only looks like it leads nowhere of interest. (x86-64 only; other machines' code has none.)
struct Transfers<'a> {
    code: &'a [u8],
    start: u64,
    instruction: &'a [u8],
}

impl Iterator for Transfers<'_> {
    type Item = (u64, u64, u64);

    fn next(&mut self) -> Option<(u64, u64, u64)> {
        let length = self.instruction.len();
        while self.code.len() >= length + 4 {
            let (code, at) = (self.code, self.start);
            (self.code, self.start) = (&code[1..], at + 1);
            if code.starts_with(self.instruction) {
                let distance = i32::from_le_bytes(code[length..length + 4].try_into().ok()?);
                let end = at + length as u64 + 4;
                return Some((at, end, end.wrapping_add_signed(distance.into())));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_with_their_targets() {
        let code = [0x90, 0xe8, 0x10, 0, 0, 0, 0xe8, 0xfb, 0xff, 0xff, 0xff, 0xe8, 0];
        let calls = Transfers { code: &code, start: 0x1000, instruction: &[0xe8] };
        assert_eq!(calls.collect::<Vec<_>>(), [(0x1001, 0x1006, 0x1016), (0x1006, 0x100b, 0x1006)]);
    }
}
