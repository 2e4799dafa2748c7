//! Who runs next: the policies that all recorders share, for this one's operations.

pub use policies::Random;

use super::Operation;
use super::seats::SEATS;
use crate::cells::Kind;

pub type Candidate = policies::Candidate<Operation>;
pub type Policies = policies::Policies<Operation, SEATS>;

impl policies::Step for Operation {
    fn conflicts(self, other: Operation) -> bool {
        self.address != 0
            && self.address == other.address
            && (self.kind != Kind::Read || other.kind != Kind::Read)
    }

    fn site(self) -> usize {
        self.site
    }
}
