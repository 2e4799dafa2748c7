//! `unsnarl sessions`, and how sessions are named on the command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

use anyhow::{Context as _, bail};
use runner::{Session, Store};

use crate::args::SessionsCommand;
use crate::exit::{self, Complaint};
use crate::flags::shell_words;
use crate::screen;

/// Where sessions live if nothing else is said.
pub const STORE: &str = ".unsnarl";

/// The store and the name that an argument stands for: a bare name is in the usual store, a path is itself.
pub fn locate(argument: &Path) -> anyhow::Result<(Store, String)> {
    let Some(name) = argument.file_name().and_then(|name| name.to_str()) else {
        let what = format!("{} cannot be a session: its last part must be a name", argument.display());
        return Err(Complaint::usage(what).into());
    };
    let root = match argument.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from(STORE),
    };
    Ok((Store::new(root), name.to_owned()))
}

/// Opens the session that was asked for, or the newest.
pub fn open(argument: Option<&Path>) -> anyhow::Result<Session> {
    let Some(path) = argument else { return newest() };
    let (store, name) = locate(path)?;
    Ok(store.open(&name)?)
}

fn newest() -> anyhow::Result<Session> {
    let store = Store::new(STORE);
    if let Some(session) = store.latest()? {
        return Ok(session);
    }
    // Why the only ones there cannot be opened says more than that there are none.
    match store.list()?.into_iter().find_map(|entry| entry.session.err()) {
        Some(error) => Err(error.into()),
        None => Err(Complaint {
            code: exit::NO_SESSION,
            what: format!("there is no session in {STORE} yet"),
            advice: "  make one:  unsnarl run -- ./test",
        }
        .into()),
    }
}

/// Opens a session to pass it on. What is damaged stays behind, which is said here; reports say it themselves.
fn open_to_copy(path: &Path) -> anyhow::Result<Session> {
    let session = open(Some(path))?;
    for warning in session.warnings() {
        screen::say(&format!("warning: {warning}\n"));
    }
    Ok(session)
}

/// Where the user is, if unsnarl has gone elsewhere to run a test.
static USERS_FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Goes to a folder, and remembers where the user is.
pub fn go_to(folder: &Path) -> anyhow::Result<()> {
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    USERS_FOLDER.get_or_init(|| here);
    std::env::set_current_dir(folder).with_context(|| format!("cannot go to {}", folder.display()))
}

/// A path as the user would have to type it.
pub fn as_typed(path: &Path) -> &Path {
    let from_here = USERS_FOLDER.get().and_then(|folder| path.strip_prefix(folder).ok());
    from_here.unwrap_or(path)
}

/// ` --session NAME` as a user would have to type it for this session, empty if it is the newest in the usual store.
pub fn argument(session: &Session) -> String {
    let store = USERS_FOLDER.get().map_or_else(|| STORE.into(), |folder| folder.join(STORE));
    let newest = Store::new(&store).latest().ok().flatten();
    if newest.is_some_and(|newest| newest.folder() == session.folder()) {
        return String::new();
    }
    let usual = session.folder().parent() == Some(&*store);
    let shown = if usual { session.name().into() } else { session.folder().as_os_str().to_owned() };
    format!(" --session {}", shell_words(&[shown]))
}

/// `unsnarl sessions …`.
pub fn sessions(command: &SessionsCommand) -> anyhow::Result<ExitCode> {
    let store = Store::new(STORE);
    match command {
        SessionsCommand::List => list(&store)?,
        SessionsCommand::Delete { name } => {
            let (store, name) = locate(Path::new(name))?;
            store.delete(&name)?;
            println!("deleted {name}");
        }
        SessionsCommand::Merge { name, sessions } => {
            let opened =
                sessions.iter().map(|path| open_to_copy(path)).collect::<anyhow::Result<Vec<_>>>()?;
            let Some((first, others)) = opened.split_first() else { bail!("name the sessions to merge") };
            let (store, name) = locate(Path::new(name))?;
            let merged = store.merge(&name, first, others)?;
            println!("{} runs in {}", merged.runs().len(), merged.folder().display());
            let left = opened.iter().map(|session| session.runs().len()).sum::<usize>() - merged.runs().len();
            if left > 0 {
                println!("{left} damaged runs stayed behind");
            }
        }
        SessionsCommand::Export { session, file } => {
            open_to_copy(session)?.export(file)?;
            println!("wrote {}", file.display());
        }
        SessionsCommand::Import { file } => {
            let session = store.import(file)?;
            println!("{} runs in {}", session.runs().len(), session.folder().display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(store: &Store) -> anyhow::Result<()> {
    let entries = store.list()?;
    if entries.is_empty() {
        return Ok(screen::print(&format!("no sessions in {STORE} yet: unsnarl run -- ./test makes one\n"))?);
    }
    let width = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
    let lines = entries.iter().map(|entry| format!("{:width$}  {}\n", entry.name, in_short(&entry.session)));
    Ok(screen::print(&lines.collect::<String>())?)
}

fn in_short(session: &runner::Result<Session>) -> String {
    match session {
        Ok(session) => {
            let failed = session.runs().iter().filter(|run| run.outcome.is_failing()).count();
            format!(
                "{}  {:5} runs  {failed:4} failed  {}",
                session.manifest().started,
                session.runs().len(),
                report::visible(&session.manifest().command.join(" ")),
            )
        }
        Err(error) => format!("cannot be opened: {error}"),
    }
}
