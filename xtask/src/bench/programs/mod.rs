//! Where the measured programs come from and how they are built: kernels of the project's own, and programs that are
//! fetched.

mod compressors;
mod memcached;
mod packages;
pub mod ripgrep;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::variants::{Build, first_installed};
use crate::tool::Tool;
use crate::workspace;

/// A program's source.
#[derive(Clone, Copy)]
pub enum Source {
    /// A file in xtask/bench. Its argument is the scale.
    Kernel(&'static str),
    /// Compresses as many megabytes of text. Its library is built with it.
    Pbzip2,
    /// Compresses as many megabytes of text.
    Zstd,
    /// Compresses as many times 100 kB of text.
    Xz,
    /// Answers as many thousand requests.
    Memcached,
    /// Searches as many hundred files.
    Ripgrep,
}

/// The command line of a run.
pub struct Run {
    /// What starts the program, if not the program itself.
    pub before: Vec<OsString>,
    pub arguments: Vec<OsString>,
}

/// What a user's release build with debug information has.
const FLAGS: [&str; 3] = ["-O2", "-g", "-pthread"];
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
            Source::Pbzip2 => compressors::pbzip2(build, tool, &folder),
            Source::Zstd => compressors::zstd(build, tool, &folder),
            Source::Xz => compressors::xz(build, tool, &folder),
            Source::Memcached => memcached::build(build, tool, &folder),
            Source::Ripgrep => ripgrep::build(build, tool, &folder),
        }
    }

    /// A run of this size; its input is made in `folder`.
    pub fn run(self, scale: u32, folder: &Path) -> anyhow::Result<Run> {
        let input = folder.join(format!("input-{scale}"));
        let compress = |bytes: u32, threads: &str, options: &[&str]| {
            fs::write(&input, text(bytes as usize, 1))?;
            let options = options.iter().chain(&["-k", "-c"]).map(OsString::from);
            anyhow::Ok(options.chain([format!("{threads}{THREADS}").into(), input.clone().into()]).collect())
        };
        let arguments = match self {
            Source::Kernel(_) => vec![scale.to_string().into()],
            Source::Pbzip2 => compress(scale * 1_000_000, "-p", &["-b2"])?,
            // So that both threads get blocks, of which there would be one otherwise.
            Source::Zstd => compress(scale * 1_000_000, "-T", &["-q", "-B512KiB"])?,
            Source::Xz => compress(scale * 100_000, "-T", &["-1", "--block-size=100KiB"])?,
            Source::Memcached => return memcached::run(scale, folder),
            Source::Ripgrep => {
                fs::create_dir_all(&input)?;
                for number in 0..scale * 100 {
                    fs::write(input.join(format!("{number}.txt")), text(50_000, number + 1))?;
                }
                let pattern = "[a-f]+ [a-z]*ab?c[a-z]* [^ ]*e[^ ]*";
                let options = ["--no-config", "-j", THREADS, "-c", pattern].map(OsString::from);
                options.into_iter().chain([input.into()]).collect()
            }
        };
        Ok(Run { before: Vec::new(), arguments })
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

/// The words that begin the command line of a compiler that builds in this way. None if it is not installed.
fn driver(build: Build, language: Language, tool: &Tool) -> Option<Vec<String>> {
    let (gcc, clang, ours) = match language {
        Language::C => ("gcc", ["clang-19", "clang-14", "clang"], "cc"),
        Language::Cxx => ("g++", ["clang++-19", "clang++-14", "clang++"], "c++"),
    };
    let words = match build {
        Build::Native => vec![gcc],
        Build::GccTsan => vec![gcc, "-fsanitize=thread"],
        Build::ClangTsan => vec![first_installed(&clang)?, "-fsanitize=thread"],
        Build::Recorded => vec![tool.program().to_str()?, ours, "--with", gcc],
    };
    Some(words.into_iter().map(str::to_owned).collect())
}

/// The same with what a user's release build has.
fn compiler(build: Build, language: Language, tool: &Tool) -> Option<Command> {
    let words = driver(build, language, tool)?;
    let mut compiler = Command::new(&words[0]);
    compiler.args(&words[1..]).args(FLAGS);
    Some(compiler)
}

fn kernel(file: &str, build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(mut compiler) = compiler(build, Language::C, tool) else { return Ok(None) };
    let program = folder.join("program");
    let source = workspace::root().join("xtask/bench").join(file);
    workspace::run(compiler.arg("-std=gnu11").arg(source).arg("-o").arg(&program))?;
    Ok(Some(program))
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
