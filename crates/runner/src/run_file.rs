//! One run on disk: what is known about it and the recordings of all its processes.
//!
//! Layout, integers little-endian: magic (8 bytes), version (u32), length of the record (u32), the record as
//! JSON, number of processes (u32), for each its pid (u32), length (u64) and bytes, and at the end the CRC-32
//! of everything before (u32).

use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::oracle::Outcome;

const MAGIC: &[u8; 8] = b"UNSNRUN\n";
const VERSION: u32 = 1;

/// The number of a run within its session, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunNumber(pub u32);

impl fmt::Display for RunNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is known about a run besides its recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its number.
    pub run: RunNumber,
    /// The run plan in its text form.
    pub plan: String,
    /// What came out of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Wall-clock time.
    pub seconds: f64,
    /// Number of processes that recorded something.
    pub processes: u32,
    /// Trouble with some of the processes' recordings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The last line that a failing run printed, if nothing in its output is known to tell of a failure. Runs that failed alike need not
    /// have it in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

/// What one process recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessRecording {
    /// The process.
    pub pid: u32,
    /// A compact recording, to be read by [`recording::parse`].
    pub bytes: Vec<u8>,
}

/// A whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFile {
    /// What is known about it.
    pub record: RunRecord,
    /// Its processes in the order of their pids.
    pub processes: Vec<ProcessRecording>,
}

impl RunFile {
    /// Writes the run in one step: the file is there completely or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
            self.encode(BufWriter::new(file.as_file_mut()))?;
            file.persist(path).map_err(|error| error.error)
        });
        written.map(drop).map_err(Error::writing(path))
    }

    fn encode(&self, target: impl Write) -> io::Result<()> {
        let mut out = Checksummed { target, crc: crc32fast::Hasher::new() };
        let record = serde_json::to_vec(&self.record)?;
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&(record.len() as u32).to_le_bytes())?;
        out.write_all(&record)?;
        out.write_all(&(self.processes.len() as u32).to_le_bytes())?;
        for process in &self.processes {
            out.write_all(&process.pid.to_le_bytes())?;
            out.write_all(&(process.bytes.len() as u64).to_le_bytes())?;
            out.write_all(&process.bytes)?;
        }
        let crc = out.crc.clone().finalize();
        out.target.write_all(&crc.to_le_bytes())?;
        out.target.flush()
    }

    /// Reads a run. Nothing in the file is trusted.
    pub fn read(path: &Path) -> Result<RunFile> {
        let bytes = fs::read(path).map_err(Error::reading("read", path))?;
        RunFile::decode(&bytes).map_err(|damage| match damage {
            Damage::Version(found) => {
                Error::OtherVersion { path: path.to_owned(), found: found.into(), supported: VERSION.into() }
            }
            Damage::At { offset, why } => Error::DamagedRun { path: path.to_owned(), offset, why },
        })
    }

    fn decode(bytes: &[u8]) -> Result<RunFile, Damage> {
        let mut cursor = Cursor { bytes, offset: 0 };
        if cursor.take(8)? != MAGIC {
            return Err(Damage::At { offset: 0, why: "this is not a run file".to_owned() });
        }
        let version = cursor.u32()?;
        if version != VERSION {
            return Err(Damage::Version(version));
        }
        let body = bytes.len().saturating_sub(4);
        let stored = bytes.get(body..).and_then(|tail| tail.try_into().ok()).map(u32::from_le_bytes);
        if stored != Some(crc32fast::hash(&bytes[..body])) {
            return Err(Damage::At { offset: body as u64, why: "the checksum is wrong".to_owned() });
        }
        let record_length = cursor.u32()?;
        let record_offset = cursor.offset as u64;
        let record = serde_json::from_slice(cursor.take(record_length.into())?)
            .map_err(|error| Damage::At { offset: record_offset, why: error.to_string() })?;
        let mut processes = Vec::new();
        for _ in 0..cursor.u32()? {
            let pid = cursor.u32()?;
            let length = cursor.u64()?;
            processes.push(ProcessRecording { pid, bytes: cursor.take(length)?.to_vec() });
        }
        Ok(RunFile { record, processes })
    }
}

enum Damage {
    Version(u32),
    At { offset: u64, why: String },
}

struct Checksummed<W> {
    target: W,
    crc: crc32fast::Hasher,
}

impl<W: Write> Write for Checksummed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.target.write(bytes)?;
        self.crc.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, length: u64) -> Result<&'a [u8], Damage> {
        let left = &self.bytes[self.offset..];
        let taken = usize::try_from(length).ok().and_then(|length| left.get(..length));
        let taken = taken.ok_or_else(|| Damage::At {
            offset: self.offset as u64,
            why: format!("{length} bytes should follow, but {} do", left.len()),
        })?;
        self.offset += taken.len();
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    fn u32(&mut self) -> Result<u32, Damage> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, Damage> {
        Ok(u64::from_le_bytes(self.array()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> RunFile {
        RunFile {
            record: RunRecord {
                run: RunNumber(17),
                plan: "seed=18446744073709551615,noise=high,budget=5".to_owned(),
                outcome: Outcome::Fail { reason: "SIGABRT, assertion `a \"b\"` at c.c:1".to_owned() },
                seconds: 0.25,
                processes: 2,
                warnings: vec!["process 3 ended early".to_owned()],
                said: Some("no such file".to_owned()),
            },
            processes: vec![
                ProcessRecording { pid: 9, bytes: vec![1, 2, 3] },
                ProcessRecording { pid: 10, bytes: Vec::new() },
            ],
        }
    }

    fn encoded() -> Vec<u8> {
        let mut bytes = Vec::new();
        sample().encode(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_run_survives_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("000017.run");
        sample().write(&path).unwrap();
        assert_eq!(RunFile::read(&path).unwrap(), sample());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn outcomes_have_stable_names_in_json() {
        let json = serde_json::to_value(sample().record).unwrap();
        assert_eq!(json["outcome"], "fail");
        assert_eq!(json["run"], 17);
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_noticed() {
        let bytes = encoded();
        for length in 0..bytes.len() {
            assert!(RunFile::decode(&bytes[..length]).is_err(), "cut to {length}");
        }
        for position in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[position / 8] ^= 1 << (position % 8);
            assert!(RunFile::decode(&bytes).is_err(), "bit {position}");
        }
    }

    #[test]
    fn a_hostile_length_is_refused_even_with_a_right_checksum() {
        let mut bytes = encoded();
        let record_length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let first_process_length = 16 + record_length + 4 + 4;
        bytes[first_process_length..first_process_length + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        let body = bytes.len() - 4;
        let crc = crc32fast::hash(&bytes[..body]).to_le_bytes();
        bytes[body..].copy_from_slice(&crc);
        assert!(
            matches!(RunFile::decode(&bytes), Err(Damage::At { offset, .. }) if offset == first_process_length as u64 + 8)
        );
    }

    #[test]
    fn another_version_is_told_apart_from_damage() {
        let mut bytes = encoded();
        bytes[8] = 2;
        assert!(matches!(RunFile::decode(&bytes), Err(Damage::Version(2))));
    }
}
