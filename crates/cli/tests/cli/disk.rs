//! A file system of a test's own, to be full or read-only.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::kit::{Workplace, skip};

/// A file system in memory at `disk`, mounted for as long as this lives.
pub struct Disk {
    path: PathBuf,
}

impl Disk {
    /// None, which is said, for all but root. `options` are those of `mount`.
    pub fn mount(place: &Workplace, options: &str) -> Option<Disk> {
        let path = place.path("disk");
        fs::create_dir(&path).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "unsnarl-test"]).arg(&path);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Disk { path });
        }
        skip("only root may mount a file system");
        None
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.path).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}
