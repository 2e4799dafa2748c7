//! The test of a session, ready to be run again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use runner::Session;
use runner::campaign::Campaign;

use crate::{confirm, run};

/// A run that hangs is known by its not ending, and nobody waits half a minute for each.
const LONGEST_RUN: Duration = Duration::from_secs(5);

/// The test of a session.
pub struct Test {
    prepared: run::Prepared,
    /// What was built anew since the session's runs.
    rebuilt: Option<PathBuf>,
    has_other_command: bool,
}

impl Test {
    /// As the session ran it, or another command, judged in the same way.
    pub fn of(session: &Session, command: &[OsString]) -> anyhow::Result<Test> {
        let mut arguments = confirm::again(session);
        let has_other_command = !command.is_empty();
        if has_other_command {
            arguments.command = command.to_vec();
        }
        let mut prepared = run::prepare(&arguments)?;
        let slowest = session
            .runs()
            .iter()
            .filter(|record| *record.outcome.reason() != *runner::Outcome::Hang.reason());
        let slowest = slowest.map(|record| Duration::from_secs_f64(record.seconds)).max().unwrap_or_default();
        // Several times what a run that ends has ever taken.
        let enough = LONGEST_RUN.max(slowest * 4);
        let campaign = &mut prepared.campaign;
        campaign.timeout = campaign.timeout.map(|timeout| timeout.min(enough));
        let recorded = &session.manifest().binaries;
        let found = &prepared.target.binaries;
        let rebuilt = recorded.iter().find(|old| {
            let same_place = found.iter().find(|new| new.path == old.path);
            same_place.is_some_and(|new| new.build_id.is_some() && new.build_id != old.build_id)
        });
        let elsewhere = || {
            let differs = |new: &&runner::Binary| {
                new.build_id.is_some() && recorded.iter().all(|old| old.build_id != new.build_id)
            };
            found.iter().find(|new| has_other_command && differs(new))
        };
        let rebuilt = rebuilt.or_else(elsewhere).map(|binary| binary.path.clone());
        Ok(Test { rebuilt, has_other_command, prepared })
    }

    /// How to run it.
    pub fn campaign(&self) -> &Campaign {
        &self.prepared.campaign
    }

    /// Is it another build than the one that was recorded?
    pub fn is_rebuilt(&self) -> bool {
        self.rebuilt.is_some()
    }

    /// What was built anew.
    pub fn rebuilt(&self) -> Option<&Path> {
        self.rebuilt.as_deref()
    }

    /// Was another command given than the one of the session?
    pub fn has_other_command(&self) -> bool {
        self.has_other_command
    }
}
