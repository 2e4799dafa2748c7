//! What threads do at points.

use crate::recorder::Kind;

/// What an operation is about: an object and its part.
pub type What = (i64, u32);

/// What a thread is about to do at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Taking or giving back a lock is an update.
    pub kind: Kind,
    /// What it is about, if it is about anything.
    pub what: Option<What>,
    /// What it is about besides: a call that puts a key into a map changes the map's structure, too.
    pub also: Option<What>,
    /// Is it an access, rather than synchronization?
    pub is_access: bool,
    /// What the plan says about this place in the code.
    pub marks: Marks,
    /// Has it happened already, and was that told at once by [`Scheduler::did`]?
    pub is_told: bool,
}

/// What an operation is about, for comparing it with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    what: What,
    /// Or this, as long as nobody knows which of the two matters.
    or: Option<What>,
}

impl Variable {
    /// None if it is about nothing.
    pub fn of(operation: Operation) -> Option<Variable> {
        Some(Variable { what: operation.what?, or: operation.also })
    }

    /// What both are about, if they are about the same.
    pub fn common(self, operation: Operation) -> Option<Variable> {
        let Variable { what, or } = self;
        if operation.what == Some(what) {
            return Some(Variable { what, or: or.filter(|_| operation.also.is_some()) });
        }
        // Two keys of a map are not the same because both are in it.
        let other = match (or, operation.also) {
            (Some(or), None) if operation.what == Some(or) => or,
            (None, Some(also)) if also == what => what,
            _ => return None,
        };
        Some(Variable { what: other, or: None })
    }
}

/// What the run's plan says about a place in the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The steps of the interleaving that the run is about, as bits, that happen there.
    pub steps: u16,
    /// The steps that are done under a lock that is taken there.
    pub guarded: u16,
    /// The steps that are done in the midst of a call that begins there.
    pub begun: u16,
    /// The steps of the interleaving that is not to come about meanwhile, likewise.
    pub avoided: u16,
    /// Is it one of the plan's sites: a point, whoever uses it so far?
    pub is_site: bool,
}

impl Marks {
    /// Is it a step of either interleaving?
    pub fn has_steps(self) -> bool {
        self.steps | self.avoided != 0
    }

    /// Is it a place like any other?
    pub fn is_empty(self) -> bool {
        self == Marks::default()
    }
}

impl Operation {
    /// Nothing in particular.
    pub const NONE: Operation = Operation {
        kind: Kind::Update,
        what: None,
        also: None,
        is_access: false,
        marks: Marks { steps: 0, guarded: 0, begun: 0, avoided: 0, is_site: false },
        is_told: false,
    };

    /// Something about a lock or another object.
    pub fn about(address: u64) -> Operation {
        /// Fields and elements have smaller numbers.
        const WHOLE: u32 = u32::MAX;
        Operation { what: Some((address as i64, WHOLE)), ..Operation::NONE }
    }

    /// The same at a place about which the plan says this.
    pub fn marked(self, marks: Marks) -> Operation {
        Operation { marks, ..self }
    }

    /// The same as a part of the interleaving that is to be avoided.
    pub fn as_avoided(self) -> Operation {
        self.marked(Marks { steps: self.marks.avoided, ..Marks::default() })
    }

    /// Is it the step with this number that comes next?
    pub fn is_step(self, number: usize) -> bool {
        !self.is_told && self.marks.steps & (1 << number) != 0
    }

    /// Is it the step that comes next, or the call in which it is done?
    pub fn begins(self, number: usize) -> bool {
        self.is_step(number) || self.marks.begun & (1 << number) != 0
    }

    /// The same, or is the lock taken for it?
    pub fn leads_to(self, number: usize) -> bool {
        self.begins(number) || self.marks.guarded & (1 << number) != 0
    }
}
