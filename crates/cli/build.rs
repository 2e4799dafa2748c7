//! Builds the recorders and leaves three files in `OUT_DIR` for the CLI to carry inside itself: `libtsan.so.2` (takes
//! the place of gcc's runtime), `libunsnarl_runtime.a` (for linking into a program) and `libunsnarl_jvm_agent.so` (for
//! Java virtual machines).
//!
//! The native recorder is a workspace of its own, because its profile must not be the tool's (see Cargo.toml there).

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    // Asked when it runs: a build folder that was copied with this script in it must not build another checkout's recorder.
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let crates = own.parent().expect("crates/cli lies in crates/");
    let runtime = crates.join("native-runtime");
    for input in ["src", "Cargo.toml", "Cargo.lock", "build.rs"] {
        println!("cargo:rerun-if-changed={}", runtime.join(input).display());
    }
    for shared in ["recording/src", "policies/src"] {
        println!("cargo:rerun-if-changed={}", crates.join(shared).display());
    }
    println!("cargo:rerun-if-changed=build.rs");
    let agent = crates.join("jvm-agent");
    for input in ["src", "hook-class", "Cargo.toml"] {
        println!("cargo:rerun-if-changed={}", agent.join(input).display());
    }

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let built = build(&runtime, &out.join("runtime"));
    fs::copy(built.join("libunsnarl_runtime.so"), out.join("libtsan.so.2")).expect("the recorder was built");
    archive(&built.join("libunsnarl_runtime.a"), &out);
    let built = build(&agent, &out.join("agent"));
    let library = "libunsnarl_jvm_agent.so";
    fs::copy(built.join(library), out.join(library)).expect("the agent was built");
}

/// Builds a recorder and returns the folder with its libraries.
fn build(runtime: &Path, target_dir: &Path) -> PathBuf {
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
    cargo.args(["build", "--release", "--locked", "--quiet"]);
    cargo.arg("--manifest-path").arg(runtime.join("Cargo.toml")).arg("--target-dir").arg(target_dir);
    // What was asked of the tool's build (flags, wrappers such as clippy's, a coverage profile) is not for the
    // recorder.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
        cargo.env_remove(name);
    }
    run(&mut cargo);
    target_dir.join("release")
}

/// Makes the archive that programs link: the recorder's own object without the compiler's support library,
/// which has the same symbols as a Rust program's, and with weak symbols, so that a program's own allocator
/// or sanitizer options win as they would over gcc's runtime.
fn archive(from: &Path, out: &Path) {
    let listing = Command::new("ar").arg("t").arg(from).output().expect("`ar` runs (package binutils)");
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    let object = listing
        .lines()
        .find(|name| name.starts_with("unsnarl_runtime."))
        .expect("the archive has the recorder's object");
    run(Command::new("ar").current_dir(out).arg("x").arg(from).arg(object));
    let renamed = out.join("unsnarl_runtime.o");
    fs::rename(out.join(object), &renamed).expect("the object was extracted");
    weaken(&renamed, &out.join("weak.list"));
    let archive = out.join("libunsnarl_runtime.a");
    if archive.exists() {
        fs::remove_file(&archive).expect("an old archive can be replaced");
    }
    run(Command::new("ar").current_dir(out).arg("rcsD").arg(&archive).arg(&renamed));
}

/// Makes the symbols that an object defines weak; what it asks of others stays as it is.
fn weaken(object: &Path, list: &Path) {
    let symbols = Command::new("nm").args(["-g", "--defined-only", "-P"]).arg(object).output();
    let symbols = symbols.expect("`nm` runs (package binutils)").stdout;
    let names: String = String::from_utf8_lossy(&symbols)
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(|name| format!("{name}\n"))
        .collect();
    fs::write(list, names).expect("OUT_DIR can be written");
    let mut option = std::ffi::OsString::from("--weaken-symbols=");
    option.push(list);
    run(Command::new("objcopy").arg(option).arg(object));
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    assert!(status.success(), "{command:?} failed: {status}");
}
