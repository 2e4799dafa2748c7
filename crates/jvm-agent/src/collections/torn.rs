//! Calls that change what is not made for several threads are no single step: others may come in between. Then the
//! structure is read when such a call begins, and written at one of the places where the library writes to the
//! object's fields, chosen at random, or when the call is over.
//!
//! The write has a place in the code of its own, one byte behind the call's: the same line.

/// Classes whose methods have hooks where they write to `this`, and what they keep a part of their state in.
const CLASSES: &[(&str, Option<&str>)] = &[
    ("java/text/SimpleDateFormat", Some("java/util/Calendar")),
    ("java/util/ArrayDeque", None),
    ("java/util/ArrayList", None),
    ("java/util/HashMap", None),
    ("java/util/IdentityHashMap", None),
    ("java/util/LinkedHashMap", None),
    ("java/util/LinkedList", None),
    ("java/util/PriorityQueue", None),
    ("java/util/TreeMap", None),
    ("java/util/WeakHashMap", None),
];

/// Counts changes, to tell who iterates: a location of its own ([`super::keys::CHANGES`]). Whoever comes in before that finds all as
/// it was.
pub const COUNTER: &str = "modCount";

/// Do the methods of this class have such hooks?
pub fn is_watched(class: &str) -> bool {
    CLASSES.iter().any(|&(name, _)| name == class)
}

/// Do calls of `called` change a part of the state of objects of this class?
pub fn is_part(class: &str, called: &str) -> bool {
    CLASSES.iter().any(|&(name, part)| name == class && part == Some(called))
}

/// A call under way that others may get into.
#[derive(Clone, Copy, Debug)]
pub struct Torn {
    /// The collection's number.
    pub tag: i64,
    /// Position of the call.
    pub position: u16,
    /// In how many methods under test its thread is.
    pub depth: usize,
    /// Was the structure written to?
    pub is_written: bool,
}

impl Torn {
    /// The place of the write.
    pub fn write_position(&self) -> u16 {
        self.position + 1
    }
}
