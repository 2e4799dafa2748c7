//! A place in code that means the same in every run.

use core::fmt;
use core::str::FromStr;

use crate::plan::PlanError;

/// Where the hook of an access or a synchronization returns to. Its text form is `BUILDID+1f40`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The module's build id, padded with zeros.
    pub build_id: [u8; 32],
    /// The address as in the module's file.
    pub address: u64,
}

impl Site {
    /// None if the module has no build id by which it could be recognized.
    pub fn new(build_id: &[u8], address: u64) -> Option<Site> {
        let mut padded = [0; 32];
        padded.get_mut(..build_id.len())?.copy_from_slice(build_id);
        (!build_id.is_empty()).then_some(Site { build_id: padded, address })
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.build_id.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        self.build_id[..used].iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, "+{:x}", self.address)
    }
}

impl FromStr for Site {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Site, PlanError> {
        let (id, address) = text.split_once('+').ok_or(PlanError)?;
        let mut build_id = [0; 32];
        if !id.len().is_multiple_of(2) || id.len() / 2 > build_id.len() {
            return Err(PlanError);
        }
        for (byte, at) in build_id.iter_mut().zip((0..id.len()).step_by(2)) {
            let digits = id.get(at..at + 2).ok_or(PlanError)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| PlanError)?;
        }
        let address = u64::from_str_radix(address, 16).map_err(|_| PlanError)?;
        Ok(Site { build_id, address })
    }
}
