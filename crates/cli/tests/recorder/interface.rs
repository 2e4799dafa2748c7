//! The recorder offers whatever a program may ask of gcc's runtime, and its fast path is as lean as promised.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{RECORDERS, skip};

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn symbols_of(library: &Path) -> BTreeSet<String> {
    let symbols = output(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    let names = symbols.lines().filter_map(|line| line.split_whitespace().nth(2));
    names.map(|name| name.split('@').next().unwrap_or_default().to_owned()).collect()
}

/// A file of the compiler's, none if it is not installed.
fn file_of_gcc(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(output(Command::new("gcc").arg(format!("-print-file-name={name}"))).trim());
    path.is_absolute().then_some(path)
}

/// Everything that a compiler may call, or a program by a compiler's headers, is there.
#[track_caller]
fn check_interface(runtime: &Path) {
    let theirs = symbols_of(runtime);
    assert!(theirs.contains("__tsan_read4") && theirs.len() > 100, "{runtime:?} is no runtime: {theirs:?}");
    let ours = symbols_of(&Path::new(RECORDERS).join("libtsan.so.2"));
    let of_interface =
        |name: &&String| ["__tsan_", "__sanitizer_", "Annotate"].iter().any(|start| name.starts_with(start));
    let missing: Vec<_> = theirs.difference(&ours).filter(of_interface).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_symbol_of_gccs_runtime_is_there() {
    match file_of_gcc("libtsan.so") {
        Some(path) => check_interface(&path),
        None => skip("gcc's own libtsan is not installed"),
    }
}

#[test]
fn every_symbol_of_clangs_runtime_is_there() {
    for clang in ["clang-14", "clang-19", "clang"] {
        let name = format!("-print-file-name=libclang_rt.tsan-{}.so", std::env::consts::ARCH);
        let path = Command::new(clang).arg(name).output();
        let path = path.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        match path {
            Ok(path) if Path::new(&path).is_absolute() => check_interface(Path::new(&path)),
            _ => skip(&format!("{clang} or its thread sanitizer is not installed")),
        }
    }
}

/// gcc's runtime also offers functions that a program has in itself otherwise. One that was linked against it
/// has to find them in the recorder.
#[test]
fn functions_that_only_gccs_runtime_offers_are_there() {
    let Some(path) = file_of_gcc("libtsan.so") else {
        skip("gcc's own libtsan is not installed");
        return;
    };
    let mut found = symbols_of(&Path::new(RECORDERS).join("libtsan.so.2"));
    for library in ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"] {
        found.extend(file_of_gcc(library).iter().flat_map(|path| symbols_of(path)));
    }
    // Inner parts of the runtime, and stand-ins for functions that no library has under these names.
    let inner =
        ["_ZN", "__interceptor_", "___interceptor_", "__asan_", "__sancov_", "__isoc99_", "xdr_", "crypt"];
    let theirs = symbols_of(&path);
    let missing: Vec<_> =
        theirs.difference(&found).filter(|name| !inner.iter().any(|start| name.starts_with(start))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The instructions that objdump shows when asked for this part of the recorder.
#[cfg(target_arch = "x86_64")]
fn instructions(from: &[String]) -> Vec<String> {
    let library = Path::new(RECORDERS).join("libtsan.so.2");
    let text = output(Command::new("objdump").args(["-d", "--no-show-raw-insn"]).args(from).arg(library));
    text.lines().filter_map(|line| line.split_once(":\t")).map(|(_, rest)| rest.trim().to_owned()).collect()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn fast_path_has_no_call_no_lock_and_no_system_call() {
    let hooks = [1, 2, 4, 8].into_iter().flat_map(|size| [format!("read{size}"), format!("write{size}")]);
    for hook in hooks.map(|name| format!("__tsan_{name}")) {
        let mut body = instructions(&[format!("--disassemble={hook}")]);
        if body.len() <= 3 {
            // It passes its caller on and jumps.
            let target = body.iter().find_map(|line| line.strip_prefix("jmp")).expect("a shim jumps");
            let address = target.split_whitespace().next().expect("a jump has a target");
            let start = u64::from_str_radix(address, 16).expect("an address");
            body = instructions(&[
                format!("--start-address={start:#x}"),
                format!("--stop-address={:#x}", start + 512),
            ]);
        }
        let end = body.iter().position(|line| line.starts_with("ret"));
        body.truncate(end.unwrap_or_else(|| panic!("{hook} returns soon:\n{}", body.join("\n"))));
        let text = body.join("\n");
        for bad in ["call", "lock", "xchg", "syscall", "mfence", "rdtsc", "push"] {
            assert!(!body.iter().any(|line| line.starts_with(bad)), "{hook} has {bad}:\n{text}");
        }
        assert!(body.len() <= 50, "{hook} has {} instructions:\n{text}", body.len());
    }
}
