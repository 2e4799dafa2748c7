//! What is missing from a recording and why, in words.

use recording::{Recording, RegionId, fault};

/// A sentence for each thing that is missing.
pub fn from(recording: &Recording) -> Vec<String> {
    let header = &recording.header;
    let mut sentences: Vec<String> =
        recording.damage.iter().map(|damage| format!("the recording is damaged: {damage}")).collect();
    if header.fault != fault::NONE {
        sentences
            .push(format!("recording stopped early: {}", why_stopped(header.fault, header.fault_detail)));
    }
    if header.sample != 0 {
        sentences.push(format!(
            "about {} % of all accesses were looked at (--sample): what was not seen may have happened all the same",
            header.sample as f64 / 1e4
        ));
    }
    if header.thinned > 0 {
        sentences.push(match header.thinned {
            1 => "a handover beyond the recording budget was left out".to_owned(),
            thinned => format!("{thinned} handovers beyond the recording budget were left out"),
        });
    }
    if header.forgotten > 0 {
        sentences.push(format!(
            "older accesses to {} groups of bytes were forgotten for lack of room",
            header.forgotten
        ));
    }
    sentences
}

/// Why the recorder switched itself off, and what to do about it.
fn why_stopped(code: u32, detail: u32) -> String {
    match code {
        fault::STORAGE => {
            let what = match detail {
                NOT_PERMITTED => "the program's own sandbox forbids to ask for more".to_owned(),
                NO_SPACE => "the file system is full".to_owned(),
                OVER_QUOTA => "the disk quota is used up".to_owned(),
                error => format!("error {error} of the operating system"),
            };
            format!(
                "no more storage for the recording ({what}); free some, or set TMPDIR to a folder with room"
            )
        }
        fault::REGION_FULL => match RegionId::ALL.get(detail as usize) {
            Some(region) => {
                format!("the recording has no more room for {}", format!("{region:?}").to_lowercase())
            }
            None => "the recording has no more room".to_owned(),
        },
        fault::MEMORY => {
            "no more memory for the recorder's own use; does a limit apply (ulimit -v)?".to_owned()
        }
        fault::INTERNAL if detail == fault::JUMPED_OUT => {
            "the program jumped out of a signal handler that had interrupted the recorder".to_owned()
        }
        fault::INTERNAL if detail == fault::LOCK_LOST => {
            "a lock of the recorder was never given back, which is a mistake in unsnarl".to_owned()
        }
        _ => "the recorder found its state inconsistent, which is a mistake in unsnarl".to_owned(),
    }
}

/// Linux's numbers for these errors.
const NOT_PERMITTED: u32 = 1;
const NO_SPACE: u32 = 28;
const OVER_QUOTA: u32 = 122;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_worded_and_not_numbered() {
        let words = why_stopped(fault::STORAGE, NO_SPACE);
        assert!(words.contains("full") && words.contains("TMPDIR") && !words.contains("28"), "{words}");
        assert!(why_stopped(fault::REGION_FULL, RegionId::Locations as u32).ends_with("for locations"));
        assert!(why_stopped(fault::INTERNAL, fault::JUMPED_OUT).contains("signal handler"));
        assert!(why_stopped(99, 0).contains("inconsistent"), "a later version's fault");
    }
}
