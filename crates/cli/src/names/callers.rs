//! Which calls tell accesses at one place apart.
//!
//! A function of a library that was not inlined, as `std::atomic<bool>::load` in a build without optimization, makes the accesses of all
//! who call it. Taken for one place, what the program does to one variable would be mixed up with what it does to another: it is known by
//! where the program calls the library. But how a channel lets threads wait is its own affair, whoever sends and receives: each wait would be
//! a place of its own, which some runs come to and others do not by how long they take.
//!
//! And which places belong together: those that a library comes to for one call.

use std::collections::HashMap;
use std::sync::Arc;

use localize::{Calls, Code, SiteId, StackId};
use report::Frame;

use super::Names;

/// Sites as the program asked for them, by themselves and the calls that led to them.
pub type Callers = HashMap<(SiteId, StackId), SiteId>;

/// A call of a library's function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// Where the program calls it; of a channel's, the function that is called.
    function: String,
    file: Option<String>,
    /// Line and column of the call.
    within: Option<(u32, Option<u32>)>,
}

fn is_own(frame: &Frame) -> bool {
    frame.line.is_some() && !frame.is_library()
}

impl Names {
    /// A site, told apart by the calls that lead to it from the program's own code if it is a library's.
    pub fn asked_for(&mut self, site: SiteId, stack: StackId, code: &mut Code) -> SiteId {
        if let Some(&known) = self.callers.get(&(site, stack)) {
            return known;
        }
        let calls = self.calls_from_own(stack, code).unwrap_or(0);
        let told = (1..=calls).fold(site, |told, depth| {
            let caller = self.original(code.stack(stack)[depth], code);
            code.called_from(told, caller)
        });
        if let Some(call) = self.call(stack, calls, code) {
            let first = *self.first_of_call.entry(call).or_insert(told);
            Arc::make_mut(&mut self.calls).insert(told, first);
        }
        self.callers.insert((site, stack), told);
        told
    }

    /// Which sites belong to the same calls, of all that were asked about so far.
    pub fn calls(&self) -> Arc<Calls> {
        Arc::clone(&self.calls)
    }

    /// The call for which a library comes to a stack's innermost site, so many calls away from the program's own code. What channels do is
    /// everybody's: it is known by the function alone.
    fn call(&mut self, stack: StackId, calls: usize, code: &Code) -> Option<Call> {
        let stack = code.stack(stack);
        if stack.first().is_none_or(|&site| self.frames(site, code).first().is_none_or(is_own)) {
            return None;
        }
        let frames = self.frames(*stack.get(calls)?, code);
        let frame = frames.iter().find(|frame| is_own(frame));
        let frame = frame.or(frames.last().filter(|_| frames.iter().any(Frame::is_of_channel)))?;
        let within = frame.line.filter(|_| is_own(frame)).map(|line| (line, frame.column));
        Some(Call { function: frame.function.clone()?, file: frame.file.clone(), within })
    }

    /// How many calls lead from the innermost code of the program's own to a stack's innermost site; none if they lead through a channel.
    fn calls_from_own(&mut self, stack: StackId, code: &Code) -> Option<usize> {
        for (depth, &site) in code.stack(stack).iter().enumerate() {
            let frames = self.frames(site, code);
            if frames.iter().any(is_own) {
                return Some(depth);
            }
            if frames.iter().any(Frame::is_of_channel) {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use localize::{Module, ModuleId, Site};

    use super::*;

    /// Without optimization, `load` is a function that both call.
    const SOURCE: &str = "
#include <atomic>
std::atomic<bool> waiting, running;
int plain;
bool idle() { plain = 1; return waiting.load(); }
bool busy() { plain = 2; return running.load(); }
";

    /// The places of accesses, by the function of the program's or the library's that makes them.
    fn accesses(
        library: &Path,
        module: ModuleId,
        names: &mut Names,
        code: &mut Code,
    ) -> Vec<(String, SiteId)> {
        let is_access = |hook: &str| hook.starts_with("__tsan_write") || hook.contains("atomic8_load");
        let calls = runner::hook_calls::in_file(library).into_iter().filter(|call| is_access(&call.hook));
        calls
            .map(|call| {
                let site = code.site_id(Site { module: Some(module), address: call.returns_to });
                (names.function_at(site, code), site)
            })
            .collect()
    }

    #[test]
    fn what_a_library_does_is_told_apart_by_who_calls_it() {
        let folder = tempfile::tempdir().unwrap();
        let (source, object) = (folder.path().join("load.cpp"), folder.path().join("load.o"));
        let library = folder.path().join("load.so");
        fs::write(&source, SOURCE).unwrap();
        let mut compile = Command::new("g++");
        compile.args(["-O0", "-g", "-fPIC", "-c", "-fsanitize=thread"]).arg(&source).arg("-o").arg(&object);
        assert!(compile.status().unwrap().success());
        let mut link = Command::new("g++");
        assert!(
            link.args(["-shared", "-nostdlib"])
                .arg(&object)
                .arg("-o")
                .arg(&library)
                .status()
                .unwrap()
                .success()
        );
        let (mut code, mut names) = (Code::default(), Names::default());
        let path = library.to_str().unwrap().to_owned();
        let module = code.module_id(&Module { build_id: Vec::new(), path });
        let found = accesses(&library, module, &mut names, &mut code);
        let place = |of: &str| found.iter().find(|(function, _)| function.contains(of)).unwrap().1;
        let (load, idle, busy) = (place("load"), place("idle"), place("busy"));
        let [by_idle, by_busy] = [idle, busy].map(|caller| code.stack_id(&[load, caller]));
        let [idles, busys] = [by_idle, by_busy].map(|stack| names.asked_for(load, stack, &mut code));
        assert!(idles != busys && idles != load && busys != load);
        assert_eq!(names.asked_for(load, by_idle, &mut code), idles, "the same every time");
        assert_eq!(code.site(idles), code.site(load), "where it is does not change");
        assert!(code.sites().iter().all(|(site, _)| *site != idles), "it is no place of its own");
        // Who calls the program's own function does not matter.
        let own = code.stack_id(&[idle, busy]);
        assert_eq!(names.asked_for(idle, own, &mut code), idle);
        // Nobody here has called it.
        let alone = code.stack_id(&[load]);
        assert_eq!(names.asked_for(load, alone, &mut code), load);
        // What the library does for one call is known to belong to it; what the program does itself is no call.
        let calls = names.calls();
        assert_eq!([idles, busys].map(|site| calls.get(&site)), [Some(&idles), Some(&busys)]);
        assert!([idle, load].iter().all(|site| !calls.contains_key(site)), "{calls:?}");
    }
}
