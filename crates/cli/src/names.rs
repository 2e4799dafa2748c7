//! Names for what was recorded as numbers: functions, lines, variables, locks, values.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use localize::code::Module;
use localize::profile::Block;
use localize::{Access, AccessKind, Calls, Code, ModuleId, Profile, SiteId, StackId};
use report::explanation;
use report::source::Sources;
use report::{Frame, NAMES_ARE_MISSING};
use runner::{BuildId, Member, Named, Symbolizer};

use crate::values::{Form, RawValues};

mod callers;
mod copies;
mod counts;
mod distinct;
mod layout;
mod objects;
mod openmp;
mod tasks;

use callers::{Call, Callers};
use copies::Copies;
use counts::Countings;
pub use distinct::DistinctNames;
pub(crate) use layout::LaidOut;
pub(crate) use objects::Guard;
use tasks::Tasks;

/// Names things, and remembers what could not be named.
pub struct Names {
    symbolizer: Symbolizer,
    sources: Sources,
    warnings: BTreeSet<String>,
    /// Stacks that were asked about, and whether they are the libraries' own.
    libraries_own: HashMap<StackId, bool>,
    copies: Copies,
    callers: Callers,
    calls: Arc<Calls>,
    first_of_call: HashMap<Call, SiteId>,
    tasks: Tasks,
    countings: Countings,
}

impl Default for Names {
    fn default() -> Self {
        let sources = Sources::new(crate::java::source_roots());
        let (symbolizer, warnings, libraries_own, copies) = Default::default();
        let (callers, calls, first_of_call, tasks, countings) = Default::default();
        Self {
            symbolizer,
            sources,
            warnings,
            libraries_own,
            copies,
            callers,
            calls,
            first_of_call,
            tasks,
            countings,
        }
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
        let static_data = location.in_module.filter(|_| given.is_none());
        let named =
            static_data.and_then(|(module, at)| self.variable(module, at, location.size.into(), code));
        let form = match (given, &named) {
            (Some(given), _) => Form::Java(given.value_type),
            (None, Some(Named { form: Some(form), .. })) => Form::Native(form.clone()),
            (None, _) => Form::Number,
        };
        let raw = self.raw_values(access, profile, code);
        let variable = given.map(|given| given.text.clone()).or(named.map(|named| named.name));
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
            value: raw.number(),
            shown: raw.shown(&form),
            old: raw.old(&form),
            locks,
            frees: access.frees,
            ..self.step(kind, thread, access.site, access.stack, code)
        }
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
        let own = explanation::own_frame(&stack).or(stack.first());
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
            shown: None,
            old: None,
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
                format!("{} at {file}:{line}", report::brief_function(function))
            }
            Some(Frame { function: Some(function), .. }) => report::brief_function(function),
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
        frames.retain(|frame| !is_of_the_recorder(frame));
        let known = frames.iter().rposition(|frame| frame.file.is_some());
        if let Some(last) = known {
            frames.truncate(last + 1);
        }
        frames
    }

    fn frames(&mut self, site: SiteId, code: &Code) -> Vec<Frame> {
        let place = self.place(site, code);
        if place.frames.is_empty() {
            return vec![Frame { module: place.module, address: Some(place.address), ..Frame::default() }];
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
                    // Who has the system's debug info rarely has its sources, and never looks for a bug there.
                    let has_source = !is_of_the_system(module);
                    place.frames = frames
                        .iter()
                        .map(|frame| Frame {
                            function: Some(frame.function.clone()),
                            file: frame.file.clone().filter(|_| has_source),
                            line: frame.line.filter(|_| has_source),
                            column: frame.column.filter(|_| has_source),
                            module: None,
                            address: None,
                        })
                        .collect();
                }
            }
            Err(error) => drop(self.warnings.insert(format!("{NAMES_ARE_MISSING}{error}"))),
        }
        place
    }

    /// A variable with static storage; with how its values read if they have so many bytes.
    fn variable(&mut self, module: ModuleId, address: u64, size: u64, code: &Code) -> Option<Named> {
        let module = code.module(module);
        let build_id = BuildId::from_bytes(&module.build_id);
        match self.symbolizer.variable(Path::new(&module.path), build_id.as_ref(), address, size) {
            Ok(name) => name,
            Err(error) => {
                self.warnings.insert(format!("{NAMES_ARE_MISSING}{error}"));
                None
            }
        }
    }

    /// The members of this name in the types that the code at a site knows.
    pub(crate) fn members(&mut self, site: SiteId, field: &str, code: &Code) -> Vec<Member> {
        let site = code.site(site);
        let Some(module) = site.module.map(|module| code.module(module)) else { return Vec::new() };
        let build_id = BuildId::from_bytes(&module.build_id);
        let address = site.address.saturating_sub(1);
        self.symbolizer
            .members(Path::new(&module.path), build_id.as_ref(), address, field)
            .unwrap_or_default()
    }

    /// What lies so many bytes behind the lock in a member of a type that the code at a site knows.
    pub(crate) fn guarded(
        &mut self,
        site: SiteId,
        member: (&str, &str),
        behind_lock: i64,
        size: u32,
        code: &Code,
    ) -> Option<Named> {
        let site = code.site(site);
        let module = code.module(site.module?);
        let build_id = BuildId::from_bytes(&module.build_id);
        let address = site.address.saturating_sub(1);
        let path = Path::new(&module.path);
        self.symbolizer
            .guarded(path, build_id.as_ref(), address, member, behind_lock, size.into())
            .ok()
            .flatten()
    }

    /// An expression about the object that a method is called on, with the type of that object in its place:
    /// `Stock::left_` for `left_` in `Stock::is_empty()`, `Pool.idle` for `self.idle` in `Pool::take`.
    pub(crate) fn qualified(
        &mut self,
        expression: &str,
        function: Option<&str>,
        file: Option<&str>,
        site: SiteId,
        code: &Code,
    ) -> Option<String> {
        let class = report::enclosing_type(function?)?;
        let own =
            ["this->", "self."].iter().find_map(|own| expression.strip_prefix(own)).unwrap_or(expression);
        let first = own.split(['.', '-', '[', '(']).next()?;
        let is_member = self.members(site, first, code).iter().any(|member| member.is_of(&class));
        let joint = if file.is_some_and(|file| file.ends_with(".rs")) { "." } else { "::" };
        is_member.then(|| format!("{class}{joint}{own}"))
    }

    fn source_line(&mut self, frame: &Frame) -> Option<String> {
        self.sources.line(frame.file.as_deref()?, frame.line?)
    }

    /// An access's values as recorded.
    pub(crate) fn raw_values(&mut self, access: &Access, profile: &Profile, code: &Code) -> RawValues {
        let size = profile.locations[access.location.0 as usize].size;
        let mut pointed = |value: Option<u64>| {
            let (module, address) = profile.in_image(value.filter(|_| size == 8)?)?;
            let module = code.module(module);
            let build_id = BuildId::from_bytes(&module.build_id);
            let name =
                self.symbolizer.beginning_at(Path::new(&module.path), build_id.as_ref(), address).ok()??;
            Some(format!("&{name}"))
        };
        let points_to = [pointed(access.value), pointed(access.before)];
        RawValues { value: access.value, before: access.before, size, points_to }
    }

    /// A place in a heap block, by what the program allocated it for, or else by where: `results (heap +8)`, `heap from cache.c:41 +8`.
    pub fn block(&mut self, block: Block, code: &Code) -> Option<String> {
        let frames = self.stack(code.stack(block.allocated_at), code);
        let own = frames.iter().position(|frame| frame.line.is_some() && !frame.is_library())?;
        // The standard library keeps an Arc's counts before what it points to.
        let is_arc = frames[..own].iter().any(|frame| frame.function.as_deref() == Some("Arc::new"));
        match block.offset {
            0 if is_arc => Some("strong count of the Arc".to_owned()),
            8 if is_arc => Some("weak count of the Arc".to_owned()),
            offset => {
                if let Some(member) = self.in_rust_block(block, &frames[own], code) {
                    return Some(member);
                }
                let line = self.source_line(&frames[own]);
                Some(match line.as_deref().and_then(report::allocated_for) {
                    Some(name) => format!("{name} (heap +{offset})"),
                    None => format!("heap from {} +{offset}", brief_place(&frames[own])),
                })
            }
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

    /// The function of the program's own that a stack begins with.
    pub fn start_function(&mut self, stack: StackId, code: &Code) -> Option<String> {
        let frames = self.stack(code.stack(stack), code);
        let own = frames.into_iter().rfind(|frame| frame.line.is_some() && !frame.is_library());
        own?.function
    }

    /// The innermost place of a stack that is in the program's own sources, in a few words.
    pub fn place_of(&mut self, stack: StackId, code: &Code) -> String {
        let frame = self.own_frame(stack, code);
        frame.map_or_else(|| "an unknown place".to_owned(), |frame| brief_place(&frame))
    }

    /// Where a thread waits, by where the program calls what waits.
    pub fn place_of_wait(&mut self, stack: StackId, code: &Code) -> String {
        let frame = self.waiting_frame(stack, code);
        frame.map_or_else(|| "an unknown place".to_owned(), |frame| brief_place(&frame))
    }

    /// The innermost site of a stack that is in the program's own sources: its code knows the program's types.
    pub(crate) fn own_site(&mut self, stack: StackId, code: &Code) -> Option<SiteId> {
        let is_own = |frame: &Frame| frame.line.is_some() && !frame.is_library();
        code.stack(stack).iter().copied().find(|&site| self.frames(site, code).iter().any(is_own))
    }

    /// Is what these calls come to a matter of the libraries' own?
    pub fn is_libraries_own(&mut self, stack: StackId, code: &Code) -> bool {
        if let Some(&known) = self.libraries_own.get(&stack) {
            return known;
        }
        let is_own = self.is_of_nobody_here(stack, code) || self.synchronizes(stack, code);
        self.libraries_own.insert(stack, is_own);
        is_own
    }

    /// Are these calls all within Rust's own libraries, its test harness among them, and packages that cargo has fetched, with nothing of
    /// the program's? That is how an executor's own threads find their work, whatever the work is.
    fn is_of_nobody_here(&mut self, stack: StackId, code: &Code) -> bool {
        // What the compiler makes itself has no source: a program's start, and the frame that catches panics.
        let is_compilers = |name: &str| name == "main" || name.starts_with("__rust_");
        let is_made =
            |frame: &Frame| frame.file.is_none() && frame.function.as_deref().is_some_and(is_compilers);
        let mut sites =
            code.stack(stack).iter().filter(|&&site| !starts_programs(code, site) && !code.is_gap(site));
        sites.all(|&site| self.frames(site, code).iter().all(|frame| frame.is_fetched() || is_made(frame)))
    }

    /// Is this within a barrier or the like of C++ or a lock of tokio's, or how C++'s atomics keep account of who waits, or `ArcSwap` of who
    /// reads? The C library's have no accesses that anybody sees, either.
    fn synchronizes(&mut self, stack: StackId, code: &Code) -> bool {
        let is_theirs = |frame: &Frame| frame.is_library() || frame.is_fetched();
        let mut frames = Vec::new();
        for &site in code.stack(stack) {
            frames.extend(self.frames(site, code));
            // What the program does is its own, whoever called it.
            if frames.iter().any(|frame| frame.line.is_some() && !is_theirs(frame)) {
                break;
            }
        }
        let mut library = frames.iter().take_while(|frame| is_theirs(frame));
        frames.first().is_some_and(Frame::counts_waiters)
            || Frame::count_readers(&frames)
            || library.any(Frame::synchronizes)
    }

    /// The innermost frame of a stack with a line in the program's own sources.
    pub fn own_frame(&mut self, stack: StackId, code: &Code) -> Option<Frame> {
        let frames = self.stack(code.stack(stack), code);
        explanation::own_frame(&frames).cloned()
    }

    /// The frame in which the program calls what waits.
    pub fn waiting_frame(&mut self, stack: StackId, code: &Code) -> Option<Frame> {
        let frames = self.stack(code.stack(stack), code);
        explanation::calling_frame(&frames).cloned()
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
    code.site(site).module.is_some_and(|module| is_of_the_system(code.module(module)))
}

fn is_of_the_system(module: &Module) -> bool {
    const PREFIXES: [&str; 4] = ["libc.", "libpthread", "libstdc++.", "ld-"];
    let name = Path::new(&module.path).file_name().unwrap_or_default().to_string_lossy();
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Is this where the recorder stands between the program and a library that calls back, as `pthread_once` does?
fn is_of_the_recorder(frame: &Frame) -> bool {
    frame.file.as_deref().is_some_and(|file| file.contains("native-runtime/src/"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_without_a_symbol_is_told_from_a_function() {
        assert!(is_placeholder("test+0x1f40"));
        assert!(!is_placeholder("operator+"));
        assert!(!is_placeholder("pop"));
    }
}
