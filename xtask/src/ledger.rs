//! What was tried so far, a line each, in a file within cargo's folder: trials take hours, so that they can be stopped
//! and taken up again.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub struct Ledger<T> {
    path: PathBuf,
    entries: BTreeMap<String, T>,
}

impl<T: Serialize + DeserializeOwned> Ledger<T> {
    /// Opens the ledger of a chore, or begins it anew.
    pub fn open(folder: &Path, chore: &str, anew: bool) -> anyhow::Result<Ledger<T>> {
        let path = folder.join(chore).with_extension("jsonl");
        if anew && path.exists() {
            fs::remove_file(&path).with_context(|| format!("cannot delete {}", path.display()))?;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        // Of several lines about one trial the last counts; one that was cut short, or is of another version, does not.
        let entries =
            text.lines().filter_map(|line| serde_json::from_str::<(String, T)>(line).ok()).collect();
        Ok(Ledger { path, entries })
    }

    pub fn get(&self, trial: &str) -> Option<&T> {
        self.entries.get(trial)
    }

    pub fn put(&mut self, trial: &str, entry: T) -> anyhow::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        let line = serde_json::to_string(&(trial, &entry))?;
        writeln!(file, "{line}").with_context(|| format!("cannot write {}", self.path.display()))?;
        self.entries.insert(trial.to_owned(), entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_tried_is_known_again_until_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let open = |anew| Ledger::<u32>::open(folder.path(), "chore", anew).unwrap();
        let mut ledger = open(false);
        ledger.put("one", 1).unwrap();
        ledger.put("two", 2).unwrap();
        ledger.put("one", 3).unwrap();
        let path = folder.path().join("chore.jsonl");
        let cut = fs::read_to_string(&path).unwrap() + "[\"thr";
        fs::write(&path, cut).unwrap();
        let again = open(false);
        assert_eq!((again.get("one"), again.get("two"), again.get("thr")), (Some(&3), Some(&2), None));
        assert_eq!(open(true).get("one"), None);
    }
}
