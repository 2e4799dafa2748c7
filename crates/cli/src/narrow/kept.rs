//! What was found out about where runs go wrong, beside the session's runs: the runs at the edges themselves, so that nothing of what
//! follows from them need be kept.

use std::fs;
use std::path::PathBuf;

use report::Trial;
use runner::{Error, RunFile, RunNumber, Session};
use serde::{Deserialize, Serialize};

use super::edges::{Edges, Stand};

/// The edges of a way that was made of a run.
pub struct Window {
    pub run: RunNumber,
    /// How many switches it had, and how many are left, of which the threads may have asked for some themselves.
    pub switches: u64,
    pub left: u64,
    pub edges: Edges,
}

/// The same in the session's folder. Stops stand for runs in files of their own.
#[derive(Serialize, Deserialize)]
struct Kept {
    run: RunNumber,
    /// Those that are left, and all of the run's.
    switches: u64,
    #[serde(default)]
    all_switches: u64,
    held: u32,
    other: u32,
    #[serde(default)]
    through: Vec<u32>,
    before: Option<u32>,
    failing: u32,
    after: u32,
    beyond: Option<u32>,
    between: Option<u32>,
    held_there: Trial,
    elsewhere: Trial,
}

fn folder(session: &Session) -> PathBuf {
    session.folder().join("windows")
}

/// Whether it was looked for before, with something found.
pub fn is_known(session: &Session) -> bool {
    folder(session).join("windows.json").exists()
}

/// Keeps them.
pub fn keep(session: &Session, windows: &[Window]) -> anyhow::Result<()> {
    let folder = folder(session);
    fs::create_dir_all(&folder).map_err(Error::writing(&folder))?;
    let mut all = Vec::new();
    for (number, Window { run, switches, left, edges }) in windows.iter().enumerate() {
        let stands = [
            ("before", edges.before.as_ref()),
            ("failing", Some(&edges.failing)),
            ("after", Some(&edges.after)),
            ("beyond", edges.beyond.as_ref()),
            ("between", edges.between.as_ref()),
        ];
        for (name, stand) in stands {
            if let Some(stand) = stand {
                stand.file.write(&folder.join(format!("{number}-{name}.run")))?;
            }
        }
        all.push(Kept {
            run: *run,
            switches: *left,
            all_switches: *switches,
            held: edges.held,
            other: edges.other,
            through: edges.through.clone(),
            before: edges.before.as_ref().map(|stand| stand.stop),
            failing: edges.failing.stop,
            after: edges.after.stop,
            beyond: edges.beyond.as_ref().map(|stand| stand.stop),
            between: edges.between.as_ref().map(|stand| stand.stop),
            held_there: edges.held_there,
            elsewhere: edges.elsewhere,
        });
    }
    let path = folder.join("windows.json");
    fs::write(&path, serde_json::to_vec_pretty(&all)?).map_err(Error::writing(&path))?;
    Ok(())
}

/// Forgets them.
pub fn forget(session: &Session) -> anyhow::Result<()> {
    let folder = folder(session);
    Ok(fs::remove_dir_all(&folder).map_err(Error::writing(&folder))?)
}

/// Those that were kept. What cannot be read any more is left out.
pub fn recall(session: &Session) -> Vec<Window> {
    let folder = folder(session);
    let text = fs::read(folder.join("windows.json")).unwrap_or_default();
    let all: Vec<Kept> = serde_json::from_slice(&text).unwrap_or_default();
    let window = |(number, kept): (usize, Kept)| {
        let stand = |name: &str, stop: u32| {
            let file = RunFile::read(&folder.join(format!("{number}-{name}.run"))).ok()?;
            Some(Stand { file, stop })
        };
        let Kept { run, switches: left, all_switches, held, other, held_there, elsewhere, .. } = kept;
        let edges = Edges {
            held,
            other,
            through: kept.through,
            before: kept.before.and_then(|stop| stand("before", stop)),
            failing: stand("failing", kept.failing)?,
            after: stand("after", kept.after)?,
            beyond: kept.beyond.and_then(|stop| stand("beyond", stop)),
            between: kept.between.and_then(|stop| stand("between", stop)),
            held_there,
            elsewhere,
        };
        Some(Window { run, switches: all_switches.max(left), left, edges })
    };
    all.into_iter().enumerate().filter_map(window).collect()
}
