//! Builds a corpus program in one of its variants, for the recorder.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::bench::programs::ripgrep::RUSTC_TSAN;
use crate::tool::Tool;
use crate::truth::{Language, Subject};
use crate::workspace;

/// Which of the programs that the same sources make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// With the bug.
    Buggy,
    /// The twin without it.
    Fixed,
    /// A correct program that fails by chance now and then.
    Flaky,
    /// A correct program with so many threads.
    Threads(u32),
}

impl Variant {
    pub fn name(self) -> &'static str {
        match self {
            Variant::Buggy => "buggy",
            Variant::Fixed => "fixed",
            Variant::Flaky => "flaky",
            Variant::Threads(_) => "threads",
        }
    }

    /// For a C compiler.
    fn definition(self) -> Option<String> {
        match self {
            Variant::Buggy => None,
            Variant::Fixed => Some("-DFIXED".to_owned()),
            Variant::Flaky => Some("-DFLAKY".to_owned()),
            Variant::Threads(threads) => Some(format!("-DTHREADS={threads}")),
        }
    }

    /// For a Java virtual machine.
    fn property(self) -> Option<String> {
        match self {
            Variant::Buggy => None,
            Variant::Fixed => Some("-Dfixed=true".to_owned()),
            Variant::Flaky => Some("-Dflaky=true".to_owned()),
            Variant::Threads(threads) => Some(format!("-Dthreads={threads}")),
        }
    }

    /// For rustc, which knows no number of threads.
    fn configuration(self) -> &'static str {
        match self {
            Variant::Buggy | Variant::Threads(_) => "",
            Variant::Fixed => "--cfg fixed",
            Variant::Flaky => "--cfg flaky",
        }
    }
}

/// Builds a program without the recorder into `folder` and says where it is.
pub fn build_native(
    subject: &Subject,
    folder: &Path,
    variant: Variant,
    noise_size: u8,
) -> anyhow::Result<PathBuf> {
    let output = folder.join(variant.name()).with_extension("native");
    match subject.truth.language {
        Language::C | Language::Cxx => {
            plain_compiler(subject, &output, variant, noise_size, &[])?;
            Ok(output)
        }
        Language::Rust => {
            let mut cargo = plain_cargo(subject, &output, variant, noise_size, "");
            workspace::run(cargo.args(["build", "--release", "--quiet"]))?;
            Ok(output.join("release").join(&subject.truth.name))
        }
        // The agent is not part of the program.
        Language::Java => java_program(subject, &folder.join(variant.name()), variant, noise_size),
    }
}

/// Builds a native program with the thread sanitizer of its compiler into `folder` and says where it is.
pub fn build_for_tsan(
    subject: &Subject,
    folder: &Path,
    variant: Variant,
    noise_size: u8,
) -> anyhow::Result<PathBuf> {
    let output = folder.join(variant.name()).with_extension("tsan");
    if subject.truth.language == Language::Rust {
        let host = workspace::host()?;
        let mut cargo = plain_cargo(subject, &output, variant, noise_size, RUSTC_TSAN);
        // With a target, build scripts and macros are left alone.
        cargo.args(["build", "--release", "--quiet", "--target", &host]).env("RUSTC_BOOTSTRAP", "1");
        workspace::run(&mut cargo)?;
        return Ok(output.join(host).join("release").join(&subject.truth.name));
    }
    plain_compiler(subject, &output, variant, noise_size, &["-fsanitize=thread"])?;
    Ok(output)
}

/// A C or C++ program by gcc alone.
fn plain_compiler(
    subject: &Subject,
    output: &Path,
    variant: Variant,
    noise_size: u8,
    flags: &[&str],
) -> anyhow::Result<()> {
    let mut compiler = match subject.truth.language {
        Language::Cxx => c_compiler(Command::new("g++"), "-std=gnu++17"),
        _ => c_compiler(Command::new("gcc"), "-std=gnu11"),
    };
    compiler.current_dir(&subject.folder).arg(format!("-DNOISE={noise_size}")).args(variant.definition());
    workspace::run(compiler.args(flags).args(&subject.truth.sources).arg("-o").arg(output))
}

/// A Rust program by cargo alone.
fn plain_cargo(subject: &Subject, output: &Path, variant: Variant, noise_size: u8, flags: &str) -> Command {
    let mut cargo = Command::new("cargo");
    let flags = format!("--cfg noise=\"{noise_size}\" {} {flags}", variant.configuration());
    cargo.current_dir(&subject.folder).env("CARGO_TARGET_DIR", output).env("RUSTFLAGS", flags);
    cargo
}

fn c_compiler(mut compiler: Command, standard: &str) -> Command {
    compiler.args([standard, "-O1", "-g", "-pthread"]);
    compiler
}

/// Builds a program with the recorder inside into `folder` and says where it is.
pub fn build(
    subject: &Subject,
    tool: &Tool,
    folder: &Path,
    variant: Variant,
    noise_size: u8,
) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let output = folder.join(variant.name());
    let mut unsnarl = tool.command();
    unsnarl.current_dir(&subject.folder);
    let loops = subject.truth.loops.then_some("--loops");
    let mut unsnarl = match subject.truth.language {
        Language::C => {
            unsnarl.arg("cc").args(loops);
            c_compiler(unsnarl, "-std=gnu11")
        }
        Language::Cxx => {
            unsnarl.arg("c++").args(loops);
            c_compiler(unsnarl, "-std=gnu++17")
        }
        Language::Rust => {
            // C code inside of crates is compiled by their build scripts, which ask for these.
            unsnarl
                .args(["cargo", "build", "--release", "--quiet"])
                .env("TARGET_CFLAGS", "-fsanitize=thread -g");
            let flags = format!("--cfg noise=\"{noise_size}\" {}", variant.configuration());
            workspace::run(unsnarl.env("CARGO_TARGET_DIR", &output).env("RUSTFLAGS", flags))?;
            return recorded_program(&output, &Path::new("release").join(&subject.truth.name));
        }
        Language::Java => return java_program(subject, &output, variant, noise_size),
    };
    unsnarl.arg(format!("-DNOISE={noise_size}")).args(variant.definition());
    workspace::run(unsnarl.args(&subject.truth.sources).arg("-o").arg(&output))?;
    Ok(output)
}

/// Compiles a Java program and writes a script that starts it, which is the program from then on. The first source has
/// the main class. What was compiled is part of the script, by a number, so that an edited program is a new one.
fn java_program(
    subject: &Subject,
    output: &Path,
    variant: Variant,
    noise_size: u8,
) -> anyhow::Result<PathBuf> {
    let classes = output.with_extension("classes");
    let mut javac = Command::new("javac");
    javac.current_dir(&subject.folder).arg("-g").arg("-d").arg(&classes);
    workspace::run(javac.args(&subject.truth.sources))?;
    let mut hasher = DefaultHasher::new();
    for source in &subject.truth.sources {
        let path = subject.folder.join(source);
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        text.hash(&mut hasher);
    }
    let main = subject.truth.sources.first().map(Path::new).and_then(Path::file_stem);
    let main = main.with_context(|| format!("{} has no sources", subject.truth.name))?.display();
    let script = format!(
        "#!/bin/sh\n# {:016x}\nexec java -Dnoise={noise_size} {} -cp '{}' {main}\n",
        hasher.finish(),
        variant.property().unwrap_or_default(),
        classes.display()
    );
    fs::write(output, script).with_context(|| format!("cannot write {}", output.display()))?;
    fs::set_permissions(output, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", output.display()))?;
    Ok(output.to_owned())
}

/// `cargo unsnarl` builds into a folder of its own, and there into one that is named after the machine.
fn recorded_program(target: &Path, name: &Path) -> anyhow::Result<PathBuf> {
    let folder = target.join("unsnarl");
    let machines = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut programs = machines.filter_map(|machine| Some(machine.ok()?.path().join(name)));
    programs
        .find(|program| program.exists())
        .with_context(|| format!("cargo unsnarl left no {} in {}", name.display(), folder.display()))
}
