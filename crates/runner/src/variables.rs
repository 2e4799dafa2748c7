//! Names of variables with static storage as a person writes them: `queue.items[3].next`, from debug info.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use gimli::{AttributeValue, EndianArcSlice, Operation, RunTimeEndian, UnitOffset};
use object::{Object as _, ObjectSection as _};

use crate::elf;

type Reader = EndianArcSlice<RunTimeEndian>;
type Unit = gimli::Unit<Reader>;
type Entry<'a> = gimli::DebuggingInformationEntry<'a, 'a, Reader>;

/// Types nest this deep at most; debug info that claims more is damaged.
const DEEPEST: usize = 32;

/// The variables of one binary.
pub(crate) struct Variables {
    dwarf: gimli::Dwarf<Reader>,
    units: Vec<Unit>,
    /// By address.
    sorted: Vec<Variable>,
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
        let bytes = elf::map(path).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
            Ok(Reader::new(Arc::from(data.as_deref().unwrap_or_default()), endian))
        };
        let dwarf = gimli::Dwarf::load(section).ok()?;
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            units.extend(dwarf.unit(header).ok());
        }
        let mut sorted = Vec::new();
        for (index, unit) in units.iter().enumerate() {
            // A unit that cannot be read to its end has still given what came before.
            let _ = collect(&dwarf, unit, index, &mut sorted);
        }
        sorted.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        sorted.dedup_by_key(|variable| variable.address);
        Some(Variables { dwarf, units, sorted })
    }

    /// The name of what lies at an address of the file.
    pub(crate) fn name(&self, address: u64) -> Option<String> {
        let after = self.sorted.partition_point(|variable| variable.address <= address);
        let variable = &self.sorted[after.checked_sub(1)?];
        let unit = &self.units[variable.unit];
        let offset = address - variable.address;
        if offset >= self.size(unit, variable.type_offset, 0)?.max(1) {
            return None;
        }
        let mut name = variable.name.clone();
        self.descend(unit, variable.type_offset, offset, &mut name, 0);
        Some(name)
    }

    /// Appends the way from a value of this type to the part of it at `offset`.
    fn descend(&self, unit: &Unit, type_offset: UnitOffset, offset: u64, name: &mut String, depth: usize) {
        let Ok(entry) = unit.entry(type_offset) else { return };
        if depth > DEEPEST {
            return;
        }
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type => {
                if let Some(inner) = type_of(&entry) {
                    self.descend(unit, inner, offset, name, depth + 1);
                }
            }
            gimli::DW_TAG_array_type => {
                let Some(element) = type_of(&entry) else { return };
                let Some(size) = self.size(unit, element, 0).filter(|&size| size > 0) else { return };
                name.push_str(&self.indices(unit, type_offset, offset / size));
                self.descend(unit, element, offset % size, name, depth + 1);
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                if let Some((member, start, inner)) = self.member_at(unit, type_offset, offset) {
                    // Base classes and anonymous members have no name of their own on the way.
                    if let Some(member) = member {
                        name.push('.');
                        name.push_str(&member);
                    }
                    self.descend(unit, inner, offset - start, name, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// `[i][j]` for the element with this number of a possibly many-dimensional array.
    fn indices(&self, unit: &Unit, array: UnitOffset, mut element: u64) -> String {
        let mut bounds = Vec::new();
        let _ = self.each_child(unit, array, &mut |child| {
            if child.tag() == gimli::DW_TAG_subrange_type {
                let upper = number(child, gimli::DW_AT_upper_bound).map(|upper| upper.saturating_add(1));
                bounds.push(number(child, gimli::DW_AT_count).or(upper).unwrap_or(0));
            }
        });
        let mut indices = Vec::new();
        for &bound in bounds.iter().skip(1).rev() {
            let bound = bound.max(1);
            indices.push(element % bound);
            element /= bound;
        }
        indices.push(element);
        indices.iter().rev().map(|index| format!("[{index}]")).collect()
    }

    /// The member that covers an offset: its name, where it begins, its type.
    fn member_at(
        &self,
        unit: &Unit,
        structure: UnitOffset,
        offset: u64,
    ) -> Option<(Option<String>, u64, UnitOffset)> {
        let mut found = None;
        let _ = self.each_child(unit, structure, &mut |child| {
            if found.is_some() || !matches!(child.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance) {
                return;
            }
            let Some(inner) = type_of(child) else { return };
            let start = number(child, gimli::DW_AT_data_member_location).unwrap_or(0);
            let size = self.size(unit, inner, 0).unwrap_or(0);
            if offset.checked_sub(start).is_some_and(|distance| distance < size) {
                found = Some((name_of(&self.dwarf, unit, child), start, inner));
            }
        });
        found
    }

    fn size(&self, unit: &Unit, type_offset: UnitOffset, depth: usize) -> Option<u64> {
        let entry = unit.entry(type_offset).ok()?;
        if let Some(size) = number(&entry, gimli::DW_AT_byte_size) {
            return Some(size);
        }
        if depth > DEEPEST {
            return None;
        }
        match entry.tag() {
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => Some(u64::from(unit.encoding().address_size)),
            gimli::DW_TAG_array_type => {
                let element = self.size(unit, type_of(&entry)?, depth + 1)?;
                let mut count = 1u64;
                let _ = self.each_child(unit, type_offset, &mut |child| {
                    if child.tag() == gimli::DW_TAG_subrange_type {
                        let upper = number(child, gimli::DW_AT_upper_bound).map(|n| n.saturating_add(1));
                        let bound = number(child, gimli::DW_AT_count).or(upper).unwrap_or(0);
                        count = count.saturating_mul(bound);
                    }
                });
                element.checked_mul(count)
            }
            _ => self.size(unit, type_of(&entry)?, depth + 1),
        }
    }

    fn each_child(
        &self,
        unit: &Unit,
        parent: UnitOffset,
        visit: &mut dyn FnMut(&Entry<'_>),
    ) -> gimli::Result<()> {
        let mut tree = unit.entries_tree(Some(parent))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            visit(child.entry());
        }
        Ok(())
    }
}

/// Finds the variables of a unit that have a fixed address.
fn collect(
    dwarf: &gimli::Dwarf<Reader>,
    unit: &Unit,
    index: usize,
    variables: &mut Vec<Variable>,
) -> gimli::Result<()> {
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

fn fixed_address(dwarf: &gimli::Dwarf<Reader>, unit: &Unit, entry: &Entry<'_>) -> Option<u64> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location).ok()?? else {
        return None;
    };
    match expression.operations(unit.encoding()).next().ok()?? {
        Operation::Address { address } => Some(address),
        Operation::AddressIndex { index } => dwarf.address(unit, index).ok(),
        _ => None,
    }
}

fn type_of(entry: &Entry<'_>) -> Option<UnitOffset> {
    match entry.attr_value(gimli::DW_AT_type).ok()?? {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

fn name_of(dwarf: &gimli::Dwarf<Reader>, unit: &Unit, entry: &Entry<'_>) -> Option<String> {
    let value = entry.attr_value(gimli::DW_AT_name).ok()??;
    let text = dwarf.attr_string(unit, value).ok()?;
    Some(String::from_utf8_lossy(text.bytes()).into_owned())
}

fn number(entry: &Entry<'_>, attribute: gimli::DwAt) -> Option<u64> {
    entry.attr_value(attribute).ok()??.udata_value()
}
