//! Time and memory of one run of a program.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// Between two looks at a program's memory. Its peak is kept by the kernel, so that only growth within the last
/// interval can be missed.
const MEMORY_INTERVAL: Duration = Duration::from_millis(1);
/// So many looks are enough, and so many runs for them.
const MEMORY_LOOKS: u32 = 100;
const MEMORY_RUNS: u32 = 10;

/// A program to be measured: makes the command for one more run. The folder is empty, belongs to that run and is
/// deleted after it.
pub type Program<'a> = dyn Fn(&Path) -> Command + 'a;

/// How a run went.
pub struct Run {
    /// Its standard output.
    pub printed: Vec<u8>,
    /// From before its start until after its end.
    pub time: Duration,
    /// Whether it exited with 0.
    pub succeeded: bool,
    /// Its standard error.
    pub complaint: String,
}

/// Runs the program once.
pub fn time(program: &Program) -> anyhow::Result<Run> {
    let scratch = scratch_folder()?;
    let mut command = program(scratch.path());
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let begun = Instant::now();
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    Ok(Run {
        time: begun.elapsed(),
        succeeded: output.status.success(),
        printed: output.stdout,
        complaint: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Runs the program once more and gives its peak resident memory in bytes, or several times if each is over after a few looks:
/// what one of them sees may be little more than its start. Looking costs time, so these runs are not
/// timed. `getrusage` would not do: its maximum includes what the parent had resident at `exec`.
pub fn peak_memory(program: &Program) -> anyhow::Result<u64> {
    let (mut peak, mut looks) = (0, 0);
    for _ in 0..MEMORY_RUNS {
        let (seen, looked) = look_at_memory(program)?;
        (peak, looks) = (seen.max(peak), looks + looked);
        if looks >= MEMORY_LOOKS {
            break;
        }
    }
    Ok(peak)
}

/// The highest peak that was seen in one run, and by how many looks.
fn look_at_memory(program: &Program) -> anyhow::Result<(u64, u32)> {
    let scratch = scratch_folder()?;
    let mut command = program(scratch.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let (mut peak, mut looks) = (0, 0);
    loop {
        if let Some(seen) = resident_peak(&child) {
            (peak, looks) = (seen, looks + 1);
        }
        if let Some(status) = child.try_wait()? {
            if !status.success() || peak == 0 {
                bail!("{command:?} ended with {status} before its memory was seen");
            }
            return Ok((peak, looks));
        }
        thread::sleep(MEMORY_INTERVAL);
    }
}

fn resident_peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

/// The middle value; of an even number of values, the lower of the two in the middle.
pub fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len().checked_sub(1)? / 2).copied()
}

/// The geometric mean, as ratios are averaged.
pub fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = ratios.into_iter().fold((0.0, 0), |(sum, count), ratio| (sum + ratio.ln(), count + 1));
    (sum / f64::from(count)).exp()
}

/// A folder for recordings: in memory if possible, where a campaign makes them too.
fn scratch_folder() -> anyhow::Result<tempfile::TempDir> {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).context("cannot create a scratch folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_outliers() {
        let seconds = |values: &[u64]| median(values.iter().map(|&s| Duration::from_secs(s)).collect());
        assert_eq!(seconds(&[900, 1, 2]), Some(Duration::from_secs(2)));
        assert_eq!(seconds(&[4, 3, 1, 2]), Some(Duration::from_secs(2)));
        assert_eq!(seconds(&[]), None);
    }

    #[test]
    fn twice_and_half_average_to_one() {
        assert!((geometric_mean([2.0, 0.5]) - 1.0).abs() < 1e-12);
        assert!((geometric_mean([1.0, 10.0, 100.0]) - 10.0).abs() < 1e-9);
    }

    fn command(words: &str) -> Command {
        let mut words = words.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        command
    }

    #[test]
    fn the_memory_of_the_parent_does_not_count() {
        let ours = vec![1u8; 64 << 20];
        let peak = peak_memory(&|_| command("sleep 0.05")).unwrap();
        assert!(peak < ours.len() as u64, "{peak}");
    }

    #[test]
    fn the_memory_of_the_program_does() {
        // The buffer is filled again and again, so that many looks can see it.
        let peak = peak_memory(&|_| command("dd if=/dev/zero of=/dev/null bs=32M count=50")).unwrap();
        assert!(peak >= 32 << 20, "{peak}");
    }
}
