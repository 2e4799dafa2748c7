//! Recordings in words: the history of a variable as `main W@init | worker R@check W@store`.
//!
//! Capitals are accesses recorded when they happened (R read, W write, U update); small letters are the last
//! ones of a turn, recorded at its end. `|` is a handover.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use object::{Object, ObjectSymbol};
use recording::{EventKind, Location, Recording, ThreadEvent};

use crate::kit::Program;

/// One recorded process.
pub struct Process<'p> {
    program: &'p Program,
    pub recording: Recording,
    modules: RefCell<BTreeMap<usize, Option<Loader>>>,
    symbols: Vec<Symbol>,
    /// By location: its accesses, and whether it was cut into others.
    accesses: Vec<Vec<usize>>,
    is_cut: Vec<bool>,
}

struct Symbol {
    name: String,
    address: u64,
    size: u64,
    is_global: bool,
}

impl<'p> Process<'p> {
    pub fn new(program: &'p Program, recording: Recording) -> Process<'p> {
        assert_eq!(recording.damage, []);
        let symbols = symbols_of(program, &recording);
        let mut accesses = vec![Vec::new(); recording.locations.len()];
        for (index, event) in recording.events.iter().enumerate() {
            if event.kind.is_access() {
                accesses[event.event.object as usize].push(index);
            }
        }
        let mut is_cut = vec![false; recording.locations.len()];
        for location in recording.locations.iter().skip(1) {
            is_cut[location.parent as usize] = true;
        }
        Process { program, recording, modules: RefCell::default(), symbols, accesses, is_cut }
    }

    /// Ended without trouble of the recorder's own, nothing left out.
    pub fn expect_whole(&self) {
        let header = &self.recording.header;
        assert_eq!((header.fault, header.fault_detail), (0, 0), "fault");
        assert_eq!((header.dropped, header.thinned, header.forgotten), (0, 0, 0), "left out");
    }

    /// The address of a variable of the program.
    pub fn address(&self, variable: &str) -> u64 {
        self.symbol(variable).address
    }

    fn symbol(&self, name: &str) -> &Symbol {
        // The C library has some of the same name for itself, which wholly static programs have within.
        let named = || self.symbols.iter().filter(|symbol| symbol.name == name);
        named()
            .find(|symbol| symbol.is_global)
            .or_else(|| named().next())
            .unwrap_or_else(|| panic!("the program has no symbol {name}"))
    }

    /// The history of a variable. If it is not one location as a whole, a line for each, with offset and size.
    pub fn history(&self, variable: &str) -> String {
        let symbol = self.symbol(variable);
        let locations: Vec<u32> = self
            .lasting_locations()
            .filter(|(_, location)| {
                (symbol.address..symbol.address + symbol.size).contains(&location.address)
            })
            .map(|(id, _)| id)
            .collect();
        match locations[..] {
            [id] if self.at(id).address == symbol.address && u64::from(self.at(id).size) == symbol.size => {
                self.turns(id)
            }
            _ => self.lines(locations, symbol.address),
        }
    }

    /// The histories of heap blocks and other memory outside of any module and stack, offsets counted from the lowest.
    pub fn heap(&self) -> String {
        let stacks: Vec<[u64; 2]> = self.recording.threads.iter().map(|thread| thread.stack).collect();
        let locations: Vec<u32> = self
            .lasting_locations()
            .filter(|(_, location)| {
                self.recording.module_of_data(location.address).is_none()
                    && !stacks.iter().any(|&[low, high]| (low..high).contains(&location.address))
            })
            .map(|(id, _)| id)
            .collect();
        let lowest = locations.iter().map(|&id| self.at(id).address).min().unwrap_or(0);
        self.lines(locations, lowest)
    }

    fn lines(&self, mut locations: Vec<u32>, base: u64) -> String {
        locations.sort_by_key(|&id| (self.at(id).address, id));
        let line = |id| {
            let location = self.at(id);
            format!("+{}:{} {}", location.address - base, location.size, self.turns(id))
        };
        locations.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn at(&self, id: u32) -> &Location {
        &self.recording.locations[id as usize]
    }

    /// Locations that were not cut into smaller ones.
    pub fn lasting_locations(&self) -> impl Iterator<Item = (u32, &Location)> {
        (1..self.is_cut.len()).filter(|&id| !self.is_cut[id]).map(|id| (id as u32, self.at(id as u32)))
    }

    /// Accesses to a location, those before it was cut from another included.
    pub fn accesses(&self, location: u32) -> impl Iterator<Item = &ThreadEvent> {
        let parent = |&id: &u32| Some(self.at(id).parent).filter(|&parent| parent != 0);
        let family = std::iter::successors(Some(location), parent);
        let mut indices: Vec<usize> =
            family.flat_map(|id| self.accesses[id as usize].iter().copied()).collect();
        indices.sort_unstable();
        indices.into_iter().map(|index| &self.recording.events[index])
    }

    /// The history of one location.
    pub fn turns(&self, location: u32) -> String {
        let mut text = String::new();
        let mut last = None;
        for event in self.accesses(location) {
            let actor = event.actor();
            if last != Some(actor) {
                let bar = if last.is_some() { " | " } else { "" };
                let _ = write!(text, "{bar}{}", self.thread(actor));
                last = Some(actor);
            }
            let letter = match event.kind {
                EventKind::Read => 'R',
                EventKind::Write => 'W',
                EventKind::Update => 'U',
                EventKind::LastRead => 'r',
                _ => 'w',
            };
            let _ = write!(text, " {letter}@{}", self.site(event.event.leaf));
        }
        text
    }

    /// `main`, or a thread's start function, numbered from the second thread with the same one on.
    pub fn thread(&self, id: u32) -> String {
        let Some(thread) = self.recording.threads.get(id as usize) else { return format!("thread {id}") };
        if thread.entry == 0 {
            return "main".to_owned();
        }
        let earlier = &self.recording.threads[1..id as usize];
        let number = 1 + earlier.iter().filter(|other| other.entry == thread.entry).count();
        let name = self.function(thread.entry);
        if number == 1 { name } else { format!("{name}{number}") }
    }

    /// The id of the thread with this name.
    pub fn thread_id(&self, name: &str) -> u32 {
        (1..self.recording.threads.len() as u32)
            .find(|&id| self.thread(id) == name)
            .unwrap_or_else(|| panic!("no thread {name} was recorded"))
    }

    /// The marker of a leaf's line, or the line.
    pub fn site(&self, leaf: u32) -> String {
        match self.recording.frames(leaf).next() {
            Some(frame) => self.line(frame.module, frame.address),
            None => "?".to_owned(),
        }
    }

    /// The functions of a leaf's call stack, innermost first.
    pub fn stack(&self, leaf: u32) -> String {
        let frames = self.recording.frames(leaf);
        let mut functions: Vec<String> =
            frames.map(|frame| self.function_in(frame.module, frame.address - 1)).collect();
        if functions.is_empty() {
            return "?".to_owned();
        }
        functions.retain(|function| !function.is_empty());
        functions.join(" < ")
    }

    /// Stacks of all accesses to a variable, as `R@site: inner < outer`, one per line, without repetitions.
    pub fn stacks(&self, variable: &str) -> String {
        let symbol = self.symbol(variable);
        let within = symbol.address..symbol.address + symbol.size;
        let mut lines: Vec<String> = Vec::new();
        for event in self.recording.events.iter().filter(|event| event.kind.is_access()) {
            if within.contains(&self.at(event.event.object).address) {
                let line = format!("{}: {}", self.site(event.event.leaf), self.stack(event.event.leaf));
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        lines.join("\n")
    }

    /// Events of synchronization that concern a variable of the program, as `main Acquire@site`.
    pub fn synchronization(&self, variable: &str) -> String {
        let symbol = self.symbol(variable);
        let concerned = |event: &&ThreadEvent| {
            !event.kind.is_access()
                && event.kind != EventKind::Lockset
                && (symbol.address..symbol.address + symbol.size).contains(&event.event.value)
        };
        let word = |event: &ThreadEvent| {
            format!("{} {:?}@{}", self.thread(event.actor()), event.kind, self.site(event.event.leaf))
        };
        self.recording.events.iter().filter(concerned).map(word).collect::<Vec<_>>().join(", ")
    }

    /// The variables in a set of locks, outermost first.
    pub fn locks(&self, mut set: u32) -> String {
        let mut names = Vec::new();
        while set != 0 {
            let event = self
                .recording
                .events
                .iter()
                .find(|event| event.kind == EventKind::Lockset && event.event.object == set)
                .unwrap_or_else(|| panic!("no event describes set {set}"));
            names.push(format!("{}@{}", self.variable(event.event.value), self.site(event.event.leaf)));
            set = event.event.other;
        }
        names.reverse();
        names.join(" ")
    }

    /// The variable that holds this address.
    pub fn variable(&self, address: u64) -> String {
        self.symbols
            .iter()
            .find(|symbol| (symbol.address..symbol.address + symbol.size.max(1)).contains(&address))
            .map_or_else(|| "?".to_owned(), |symbol| symbol.name.clone())
    }

    fn with_module<T>(
        &self,
        module: Option<usize>,
        address: u64,
        look: impl FnOnce(&Loader, u64) -> Option<T>,
    ) -> Option<T> {
        let index = module?;
        let module = &self.recording.modules[index];
        let mut modules = self.modules.borrow_mut();
        let loader = modules.entry(index).or_insert_with(|| Loader::new(PathBuf::from(&module.path)).ok());
        look(loader.as_ref()?, address.wrapping_sub(module.bias))
    }

    fn function(&self, address: u64) -> String {
        self.function_in(self.recording.module_of_code(address), address)
    }

    /// Empty for the C library's: what lies beneath main or a thread's start.
    fn function_in(&self, module: Option<usize>, address: u64) -> String {
        let is_program = |path: &str| Path::new(path) == self.program.path;
        let is_of_c_library = match module.map(|index| &self.recording.modules[index].path) {
            // It is within a wholly static program, and the one part of it without debug info.
            Some(path) if is_program(path) => self
                .with_module(module, address, |loader, address| {
                    loader.find_location(address).ok().flatten()?.file.map(drop)
                })
                .is_none(),
            Some(path) => path.contains("/libc.so"),
            None => false,
        };
        if is_of_c_library {
            return String::new();
        }
        self.with_module(module, address, |loader, address| loader.find_symbol(address).map(str::to_owned))
            .map(|name| addr2line::demangle_auto(name.into(), None).into_owned())
            .map(|name| name.split('(').next().unwrap_or_default().to_owned())
            .unwrap_or_default()
    }

    /// Of the instruction before this return address.
    fn line(&self, module: Option<usize>, return_address: u64) -> String {
        let found = self.with_module(module, return_address, |loader, address| {
            let location = loader.find_location(address - 1).ok().flatten()?;
            Some((location.file.unwrap_or("?").to_owned(), location.line?))
        });
        let Some((file, line)) = found else { return "?".to_owned() };
        let name = file.rsplit('/').next().unwrap_or_default().to_owned();
        let own = name.starts_with("program.");
        match self.program.marker(line).filter(|_| own) {
            Some(marker) => marker.to_owned(),
            None => format!("{name}:{line}"),
        }
    }
}

/// Symbols of the program itself, at the addresses they had in this run.
fn symbols_of(program: &Program, recording: &Recording) -> Vec<Symbol> {
    let name = program.path.to_string_lossy();
    let Some(module) = recording.modules.iter().find(|module| module.path == name) else { return Vec::new() };
    let bytes = std::fs::read(&program.path).expect("the program is still there");
    let file = object::File::parse(&*bytes).expect("the program is an object file");
    file.symbols()
        .filter(|symbol| symbol.size() > 0)
        .map(|symbol| Symbol {
            name: symbol.name().unwrap_or_default().to_owned(),
            address: symbol.address().wrapping_add(module.bias),
            size: symbol.size(),
            is_global: symbol.is_global(),
        })
        .collect()
}
