//! Calls into the Java library that read or change what they are called on: collections that are made for one thread,
//! and arrays as a whole. They are told where code under test makes them, as accesses at that line: what the library
//! does inside is not looked at, but two threads that call it at the same time are.
//!
//! Adding a method is one word in a table.

use crate::recorder::Kind;

/// What a call does to the object it is made on, or to the array that is its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A collection is read or changed.
    Collection(Kind),
    /// All elements of an array are read or written.
    Elements(Kind),
}

/// Classes and interfaces through which collections are called.
const COLLECTIONS: &[&str] = &[
    "ArrayDeque",
    "ArrayList",
    "Collection",
    "Deque",
    "HashMap",
    "HashSet",
    "LinkedHashMap",
    "LinkedHashSet",
    "LinkedList",
    "List",
    "Map",
    "PriorityQueue",
    "Queue",
    "Set",
    "SortedMap",
    "SortedSet",
    "TreeMap",
    "TreeSet",
];

/// Those that are not made for several threads.
const FOR_ONE_THREAD: &[&str] = &[
    "ArrayDeque",
    "ArrayList",
    "HashMap",
    "HashSet",
    "LinkedHashMap",
    "LinkedHashSet",
    "LinkedList",
    "PriorityQueue",
    "TreeMap",
    "TreeSet",
];

const READS: &[&str] = &[
    "contains",
    "containsAll",
    "containsKey",
    "containsValue",
    "element",
    "first",
    "firstKey",
    "get",
    "getFirst",
    "getLast",
    "getOrDefault",
    "indexOf",
    "isEmpty",
    "last",
    "lastKey",
    "lastIndexOf",
    "peek",
    "peekFirst",
    "peekLast",
    "size",
    "toArray",
];

const CHANGES: &[&str] = &[
    "add",
    "addAll",
    "addFirst",
    "addLast",
    "clear",
    "computeIfAbsent",
    "merge",
    "offer",
    "offerFirst",
    "offerLast",
    "poll",
    "pollFirst",
    "pollLast",
    "pop",
    "push",
    "put",
    "putAll",
    "putIfAbsent",
    "remove",
    "removeAll",
    "removeFirst",
    "removeLast",
    "replace",
    "retainAll",
    "set",
    "sort",
];

/// What a call of this method means, if it means anything.
pub fn use_of(class: &str, method: &str, is_static: bool) -> Option<Use> {
    match (class, method, is_static) {
        ("java/util/Arrays", "copyOf" | "copyOfRange", true) => Some(Use::Elements(Kind::Read)),
        ("java/util/Arrays", "fill" | "setAll", true) => Some(Use::Elements(Kind::Write)),
        ("java/util/Arrays", "sort", true) => Some(Use::Elements(Kind::Update)),
        (_, "clone", false) if class.starts_with('[') => Some(Use::Elements(Kind::Read)),
        (_, _, false) if class.strip_prefix("java/util/").is_some_and(|name| COLLECTIONS.contains(&name)) => {
            if READS.contains(&method) {
                Some(Use::Collection(Kind::Read))
            } else if CHANGES.contains(&method) {
                Some(Use::Collection(Kind::Update))
            } else {
                None
            }
        }
        _ => None,
    }
}

/// Is an object of this class a collection that is not made for several threads?
pub fn is_for_one_thread(class: &str) -> bool {
    class.strip_prefix("java/util/").is_some_and(|name| FOR_ONE_THREAD.contains(&name))
}

/// The types of a method's parameters, each by the letter of the instructions that load and store it.
pub fn parameters(descriptor: &str) -> Option<Vec<u8>> {
    let inner = descriptor.strip_prefix('(')?.split_once(')')?.0.as_bytes();
    let mut types = Vec::new();
    let mut at = 0;
    while at < inner.len() {
        let begin = at;
        while inner.get(at) == Some(&b'[') {
            at += 1;
        }
        at += match inner.get(at)? {
            b'L' => inner[at..].iter().position(|&byte| byte == b';')? + 1,
            _ => 1,
        };
        types.push(match inner[begin] {
            b'J' | b'F' | b'D' => inner[begin],
            b'[' | b'L' => b'A',
            _ => b'I',
        });
    }
    Some(types)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_told_by_how_they_are_stored() {
        assert_eq!(parameters("(ILjava/lang/String;[[JDZ)V").unwrap(), b"IAADI");
        assert_eq!(parameters("()V").unwrap(), b"");
        assert_eq!(parameters("(Lunfinished"), None);
    }

    #[test]
    fn only_collections_for_one_thread_count() {
        assert_eq!(use_of("java/util/List", "add", false), Some(Use::Collection(Kind::Update)));
        assert_eq!(use_of("java/util/List", "stream", false), None);
        assert_eq!(use_of("[I", "clone", false), Some(Use::Elements(Kind::Read)));
        assert!(is_for_one_thread("java/util/HashMap"));
        assert!(!is_for_one_thread("java/util/Vector"));
        assert!(!is_for_one_thread("java/util/concurrent/ConcurrentHashMap"));
    }
}
