//! Which calls announce a basic block, and which ones do not come back.

use std::collections::{HashMap, HashSet};

use iced_x86::{Code, Decoder, DecoderOptions};
use object::{
    Architecture, Object, ObjectSection as _, ObjectSymbol, ObjectSymbolTable as _, RelocationTarget,
};

const ANNOUNCEMENT: &str = "__sanitizer_cov_trace_pc";

/// Functions that never return, of the libraries that instrumented code calls. What stands behind such a call is
/// another block, and not what follows it.
const ENDS: [&str; 20] = [
    "abort",
    "exit",
    "_exit",
    "quick_exit",
    "pthread_exit",
    "thrd_exit",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "__assert_fail",
    "__assert_perror_fail",
    "__stack_chk_fail",
    "__fortify_fail",
    "__chk_fail",
    "_Unwind_Resume",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_bad_cast",
    "_ZSt9terminatev",
];

/// The addresses that such calls go to.
pub(super) struct Announcements {
    of_blocks: HashSet<u64>,
    ends: HashSet<u64>,
}

impl Announcements {
    /// None if there are none.
    pub fn of(file: &object::File<'_>) -> Option<Announcements> {
        if file.architecture() != Architecture::X86_64 {
            return None;
        }
        let mut found = Announcements { of_blocks: HashSet::new(), ends: HashSet::new() };
        for symbol in file.symbols().filter(|symbol| symbol.is_definition()) {
            found.note(symbol.name().unwrap_or_default(), symbol.address());
        }
        let imported = imports(file);
        for section in
            file.sections().filter(|section| section.name().is_ok_and(|name| name.starts_with(".plt")))
        {
            let Ok(code) = section.data() else { continue };
            for (stub, slot) in stubs(code, section.address()) {
                if let Some(name) = imported.get(&slot) {
                    found.note(name, stub);
                }
            }
        }
        (!found.of_blocks.is_empty()).then_some(found)
    }

    fn note(&mut self, name: &str, address: u64) {
        // Symbols may carry their library's version.
        let name = name.split('@').next().unwrap_or_default();
        if name == ANNOUNCEMENT {
            self.of_blocks.insert(address);
        } else if ENDS.contains(&name) || name.contains("4core9panicking") {
            self.ends.insert(address);
        }
    }

    /// A function of the program itself turns out never to return.
    pub fn note_end(&mut self, function: u64) {
        self.ends.insert(function);
    }

    pub fn is_announcement(&self, target: u64) -> bool {
        self.of_blocks.contains(&target)
    }

    pub fn never_returns(&self, target: u64) -> bool {
        self.ends.contains(&target)
    }
}

/// The functions of other modules, by the slot in which the loader puts their address.
fn imports<'a>(file: &'a object::File<'_>) -> HashMap<u64, &'a str> {
    let (Some(relocations), Some(symbols)) = (file.dynamic_relocations(), file.dynamic_symbol_table()) else {
        return HashMap::new();
    };
    let named = relocations.filter_map(|(slot, relocation)| {
        let RelocationTarget::Symbol(index) = relocation.target() else { return None };
        Some((slot, symbols.symbol_by_index(index).ok()?.name().ok()?))
    });
    named.collect()
}

/// The stubs by which calls reach other modules, each with the slot it jumps through.
fn stubs(code: &[u8], address: u64) -> Vec<(u64, u64)> {
    /// Linkers align stubs to this.
    const STUB_BYTES: u64 = 8;
    let mut found = Vec::new();
    let mut start = address;
    for instruction in &mut Decoder::with_ip(64, code, address, DecoderOptions::NONE) {
        if instruction.code() == Code::Jmp_rm64 && instruction.is_ip_rel_memory_operand() {
            found.push((start, instruction.ip_rel_memory_address()));
        }
        // What precedes the jump in its stub, if anything, is a landing mark.
        if instruction.code() != Code::Endbr64 && instruction.next_ip().is_multiple_of(STUB_BYTES)
            || instruction.code() == Code::Jmp_rm64
        {
            start = instruction.next_ip().next_multiple_of(STUB_BYTES);
        }
    }
    found
}
