//! Collections of the Java library, by what calls do to them. They are told where code under test makes the calls, as
//! accesses at that line; what the library does inside is not looked at, and nobody else runs meanwhile.
//!
//! A collection has a location for each key, and one for its *structure*: what it holds, in which order. Elements of
//! sets are keys, and so are the numbers of a list's elements. Views and iterators are their collection (`owner`). Where
//! iterators find out that there was a change, the number of changes is a location too.
//!
//! Two threads that use different keys of a map made for several threads never meet by that. Of other collections, calls
//! may get into each other's way (`torn`).
//!
//! Other objects of the library have no keys, and a state in place of a structure (`states`).
//!
//! Adding a method is one word in a table.

pub(crate) mod keys;
pub(crate) mod owner;
pub(crate) mod states;
pub(crate) mod torn;

use crate::recorder::Kind;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionCall {
    /// What comes first among its arguments.
    pub by: By,
    /// What it does to the key that this is, if the collection has keys.
    pub on_key: Option<Kind>,
    /// What it does to the structure.
    pub on_structure: Option<Kind>,
    /// May it change all keys?
    pub on_all_keys: bool,
    /// Its part in an iteration.
    pub iterates: Option<Iteration>,
    /// Does it wait, or call code under test, before it does anything?
    pub is_followed: bool,
    /// Does it change the structure of a map that keeps its entries in the order in which they were used?
    pub is_use: bool,
}

/// Iterations fail if the collection was changed by somebody else on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iteration {
    /// From here on.
    Begins,
    /// It would fail here.
    GoesOn,
}

/// What tells a call which part of the collection is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Nothing does.
    Nothing,
    /// An object: a key, or an element of a set.
    Key,
    /// The number of an element.
    Index,
}

/// Classes and interfaces of `java.util` through which collections are called, and iterators over them.
const TYPES: &[&str] = &[
    "AbstractCollection",
    "AbstractList",
    "AbstractMap",
    "AbstractQueue",
    "AbstractSet",
    "ArrayDeque",
    "ArrayList",
    "Collection",
    "Deque",
    "Enumeration",
    "HashMap",
    "HashSet",
    "Hashtable",
    "IdentityHashMap",
    "Iterator",
    "LinkedHashMap",
    "LinkedHashSet",
    "LinkedList",
    "List",
    "ListIterator",
    "Map",
    "NavigableMap",
    "NavigableSet",
    "PriorityQueue",
    "Properties",
    "Queue",
    "SequencedCollection",
    "SequencedMap",
    "Set",
    "SortedMap",
    "SortedSet",
    "Stack",
    "TreeMap",
    "TreeSet",
    "Vector",
    "WeakHashMap",
    "concurrent/ArrayBlockingQueue",
    "concurrent/BlockingDeque",
    "concurrent/BlockingQueue",
    "concurrent/ConcurrentHashMap",
    "concurrent/ConcurrentHashMap$KeySetView",
    "concurrent/ConcurrentLinkedDeque",
    "concurrent/ConcurrentLinkedQueue",
    "concurrent/ConcurrentMap",
    "concurrent/ConcurrentNavigableMap",
    "concurrent/ConcurrentSkipListMap",
    "concurrent/ConcurrentSkipListSet",
    "concurrent/CopyOnWriteArrayList",
    "concurrent/CopyOnWriteArraySet",
    "concurrent/LinkedBlockingDeque",
    "concurrent/LinkedBlockingQueue",
    "concurrent/PriorityBlockingQueue",
];

const READ_KEYS: &[&str] = &["contains", "containsKey", "get", "getOrDefault", "getProperty"];
const USE_KEYS: &[&str] = &["get", "getOrDefault"];
const WRITE_KEYS: &[&str] = &["add", "put", "setProperty"];
const UPDATE_KEYS: &[&str] = &["putIfAbsent", "remove", "replace"];
/// Code that is passed to them runs first.
const COMPUTE_KEYS: &[&str] = &["compute", "computeIfAbsent", "computeIfPresent", "merge"];
const CHANGE_ALL_KEYS: &[&str] = &["clear", "removeAll", "removeIf", "replaceAll", "retainAll"];

const READ_STRUCTURE: &[&str] = &[
    "containsAll",
    "containsValue",
    "element",
    "elementAt",
    "elements",
    "first",
    "firstElement",
    "firstEntry",
    "firstKey",
    "forEach",
    "getFirst",
    "getLast",
    "hasMoreElements",
    "hasNext",
    "hasPrevious",
    "indexOf",
    "isEmpty",
    "iterator",
    "last",
    "lastElement",
    "lastEntry",
    "lastIndexOf",
    "lastKey",
    "listIterator",
    "next",
    "nextElement",
    "peek",
    "peekFirst",
    "peekLast",
    "previous",
    "remainingCapacity",
    "size",
    "toArray",
];

const CHANGE_STRUCTURE: &[&str] = &[
    "addAll",
    "addElement",
    "addFirst",
    "addLast",
    "drainTo",
    "offer",
    "offerFirst",
    "offerLast",
    "poll",
    "pollFirst",
    "pollFirstEntry",
    "pollLast",
    "pollLastEntry",
    "pop",
    "push",
    "putAll",
    "putFirst",
    "putLast",
    "removeFirst",
    "removeLast",
    "sort",
    "take",
    "takeFirst",
    "takeLast",
];

/// Is this one of the classes and interfaces through which collections are called?
pub fn is_type(class: &str) -> bool {
    class.strip_prefix("java/util/").is_some_and(|name| TYPES.binary_search(&name).is_ok())
}

impl CollectionCall {
    /// May others get into it, if the collection is not made for several threads?
    pub fn may_be_torn(&self) -> bool {
        self.on_structure == Some(Kind::Update) && !self.is_followed
    }

    /// The same of the collection that keeps most to itself.
    pub fn may_ever_be_torn(&self) -> bool {
        self.is_use || self.may_be_torn()
    }

    /// What it does to a map that keeps its entries in the order in which they were used.
    pub fn in_order_of_use(self) -> CollectionCall {
        let on_structure = if self.is_use { Some(Kind::Update) } else { self.on_structure };
        CollectionCall { on_structure, ..self }
    }
}

fn iterates(method: &str) -> Option<Iteration> {
    match method {
        "forEach" | "iterator" | "listIterator" => Some(Iteration::Begins),
        "next" | "previous" => Some(Iteration::GoesOn),
        _ => None,
    }
}

/// What a call of this method means, if it means anything. Its parameters are given as by
/// [`crate::library::parameters`].
pub fn call_of(class: &str, method: &str, parameters: &[u8]) -> Option<CollectionCall> {
    if is_type(class) {
        return by_name(class, method, parameters);
    }
    let on_structure = Some(states::on_state(class, method)?);
    Some(CollectionCall {
        by: By::Nothing,
        on_key: None,
        on_structure,
        on_all_keys: false,
        iterates: None,
        // With a time: `tryAcquire(1, SECONDS)`.
        is_followed: method.starts_with("try") && parameters.contains(&b'J'),
        is_use: false,
    })
}

/// The same for a method of a class under test, if that should turn out to be a collection that inherits it.
pub fn inherited_call_of(method: &str, parameters: &[u8]) -> Option<CollectionCall> {
    by_name("", method, parameters)
}

fn by_name(class: &str, method: &str, parameters: &[u8]) -> Option<CollectionCall> {
    use Kind::{Read, Update, Write};
    let is_in = |methods: &[&str]| methods.contains(&method);
    let (on_key, on_structure) = match parameters {
        [b'I', ..] if method == "get" => (Some(Read), Some(Read)),
        [b'I', ..] if method == "set" => (Some(Write), Some(Read)),
        [b'I', ..] | [] if is_in(WRITE_KEYS) || is_in(UPDATE_KEYS) => (None, Some(Update)),
        _ if is_in(READ_KEYS) => (Some(Read), None),
        _ if is_in(WRITE_KEYS) => (Some(Write), Some(Update)),
        _ if is_in(UPDATE_KEYS) || is_in(COMPUTE_KEYS) => (Some(Update), Some(Update)),
        _ if is_in(READ_STRUCTURE) => (None, Some(Read)),
        _ if is_in(CHANGE_STRUCTURE) || is_in(CHANGE_ALL_KEYS) => (None, Some(Update)),
        _ => return None,
    };
    let by = match (on_key, parameters.first()) {
        (Some(_), Some(b'I')) => By::Index,
        (Some(_), Some(b'A')) => By::Key,
        _ => By::Nothing,
    };
    // With a time: `poll(1, SECONDS)`.
    let waits = method.starts_with("take")
        || class.contains("Blocking") && method.starts_with("put")
        || parameters.contains(&b'J');
    Some(CollectionCall {
        by,
        on_key,
        on_structure,
        on_all_keys: is_in(CHANGE_ALL_KEYS),
        iterates: iterates(method),
        is_use: by == By::Key && is_in(USE_KEYS),
        is_followed: waits || is_in(COMPUTE_KEYS) || is_in(CHANGE_ALL_KEYS) && !parameters.is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(class: &str, method: &str, parameters: &[u8]) -> Option<(By, Option<Kind>, Option<Kind>)> {
        call_of(class, method, parameters).map(|call| (call.by, call.on_key, call.on_structure))
    }

    #[test]
    fn types_are_in_order() {
        assert!(TYPES.is_sorted());
    }

    #[test]
    fn keys_and_numbers_of_elements_are_told_from_the_structure() {
        let (read, write, update) = (Some(Kind::Read), Some(Kind::Write), Some(Kind::Update));
        assert_eq!(of("java/util/Map", "get", b"A"), Some((By::Key, read, None)));
        assert_eq!(of("java/util/Map", "put", b"AA"), Some((By::Key, write, update)));
        assert_eq!(of("java/util/List", "get", b"I"), Some((By::Index, read, read)));
        assert_eq!(of("java/util/List", "remove", b"I"), Some((By::Nothing, None, update)));
        assert_eq!(of("java/util/List", "remove", b"A"), Some((By::Key, update, update)));
        assert_eq!(of("java/util/Iterator", "remove", b""), Some((By::Nothing, None, update)));
        assert_eq!(of("java/util/Iterator", "next", b""), Some((By::Nothing, None, read)));
        assert_eq!(of("java/util/List", "stream", b""), None);
        assert_eq!(of("java/util/Optional", "get", b""), None);
        let executor = "java/util/concurrent/ExecutorService";
        assert_eq!(of(executor, "submit", b"A"), Some((By::Nothing, None, read)));
        assert_eq!(of(executor, "shutdown", b""), Some((By::Nothing, None, update)));
        assert_eq!(of(executor, "awaitTermination", b"JA"), None);
    }

    #[test]
    fn what_waits_or_calls_back_is_told_when_it_is_done() {
        let is_followed = |class: &str, method: &str, parameters: &[u8]| {
            call_of(class, method, parameters).unwrap().is_followed
        };
        assert!(is_followed("java/util/Map", "computeIfAbsent", b"AA"));
        assert!(is_followed("java/util/concurrent/BlockingQueue", "put", b"A"));
        assert!(is_followed("java/util/concurrent/BlockingQueue", "poll", b"JA"));
        assert!(!is_followed("java/util/concurrent/BlockingQueue", "poll", b""));
        assert!(!is_followed("java/util/Map", "put", b"AA"));
        assert!(!is_followed("java/util/Map", "clear", b""));
        assert!(is_followed("java/util/concurrent/Semaphore", "tryAcquire", b"JA"));
        assert!(!is_followed("java/util/concurrent/Semaphore", "tryAcquire", b"I"));
    }

    #[test]
    fn looking_something_up_is_using_it() {
        let in_order_of_use = |method: &str, parameters: &[u8]| {
            call_of("java/util/Map", method, parameters).unwrap().in_order_of_use().on_structure
        };
        assert_eq!(in_order_of_use("get", b"A"), Some(Kind::Update));
        assert_eq!(in_order_of_use("containsKey", b"A"), None);
        assert_eq!(in_order_of_use("size", b""), Some(Kind::Read));
    }
}
