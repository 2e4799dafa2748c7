//! ripgrep, which rustc compiles.

use std::path::{Path, PathBuf};

use crate::bench::variants::Build;
use crate::tool::Tool;
use crate::{sources, workspace};

/// What has rustc put its sanitizer in, which it takes for unfinished: it wants `RUSTC_BOOTSTRAP`, too.
pub const RUSTC_TSAN: &str = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
const VERSION: &str = "14.1.1";

pub fn build(build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let source = sources::crates_io("ripgrep", &format!("={VERSION}"))?;
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
