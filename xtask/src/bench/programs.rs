//! Where the measured programs come from and how they are built: kernels of the project's own, and programs that are
//! fetched.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::variants::{Build, first_installed};
use crate::tool::Tool;
use crate::{sources, workspace};

/// A program's source.
#[derive(Clone, Copy)]
pub enum Source {
    /// A file in xtask/bench. Its argument is the scale.
    Kernel(&'static str),
    /// Compresses as many megabytes of text. Its library is built with it.
    Pbzip2,
    /// Searches as many hundred files.
    Ripgrep,
}

/// What a user's release build with debug information has.
const FLAGS: [&str; 3] = ["-O2", "-g", "-pthread"];
/// What has rustc put its sanitizer in, which it takes for unfinished: it wants `RUSTC_BOOTSTRAP`, too.
pub const RUSTC_TSAN: &str = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
const RIPGREP: &str = "14.1.1";
/// How many processors the programs may use, which all machines have.
const THREADS: &str = "2";

impl Source {
    /// Whether it is somebody else's.
    pub fn is_fetched(self) -> bool {
        !matches!(self, Source::Kernel(_))
    }

    /// Builds it into `folder`. None if this machine, or nobody, can do that.
    pub fn build(self, build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
        let folder = folder.join(format!("{build:?}").to_lowercase());
        fs::create_dir_all(&folder)?;
        match self {
            Source::Kernel(file) => kernel(file, build, tool, &folder),
            Source::Pbzip2 => pbzip2(build, tool, &folder),
            Source::Ripgrep => ripgrep(build, tool, &folder),
        }
    }

    /// The arguments of a run of this size; its input is made in `folder`.
    pub fn arguments(self, scale: u32, folder: &Path) -> anyhow::Result<Vec<OsString>> {
        let input = folder.join(format!("input-{scale}"));
        Ok(match self {
            Source::Kernel(_) => vec![scale.to_string().into()],
            Source::Pbzip2 => {
                fs::write(&input, text(scale as usize * 1_000_000, 1))?;
                vec!["-k".into(), "-c".into(), "-b2".into(), format!("-p{THREADS}").into(), input.into()]
            }
            Source::Ripgrep => {
                fs::create_dir_all(&input)?;
                for number in 0..scale * 100 {
                    fs::write(input.join(format!("{number}.txt")), text(50_000, number + 1))?;
                }
                let pattern = "[a-f]+ [a-z]*ab?c[a-z]* [^ ]*e[^ ]*";
                vec![
                    "--no-config".into(),
                    "-j".into(),
                    THREADS.into(),
                    "-c".into(),
                    pattern.into(),
                    input.into(),
                ]
            }
        })
    }
}

/// Words of random letters, the same for the same seed.
pub fn text(bytes: usize, seed: u32) -> String {
    let mut state = u64::from(seed);
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        // Knuth's generator; its high bits are good.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = state >> 20;
        for letter in 0..2 + bits % 7 {
            text.push(char::from(b'a' + (bits >> (4 * letter) & 15) as u8));
        }
        text.push(if bits >> 40 & 7 == 0 { '\n' } else { ' ' });
    }
    text
}

#[derive(Clone, Copy)]
enum Language {
    C,
    Cxx,
}

/// A compiler that builds in this way. None if it is not installed.
fn compiler(build: Build, language: Language, tool: &Tool) -> Option<Command> {
    let (gcc, clang, ours) = match language {
        Language::C => ("gcc", ["clang-19", "clang-14", "clang"], "cc"),
        Language::Cxx => ("g++", ["clang++-19", "clang++-14", "clang++"], "c++"),
    };
    let mut compiler = match build {
        Build::Native | Build::GccTsan => Command::new(gcc),
        Build::ClangTsan => Command::new(first_installed(&clang)?),
        Build::Recorded => {
            let mut unsnarl = tool.command();
            unsnarl.args([ours, "--with", gcc]);
            unsnarl
        }
    };
    if matches!(build, Build::GccTsan | Build::ClangTsan) {
        compiler.arg("-fsanitize=thread");
    }
    compiler.args(FLAGS);
    Some(compiler)
}

fn kernel(file: &str, build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(mut compiler) = compiler(build, Language::C, tool) else { return Ok(None) };
    let program = folder.join("program");
    let source = workspace::root().join("xtask/bench").join(file);
    workspace::run(compiler.arg("-std=gnu11").arg(source).arg("-o").arg(&program))?;
    Ok(Some(program))
}

/// Both pbzip2 and the library that it spends its time in, so that both are instrumented.
fn pbzip2(build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    const LIBRARY: [&str; 7] =
        ["blocksort.c", "huffman.c", "crctable.c", "randtable.c", "compress.c", "decompress.c", "bzlib.c"];
    const PROGRAM: [&str; 3] = ["pbzip2.cpp", "BZ2StreamScanner.cpp", "ErrorContext.cpp"];
    let (library, program) = (sources::debian("bzip2")?, sources::debian("pbzip2")?);
    let mut objects = Vec::new();
    for file in LIBRARY {
        let Some(mut compiler) = compiler(build, Language::C, tool) else { return Ok(None) };
        let object = folder.join(file).with_extension("o");
        workspace::run(compiler.arg("-c").arg(library.join(file)).arg("-o").arg(&object))?;
        objects.push(object);
    }
    let Some(mut compiler) = compiler(build, Language::Cxx, tool) else { return Ok(None) };
    let built = folder.join("pbzip2");
    // Written before C++ told such suffixes from its own.
    compiler.args(["-w", "-Wno-reserved-user-defined-literal", "-I"]).arg(&library);
    compiler.args(PROGRAM.map(|file| program.join(file))).args(objects).arg("-o").arg(&built);
    workspace::run(&mut compiler)?;
    Ok(Some(built))
}

fn ripgrep(build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let source = sources::crates_io("ripgrep", &format!("={RIPGREP}"))?;
    let host = workspace::host()?;
    let mut cargo = match build {
        // gcc compiles no Rust.
        Build::GccTsan => return Ok(None),
        Build::Native | Build::ClangTsan => workspace::cargo(),
        Build::Recorded => {
            let mut unsnarl = tool.command();
            unsnarl.arg("cargo");
            unsnarl
        }
    };
    cargo.args(["build", "--release", "--locked", "--quiet", "--target", &host]);
    cargo.current_dir(source).env("CARGO_TARGET_DIR", folder);
    if build == Build::ClangTsan {
        cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", RUSTC_TSAN);
    }
    workspace::run(&mut cargo)?;
    let folder = if build == Build::Recorded { folder.join("unsnarl") } else { folder.to_owned() };
    Ok(Some(folder.join(host).join("release/rg")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_lines_of_words_and_the_same_each_time() {
        let long = text(10_000, 7);
        assert_eq!(long, text(10_000, 7));
        assert_ne!(long, text(10_000, 8));
        assert!(long.len() >= 10_000 && long.lines().count() > 100);
        assert!(long.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b' ' || byte == b'\n'));
    }
}
