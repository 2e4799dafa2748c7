//! Fields and elements that code reaches by other means than instructions: `VarHandle`, the atomic field updaters and
//! `Unsafe`. Which field a handle stands for is seen where it is made ([`Made`]); what is done with it, where it is
//! called ([`HandleUse`]). Handles that nobody saw being made are not followed.
//!
//! Adding a method is one word in a table.

use jvmti_bindings::sys::jni::jclass;
use rustc_hash::FxHashMap;

use crate::accesses::Phase;
use crate::fields::KnownField;
use crate::recorder::Kind;

const VAR_HANDLE: &str = "java/lang/invoke/VarHandle";
const LOOKUP: &str = "java/lang/invoke/MethodHandles$Lookup";
const METHOD_HANDLES: &str = "java/lang/invoke/MethodHandles";
const UPDATERS: [&str; 3] = [
    "java/util/concurrent/atomic/AtomicIntegerFieldUpdater",
    "java/util/concurrent/atomic/AtomicLongFieldUpdater",
    "java/util/concurrent/atomic/AtomicReferenceFieldUpdater",
];
const UNSAFE: [&str; 2] = ["sun/misc/Unsafe", "jdk/internal/misc/Unsafe"];

/// What a call does to the field or element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandleUse {
    /// Of an attempt: if it succeeds. One that fails only reads.
    pub kind: Kind,
    /// Is it ordered among other such accesses?
    pub is_ordered: bool,
    /// When it is known what it does: beforehand, or when it is done.
    pub known: Known,
    /// Is the field or element told by an offset, and not by the handle?
    pub is_by_offset: bool,
}

/// When it is known what a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Before it does it.
    Before,
    /// When it has done it: a function was asked for the value first, and perhaps again.
    After,
    /// By its result.
    ByResult,
}

impl HandleUse {
    /// Is the hook called once the call is done, too?
    pub fn is_followed(self) -> bool {
        self.known != Known::Before
    }

    /// The first hook's part in telling the access.
    pub fn first_phase(self) -> Phase {
        if self.is_followed() { Phase::Approach } else { Phase::Whole }
    }
}

/// How a handle is made; by what arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// From a class first, and a name as last text argument.
    ByName,
    /// From an object that stands for the field.
    ByReflection,
    /// For the elements of arrays.
    ForElements,
}

/// What a call of this method does with a field, if it is such a method.
pub fn use_of(class: &str, method: &str, descriptor: &str) -> Option<HandleUse> {
    let is_by_offset = UNSAFE.contains(&class);
    let how = |kind, is_ordered, known| Some(HandleUse { kind, is_ordered, known, is_by_offset });
    let attempt_or_update =
        |method| attempt_or_update(method).and_then(|known| how(Kind::Update, true, known));
    if class == VAR_HANDLE {
        return match method {
            "get" => how(Kind::Read, false, Known::Before),
            "set" => how(Kind::Write, false, Known::Before),
            "getVolatile" | "getOpaque" | "getAcquire" => how(Kind::Read, true, Known::Before),
            "setVolatile" | "setOpaque" | "setRelease" => how(Kind::Write, true, Known::Before),
            _ => attempt_or_update(method),
        };
    }
    if UPDATERS.contains(&class) {
        return match method {
            "get" => how(Kind::Read, true, Known::Before),
            "set" | "lazySet" => how(Kind::Write, true, Known::Before),
            "getAndUpdate" | "updateAndGet" | "getAndAccumulate" | "accumulateAndGet" => {
                how(Kind::Update, true, Known::After)
            }
            "incrementAndGet" | "decrementAndGet" | "addAndGet" => how(Kind::Update, true, Known::Before),
            _ => attempt_or_update(method),
        };
    }
    // Of its many methods, those that take an object and an offset.
    if !is_by_offset || !descriptor.starts_with("(Ljava/lang/Object;J") {
        return None;
    }
    attempt_or_update(method).or_else(|| {
        let is_ordered = ["Volatile", "Opaque", "Acquire", "Release"].iter().any(|way| method.ends_with(way));
        if method.starts_with("put") {
            how(Kind::Write, is_ordered || method.starts_with("putOrdered"), Known::Before)
        } else if method.starts_with("get") {
            how(Kind::Read, is_ordered, Known::Before)
        } else {
            None
        }
    })
}

/// Of a method that reads and writes in one step: when it is known what it does.
fn attempt_or_update(method: &str) -> Option<Known> {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| method.starts_with(prefix));
    if begins(&["compareAndSet", "weakCompareAndSet", "compareAndSwap"]) {
        Some(Known::ByResult)
    } else if begins(&["getAnd", "compareAndExchange"]) {
        Some(Known::Before)
    } else {
        None
    }
}

/// How a call of this method makes a handle, if it is such a method.
pub fn made_by(class: &str, method: &str, descriptor: &str) -> Option<Made> {
    let takes_field = descriptor.starts_with("(Ljava/lang/reflect/Field;)");
    match (class, method) {
        (LOOKUP, "findVarHandle" | "findStaticVarHandle") => Some(Made::ByName),
        (LOOKUP, "unreflectVarHandle") => Some(Made::ByReflection),
        (METHOD_HANDLES, "arrayElementVarHandle") => Some(Made::ForElements),
        (_, "newUpdater") if UPDATERS.contains(&class) => Some(Made::ByName),
        (_, "objectFieldOffset" | "staticFieldOffset") if UNSAFE.contains(&class) => {
            Some(if takes_field { Made::ByReflection } else { Made::ByName })
        }
        _ => None,
    }
}

/// A class, kept from being forgotten.
#[derive(Clone, Copy, Debug)]
pub struct KeptClass(pub jclass);

// SAFETY: a global reference may be used by any thread.
unsafe impl Send for KeptClass {}
// SAFETY: as above.
unsafe impl Sync for KeptClass {}

/// What a handle stands for.
#[derive(Clone, Debug)]
pub enum Target {
    /// A field of the object that it is called with.
    Field(KnownField),
    /// A static field of this class.
    Static(KnownField, KeptClass),
    /// The elements of the array that it is called with.
    Elements,
}

/// All handles that were seen being made.
#[derive(Debug, Default)]
pub struct Handles {
    /// By the number of the handle.
    by_handle: FxHashMap<i64, Target>,
    /// By the number of the declaring class, and the offset by which `Unsafe` names a field.
    by_offset: FxHashMap<(i64, i64), KnownField>,
}

impl Handles {
    /// A handle was made.
    pub fn add(&mut self, handle: i64, target: Target) {
        self.by_handle.insert(handle, target);
    }

    /// An offset was asked for.
    pub fn add_offset(&mut self, field: KnownField, offset: i64) {
        self.by_offset.insert((field.class_tag, offset), field);
    }

    /// What a handle stands for.
    pub fn target(&self, handle: i64) -> Option<&Target> {
        self.by_handle.get(&handle)
    }

    /// The field at this offset that this very class declares.
    pub fn at_offset(&self, class: i64, offset: i64) -> Option<&KnownField> {
        self.by_offset.get(&(class, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(class: &str, method: &str, descriptor: &str) -> Option<(Kind, Known)> {
        use_of(class, method, descriptor).map(|what| (what.kind, what.known))
    }

    #[test]
    fn methods_are_told_by_their_names() {
        assert_eq!(kind(VAR_HANDLE, "getAcquire", "(LNode;)I"), Some((Kind::Read, Known::Before)));
        assert_eq!(kind(VAR_HANDLE, "getAndAddRelease", "(LNode;I)I"), Some((Kind::Update, Known::Before)));
        assert_eq!(kind(VAR_HANDLE, "fullFence", "()V"), None);
        let attempt = Some((Kind::Update, Known::ByResult));
        assert_eq!(kind(VAR_HANDLE, "weakCompareAndSetPlain", "(LNode;II)Z"), attempt);
        assert_eq!(kind(UPDATERS[1], "getAndUpdate", "(Ljava/lang/Object;…)J").unwrap().1, Known::After);
        assert_eq!(kind(UNSAFE[0], "compareAndSwapInt", "(Ljava/lang/Object;JII)Z"), attempt);
        assert_eq!(kind(UNSAFE[0], "putInt", "(Ljava/lang/Object;JI)V").unwrap().0, Kind::Write);
        assert_eq!(kind(UNSAFE[0], "putInt", "(JI)V"), None, "an address is no field");
        assert_eq!(kind("com/shop/Cart", "get", "()I"), None);
    }

    #[test]
    fn what_orders_is_told_from_what_does_not() {
        let is_ordered = |class, method, descriptor| use_of(class, method, descriptor).unwrap().is_ordered;
        assert!(
            !is_ordered(VAR_HANDLE, "get", "(LNode;)I") && is_ordered(VAR_HANDLE, "getOpaque", "(LNode;)I")
        );
        let object = "(Ljava/lang/Object;JI)V";
        assert!(!is_ordered(UNSAFE[0], "putInt", object) && is_ordered(UNSAFE[0], "putOrderedInt", object));
    }
}
