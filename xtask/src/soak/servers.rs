//! Servers under load.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use super::ground::{Ground, bytes_of};
use super::tools::built;
use crate::bench::programs::Source;
use crate::bench::variants::Build;
use crate::{sources, workspace};

/// Longer than a server takes to start on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub fn redis(ground: &Ground) -> anyhow::Result<String> {
    let source = sources::debian("redis")?.join("src");
    let mut make = Command::new("make");
    make.current_dir(&source).args(["redis-server", "redis-benchmark", "redis-cli", "-j2"]);
    make.args(["MALLOC=libc", "BUILD_TLS=no", "USE_SYSTEMD=no", "OPTIMIZATION=-O1"]);
    workspace::run_quietly(make.arg(ground.compiler()))?;
    let recordings = ground.recordings()?;
    let port = free_port()?.to_string();
    let mut command = recordings.command(&source.join("redis-server"));
    command.args(["--port", &port, "--io-threads", "2", "--io-threads-do-reads", "yes", "--save", ""]);
    let server = Server::start(&mut command, &port)?;
    let mut load = Command::new(source.join("redis-benchmark"));
    load.args(["-p", &port, "-q", "-n", "2000", "-c", "20", "-t", "set,get,incr,lpush,lpop,sadd,hset,mset"]);
    let printed = String::from_utf8_lossy(&bytes_of(&mut load)?).into_owned();
    ensure!(!printed.contains("ERR"), "a request failed: {printed}");
    let size = bytes_of(Command::new(source.join("redis-cli")).args(["-p", &port, "dbsize"]))?;
    ensure!(size != b"0\n", "nothing was stored");
    // Its answer to this is to end.
    drop(Command::new(source.join("redis-cli")).args(["-p", &port, "shutdown", "nosave"]).status());
    server.expect_end()?;
    recordings.check()
}

pub fn memcached(ground: &Ground) -> anyhow::Result<String> {
    let program = built(ground, "memcached", Source::Memcached, Build::Recorded)?;
    let recordings = ground.recordings()?;
    let port = free_port()?.to_string();
    let mut command = recordings.command(&program);
    // It refuses to be root.
    let server = Server::start(command.args(["-p", &port, "-U", "0", "-t", "4", "-u", "nobody"]), &port)?;
    thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|client| {
                scope.spawn({
                    let port = &port;
                    move || store_and_read(port, client)
                })
            })
            .collect();
        clients.into_iter().try_for_each(|client| client.join().unwrap_or_else(|_| bail!("a client failed")))
    })?;
    server.terminate()?;
    recordings.check()
}

/// Stores a thousand values and reads them back.
fn store_and_read(port: &str, client: usize) -> anyhow::Result<()> {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
    let mut answers = BufReader::new(stream.try_clone()?).lines();
    let mut answer = || answers.next().context("the server has hung up")?.map_err(anyhow::Error::from);
    for number in 0..1000 {
        let value = format!("value {number} of {client}");
        write!(stream, "set {client}-{number} 0 0 {}\r\n{value}\r\n", value.len())?;
        ensure!(answer()? == "STORED", "a value was not stored");
    }
    for number in 0..1000 {
        write!(stream, "get {client}-{number}\r\n")?;
        answer()?;
        let value = answer()?;
        ensure!(value == format!("value {number} of {client}"), "what was stored came back as {value}");
        ensure!(answer()? == "END", "an answer did not end");
    }
    Ok(())
}

/// A server that is ended with its trial.
struct Server {
    child: Child,
}

impl Server {
    /// Starts it and waits until it answers.
    fn start(command: &mut Command, port: &str) -> anyhow::Result<Server> {
        let child = command.stdout(Stdio::null()).stdin(Stdio::null()).spawn()?;
        let mut server = Server { child };
        let begun = Instant::now();
        while TcpStream::connect(format!("127.0.0.1:{port}")).is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server ended with {status}");
            }
            ensure!(begun.elapsed() < PATIENCE, "the server does not answer");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    fn expect_end(mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "the server ended with {status}");
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("the server does not end")
    }

    /// Asks it to end by signal, which must be an orderly end.
    fn terminate(self) -> anyhow::Result<()> {
        workspace::run(Command::new("kill").arg(self.child.id().to_string()))?;
        self.expect_end()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
