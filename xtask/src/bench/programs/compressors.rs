//! Compressors that share the work among threads.

use std::path::{Path, PathBuf};

use super::packages::Package;
use super::{Language, compiler};
use crate::bench::variants::Build;
use crate::tool::Tool;
use crate::{sources, workspace};

/// Both pbzip2 and the library that it spends its time in, so that both are instrumented.
pub fn pbzip2(build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
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

pub fn zstd(build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let package = Package {
        name: "libzstd",
        configured: None,
        folder: "programs",
        made: &["zstd", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0"],
        result: "zstd",
    };
    package.make(build, tool, folder)
}

pub fn xz(build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let left_out = ["--disable-shared", "--disable-nls", "--disable-doc", "--disable-scripts"];
    let package = Package {
        name: "xz-utils",
        configured: Some(left_out.map(str::to_owned).to_vec()),
        folder: "",
        made: &["all"],
        result: "src/xz/xz",
    };
    package.make(build, tool, folder)
}
