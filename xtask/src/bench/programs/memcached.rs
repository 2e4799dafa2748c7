//! memcached, with a client that makes a given number of requests and then has it end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::packages::Package;
use super::{FLAGS, Run, THREADS};
use crate::bench::variants::Build;
use crate::tool::Tool;
use crate::workspace;

pub fn build(build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(events) = libevent(build, tool, folder)? else { return Ok(None) };
    let events = format!("--with-libevent={}", events.display());
    let package = Package {
        name: "memcached",
        configured: Some(vec!["--disable-docs".to_owned(), "--disable-coverage".to_owned(), events]),
        folder: "",
        made: &["memcached"],
        result: "memcached",
    };
    package.make(build, tool, folder)
}

/// What memcached waits by, built in the same way. Where it is installed.
fn libevent(build: Build, tool: &Tool, folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    let installed = folder.join("installed");
    let prefix = format!("--prefix={}", installed.display());
    let left_out =
        ["--disable-shared", "--disable-openssl", "--disable-samples", "--disable-libevent-regress"];
    let package = Package {
        name: "libevent",
        configured: Some([prefix].into_iter().chain(left_out.map(str::to_owned)).collect()),
        folder: "",
        made: &["install"],
        result: "libevent.la",
    };
    Ok(package.make(build, tool, folder)?.map(|_| installed))
}

/// A run of so many thousand requests. The shell becomes the server, so that it is the server that is measured; the client is
/// its child.
pub fn run(scale: u32, folder: &Path) -> anyhow::Result<Run> {
    let (client, socket) = (folder.join("requests"), folder.join("socket"));
    let source = workspace::root().join("xtask/bench/requests.c");
    workspace::run(Command::new("gcc").args(FLAGS).arg(source).arg("-o").arg(&client))?;
    // It sets its limit of files to 1024; valgrind, which keeps twelve for itself, lets it do so only if that is no change.
    let start = r#"ulimit -n 1036; "$1" "$2" "$3" & shift 3; exec "$@""#;
    let mut before: Vec<OsString> = ["sh", "-c", start, "sh"].map(OsString::from).to_vec();
    before.extend([client.into(), socket.clone().into(), scale.to_string().into()]);
    // It refuses to be root unless it is asked to.
    let mut arguments: Vec<OsString> = ["-A", "-u", "root", "-t", THREADS, "-s"].map(OsString::from).to_vec();
    arguments.push(socket.into());
    Ok(Run { before, arguments })
}
