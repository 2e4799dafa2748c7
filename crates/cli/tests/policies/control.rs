//! What the policies need of the recorder.

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub kind: crate::cells::Kind,
    pub address: usize,
    pub leaf: u32,
    pub site: usize,
}

pub mod seats {
    pub const SEATS: usize = 64;
}

#[path = "../../../native-runtime/src/control/policy/mod.rs"]
pub mod policy;
