//! Names for what was recorded as numbers: functions, lines, variables, locks, values.

use std::collections::BTreeSet;
use std::path::Path;

use localize::profile::Block;
use localize::{
    Access, AccessKind, Action, Code, ModuleId, ObjectId, Profile, SiteId, StackId, StandstillStep,
};
use report::Frame;
use report::expression::{Place, shared_expression};
use report::source::Sources;
use runner::{BuildId, Symbolizer};

/// Names things, and remembers what could not be named.
pub struct Names {
    symbolizer: Symbolizer,
    sources: Sources,
    warnings: BTreeSet<String>,
}

impl Default for Names {
    fn default() -> Self {
        let sources = Sources::new(crate::java::source_roots());
        Self { symbolizer: Symbolizer::default(), sources, warnings: BTreeSet::new() }
    }
}

impl Names {
    /// Why some names are missing.
    pub fn warnings(&self) -> &BTreeSet<String> {
        &self.warnings
    }

    /// One access of a finding in words.
    pub fn access(&mut self, access: &Access, thread: u32, profile: &Profile, code: &Code) -> report::Access {
        let location = &profile.locations[access.location.0 as usize];
        let given = profile.names.locations.get(&access.location);
        let variable = match (given, location.in_module) {
            (Some(given), _) => Some(given.text.clone()),
            (None, Some((module, address))) => self.variable(module, address, code),
            (None, None) => None,
        };
        let kind = match access.kind {
            AccessKind::Read => report::AccessKind::Read,
            AccessKind::Write => report::AccessKind::Write,
            AccessKind::Update => report::AccessKind::Update,
        };
        let locks = access.locks.map(|set| {
            let held = profile.run.locksets[set.0 as usize].iter();
            held.map(|lock| self.object(lock.object, profile, code)).collect()
        });
        report::Access {
            variable: variable.unwrap_or_default(),
            value: access.value.map(|value| match given {
                Some(given) => show_java_value(value, given.value_type),
                None => show_value(value, location.size),
            }),
            locks,
            frees: access.frees,
            ..self.step(kind, thread, access.site, access.stack, code)
        }
    }

    /// What a thread did on the way into a standstill, in words.
    pub fn standstill_step(
        &mut self,
        step: &StandstillStep,
        profile: &Profile,
        code: &Code,
    ) -> report::Access {
        let (kind, object, unnamed) = match step.action {
            Action::Read(index) | Action::Write(index) => {
                return self.access(&profile.run.accesses[index], step.role, profile, code);
            }
            Action::Lock(lock) => (report::AccessKind::Lock, lock, "a lock"),
            Action::Signal(condition) => (report::AccessKind::Signal, condition, "a condition"),
            Action::Wait(condition) => (report::AccessKind::Wait, condition, "a condition"),
        };
        let in_module = profile.objects[object.0 as usize].in_module;
        let name = in_module.and_then(|(module, address)| self.variable(module, address, code));
        let variable = name.map_or_else(|| unnamed.to_owned(), |name| without_internals(&name).to_owned());
        report::Access { variable, ..self.step(kind, step.role, step.site, step.stack, code) }
    }

    /// Something that a thread did, of which only the place is known.
    fn step(
        &mut self,
        kind: report::AccessKind,
        thread: u32,
        site: SiteId,
        stack: StackId,
        code: &Code,
    ) -> report::Access {
        let stack = self.stack(code.stack(stack), code);
        let place = self.place(site, code);
        // Where the program asked for it says more than where a library did it.
        let own = stack.iter().find(|frame| frame.line.is_some() && !frame.is_library()).or(stack.first());
        let named = own.is_some_and(|frame| frame.function.is_some());
        report::Access {
            thread,
            kind,
            variable: String::new(),
            function: own.and_then(|frame| frame.function.clone()),
            file: own.and_then(|frame| frame.file.clone()),
            line: own.and_then(|frame| frame.line),
            column: own.and_then(|frame| frame.column),
            source: None,
            module: if named { None } else { place.module },
            address: if named { None } else { Some(place.address) },
            stack,
            value: None,
            locks: None,
            frees: false,
        }
    }

    /// A place in code in a few words: `queue_pop() at queue.c:33`.
    pub fn site(&mut self, site: SiteId, code: &Code) -> String {
        let frames = self.frames(site, code);
        match frames.first() {
            Some(Frame { function: Some(function), file: Some(file), line: Some(line), .. }) => {
                let file =
                    Path::new(file).file_name().map_or(file.clone(), |name| name.to_string_lossy().into());
                format!("{function}() at {file}:{line}")
            }
            Some(Frame { function: Some(function), .. }) => format!("{function}()"),
            Some(Frame { module, address, .. }) => {
                let module = module.as_deref().and_then(|path| Path::new(path).file_name());
                let module = module.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                format!("{module}+{}", address.as_deref().unwrap_or("?"))
            }
            None => "an unknown place".to_owned(),
        }
    }

    /// A call stack, inlined functions included, without what lies below `main` or a thread's start function.
    pub fn stack(&mut self, sites: &[SiteId], code: &Code) -> Vec<Frame> {
        let is_users = |site: &SiteId| !starts_programs(code, *site);
        let users = sites.iter().rposition(is_users).map_or(sites, |last| &sites[..=last]);
        let mut frames: Vec<Frame> = users.iter().flat_map(|&site| self.frames(site, code)).collect();
        let known = frames.iter().rposition(|frame| frame.file.is_some());
        if let Some(last) = known {
            frames.truncate(last + 1);
        }
        frames
    }

    fn frames(&mut self, site: SiteId, code: &Code) -> Vec<Frame> {
        let place = self.place(site, code);
        if place.frames.is_empty() {
            return vec![Frame {
                function: None,
                file: None,
                line: None,
                column: None,
                module: place.module,
                address: Some(place.address),
            }];
        }
        place.frames
    }

    /// All that is known about a place in code.
    fn place(&mut self, site: SiteId, code: &Code) -> CodePlace {
        let given = code.place(site);
        let site = code.site(site);
        let mut place =
            CodePlace { frames: Vec::new(), module: None, address: format!("{:#x}", site.address) };
        if let Some(given) = given {
            place.frames.push(Frame {
                function: Some(given.function.clone()),
                file: given.file.clone(),
                line: given.line,
                column: None,
                module: None,
                address: None,
            });
            return place;
        }
        let Some(id) = site.module else { return place };
        let module = code.module(id);
        place.module = Some(module.path.clone());
        let build_id = BuildId::from_bytes(&module.build_id);
        // A site is where the hook returns to; the access or call is the instruction before.
        let address = site.address.saturating_sub(1);
        match self.symbolizer.frames(Path::new(&module.path), build_id.as_ref(), address) {
            Ok(frames) => {
                // Without line and symbol the symbolizer can only repeat module and address.
                if frames.iter().any(|frame| frame.file.is_some() || !is_placeholder(&frame.function)) {
                    place.frames = frames
                        .iter()
                        .map(|frame| Frame {
                            function: Some(frame.function.clone()),
                            file: frame.file.clone(),
                            line: frame.line,
                            column: frame.column,
                            module: None,
                            address: None,
                        })
                        .collect();
                }
            }
            Err(error) => drop(self.warnings.insert(format!("names are missing: {error}"))),
        }
        place
    }

    /// A variable with static storage.
    fn variable(&mut self, module: ModuleId, address: u64, code: &Code) -> Option<String> {
        let module = code.module(module);
        let build_id = BuildId::from_bytes(&module.build_id);
        match self.symbolizer.variable(Path::new(&module.path), build_id.as_ref(), address) {
            Ok(name) => name,
            Err(error) => {
                self.warnings.insert(format!("names are missing: {error}"));
                None
            }
        }
    }

    /// A place in a heap block, by where the program allocated it: `heap from cache.c:41 +8`.
    pub fn block(&mut self, block: Block, code: &Code) -> Option<String> {
        let frame = self.own_frame(block.allocated_at, code)?;
        Some(format!("heap from {} +{}", brief_place(&frame), block.offset))
    }

    /// A lock, condition or the like: its variable, or what the source calls it where it was first taken.
    pub fn object(&mut self, object: ObjectId, profile: &Profile, code: &Code) -> String {
        if let Some(given) = profile.names.objects.get(&object) {
            return given.clone();
        }
        let known = profile.objects[object.0 as usize];
        let name = known.in_module.and_then(|(module, address)| self.variable(module, address, code));
        if let Some(name) = name {
            return without_internals(&name).to_owned();
        }
        let taken =
            profile.run.locksets.iter().filter_map(|set| set.last()).find(|lock| lock.object == object);
        let Some(frame) = taken.and_then(|lock| self.own_frame(lock.taken_at, code)) else {
            return format!("lock at {:#x}", known.address);
        };
        let line =
            frame.file.as_deref().zip(frame.line).and_then(|(file, line)| self.sources.line(file, line));
        match line.as_deref().and_then(report::locked_expression) {
            Some(expression) => expression.to_owned(),
            None => format!("lock taken at {}", brief_place(&frame)),
        }
    }

    /// The function that begins at a site, as short as it can be told.
    pub fn function_at(&mut self, site: SiteId, code: &Code) -> String {
        let site = code.site(site);
        let Some(module) = site.module.map(|module| code.module(module)) else { return "?".to_owned() };
        let build_id = BuildId::from_bytes(&module.build_id);
        let frames = self.symbolizer.frames(Path::new(&module.path), build_id.as_ref(), site.address);
        frames
            .ok()
            .and_then(|frames| frames.last())
            .map_or_else(|| "?".to_owned(), |frame| frame.function.clone())
    }

    /// The innermost place of a stack that is in the program's own sources, in a few words.
    pub fn place_of(&mut self, stack: StackId, code: &Code) -> String {
        let frame = self.own_frame(stack, code);
        frame.map_or_else(|| "an unknown place".to_owned(), |frame| brief_place(&frame))
    }

    /// The innermost frame of a stack with a line in the program's own sources.
    pub fn own_frame(&mut self, stack: StackId, code: &Code) -> Option<Frame> {
        let frames = self.stack(code.stack(stack), code);
        frames.into_iter().find(|frame| frame.line.is_some() && !frame.is_library())
    }
}

/// `queue.c:41`.
fn brief_place(frame: &Frame) -> String {
    let file = frame.file.as_deref().unwrap_or_default();
    let file = Path::new(file).file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    frame.line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
}

/// Is this code of a library that calls `main` and the start functions of threads?
fn starts_programs(code: &Code, site: SiteId) -> bool {
    const PREFIXES: [&str; 4] = ["libc.", "libpthread", "libstdc++.", "ld-"];
    let Some(module) = code.site(site).module else { return false };
    let name = Path::new(&code.module(module).path).file_name().unwrap_or_default().to_string_lossy();
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// A lock's name without the members inside it, which have names that C reserves for its own library:
/// `queue.lock` for `queue.lock.__data.__lock`.
fn without_internals(name: &str) -> &str {
    let is_reserved = |member: &str| {
        let mut letters = member.chars();
        letters.next() == Some('_') && letters.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase())
    };
    // The same for Rust's own locks and parking_lot's, whose members have ordinary names.
    const INSIDES: [&str; 3] = [".inner.futex", ".inner.state", ".raw.state"];
    if let Some(inside) = INSIDES.iter().find_map(|inside| name.find(inside)) {
        return &name[..inside];
    }
    let members = name.match_indices('.').map(|(dot, _)| dot);
    members.into_iter().find(|dot| is_reserved(&name[dot + 1..])).map_or(name, |dot| &name[..dot])
}

struct CodePlace {
    frames: Vec<Frame>,
    module: Option<String>,
    address: String,
}

/// The symbolizer's name for code without a symbol: `module+0x1234`.
fn is_placeholder(function: &str) -> bool {
    function.rsplit_once("+0x").is_some_and(|(_, digits)| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Names the variables that debug info has no name for by what the source calls them; of what remains, only
/// the size is known. Needs the source lines filled in.
pub fn name_by_source(findings: &mut [report::Finding], locations: &[Vec<LocationKey>]) {
    for (finding, keys) in findings.iter_mut().zip(locations) {
        for (index, key) in keys.iter().enumerate() {
            if !finding.accesses[index].variable.is_empty() {
                continue;
            }
            let same: Vec<usize> =
                (0..keys.len()).filter(|&other| keys[other].location == key.location).collect();
            let places: Vec<Place<'_>> = same
                .iter()
                .filter_map(|&other| {
                    let access = &finding.accesses[other];
                    Some(Place {
                        line: access.source.as_deref()?,
                        column: access.column,
                        writes: access.kind == report::AccessKind::Write,
                    })
                })
                .collect();
            let name = if places.len() == same.len() { shared_expression(&places) } else { None };
            let name = name.or_else(|| key.block.clone());
            let name = name.unwrap_or_else(|| format!("{} bytes of the heap or a stack", key.size));
            same.iter().for_each(|&other| finding.accesses[other].variable.clone_from(&name));
        }
        name_compared(finding);
    }
}

/// What a passing run accesses at the same place in the code goes by the same name.
fn name_compared(finding: &mut report::Finding) {
    let Some(comparison) = &mut finding.comparison else { return };
    for access in comparison.accesses.iter_mut().filter(|access| access.variable.is_empty()) {
        let place = |access: &report::Access| (access.file.clone(), access.line, access.kind);
        let known = finding.accesses.iter().find(|known| place(known) == place(access));
        access.variable = known.map(|known| known.variable.clone()).unwrap_or_default();
    }
}

/// Which location an access of a finding was to, and its size.
#[derive(Clone, Debug)]
pub struct LocationKey {
    /// The location in the example run.
    pub location: localize::LocationId,
    /// Bytes.
    pub size: u32,
    /// Where in which heap block it lies, in words.
    pub block: Option<String>,
}

/// A value as a number of the location's size; what can only be a pointer in hexadecimal.
fn show_value(value: u64, size: u32) -> String {
    let signed = match size {
        1 => i64::from(value as i8),
        2 => i64::from(value as i16),
        4 => i64::from(value as i32),
        _ => value as i64,
    };
    const PLAUSIBLE_NUMBER: u64 = 1 << 40;
    if signed.unsigned_abs() < PLAUSIBLE_NUMBER { signed.to_string() } else { format!("{value:#x}") }
}

/// A value of a Java field or array element; `value_type` is the first letter of its descriptor.
fn show_java_value(value: u64, value_type: char) -> String {
    match value_type {
        'Z' => (value != 0).to_string(),
        'B' => (value as i8).to_string(),
        'S' => (value as i16).to_string(),
        'C' => match char::from_u32(value as u32 & 0xffff) {
            Some(letter) if !letter.is_control() => format!("'{letter}'"),
            _ => format!("'\\u{:04x}'", value & 0xffff),
        },
        'I' => (value as i32).to_string(),
        'F' => f32::from_bits(value as u32).to_string(),
        'D' => f64::from_bits(value).to_string(),
        // Objects are told apart by a number that the recorder gives them.
        'L' | '[' if value == 0 => "null".to_owned(),
        'L' | '[' => format!("object {value}"),
        _ => (value as i64).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_as_numbers_of_their_size() {
        assert_eq!(show_value(0xff, 1), "-1");
        assert_eq!(show_value(0xff, 2), "255");
        assert_eq!(show_value(0xffff_fffe, 4), "-2");
        assert_eq!(show_value(41, 8), "41");
        assert_eq!(show_value(1 << 63, 8), "0x8000000000000000");
        assert_eq!(show_value(0x7f12_3456_7890, 8), "0x7f1234567890");
    }

    #[test]
    fn java_values_read_as_their_type() {
        assert_eq!(show_java_value(1, 'Z'), "true");
        assert_eq!(show_java_value(0xffff_ffff, 'I'), "-1");
        assert_eq!(show_java_value(u64::from(b'x'), 'C'), "'x'");
        assert_eq!(show_java_value(7, 'C'), "'\\u0007'");
        assert_eq!(show_java_value(1.5f64.to_bits(), 'D'), "1.5");
        assert_eq!(show_java_value(0, 'L'), "null");
        assert_eq!(show_java_value(3, 'L'), "object 3");
    }

    #[test]
    fn locks_are_named_without_their_insides() {
        assert_eq!(without_internals("queue.lock.__data.__lock"), "queue.lock");
        assert_eq!(without_internals("shards[3]._M_mutex.__data"), "shards[3]");
        assert_eq!(without_internals("cache::CACHE.inner.futex.v.value"), "cache::CACHE");
        assert_eq!(without_internals("_lock"), "_lock");
        assert_eq!(without_internals("queue._lock"), "queue._lock");
    }

    #[test]
    fn code_without_a_symbol_is_told_from_a_function() {
        assert!(is_placeholder("test+0x1f40"));
        assert!(!is_placeholder("operator+"));
        assert!(!is_placeholder("pop"));
    }
}
