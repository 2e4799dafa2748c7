//! Fields as the program's code names them, and as they are: each by the class that declares it.

use std::sync::Arc;

use jvmti_bindings::sys::jni::{JNIEnv, jfieldID, jobject};
use rustc_hash::FxHashMap;

use crate::classfile::access;
use crate::jvm::{self, FoundField};
use crate::places::{Field, short_name};

/// A field that has been accessed.
#[derive(Clone, Debug)]
pub struct KnownField {
    /// The virtual machine's name for it.
    pub id: FieldId,
    /// A number for it, the same however code names it.
    pub number: u32,
    /// Which part of an object it is, or of its class.
    pub part: u32,
    /// For people: `Account.balance`.
    pub name: String,
    /// First letter of its type.
    pub kind: u8,
    /// Is every access to it ordered?
    pub is_volatile: bool,
    /// Is it written but once, while its object is made?
    pub is_final: bool,
    /// Can it hold what is worth a name of its own: an array, or an object that serves as a lock?
    pub names_its_value: bool,
    /// For static fields: the number of the class that declares it.
    pub class_tag: i64,
}

/// Names a field for the virtual machine, as long as its class is loaded.
#[derive(Clone, Copy, Debug)]
pub struct FieldId(pub jfieldID);

// SAFETY: the virtual machine's functions that take it may be called from any thread.
unsafe impl Send for FieldId {}
// SAFETY: as above.
unsafe impl Sync for FieldId {}

/// All fields that have been accessed.
#[derive(Debug, Default)]
pub struct Fields {
    /// By their number in [`crate::places::Places::fields`].
    by_place: FxHashMap<u32, Arc<KnownField>>,
    /// Their numbers and parts, by the number of the declaring class, and name.
    numbers: FxHashMap<(i64, String), (u32, u32)>,
    /// The field in which an object was first seen, by the object's number.
    holders: FxHashMap<i64, u32>,
    names: Vec<String>,
}

impl Fields {
    /// The field that code names by this number, if it was looked for before.
    pub fn known(&self, place: u32) -> Option<Arc<KnownField>> {
        self.by_place.get(&place).cloned()
    }

    /// Looks for a field, and remembers it.
    pub fn find(
        &mut self,
        env: *mut JNIEnv,
        object_or_class: jobject,
        is_static: bool,
        (place, field): (u32, &Field),
    ) -> Option<Arc<KnownField>> {
        let found = jvm::find_field(env, object_or_class, is_static, field)?;
        let known = Arc::new(self.know(env, found, &field.name, &field.descriptor));
        self.by_place.insert(place, Arc::clone(&known));
        Some(known)
    }

    /// Makes a field known that was found in the class that declares it.
    pub fn know(&mut self, env: *mut JNIEnv, found: FoundField, name: &str, type_name: &str) -> KnownField {
        let class_tag = jvm::tag(found.class);
        let next = self.numbers.len() as u32;
        let key = (class_tag, name.to_owned());
        let (number, part) = *self.numbers.entry(key).or_insert_with(|| (next, found.part(env)));
        // What a class within a method takes from around it is called as it is there.
        let name = match name.strip_prefix("val$") {
            Some(captured) => captured.to_owned(),
            None => format!("{}.{}", short_name(&jvm::class_name(found.class)), name),
        };
        if number == next {
            self.names.push(name.clone());
        }
        KnownField {
            id: FieldId(found.id),
            number,
            part,
            name,
            kind: type_name.as_bytes().first().copied().unwrap_or(b'?'),
            is_volatile: found.modifiers & access::VOLATILE != 0,
            is_final: found.modifiers & access::FINAL != 0,
            names_its_value: type_name.starts_with('[')
                || type_name == "Ljava/lang/Object;"
                || type_name.starts_with("Ljava/util/")
                || type_name.starts_with("Ljava/text/"),
            class_tag,
        }
    }

    /// An object was seen in this field.
    pub fn note_holder(&mut self, object: i64, number: u32) {
        self.holders.entry(object).or_insert(number);
    }

    /// Where one object was seen, the other one is.
    pub fn share_holder(&mut self, object: i64, other: i64) {
        if let Some(&number) = self.holders.get(&object) {
            self.holders.entry(other).or_insert(number);
        }
    }

    /// Is it known where this object was seen?
    pub fn has_holder(&self, object: i64) -> bool {
        self.holders.contains_key(&object)
    }

    /// The name of the field in which an object was seen: `Queue.items`.
    pub fn holder(&self, object: i64) -> Option<&str> {
        self.holders.get(&object).map(|&number| self.names[number as usize].as_str())
    }

    /// These objects are no more.
    pub fn forget(&mut self, objects: &[i64]) {
        for object in objects {
            self.holders.remove(object);
        }
    }
}
