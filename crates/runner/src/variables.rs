//! Names of variables with static storage as a person writes them: `queue.items[3].next`, from debug info.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use gimli::{AttributeValue, Operation, UnitOffset};

use crate::types::{Entry, Reader, Type, Unit, name_of, type_of};
use crate::units::{self, Described};
use crate::value_form::ValueForm;

/// The variables of one binary.
pub(crate) struct Variables {
    units: Vec<Described>,
    /// By address.
    sorted: Vec<Variable>,
    /// The code that each unit describes.
    unit_ranges: Vec<(Range<u64>, usize)>,
}

struct Variable {
    address: u64,
    name: String,
    unit: usize,
    type_offset: UnitOffset,
}

impl Variables {
    /// Reads the debug info of a binary; none if there is none that can be read.
    pub(crate) fn read(path: &Path) -> Option<Variables> {
        let (units, unit_ranges) = units::read(path)?;
        let mut sorted = Vec::new();
        for index in 0..units.len() {
            // A unit that cannot be read to its end has still given what came before.
            let _ = collect(&units, index, &mut sorted);
        }
        sorted.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        sorted.dedup_by_key(|variable| variable.address);
        Some(Variables { units, sorted, unit_ranges })
    }

    /// What lies at an address of the file: its name, and how its values read if they have so many bytes.
    pub(crate) fn at(&self, address: u64, size: u64) -> Option<Named> {
        let after = self.sorted.partition_point(|variable| variable.address <= address);
        let variable = &self.sorted[after.checked_sub(1)?];
        let whole = self.type_at(variable.unit, variable.type_offset);
        let offset = address - variable.address;
        if offset >= whole.size()?.max(1) {
            return None;
        }
        let part = whole.part(offset);
        let form = part.form.filter(|(own, _)| *own == size).map(|(_, form)| form);
        Some(Named { name: variable.name.clone() + &part.path, form })
    }

    /// The unit that describes the code at an address of the file.
    pub(crate) fn unit_of(&self, code: u64) -> Option<usize> {
        self.unit_ranges.iter().find(|(range, _)| range.contains(&code)).map(|&(_, unit)| unit)
    }

    /// The members of this name in the types of a unit: each with the name of its type, and of its value, where that has
    /// no parts, size and form. Goes through all of the unit.
    pub(crate) fn members(&self, unit: usize, field: &str) -> Vec<Member> {
        let mut found: Vec<Member> = Vec::new();
        for (owner, member) in self.member_types(unit, field) {
            let member = Member { owner, value: member.part(0).form };
            if !found.contains(&member) {
                found.push(member);
            }
        }
        found
    }

    /// What lies so many bytes behind the lock in a member of this name that has a lock inside, as in Rust: the way from
    /// the member to it, and how its values read if they have so many bytes.
    pub(crate) fn guarded(
        &self,
        code: u64,
        owner: &str,
        field: &str,
        behind: i64,
        size: u64,
    ) -> Option<Named> {
        /// Locks lie at the start or at the end of what they guard; looking further would take long.
        const LARGEST: u64 = 4096;
        let is_owner = |name: &Option<String>| name.as_deref().is_some_and(|name| plain(name) == owner);
        let unit = self.unit_of(code)?;
        let mut members = self.member_types(unit, field).into_iter().filter(|(name, _)| is_owner(name));
        let (_, member) = members.next()?;
        let length = member.size().filter(|&length| length <= LARGEST)?;
        let is_lock = |path: &str| matches!(path, ".inner.futex" | ".inner.state" | ".raw.state");
        let lock = (0..length).step_by(4).find(|&offset| is_lock(&member.part(offset).path))?;
        let offset = lock.checked_add_signed(behind).filter(|&offset| offset < length)?;
        let part = member.part(offset);
        let form = part.form.filter(|(own, _)| *own == size).map(|(_, form)| form);
        Some(Named { name: part.path, form })
    }

    /// What lies so many bytes behind a member of a type, or behind the type's start: the way to it from the type, such as
    /// `.count`, and how its values read if they have so many bytes.
    pub(crate) fn part_of(&self, code: u64, place: TypePlace<'_>, size: u64) -> Option<Named> {
        let TypePlace { owner, member, behind } = place;
        let unit = self.unit_of(code)?;
        let mut entries = self.units[unit].unit.entries();
        while let Ok(Some((_, entry))) = entries.next_dfs() {
            let is_type = matches!(entry.tag(), gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type);
            let name =
                is_type.then(|| name_of(&self.units[unit].dwarf, &self.units[unit].unit, entry)).flatten();
            if name.is_none_or(|name| plain(&name) != owner) {
                continue;
            }
            let whole = self.type_at(unit, entry.offset());
            let start = member.map_or(Some(0), |member| whole.start_of(member));
            let offset = start.and_then(|start| start.checked_add_signed(behind));
            if let Some(offset) = offset.filter(|&offset| whole.size().is_some_and(|size| offset < size)) {
                let part = whole.part(offset);
                let form = part.form.filter(|(own, _)| *own == size).map(|(_, form)| form);
                return (!part.path.is_empty()).then_some(Named { name: part.path, form });
            }
        }
        None
    }

    fn member_types(&self, unit: usize, field: &str) -> Vec<(Option<String>, Type<'_>)> {
        let mut found = Vec::new();
        // A unit that cannot be read to its end has still given what came before.
        let _ = self.collect_members(unit, field, &mut found);
        found
    }

    fn collect_members<'a>(
        &'a self,
        index: usize,
        field: &str,
        found: &mut Vec<(Option<String>, Type<'a>)>,
    ) -> gimli::Result<()> {
        let Described { dwarf, unit } = &self.units[index];
        let mut entries = unit.entries();
        // The types that enclose the entry, with their depth.
        let mut owners: Vec<(isize, Option<String>)> = Vec::new();
        let mut depth = 0;
        while let Some((delta, entry)) = entries.next_dfs()? {
            depth += delta;
            owners.retain(|&(owner, _)| owner < depth);
            match entry.tag() {
                gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                    owners.push((depth, name_of(dwarf, unit, entry)));
                }
                gimli::DW_TAG_member if has_name(dwarf, unit, entry, field) => {
                    let Some(type_offset) = type_of(entry) else { continue };
                    let owner = owners.last().and_then(|(_, name)| name.clone());
                    found.push((owner, self.type_at(index, type_offset)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn type_at(&self, unit: usize, offset: UnitOffset) -> Type<'_> {
        let Described { dwarf, unit } = &self.units[unit];
        Type { dwarf, unit, offset }
    }
}

/// A place within a structure or class.
#[derive(Clone, Copy, Debug)]
pub struct TypePlace<'a> {
    /// The name of the type.
    pub owner: &'a str,
    /// The member that the distance is counted from; from the type's start without one.
    pub member: Option<&'a str>,
    /// How many bytes behind that.
    pub behind: i64,
}

/// A member of a structure or class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name of the type that has it.
    pub owner: Option<String>,
    /// How many bytes it has and how its values read, if it has no parts of its own.
    pub value: Option<(u64, ValueForm)>,
}

impl Member {
    /// Whether it is a member of the type of this name, whatever that is made for.
    pub fn is_of(&self, owner: &str) -> bool {
        self.owner.as_deref().is_some_and(|own| plain(own) == owner)
    }
}

/// A type's name without what a generic one is made for.
fn plain(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

/// Something in memory with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// How its values read, if that is known.
    pub form: Option<ValueForm>,
}

fn has_name(dwarf: &gimli::Dwarf<Reader>, unit: &Unit, entry: &Entry<'_>, name: &str) -> bool {
    let value = entry.attr_value(gimli::DW_AT_name).ok().flatten();
    let text = value.and_then(|value| dwarf.attr_string(unit, value).ok());
    text.is_some_and(|text| text.bytes() == name.as_bytes())
}

/// Finds the variables of a unit that have a fixed address.
fn collect(units: &[Described], index: usize, variables: &mut Vec<Variable>) -> gimli::Result<()> {
    let Described { dwarf, unit } = &units[index];
    let mut entries = unit.entries();
    // Names of the enclosing namespaces and classes, with their depth.
    let mut scopes: Vec<(isize, String)> = Vec::new();
    // Full names of what is declared there and defined elsewhere.
    let mut declared: HashMap<UnitOffset, String> = HashMap::new();
    let mut depth = 0;
    while let Some((delta, entry)) = entries.next_dfs()? {
        depth += delta;
        scopes.retain(|&(scope, _)| scope < depth);
        match entry.tag() {
            gimli::DW_TAG_namespace | gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                scopes.extend(name_of(dwarf, unit, entry).map(|name| (depth, name)));
            }
            gimli::DW_TAG_variable | gimli::DW_TAG_member => {
                let own_name = name_of(dwarf, unit, entry).map(|name| {
                    let path = scopes.iter().map(|(_, scope)| scope.as_str()).chain([name.as_str()]);
                    path.collect::<Vec<_>>().join("::")
                });
                let Some(address) = fixed_address(dwarf, unit, entry) else {
                    declared.extend(own_name.map(|name| (entry.offset(), name)));
                    continue;
                };
                // A definition outside of its class or namespace refers to the declaration inside.
                let declaration = match entry.attr_value(gimli::DW_AT_specification)? {
                    Some(AttributeValue::UnitRef(offset)) => Some(offset),
                    _ => None,
                };
                if let Some(AttributeValue::DebugInfoRef(offset)) =
                    entry.attr_value(gimli::DW_AT_abstract_origin)?
                {
                    variables.extend(described_elsewhere(units, offset, address));
                    continue;
                }
                let name = own_name.or_else(|| declared.get(&declaration?).cloned());
                let type_offset = type_of(entry).or_else(|| type_of(&unit.entry(declaration?).ok()?));
                if let (Some(name), Some(type_offset)) = (name, type_offset) {
                    variables.push(Variable { address, name, unit: index, type_offset });
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// As by link-time optimization, which describes in one unit where the variables of another one have come to lie. They are told without
/// the namespaces around them.
fn described_elsewhere(
    units: &[Described],
    offset: gimli::DebugInfoOffset,
    address: u64,
) -> Option<Variable> {
    let within = |described: &Described| offset.to_unit_offset(&described.unit.header);
    let (index, offset) = units.iter().enumerate().find_map(|(at, unit)| Some((at, within(unit)?)))?;
    let Described { dwarf, unit } = &units[index];
    let entry = unit.entry(offset).ok()?;
    let declaration = match entry.attr_value(gimli::DW_AT_specification).ok()? {
        Some(AttributeValue::UnitRef(offset)) => unit.entry(offset).ok(),
        _ => None,
    };
    let name = name_of(dwarf, unit, &entry).or_else(|| name_of(dwarf, unit, declaration.as_ref()?))?;
    let type_offset = type_of(&entry).or_else(|| type_of(declaration.as_ref()?))?;
    Some(Variable { address, name, unit: index, type_offset })
}

fn fixed_address(dwarf: &gimli::Dwarf<Reader>, unit: &Unit, entry: &Entry<'_>) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location).ok()?? else {
        return None;
    };
    let mut operations = expression.operations(unit.encoding());
    let address = match operations.next().ok()?? {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => dwarf.address(unit, index).ok()?,
        _ => return None,
    };
    // An address with more to come is no place: that of a variable as the value of a pointer that was optimized away, such as
    // those in the macros of <stdatomic.h>.
    operations.next().ok()?.is_none().then_some(address)
}
