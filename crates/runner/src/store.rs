//! The folder that holds all sessions, usually `.unsnarl`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::oracle::Outcome;
use crate::run_file::{RunFile, RunRecord};
use crate::session::{Binary, MANIFEST, Manifest, Session, read_manifest};

/// The folder that holds all sessions.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// One of a store's sessions; those that cannot be opened are listed too.
#[derive(Debug)]
pub struct SessionEntry {
    /// Its name.
    pub name: String,
    /// The session, or why it cannot be opened.
    pub session: Result<Session>,
}

impl Store {
    /// A store in this folder, which is made when it is first needed.
    pub fn new(root: impl Into<PathBuf>) -> Store {
        Store { root: root.into() }
    }

    /// Begins a session. If the name is taken, the session gets the next free one: `name-2`, `name-3`, …
    pub fn create(&self, name: &str, manifest: Manifest) -> Result<Session> {
        Session::begin(self.make_folder(name)?, manifest)
    }

    /// Opens a session by name.
    pub fn open(&self, name: &str) -> Result<Session> {
        check_name(name)?;
        Session::open(&self.root.join(name))
    }

    /// All sessions, by name.
    pub fn list(&self) -> Result<Vec<SessionEntry>> {
        let entry = |folder: PathBuf| SessionEntry {
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            session: Session::open(&folder),
        };
        let mut sessions: Vec<SessionEntry> = self.folders()?.into_iter().map(entry).collect();
        sessions.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(sessions)
    }

    /// Those of all sessions.
    fn folders(&self) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::reading("list", &self.root)(error)),
        };
        Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.join(MANIFEST).exists()).collect())
    }

    /// The session that was begun last, if there is any.
    pub fn latest(&self) -> Result<Option<Session>> {
        // Who has many sessions does not wait until all of them are read.
        let begun = |folder: PathBuf| {
            let started = read_manifest(&folder).ok()?.started;
            let name = folder.file_name().unwrap_or_default().to_os_string();
            // Two sessions of the same second: the later one has the higher number in its name.
            Some((started, name.len(), name, folder))
        };
        let mut sessions: Vec<_> = self.folders()?.into_iter().filter_map(begun).collect();
        sessions.sort_unstable();
        Ok(sessions.iter().rev().find_map(|(.., folder)| Session::open(folder).ok()))
    }

    /// Deletes a session, but never a folder that is none.
    pub fn delete(&self, name: &str) -> Result<()> {
        check_name(name)?;
        let folder = self.root.join(name);
        if !folder.join(MANIFEST).exists() {
            return Err(Error::NotASession { path: folder });
        }
        fs::remove_dir_all(&folder).map_err(Error::writing(&folder))
    }

    /// Puts the runs of several sessions of the same program into a new one, renumbered in this order.
    pub fn merge(&self, name: &str, first: &Session, others: &[Session]) -> Result<Session> {
        for other in others {
            if let Some(difference) = difference(first, other) {
                let (first, second) = (first.name(), other.name());
                return Err(Error::DifferentBinaries { first, second, difference });
            }
        }
        let mut manifest = first.manifest().clone();
        manifest.wall_seconds += others.iter().map(|other| other.manifest().wall_seconds).sum::<f64>();
        let mut merged = self.create(name, manifest)?;
        let copied =
            std::iter::once(first).chain(others).try_for_each(|session| copy_runs(session, &mut merged));
        match copied {
            Ok(()) => Ok(merged),
            Err(error) => {
                // Half a merged session would look like a whole one. The first error is the telling one.
                drop(fs::remove_dir_all(merged.folder()));
                Err(error)
            }
        }
    }

    /// The folder that holds the sessions, made if it is not there.
    pub(crate) fn root(&self) -> Result<&Path> {
        fs::create_dir_all(&self.root).map_err(Error::writing(&self.root))?;
        Ok(&self.root)
    }

    /// Makes the folder of a new session.
    pub(crate) fn make_folder(&self, name: &str) -> Result<PathBuf> {
        check_name(name)?;
        let root = self.root()?;
        let names = std::iter::once(name.to_owned()).chain((2..).map(|n: u32| format!("{name}-{n}")));
        for name in names {
            let folder = root.join(name);
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::writing(&folder)(error)),
            }
        }
        Err(Error::BadSessionName { name: name.to_owned() })
    }
}

/// One plain folder name, nothing that leads elsewhere.
fn check_name(name: &str) -> Result<()> {
    let plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
    if plain { Ok(()) } else { Err(Error::BadSessionName { name: name.to_owned() }) }
}

fn copy_runs(from: &Session, to: &mut Session) -> Result<()> {
    for record in from.runs() {
        let renumbered = RunRecord { run: to.next_run(), ..record.clone() };
        // A run that was damaged when it was recorded has no file. One whose file was damaged since stays behind.
        if !matches!(record.outcome, Outcome::Damaged { .. }) {
            let Ok(file) = from.load(record.run) else { continue };
            RunFile { record: renumbered.clone(), ..file }.write(&to.run_path(renumbered.run))?;
        }
        to.add(renumbered)?;
    }
    Ok(())
}

/// What differs between the binaries of two sessions, if anything does.
fn difference(first: &Session, second: &Session) -> Option<String> {
    let describe = |binary: &Binary| match &binary.build_id {
        Some(id) => format!("build id {id}"),
        None => "no build id".to_owned(),
    };
    let one_sided = |from: &Session, to: &Session| {
        let missing = |binary: &&Binary| match &binary.build_id {
            Some(id) => to.manifest().binaries.iter().all(|other| other.build_id.as_ref() != Some(id)),
            None => !to.manifest().binaries.contains(binary),
        };
        let binary = from.manifest().binaries.iter().find(missing)?;
        let namesake =
            to.manifest().binaries.iter().find(|other| other.path.file_name() == binary.path.file_name());
        let elsewhere = match namesake {
            Some(other) => format!("{} in `{}`", describe(other), to.name()),
            None => format!("is not part of `{}`", to.name()),
        };
        Some(format!("{} has {} in `{}`, {elsewhere}", binary.path.display(), describe(binary), from.name()))
    };
    one_sided(first, second).or_else(|| one_sided(second, first))
}
