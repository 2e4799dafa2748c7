//! A session's folder.
//!
//! ```text
//! <session>/manifest.json     what was run, and how
//! <session>/runs.jsonl        one line per run, appended when it is done
//! <session>/runs/000017.run   what was recorded in it
//! ```
//! Every file is written in one step or appended to by whole lines, so that whatever ends unsnarl loses only
//! the runs under way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::elf::BuildId;
use crate::error::{Error, Result};
use crate::path_text;
use crate::run_file::{RunFile, RunNumber, RunRecord};

/// Changes whenever an unsnarl that knows the old one would misread the new one.
const SCHEMA: u64 = 1;
pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const RUNS: &str = "runs.jsonl";
pub(crate) const RUN_FOLDER: &str = "runs";

/// A program or library under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binary {
    /// Where it was.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// Which build of it.
    pub build_id: Option<BuildId>,
}

/// What was run, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    schema: u64,
    /// The unsnarl that made the session.
    pub unsnarl_version: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The flags that shaped the runs, by name.
    pub flags: BTreeMap<String, String>,
    /// What all random choices come from.
    pub seed: u64,
    /// When it began: UTC, as in RFC 3339.
    pub started: String,
    /// How long it took so far.
    pub wall_seconds: f64,
    /// What was tested.
    pub binaries: Vec<Binary>,
}

impl Manifest {
    /// For a session that begins now.
    pub fn new(
        command: Vec<String>,
        flags: BTreeMap<String, String>,
        seed: u64,
        binaries: Vec<Binary>,
    ) -> Manifest {
        Manifest {
            schema: SCHEMA,
            unsnarl_version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            flags,
            seed,
            started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            wall_seconds: 0.0,
            binaries,
        }
    }
}

/// An open session.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    manifest: Manifest,
    runs: Vec<RunRecord>,
    /// The same in the order in which they came: of those that go on at the same time, a later one may be done first.
    arrivals: Vec<RunNumber>,
    warnings: Vec<String>,
    /// The list of runs ends amid a line, which a new one must not be glued to.
    last_line_is_cut: bool,
}

impl Session {
    fn of(folder: PathBuf, manifest: Manifest) -> Session {
        let (runs, arrivals, warnings) = (Vec::new(), Vec::new(), Vec::new());
        Session { folder, manifest, runs, arrivals, warnings, last_line_is_cut: false }
    }

    /// Makes a session of an existing, empty folder.
    pub(crate) fn begin(folder: PathBuf, manifest: Manifest) -> Result<Session> {
        let run_folder = folder.join(RUN_FOLDER);
        fs::create_dir(&run_folder).map_err(Error::writing(&run_folder))?;
        let session = Session::of(folder, manifest);
        session.write_manifest()?;
        Ok(session)
    }

    /// Opens a session to look at it again or to add runs. What is damaged is left out, with a warning.
    pub fn open(folder: &Path) -> Result<Session> {
        let manifest = read_manifest(folder)?;
        let mut session = Session::of(folder.to_owned(), manifest);
        session.read_runs()?;
        session.recover_unlisted_runs()?;
        session.arrivals = session.runs.iter().map(|record| record.run).collect();
        Ok(session)
    }

    /// The name: that of the folder.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was run, and how.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// All runs by number.
    pub fn runs(&self) -> &[RunRecord] {
        &self.runs
    }

    /// The runs that have come since there were so many, in the order in which they came.
    pub fn runs_since(&self, count: usize) -> impl Iterator<Item = &RunRecord> {
        let record = |run: &RunNumber| {
            let place = self.runs.binary_search_by_key(run, |record| record.run).ok()?;
            self.runs.get(place)
        };
        self.arrivals.iter().skip(count).filter_map(record)
    }

    /// What was found damaged when the session was opened.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The number that the next run gets.
    pub fn next_run(&self) -> RunNumber {
        RunNumber(self.runs.last().map_or(0, |record| record.run.0) + 1)
    }

    /// Where a run's recordings are.
    pub fn run_path(&self, run: RunNumber) -> PathBuf {
        run_path(&self.folder, run)
    }

    /// Reads the recordings of a run.
    pub fn load(&self, run: RunNumber) -> Result<RunFile> {
        RunFile::read(&self.run_path(run))
    }

    /// Adds a run whose file, if it has one, is in place already.
    pub fn add(&mut self, record: RunRecord) -> Result<()> {
        let path = self.folder.join(RUNS);
        let mut line = serde_json::to_vec(&record).map_err(|error| Error::writing(&path)(error.into()))?;
        line.push(b'\n');
        if self.last_line_is_cut {
            line.insert(0, b'\n');
        }
        // In one write, so that a crash leaves the line out rather than in two.
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(&line))
            .map_err(Error::writing(&path))?;
        self.last_line_is_cut = false;
        self.arrivals.push(record.run);
        let place = self.runs.partition_point(|present| present.run < record.run);
        self.runs.insert(place, record);
        Ok(())
    }

    /// Notes what turned out to be tested, for commands that did not show it beforehand.
    pub fn set_binaries(&mut self, binaries: Vec<Binary>) -> Result<()> {
        self.manifest.binaries = binaries;
        self.write_manifest()
    }

    /// Notes that this much more time was spent.
    pub fn add_wall_time(&mut self, time: Duration) -> Result<()> {
        self.manifest.wall_seconds += time.as_secs_f64();
        self.write_manifest()
    }

    fn write_manifest(&self) -> Result<()> {
        let path = self.folder.join(MANIFEST);
        let written = tempfile::NamedTempFile::new_in(&self.folder).and_then(|mut file| {
            serde_json::to_writer_pretty(&mut file, &self.manifest)?;
            file.write_all(b"\n")?;
            file.persist(&path).map_err(|error| error.error)
        });
        written.map(drop).map_err(Error::writing(&path))
    }

    fn read_runs(&mut self) -> Result<()> {
        let path = self.folder.join(RUNS);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::reading("read", &path)(error)),
        };
        self.last_line_is_cut = text.last().is_some_and(|&last| last != b'\n');
        let mut runs = BTreeMap::new();
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice::<RunRecord>(line) {
                Ok(record) => drop(runs.insert(record.run, record)),
                Err(error) => {
                    self.warnings.push(format!("{}, line {}: {error}", path.display(), index + 1));
                }
            }
        }
        self.runs = runs.into_values().collect();
        Ok(())
    }

    /// Runs that were stored but not listed when unsnarl was ended. Their files say all about them.
    fn recover_unlisted_runs(&mut self) -> Result<()> {
        let folder = self.folder.join(RUN_FOLDER);
        let listed: BTreeSet<RunNumber> = self.runs.iter().map(|record| record.run).collect();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // Each run of the list is missed when it is read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::reading("list", &folder)(error)),
        };
        for entry in entries.flatten() {
            let Some(run) = run_of_file(&entry.path()) else { continue };
            if listed.contains(&run) {
                continue;
            }
            match RunFile::read(&entry.path()) {
                Ok(file) => self.runs.push(RunRecord { run, ..file.record }),
                Err(error) => self.warnings.push(error.to_string()),
            }
        }
        self.runs.sort_by_key(|record| record.run);
        Ok(())
    }
}

fn run_path(folder: &Path, run: RunNumber) -> PathBuf {
    folder.join(RUN_FOLDER).join(format!("{:06}.run", run.0))
}

fn run_of_file(path: &Path) -> Option<RunNumber> {
    if path.extension()? != "run" {
        return None;
    }
    path.file_stem()?.to_str()?.parse().ok().map(RunNumber)
}

pub(crate) fn read_manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join(MANIFEST);
    let text = fs::read(&path).map_err(|_| Error::NotASession { path: folder.to_owned() })?;
    let damaged =
        |error: serde_json::Error| Error::DamagedManifest { path: path.clone(), why: error.to_string() };
    // The schema decides how the rest is to be read, so it is looked at alone first.
    #[derive(Deserialize)]
    struct Versioned {
        schema: u64,
    }
    let Versioned { schema } = serde_json::from_slice(&text).map_err(damaged)?;
    if schema != SCHEMA {
        return Err(Error::OtherVersion { path: folder.to_owned(), found: schema, supported: SCHEMA });
    }
    serde_json::from_slice(&text).map_err(damaged)
}
