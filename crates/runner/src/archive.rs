//! A session as a single file, to be sent to somebody else.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::session::{MANIFEST, RUN_FOLDER, RUNS, Session};
use crate::store::Store;

impl Session {
    /// Writes a session into a single file, a tar archive.
    pub fn export(&self, path: &Path) -> Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = PathBuf::from(self.name());
        let written = tempfile::NamedTempFile::new_in(folder).and_then(|file| {
            let mut archive = tar::Builder::new(file);
            // Without owners and times: the same session gives the same bytes.
            archive.mode(tar::HeaderMode::Deterministic);
            let mut add = |inner: &Path| {
                let source = self.folder().join(inner);
                if source.exists() { archive.append_path_with_name(source, name.join(inner)) } else { Ok(()) }
            };
            add(Path::new(MANIFEST))?;
            add(Path::new(RUNS))?;
            add(Path::new(RUN_FOLDER))?;
            for record in self.runs() {
                let file = self.run_path(record.run);
                add(&Path::new(RUN_FOLDER).join(file.file_name().unwrap_or_default()))?;
            }
            // Reports, confirmations and what else belongs to the session.
            for inner in self.further_files()? {
                add(&inner)?;
            }
            archive.into_inner()?.persist(path).map_err(|error| error.error)
        });
        written.map(drop).map_err(Error::writing(path))
    }

    /// All that is in the session's folder besides its list of runs and their recordings, in order; of folders, their
    /// content.
    fn further_files(&self) -> std::io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.folder())? {
            let name = PathBuf::from(entry?.file_name());
            if [MANIFEST, RUNS, RUN_FOLDER].iter().any(|known| name == Path::new(known)) {
                continue;
            }
            let path = self.folder().join(&name);
            if path.is_dir() {
                for inner in fs::read_dir(&path)? {
                    found.push(name.join(inner?.file_name()));
                }
            }
            found.push(name);
        }
        // A folder comes before what is in it.
        found.sort();
        Ok(found)
    }
}

impl Store {
    /// Takes in a session that [`Session::export`] wrote. It gets the name it had, or the next free one.
    pub fn import(&self, archive: &Path) -> Result<Session> {
        let root = self.root()?;
        let unpacked = tempfile::tempdir_in(root).map_err(Error::writing(root))?;
        let file = File::open(archive).map_err(Error::reading("open", archive))?;
        let not_a_session = || Error::NotASession { path: archive.to_owned() };
        tar::Archive::new(file).unpack(unpacked.path()).map_err(|error| match error.kind() {
            std::io::ErrorKind::Other | std::io::ErrorKind::UnexpectedEof => not_a_session(),
            _ => Error::reading("unpack", archive)(error),
        })?;
        let entry = fs::read_dir(unpacked.path())
            .ok()
            .and_then(|mut entries| entries.next()?.ok())
            .ok_or_else(not_a_session)?;
        Session::open(&entry.path()).map_err(|error| match error {
            Error::NotASession { .. } => not_a_session(),
            other => other,
        })?;
        let folder = self.make_folder(&entry.file_name().to_string_lossy())?;
        fs::rename(entry.path(), &folder).map_err(Error::writing(&folder))?;
        Session::open(&folder)
    }
}
