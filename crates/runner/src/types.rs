//! Types as debug info describes them: what lies at an offset of a value, what that is called, and how it reads.

use gimli::{AttributeValue, EndianArcSlice, RunTimeEndian, UnitOffset};

use crate::value_form::ValueForm;

pub(crate) type Reader = EndianArcSlice<RunTimeEndian>;
pub(crate) type Unit = gimli::Unit<Reader>;
pub(crate) type Entry<'a> = gimli::DebuggingInformationEntry<'a, 'a, Reader>;

/// Types nest this deep at most; debug info that claims more is damaged.
const DEEPEST: usize = 32;

/// A type of a unit.
#[derive(Clone, Copy)]
pub(crate) struct Type<'a> {
    pub(crate) dwarf: &'a gimli::Dwarf<Reader>,
    pub(crate) unit: &'a Unit,
    pub(crate) offset: UnitOffset,
}

/// What lies at an offset of a value.
pub(crate) struct Part {
    /// The way there from the value: `.items[3].next`; empty if it is all of it.
    pub(crate) path: String,
    /// Its size and how its values read, if it is neither a structure nor an array.
    pub(crate) form: Option<(u64, ValueForm)>,
}

impl<'a> Type<'a> {
    fn at(self, offset: UnitOffset) -> Type<'a> {
        Type { offset, ..self }
    }

    fn entry(self) -> Option<Entry<'a>> {
        self.unit.entry(self.offset).ok()
    }

    /// The type that another one is made from: that of an array's elements, or behind a typedef.
    fn inner(self) -> Option<Type<'a>> {
        Some(self.at(type_of(&self.entry()?)?))
    }

    /// Follows an offset down to what lies there.
    pub(crate) fn part(self, offset: u64) -> Part {
        let mut part = Part { path: String::new(), form: None };
        self.descend(offset, &mut part, 0);
        part
    }

    fn descend(self, offset: u64, part: &mut Part, depth: usize) {
        let Some(entry) = self.entry().filter(|_| depth <= DEEPEST) else { return };
        match entry.tag() {
            gimli::DW_TAG_array_type => {
                let Some(element) = self.inner() else { return };
                let Some(size) = element.size().filter(|&size| size > 0) else { return };
                part.path.push_str(&self.indices(offset / size));
                element.descend(offset % size, part, depth + 1);
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                if let Some((size, variants)) = self.discriminant_at(offset) {
                    part.form = Some((size, variants));
                    return;
                }
                let owner = name_of(self.dwarf, self.unit, &entry).unwrap_or_default();
                let Some((member, start, inner)) = self.member_at(offset) else { return };
                // The bytes that the C library sets aside for a semaphore or the like are no array of the program's.
                if entry.tag() == gimli::DW_TAG_union_type && member.as_deref() == Some("__size") {
                    return;
                }
                // Base classes and anonymous members have no name of their own on the way.
                if let Some(member) = member.filter(|member| !is_wrapping(&owner, member)) {
                    part.path.push('.');
                    part.path.push_str(&member);
                }
                inner.descend(offset - start, part, depth + 1);
                // What an `AtomicBool` holds is a byte.
                if owner == "AtomicBool"
                    && let Some((_, form)) = &mut part.form
                {
                    *form = ValueForm::Bool;
                }
            }
            tag if is_renaming(tag) => {
                if let Some(inner) = self.inner() {
                    inner.descend(offset, part, depth + 1);
                }
                // `int8_t` is a number whose type C calls a character.
                let name = name_of(self.dwarf, self.unit, &entry).unwrap_or_default();
                if let Some((_, form @ ValueForm::Char)) = &mut part.form
                    && name.ends_with("int8_t")
                {
                    *form = if name.starts_with('u') { ValueForm::Unsigned } else { ValueForm::Signed };
                }
            }
            _ if offset == 0 => {
                part.form = self.scalar(&entry).zip(self.size()).map(|(form, size)| (size, form))
            }
            _ => {}
        }
    }

    /// How the values of a type without parts read.
    fn scalar(self, entry: &Entry<'_>) -> Option<ValueForm> {
        match entry.tag() {
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => Some(ValueForm::Pointer(self.null())),
            gimli::DW_TAG_enumeration_type => {
                let mut names = Vec::new();
                self.each_child(&mut |child| {
                    if child.tag() == gimli::DW_TAG_enumerator {
                        let number = constant(child, gimli::DW_AT_const_value);
                        names.extend(number.zip(name_of(self.dwarf, self.unit, child)));
                    }
                });
                Some(ValueForm::Enum(names))
            }
            gimli::DW_TAG_base_type => match entry.attr_value(gimli::DW_AT_encoding).ok()?? {
                AttributeValue::Encoding(gimli::DW_ATE_boolean) => Some(ValueForm::Bool),
                AttributeValue::Encoding(
                    gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF,
                ) => Some(ValueForm::Char),
                AttributeValue::Encoding(gimli::DW_ATE_signed) => Some(ValueForm::Signed),
                AttributeValue::Encoding(gimli::DW_ATE_unsigned) => Some(ValueForm::Unsigned),
                AttributeValue::Encoding(gimli::DW_ATE_float) => Some(ValueForm::Float),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the unit's language calls a pointer to nothing.
    fn null(self) -> &'static str {
        let mut entries = self.unit.entries();
        let root = entries.next_dfs().ok().flatten();
        match root.and_then(|(_, root)| root.attr_value(gimli::DW_AT_language).ok().flatten()) {
            Some(AttributeValue::Language(gimli::DW_LANG_Rust)) => "null",
            Some(AttributeValue::Language(
                gimli::DW_LANG_C89
                | gimli::DW_LANG_C
                | gimli::DW_LANG_C99
                | gimli::DW_LANG_C11
                | gimli::DW_LANG_C17,
            )) => "NULL",
            _ => "nullptr",
        }
    }

    /// The variants of a Rust enum, if it tells them apart by what lies at this offset.
    fn discriminant_at(self, offset: u64) -> Option<(u64, ValueForm)> {
        let mut variants = None;
        self.each_child(&mut |child| {
            if child.tag() == gimli::DW_TAG_variant_part {
                variants = Some(child.offset());
            }
        });
        let parts = self.at(variants?);
        let discriminant = match parts.entry()?.attr_value(gimli::DW_AT_discr).ok()?? {
            AttributeValue::UnitRef(discriminant) => self.unit.entry(discriminant).ok()?,
            _ => return None,
        };
        if number(&discriminant, gimli::DW_AT_data_member_location).unwrap_or(0) != offset {
            return None;
        }
        let size = self.at(type_of(&discriminant)?).size()?;
        let (mut named, mut other) = (Vec::new(), None);
        parts.each_child(&mut |child| {
            if child.tag() == gimli::DW_TAG_variant
                && let Some(name) = parts.at(child.offset()).first_member()
            {
                match constant(child, gimli::DW_AT_discr_value) {
                    Some(value) => named.push((value, name)),
                    None => other = Some(name),
                }
            }
        });
        Some((size, ValueForm::Variant { named, other }))
    }

    fn first_member(self) -> Option<String> {
        let mut first = None;
        self.each_child(&mut |child| {
            if first.is_none() && child.tag() == gimli::DW_TAG_member {
                first = name_of(self.dwarf, self.unit, child);
            }
        });
        first
    }

    /// `[i][j]` for the element with this number of a possibly many-dimensional array.
    fn indices(self, mut element: u64) -> String {
        let mut indices = Vec::new();
        for bound in self.bounds().into_iter().skip(1).rev() {
            let bound = bound.max(1);
            indices.push(element % bound);
            element /= bound;
        }
        indices.push(element);
        indices.iter().rev().map(|index| format!("[{index}]")).collect()
    }

    /// How many elements an array has in each dimension.
    fn bounds(self) -> Vec<u64> {
        let mut bounds = Vec::new();
        self.each_child(&mut |child| {
            if child.tag() == gimli::DW_TAG_subrange_type {
                let upper = number(child, gimli::DW_AT_upper_bound).map(|upper| upper.saturating_add(1));
                bounds.push(number(child, gimli::DW_AT_count).or(upper).unwrap_or(0));
            }
        });
        bounds
    }

    /// The member that covers an offset: its name, where it begins, its type.
    fn member_at(self, offset: u64) -> Option<(Option<String>, u64, Type<'a>)> {
        let mut found = None;
        self.each_child(&mut |child| {
            if found.is_some() || !matches!(child.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance) {
                return;
            }
            let Some(inner) = type_of(child).map(|inner| self.at(inner)) else { return };
            let start = number(child, gimli::DW_AT_data_member_location).unwrap_or(0);
            let size = inner.size().unwrap_or(0);
            if offset.checked_sub(start).is_some_and(|distance| distance < size) {
                found = Some((name_of(self.dwarf, self.unit, child), start, inner));
            }
        });
        found
    }

    /// How many bytes behind the start a member of this name begins.
    pub(crate) fn start_of(self, member: &str) -> Option<u64> {
        let mut start = None;
        self.each_child(&mut |child| {
            if child.tag() == gimli::DW_TAG_member
                && name_of(self.dwarf, self.unit, child).as_deref() == Some(member)
            {
                start = Some(number(child, gimli::DW_AT_data_member_location).unwrap_or(0));
            }
        });
        start
    }

    /// How many bytes its values take.
    pub(crate) fn size(self) -> Option<u64> {
        self.size_within(0)
    }

    fn size_within(self, depth: usize) -> Option<u64> {
        let entry = self.entry().filter(|_| depth <= DEEPEST)?;
        if let Some(size) = number(&entry, gimli::DW_AT_byte_size) {
            return Some(size);
        }
        match entry.tag() {
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => Some(u64::from(self.unit.encoding().address_size)),
            gimli::DW_TAG_array_type => {
                let element = self.inner()?.size_within(depth + 1)?;
                element.checked_mul(self.bounds().into_iter().fold(1, u64::saturating_mul))
            }
            _ => self.inner()?.size_within(depth + 1),
        }
    }

    fn each_child(self, visit: &mut dyn FnMut(&Entry<'_>)) {
        let Ok(mut tree) = self.unit.entries_tree(Some(self.offset)) else { return };
        let Ok(root) = tree.root() else { return };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            visit(child.entry());
        }
    }
}

/// A type that is another one by another name.
fn is_renaming(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
    )
}

/// Whether a member is how a library keeps what its type is about, which nobody thinks of by that name: the number in
/// an atomic, the data behind a lock, and whatever C and C++ reserve such names for.
fn is_wrapping(owner: &str, member: &str) -> bool {
    let owner = owner.split('<').next().unwrap_or(owner);
    let reserved = member.strip_prefix('_').and_then(|rest| rest.chars().next());
    match (owner, member) {
        _ if reserved.is_some_and(|letter| letter == '_' || letter.is_ascii_uppercase()) => true,
        ("UnsafeCell" | "Cell" | "RefCell" | "ManuallyDrop" | "SyncUnsafeCell", "value") => true,
        ("MaybeUninit", "value" | "uninit") | ("Mutex" | "RwLock" | "ReentrantMutex", "data") => true,
        (owner, "v" | "p") => owner.starts_with("Atomic"),
        _ => false,
    }
}

pub(crate) fn type_of(entry: &Entry<'_>) -> Option<UnitOffset> {
    match entry.attr_value(gimli::DW_AT_type).ok()?? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

pub(crate) fn name_of(dwarf: &gimli::Dwarf<Reader>, unit: &Unit, entry: &Entry<'_>) -> Option<String> {
    let value = entry.attr_value(gimli::DW_AT_name).ok()??;
    let text = dwarf.attr_string(unit, value).ok()?;
    Some(String::from_utf8_lossy(text.bytes()).into_owned())
}

fn number(entry: &Entry<'_>, attribute: gimli::DwAt) -> Option<u64> {
    entry.attr_value(attribute).ok()??.udata_value()
}

/// A number that may be negative, as its bits.
fn constant(entry: &Entry<'_>, attribute: gimli::DwAt) -> Option<u64> {
    let value = entry.attr_value(attribute).ok()??;
    value.udata_value().or_else(|| value.sdata_value().map(|number| number as u64))
}
