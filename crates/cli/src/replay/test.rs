//! The test of a session, ready to be run again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use runner::campaign::Campaign;
use runner::{Binary, Session};

use crate::exit::{self, Complaint};
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
        let (hung, ended): (Vec<_>, Vec<_>) =
            session.runs().iter().partition(|record| record.outcome.is_hang());
        let seconds =
            ended.iter().map(|record| Duration::try_from_secs_f64(record.seconds).unwrap_or_default());
        // Several times what a run that ends has ever taken.
        let enough = LONGEST_RUN.max(seconds.max().unwrap_or_default().saturating_mul(4));
        let timeout = &mut prepared.campaign.timeout;
        *timeout = timeout.map(|timeout| if hung.is_empty() { timeout } else { timeout.min(enough) });
        let recorded = &session.manifest().binaries;
        let is_new = |found: &&Binary| {
            found.build_id.is_some() && recorded.iter().all(|binary| binary.build_id != found.build_id)
        };
        let rebuilt = prepared.target.binaries.iter().find(is_new).filter(|_| !recorded.is_empty());
        let rebuilt = rebuilt.map(|binary| binary.path.clone());
        Ok(Test { rebuilt, has_other_command, prepared })
    }

    /// How to run it.
    pub fn campaign(&self) -> &Campaign {
        &self.prepared.campaign
    }

    /// The program and its instrumented libraries.
    pub fn binaries(&self) -> &[Binary] {
        &self.prepared.target.binaries
    }

    /// Is it another build than the one that was recorded?
    pub fn is_rebuilt(&self) -> bool {
        self.rebuilt.is_some()
    }

    /// For what means nothing in another build.
    pub fn check_same(&self) -> Result<(), Complaint> {
        match &self.rebuilt {
            Some(path) => Err(Complaint {
                code: exit::DIFFERENT_PROGRAMS,
                what: format!("{} is not the build that was recorded", path.display()),
                advice: "  restore that build, or record again with this one",
            }),
            None => Ok(()),
        }
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
