//! Which places in code are copies of one.
//!
//! A compiler that unrolls a loop, or compiles a function several times over, gives one access of the source several
//! addresses. Whoever reads the source sees one, and so do the techniques, whose evidence would be split among the copies:
//! each of them would be seen in a part of the runs only. Copies are calls of the same function (the recorder's, for this kind
//! and size of access) at the same line and column of the same function, inlined by the same calls. Without debug info, or if it
//! has no columns as for Java, nothing is known to be a copy.

use std::collections::HashMap;
use std::path::Path;

use localize::{Code, Module, ModuleId, SiteId};
use recording::{InterleavingStep, MOST_COPIES};
use runner::BuildId;

use super::Names;

/// Bytes of code within which copies are looked for.
const NEAR: u64 = 0x4000;

/// The places asked about, and the first that was met of each access in the source.
#[derive(Default)]
pub struct Copies {
    known: HashMap<SiteId, SiteId>,
    first: HashMap<SourceAccess, SiteId>,
}

/// An access as the source has it.
#[derive(PartialEq, Eq, Hash)]
struct SourceAccess {
    module: ModuleId,
    /// Where the called function is.
    called: u64,
    /// The function with the access and those that it was inlined into.
    frames: Vec<runner::Frame>,
}

impl Names {
    /// The place that this one is a copy of; itself if it is none, or the first.
    pub fn original(&mut self, site: SiteId, code: &Code) -> SiteId {
        if let Some(&known) = self.copies.known.get(&site) {
            return known;
        }
        let access = self.source_access(site, code);
        let original = access.map_or(site, |access| *self.copies.first.entry(access).or_insert(site));
        self.copies.known.insert(site, original);
        original
    }

    /// Where else in its module the same is done as at a step: copies of its place, of the call of its function, and of where its
    /// lock is taken, as far as runs came there. Copies are near, in one function as a rule. None if there are too many.
    pub fn other_places(&mut self, step: &InterleavingStep, code: &Code) -> Option<[u64; MOST_COPIES]> {
        self.places_like(step, code, |names, site| names.original(site, code))
    }

    /// The same of a step that takes a lock: in whatever a function of the program's own was inlined into, it is that function that takes it.
    pub fn other_places_of_lock(
        &mut self,
        step: &InterleavingStep,
        code: &Code,
    ) -> Option<[u64; MOST_COPIES]> {
        self.places_like(step, code, |names, site| {
            let mut access = names.source_access(site, code).ok_or(site)?;
            let own = names.frames(site, code).iter().position(|frame| !frame.is_library());
            access.frames.truncate(own.map_or(usize::MAX, |own| own + 1));
            Ok::<SourceAccess, SiteId>(access)
        })
    }

    /// Places near a step that are the same as one of its own.
    fn places_like<T: PartialEq>(
        &mut self,
        step: &InterleavingStep,
        code: &Code,
        mut told: impl FnMut(&mut Names, SiteId) -> T,
    ) -> Option<[u64; MOST_COPIES]> {
        let is_its =
            |module: &Module| !module.build_id.is_empty() && step.build_id.starts_with(&module.build_id);
        let mut copies = [0; MOST_COPIES];
        let Some(module) = code.modules().iter().find(|module| is_its(module)) else { return Some(copies) };
        let own = [step.address, step.caller, step.guard];
        let near: Vec<(SiteId, u64)> = code
            .sites()
            .into_iter()
            .filter(|(_, site)| site.module.is_some_and(|id| code.module(id) == module))
            .map(|(id, site)| (id, site.address))
            .filter(|(_, address)| own.iter().any(|&place| place != 0 && place.abs_diff(*address) < NEAR))
            .collect();
        let (its, others): (Vec<_>, Vec<_>) =
            near.into_iter().partition(|(_, address)| own.contains(address));
        let originals: Vec<T> = its.into_iter().map(|(site, _)| told(self, site)).collect();
        let alike = others.into_iter().filter(|&(site, _)| originals.contains(&told(self, site)));
        let mut found: Vec<u64> = alike.map(|(_, address)| address).collect();
        // Sites are numbered as runs are read.
        found.sort_unstable();
        copies.get_mut(..found.len())?.copy_from_slice(&found);
        Some(copies)
    }

    fn source_access(&mut self, site: SiteId, code: &Code) -> Option<SourceAccess> {
        let site = code.site(site);
        let id = site.module?;
        let module = code.module(id);
        let (path, build_id) = (Path::new(&module.path), BuildId::from_bytes(&module.build_id));
        let called = self.symbolizer.called(path, build_id.as_ref(), site.address).ok()??;
        let frames = self.symbolizer.frames(path, build_id.as_ref(), site.address.saturating_sub(1)).ok()?;
        let is_known = frames.iter().all(|frame| frame.line.is_some() && frame.column.is_some());
        is_known.then(|| SourceAccess { module: id, called, frames: frames.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::process::Command;

    use localize::Site;

    use super::*;

    /// Lines matter below. The loop is unrolled.
    const SOURCE: &str = "
int count[64], sum;
void add(int *from) {
#pragma GCC unroll 4
  for (int i = 0; i < 64; i++) count[i] += from[i];
  sum = sum + sum;
}
";

    /// The hooks called by a line of the source, and how many places each of its accesses is known by.
    fn places(flags: &[&str], line: u32) -> Vec<(String, usize)> {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("add.c"), folder.path().join("add.so"));
        fs::write(&source, SOURCE).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(["-O2", "-fno-tree-vectorize", "-fPIC", "-c", "-fsanitize=thread"]).args(flags).arg(&source);
        assert!(gcc.arg("-o").arg(folder.path().join("add.o")).status().unwrap().success());
        let mut link = Command::new("gcc");
        link.args(["-shared", "-nostdlib"]).arg(folder.path().join("add.o"));
        assert!(link.arg("-o").arg(&library).status().unwrap().success());
        let (mut code, mut names) = (Code::default(), Names::default());
        let path = library.to_str().unwrap().to_owned();
        let module = Some(code.module_id(&Module { build_id: Vec::new(), path }));
        let mut found: BTreeMap<SiteId, (String, usize)> = BTreeMap::new();
        for call in runner::hook_calls::in_file(&library) {
            let frames = names.symbolizer.frames(&library, None, call.returns_to - 1).unwrap();
            let is_access = call.hook.starts_with("__tsan_read") || call.hook.starts_with("__tsan_write");
            if is_access && (frames[0].line == Some(line) || frames[0].line.is_none()) {
                let site = code.site_id(Site { module, address: call.returns_to });
                let original = names.original(site, &code);
                assert_eq!(names.original(original, &code), original);
                found.entry(original).or_insert((call.hook, 0)).1 += 1;
            }
        }
        let mut found: Vec<(String, usize)> = found.into_values().collect();
        found.sort();
        found
    }

    #[test]
    fn unrolled_accesses_are_one_and_others_are_not() {
        let access = |hook: &str, copies| (format!("__tsan_{hook}"), copies);
        // The counter's write, its read, and the read of what is added to it.
        assert_eq!(places(&["-g"], 5), [access("read4", 4), access("read4", 4), access("write4", 4)]);
        assert_eq!(places(&["-g"], 6), [access("read4", 1), access("write4", 1)]);
    }

    #[test]
    fn nothing_is_a_copy_without_debug_info() {
        assert!(places(&[], 5).iter().all(|(_, copies)| *copies == 1));
        assert!(places(&["-g", "-gno-column-info"], 5).iter().all(|(_, copies)| *copies == 1));
    }

    /// What two threads run is inlined into both.
    const INLINED: &str = "
int held;
static inline __attribute__((always_inline)) void take(void) { held = 1; }
void one(void) { take(); }
void two(void) { take(); }
void three(void) { held = 1; }
";

    #[test]
    fn a_lock_is_taken_by_the_function_that_takes_it_whatever_that_is_inlined_into() {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("take.c"), folder.path().join("take.so"));
        fs::write(&source, INLINED).unwrap();
        let build_id = [1; 20];
        let mut gcc = Command::new("gcc");
        gcc.args(["-O1", "-g", "-fPIC", "-c", "-fsanitize=thread"]).arg(&source);
        assert!(gcc.arg("-o").arg(folder.path().join("take.o")).status().unwrap().success());
        let mut link = Command::new("gcc");
        link.args(["-shared", "-nostdlib"]).arg(format!("-Wl,--build-id=0x{}", "01".repeat(20)));
        link.arg(folder.path().join("take.o"));
        assert!(link.arg("-o").arg(&library).status().unwrap().success());
        let (mut code, mut names) = (Code::default(), Names::default());
        let path = library.to_str().unwrap().to_owned();
        let module = Some(code.module_id(&Module { build_id: build_id.to_vec(), path }));
        let calls = runner::hook_calls::in_file(&library);
        let writes = calls.iter().filter(|call| call.hook == "__tsan_write4");
        let places: Vec<u64> = writes.map(|call| call.returns_to).collect();
        assert_eq!(places.len(), 3);
        for &address in &places {
            code.site_id(Site { module, address });
        }
        let mut step = InterleavingStep { address: places[0], ..InterleavingStep::default() };
        step.build_id[..20].copy_from_slice(&build_id);
        assert_eq!(names.other_places(&step, &code), Some([0; MOST_COPIES]), "other calls");
        assert_eq!(names.other_places_of_lock(&step, &code).unwrap()[..2], [places[1], 0]);
    }
}
