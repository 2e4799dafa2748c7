//! Whose part a view, an iterator or a wrapper is: the collection, lock or other object at the bottom, which calls on any of
//! them are about.

use jvmti_bindings::sys::jni::{JNIEnv, jclass, jobject};
use rustc_hash::FxHashMap;

use super::states;
use crate::fields::FieldId;
use crate::jvm::{self, jni};
use crate::process::{self, Process, read};

/// Classes that keep the collection or lock they are about in this field. Inner classes keep it in `this$0`.
const KEEPERS: &[(&str, &str)] = &[
    ("java/util/Collections$SetFromMap", "m"),
    ("java/util/Collections$SynchronizedCollection", "c"),
    ("java/util/Collections$SynchronizedMap", "m"),
    ("java/util/Collections$UnmodifiableCollection", "c"),
    ("java/util/Collections$UnmodifiableMap", "m"),
    ("java/util/HashSet", "map"),
    ("java/util/Properties", "map"),
    ("java/util/TreeMap$KeySet", "m"),
    ("java/util/TreeMap$NavigableSubMap", "m"),
    ("java/util/TreeSet", "m"),
    ("java/util/concurrent/ConcurrentHashMap$BaseIterator", "map"),
    ("java/util/concurrent/ConcurrentHashMap$CollectionView", "map"),
    ("java/util/concurrent/ConcurrentSkipListMap$EntrySet", "m"),
    ("java/util/concurrent/ConcurrentSkipListMap$KeySet", "m"),
    ("java/util/concurrent/ConcurrentSkipListMap$Values", "m"),
    ("java/util/concurrent/ConcurrentSkipListSet", "m"),
    ("java/util/concurrent/CopyOnWriteArraySet", "al"),
    ("java/util/concurrent/Executors$DelegatedExecutorService", "e"),
    ("java/util/concurrent/locks/ReentrantLock", "sync"),
    ("java/util/concurrent/locks/ReentrantReadWriteLock", "sync"),
    ("java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock", "sync"),
    ("java/util/concurrent/locks/ReentrantReadWriteLock$WriteLock", "sync"),
];

/// Classes outside of `java.util.concurrent` that are made for several threads.
const SYNCHRONIZED: &[&str] = &[
    "java/util/Hashtable",
    "java/util/Properties",
    "java/util/Stack",
    "java/util/Timer",
    "java/util/Vector",
];

/// What is known about a class.
#[derive(Clone, Copy, Debug)]
struct Known {
    what: What,
    /// Is what is done to its objects ordered?
    is_ordered: bool,
    /// The field that tells whether its entries are kept in the order in which they were used.
    order: Option<FieldId>,
    /// Is it a class under test, which may have methods of its own in place of the library's?
    is_under_test: bool,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// None of ours: a class under test, whose code is looked at, or no collection.
    Other,
    Map,
    /// A list, queue or the like, which has no keys.
    Sequence,
    /// No collection, but something that has a state.
    Stateful,
    /// What this field of it holds.
    PartOf(FieldId),
}

/// What is known about classes, by their numbers.
#[derive(Debug, Default)]
pub struct Owners {
    known: FxHashMap<i64, Known>,
    /// Is a method, by its number in [`crate::places::Places::called`], the library's own?
    inherited: FxHashMap<(i64, u32), bool>,
}

/// A collection.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// It.
    pub object: jobject,
    /// Its number.
    pub tag: i64,
    /// Are its elements told apart by keys?
    pub has_keys: bool,
    /// Is it no collection, but something that has a state?
    pub is_stateful: bool,
    /// Is what is done to it ordered?
    pub is_ordered: bool,
    /// Does looking something up change it?
    pub is_in_order_of_use: bool,
}

/// Finds the collection.
pub fn find(process: &Process, env: *mut JNIEnv, object: jobject) -> Option<Owner> {
    /// The longest way: an iterator, a view, a wrapper, a set, its map.
    const LONGEST: usize = 6;
    let (mut at, mut is_ordered) = (object, false);
    for _ in 0..LONGEST {
        if at.is_null() {
            return None;
        }
        let known = class(process, env, jvm::class_of(env, at));
        is_ordered |= known.is_ordered;
        if let What::Other = known.what {
            return None;
        }
        if let What::PartOf(field) = known.what {
            at = jvm::field_object(env, at, field.0, false);
            continue;
        }
        let tag = jvm::tag(at);
        share_name(process, jvm::known_tag(object), tag);
        let has_keys = matches!(known.what, What::Map);
        let is_stateful = matches!(known.what, What::Stateful);
        let is_in_order_of_use =
            known.order.is_some_and(|order| jvm::field_value(env, at, order.0, b'Z') != 0);
        return Some(Owner { object: at, tag, has_keys, is_stateful, is_ordered, is_in_order_of_use });
    }
    None
}

/// Does a call of this method, by its number in [`crate::places::Places::called`], get to the library's own code? A class under
/// test may override it: then that is looked at.
pub fn is_inherited(process: &Process, env: *mut JNIEnv, object: jobject, method: u32) -> bool {
    let of = jvm::class_of(env, object);
    if !class(process, env, of).is_under_test {
        return true;
    }
    let key = (jvm::tag(of), method);
    if let Some(&known) = read(&process.owners).inherited.get(&key) {
        return known;
    }
    let called = read(&process.places).called[method as usize].clone();
    let found = jvm::declaring_class(env, of, &called.name, &called.descriptor);
    let is_inherited = found.is_some_and(|class| is_librarys(&jvm::class_name(class)));
    process::write(&process.owners).inherited.insert(key, is_inherited);
    is_inherited
}

/// The lock that an object of the library stands for: one for reading is the same lock as the one for writing.
pub fn lock(process: &Process, env: *mut JNIEnv, object: jobject) -> jobject {
    match class(process, env, jvm::class_of(env, object)).what {
        What::PartOf(field) => {
            let lock = jvm::field_object(env, object, field.0, false);
            share_name(process, jvm::known_tag(object), jvm::tag(lock));
            lock
        }
        _ => object,
    }
}

/// What a set is called, its map is called too.
fn share_name(process: &Process, outer: i64, inner: i64) {
    if outer != inner && !read(&process.fields).has_holder(inner) {
        process::write(&process.fields).share_holder(outer, inner);
    }
}

fn class(process: &Process, env: *mut JNIEnv, class: jclass) -> Known {
    let tag = jvm::tag(class);
    if let Some(&known) = read(&process.owners).known.get(&tag) {
        return known;
    }
    let known = look_at(process, env, class);
    process::write(&process.owners).known.insert(tag, known);
    known
}

fn is_librarys(class: &str) -> bool {
    class.starts_with("java/util/") || class.starts_with("java/text/")
}

/// A class under test that extends one of the library's is what that is.
fn look_at(process: &Process, env: *mut JNIEnv, class: jclass) -> Known {
    let superclass = |&class: &jclass| Some(jvm::superclass(env, class)).filter(|class| !class.is_null());
    let above = std::iter::successors(Some(class), superclass).map(|class| (class, jvm::class_name(class)));
    let mut of_library = above.skip_while(|(_, name)| !is_librarys(name)).peekable();
    let name = of_library.peek().map(|(_, name)| name.clone()).unwrap_or_default();
    let is_under_test = !is_librarys(&jvm::class_name(class));
    let is_looked_into = || process.included.scope(&name).is_some_and(|scope| scope.all);
    if name.is_empty() || name.starts_with("java/util/Abstract") && !name.contains('$') || is_looked_into() {
        return Known { what: What::Other, is_ordered: false, order: None, is_under_test };
    }
    let is_ordered = name.starts_with("java/util/concurrent/")
        || name.contains("$Synchronized")
        || SYNCHRONIZED.contains(&name.as_str());
    let is_stateful = of_library.clone().any(|(_, name)| states::is_type(&name));
    let mut linked = of_library.clone().filter(|(_, name)| name == "java/util/LinkedHashMap");
    let order = linked.find_map(|(class, _)| jvm::declared_by_name(class, "accessOrder"));
    let order = order.map(|(found, _)| FieldId(found.id));
    let kept = of_library.find_map(|(class, name)| {
        let keeper = KEEPERS.iter().find(|(keeper, _)| *keeper == name).map(|&(_, field)| field);
        let field = keeper.or_else(|| name.contains('$').then_some("this$0"))?;
        jvm::declared_by_name(class, field).map(|(found, _)| FieldId(found.id))
    });
    let what = match kept {
        Some(field) => What::PartOf(field),
        None if is_a(env, class, c"java/util/Map") => What::Map,
        None if is_a(env, class, c"java/util/Collection") => What::Sequence,
        None if is_stateful => What::Stateful,
        None => What::Other,
    };
    Known { what, is_ordered, order, is_under_test }
}

fn is_a(env: *mut JNIEnv, class: jclass, interface: &std::ffi::CStr) -> bool {
    let interface = jni!(env, FindClass, interface.as_ptr());
    jni!(env, IsAssignableFrom, class, interface) != 0
}
