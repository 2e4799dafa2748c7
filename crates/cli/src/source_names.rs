//! Names for what debug info has no name for, by what the source calls it where it is accessed.

use localize::{Access, Code, LocationId, Profile, SiteId};
use report::explanation;
use report::expression::{Place, is_continued, last_name, shared_expression, shared_operand};
use runner::ValueForm;

use crate::names::{Guard, LaidOut, Names};
use crate::values::{Form, RawValues};

/// What is recorded of an access whose location gets its name from the source.
#[derive(Clone, Debug)]
pub struct Unnamed {
    location: LocationId,
    site: SiteId,
    raw: RawValues,
    /// Where in which heap block it lies, in words.
    block: Option<String>,
    /// Where that block begins.
    block_start: Option<u64>,
    /// Where in which module it lies, if its storage is static.
    in_module: Option<String>,
    guards: Vec<Guard>,
    laid_out: Option<LaidOut>,
}

impl Unnamed {
    /// Remembers an access until the source is known.
    pub fn of(access: &Access, profile: &Profile, code: &Code, names: &mut Names) -> Self {
        let location = &profile.locations[access.location.0 as usize];
        let block = location.block;
        let in_module = location.in_module.map(|(module, at)| {
            let path = &code.module(module).path;
            format!("{}+{at:#x}", path.rsplit('/').next().unwrap_or(path))
        });
        Self {
            in_module,
            block_start: block.map(|block| location.address.wrapping_sub(block.offset.into())),
            location: access.location,
            site: names.own_site(access.stack, code).unwrap_or(access.site),
            raw: names.raw_values(access, profile, code),
            block: block.and_then(|block| names.block(block, code)),
            guards: names.guards(access, profile, code),
            laid_out: names.laid_out(access, profile, code),
        }
    }
}

/// Names the variables of a finding that have no name yet, and shows their values as their types do; of what remains,
/// only the size is known. `recorded` are the finding's accesses and `compared` those of the passing run. Needs the
/// source lines filled in.
pub fn name_by_source(
    finding: &mut report::Finding,
    recorded: &[Unnamed],
    compared: &[Unnamed],
    code: &Code,
    names: &mut Names,
) {
    for (index, key) in recorded.iter().enumerate() {
        if !finding.accesses[index].variable.is_empty() {
            continue;
        }
        let same: Vec<usize> =
            (0..recorded.len()).filter(|&other| recorded[other].location == key.location).collect();
        let access = &finding.accesses[index];
        let layout = same.iter().find_map(|&other| recorded[other].laid_out.as_ref());
        let expression = expression(finding, &same);
        // What lies where is certain, and of the same name the expression is what the programmer wrote.
        let expression =
            expression.filter(|text| layout.is_none_or(|layout| layout.field == last_name(text)));
        let by_source = expression.map(|text| known(&text, access, key, code, names));
        let by_source = by_source.filter(|known| !is_condition(finding, &known.name));
        let (name, form) = match (by_source, layout) {
            (Some(known), _) => (Some(known.name), known.form),
            (None, Some(LaidOut { name, .. })) => {
                (Some(name.name.clone()), name.form.clone().map_or(Form::Number, Form::Native))
            }
            (None, None) => match own_member(finding, &same, recorded, code, names)
                .or_else(|| only_member(finding, &same, recorded, code, names))
            {
                Some(known) => (Some(known.name), known.form),
                None => (key.block.clone().or_else(|| inside(access, key, code, names)), Form::Number),
            },
        };
        let name = name.unwrap_or_else(|| unnamed(access, key));
        let form = if access.is_within_a_collection() { of_a_part(form) } else { form };
        for &other in &same {
            show(&mut finding.accesses[other], &recorded[other].raw, &name, &form);
        }
        name_compared(finding, index, &name, &form, compared);
    }
    if is_one_collection(finding, recorded) {
        tell_as_one(finding);
        return;
    }
    let locations: Vec<LocationId> = recorded.iter().map(|key| key.location).collect();
    tell_apart(finding, &locations);
}

/// A word within a collection that goes by the collection's name: a pointer of that name is some closure's to the whole, and the word may be a number of
/// elements.
fn of_a_part(form: Form) -> Form {
    match form {
        Form::Native(ValueForm::Pointer(_)) => Form::Number,
        form => form,
    }
}

/// Whether two variables are but two places in the memory of one collection, as two buckets of a hash table: a person thinks of the table.
fn is_one_collection(finding: &report::Finding, recorded: &[Unnamed]) -> bool {
    let [first, ..] = &finding.accesses[..] else { return false };
    let start = recorded.first().and_then(|key| key.block_start);
    finding.kind == report::Kind::MultiVariableAtomicityViolation
        && start.is_some()
        && recorded.iter().all(|key| key.block_start == start)
        && finding.accesses.iter().all(|access| access.variable == first.variable)
        && finding.accesses.iter().all(report::Access::is_within_a_collection)
}

/// It is one variable then, whose value is none of the words in it, and what a single call does of it is no stretch of code to be kept together.
fn tell_as_one(finding: &mut report::Finding) {
    finding.kind = report::Kind::AtomicityViolation;
    let compared = finding.comparison.iter_mut().flat_map(|comparison| &mut comparison.accesses);
    for access in finding.accesses.iter_mut().chain(compared) {
        (access.value, access.shown, access.old) = (None, None, None);
    }
    let is_call = |place: &report::FixPlace| place.first_line == place.last_line;
    let Some(fix) = finding.fix.as_mut().filter(|fix| !fix.places.iter().all(is_call)) else { return };
    fix.places.retain(|place| !is_call(place));
    finding.advice = explanation::advice(fix);
}

/// Numbers different variables of one name, as the two words of a string view or the links of two nodes: `view #1`, `view #2`. Without, a thread would be
/// said to read again what it never read before. `locations` are those of the finding's first accesses.
fn tell_apart(finding: &mut report::Finding, locations: &[LocationId]) {
    let named: Vec<(LocationId, String)> = locations
        .iter()
        .copied()
        .zip(finding.accesses.iter().map(|access| access.variable.clone()))
        .collect();
    for (index, (location, name)) in named.iter().enumerate() {
        let mut of_name: Vec<LocationId> = Vec::new();
        for (other, _) in named.iter().filter(|(_, other)| other == name) {
            if !of_name.contains(other) {
                of_name.push(*other);
            }
        }
        let number = 1 + of_name.iter().position(|other| other == location).unwrap_or(0);
        if of_name.len() < 2 || name.is_empty() {
            continue;
        }
        let numbered = format!("{name} #{number}");
        let access = &mut finding.accesses[index];
        let place = |access: &report::Access| (access.file.clone(), access.line, access.column, access.kind);
        let known = place(access);
        numbered.clone_into(&mut access.variable);
        for access in finding.comparison.iter_mut().flat_map(|comparison| &mut comparison.accesses) {
            if access.variable == *name && place(access) == known {
                numbered.clone_into(&mut access.variable);
            }
        }
    }
}

/// Whether a name is that of a condition that the finding's threads wait for or signal: a line that names it, and looks at something else
/// that the source has no name for, is no line that reads or writes it.
fn is_condition(finding: &report::Finding, name: &str) -> bool {
    let is_told = |kind| matches!(kind, report::AccessKind::Signal | report::AccessKind::Wait);
    finding.accesses.iter().any(|access| is_told(access.kind) && access.variable == name)
}

/// What has no name anywhere, by the first place that it is accessed at.
fn unnamed(access: &report::Access, key: &Unnamed) -> String {
    let file = access.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
    match (file, access.line) {
        (Some(file), Some(line)) => format!("variable at {file}:{line}"),
        _ => match &key.in_module {
            Some(place) => format!("{} bytes at {place}", key.raw.size),
            None => format!("{} bytes of the heap or a stack", key.raw.size),
        },
    }
}

fn show(access: &mut report::Access, raw: &RawValues, name: &str, form: &Form) {
    name.clone_into(&mut access.variable);
    access.shown = raw.shown(form);
    access.old = raw.old(form);
}

/// What a passing run accesses at the same place in the code goes by the same name.
fn name_compared(finding: &mut report::Finding, index: usize, name: &str, form: &Form, compared: &[Unnamed]) {
    let Some(comparison) = &mut finding.comparison else { return };
    let place = |access: &report::Access| (access.file.clone(), access.line, access.column, access.kind);
    let known = place(&finding.accesses[index]);
    for (access, key) in comparison.accesses.iter_mut().zip(compared) {
        if access.variable.is_empty() && place(access) == known {
            show(access, &key.raw, name, form);
        }
    }
}

/// What the source lines of these accesses to one location call it.
fn expression(finding: &report::Finding, accesses: &[usize]) -> Option<String> {
    // Where memory is freed, the line names what points to it.
    let used = accesses.iter().map(|&index| &finding.accesses[index]).filter(|access| !access.frees);
    let (unnamed, naming): (Vec<_>, Vec<_>) = used.partition(|access| is_named_before(access));
    let is_in_library =
        |access: &&report::Access| access.stack.first().is_some_and(report::Frame::is_library);
    let shared = if naming.iter().all(is_in_library) { shared_operand } else { shared_expression };
    let places: Vec<Place<'_>> = naming
        .into_iter()
        .map(|access| {
            Some(Place {
                line: access.source.as_deref()?,
                column: access.column,
                writes: access.kind == report::AccessKind::Write,
            })
        })
        .collect::<Option<_>>()?;
    // That some lines do not name it makes a variable of the others', which may only lead there, no better a guess.
    shared(&places).filter(|text| unnamed.is_empty() || text != last_name(text))
}

/// Whether the line of an access does not name what is accessed, but a line before it: a library's function accesses what it is called on.
fn is_named_before(access: &report::Access) -> bool {
    let in_library = access.stack.first().is_some_and(report::Frame::is_library);
    in_library && access.source.as_deref().is_some_and(is_continued)
}

/// The only member of the object that a method is called on, among those of the right size, that is on the line of one
/// of these accesses, unless another one's line has other members alone.
fn own_member(
    finding: &report::Finding,
    accesses: &[usize],
    recorded: &[Unnamed],
    code: &Code,
    names: &mut Names,
) -> Option<Known> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for &index in accesses.iter().filter(|&&index| !finding.accesses[index].frees) {
        let (access, key) = (&finding.accesses[index], &recorded[index]);
        let Some(class) = access.function.as_deref().and_then(report::enclosing_type) else { continue };
        let Some(source) = access.source.as_deref() else { continue };
        let mut line = Line { index, ..Line::default() };
        for text in report::expression::expressions(source) {
            let members = names.members(key.site, last_name(text), code);
            let mut own = members.iter().filter(|member| member.is_of(&class)).peekable();
            line.members.extend(own.peek().map(|_| text));
            let fits = |size: u64| size == u64::from(key.raw.size);
            let is_plain = own.any(|member| member.value.as_ref().is_none_or(|(size, _)| fits(*size)));
            line.fitting.extend(is_plain.then_some(text));
        }
        line.fitting.dedup();
        lines.push(line);
    }
    let (index, only) = only_member_of(&lines)?;
    Some(known(only, &finding.accesses[index], &recorded[index], code, names))
}

/// The members of the object whose method it is in, on the line of an access with this number.
#[derive(Default)]
struct Line<'s> {
    index: usize,
    members: Vec<&'s str>,
    /// Those of the right size.
    fitting: Vec<&'s str>,
}

/// The first line's with a single member that fits, if no line has members and not that one.
fn only_member_of<'s>(lines: &[Line<'s>]) -> Option<(usize, &'s str)> {
    let (index, only) = lines.iter().find_map(|line| match line.fitting.as_slice() {
        [only] => Some((line.index, *only)),
        _ => None,
    })?;
    let names_it = |members: &[&str]| members.iter().any(|text| last_name(text) == last_name(only));
    lines.iter().all(|line| line.members.is_empty() || names_it(&line.members)).then_some((index, only))
}

/// The only member of any object, of the right size, on the line of one of these accesses, if the line itself makes it:
/// where an object is made, its members are not mentioned.
fn only_member(
    finding: &report::Finding,
    accesses: &[usize],
    recorded: &[Unnamed],
    code: &Code,
    names: &mut Names,
) -> Option<Known> {
    accesses.iter().find_map(|&index| {
        let (access, key) = (&finding.accesses[index], &recorded[index]);
        let in_library = access.stack.first().is_none_or(report::Frame::is_library);
        let line = access.source.as_deref().filter(|_| !in_library && !access.frees)?;
        let mut members: Vec<&str> =
            report::expression::expressions(line).filter(|text| *text != last_name(text)).collect();
        members.dedup();
        let [only] = members.as_slice() else { return None };
        let is_one = names
            .members(key.site, last_name(only), code)
            .iter()
            .any(|member| member.value.as_ref().is_some_and(|(size, _)| *size == u64::from(key.raw.size)));
        is_one.then(|| known(only, access, key, code, names))
    })
}

struct Known {
    name: String,
    form: Form,
}

/// What the program calls what a library accesses for it: `inside self.log` for `self.log.send(line)`.
fn inside(access: &report::Access, key: &Unnamed, code: &Code, names: &mut Names) -> Option<String> {
    let object = report::expression::called_on(access.source.as_deref()?)?;
    let in_library = access.stack.first().is_some_and(|frame| frame.is_library() || frame.is_fetched());
    let qualified =
        names.qualified(object, access.function.as_deref(), access.file.as_deref(), key.site, code);
    in_library.then(|| format!("inside {}", qualified.as_deref().unwrap_or(object)))
}

/// What an expression is called, and how its values read, by the types that the code there knows.
fn known(expression: &str, access: &report::Access, key: &Unnamed, code: &Code, names: &mut Names) -> Known {
    let root = expression.split(['.', '-', '[', '(']).next().unwrap_or(expression);
    // What is reached by way of a lock's guard belongs to what the lock is.
    if let Some(guard) = key.guards.iter().find(|guard| guard.binding == root) {
        return guarded(expression, access, guard, key, code, names);
    }
    let (function, file) = (access.function.as_deref(), access.file.as_deref());
    let qualified = names.qualified(expression, function, file, key.site, code);
    let form = member_form(expression, function, key, code, names);
    Known { name: qualified.unwrap_or_else(|| expression.to_owned()), form }
}

fn guarded(
    expression: &str,
    access: &report::Access,
    guard: &Guard,
    key: &Unnamed,
    code: &Code,
    names: &mut Names,
) -> Known {
    let (function, file) = (guard.function.as_deref(), access.file.as_deref());
    let lock = names.qualified(&guard.expression, function, file, guard.site, code);
    let class = function.and_then(report::enclosing_type);
    let found = class.and_then(|class| {
        let member = (class.as_str(), last_name(&guard.expression));
        names.guarded(guard.site, member, guard.behind_lock, key.raw.size, code)
    });
    let lock = lock.unwrap_or_else(|| guard.expression.clone());
    match found {
        Some(part) => {
            let form = part.form.map_or(Form::Number, Form::Native);
            Known { name: lock + &part.name, form }
        }
        None => {
            let form = member_form(expression, function, key, code, names);
            Known { name: lock + &expression[guard.binding.len()..], form }
        }
    }
}

/// How the values of a member read: of the object that the function is a method of, or else of whatever has a member
/// of this name and size, if all of these agree.
fn member_form(
    expression: &str,
    function: Option<&str>,
    key: &Unnamed,
    code: &Code,
    names: &mut Names,
) -> Form {
    let mut members = names.members(key.site, last_name(expression), code);
    members.retain(|member| member.value.as_ref().is_some_and(|(size, _)| *size == u64::from(key.raw.size)));
    if let Some(class) = function.and_then(report::enclosing_type)
        && members.iter().any(|member| member.is_of(&class))
    {
        members.retain(|member| member.is_of(&class));
    }
    let mut forms = members.into_iter().filter_map(|member| member.value).map(|(_, form)| form);
    match forms.next() {
        Some(first) if forms.all(|form| form == first) => Form::Native(first),
        _ => Form::Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_taken_for_what_is_accessed_if_no_line_speaks_against_it() {
        let line = |index, members: &[&'static str], fitting: &[&'static str]| Line {
            index,
            members: members.to_vec(),
            fitting: fitting.to_vec(),
        };
        let both = line(0, &["a", "b"], &["a", "b"]);
        assert_eq!(only_member_of(&[both, line(1, &["a"], &["a"])]), Some((1, "a")));
        let own = line(0, &["this->a"], &["this->a"]);
        assert_eq!(only_member_of(&[own, line(1, &[], &[]), line(2, &["a"], &[])]), Some((0, "this->a")));
        let look = line(0, &["lines_", "some_"], &["lines_"]);
        assert_eq!(only_member_of(&[look, line(1, &["writer_", "some_"], &[])]), None);
        assert_eq!(only_member_of(&[line(0, &["a", "b"], &["a", "b"])]), None);
    }

    /// A finding with accesses of these kinds to these variables.
    fn finding_of(accesses: &[(&str, &str)]) -> report::Finding {
        let mut finding: report::Finding = serde_json::from_value(serde_json::json!({
            "rank": 1, "tied": 1, "score": 1.0, "failed": 1, "passed": 0, "kind": "missed-signal", "pattern": "RUSW",
            "pattern_id": null, "accesses": [], "suspicious_functions": [], "cluster": null, "failing_runs": [],
            "evidence": [], "advice": "",
        }))
        .unwrap();
        finding.accesses.extend(accesses.iter().map(|(kind, variable)| -> report::Access {
            let access = serde_json::json!({
                "thread": 1, "kind": kind, "variable": variable, "function": null, "file": null, "line": null,
                "column": null, "source": null, "stack": [], "value": null, "locks": null,
            });
            serde_json::from_value(access).unwrap()
        }));
        finding
    }

    /// What is in two words of a map is no value of the map.
    #[test]
    fn a_collection_has_no_value() {
        let mut finding = finding_of(&[("read", "map"), ("write", "map")]);
        for access in &mut finding.accesses {
            let value = || Some("1".to_owned());
            (access.value, access.shown, access.old) = (value(), value(), value());
        }
        tell_as_one(&mut finding);
        let is_bare =
            |access: &report::Access| (&access.value, &access.shown, &access.old) == (&None, &None, &None);
        assert!(finding.accesses.iter().all(is_bare));
    }

    #[test]
    fn a_part_of_a_collection_is_no_pointer_to_it() {
        let raw = RawValues { value: Some(0), before: None, size: 8, points_to: [None, None] };
        let shown = |form: Form| raw.shown(&of_a_part(form));
        assert_eq!(shown(Form::Native(ValueForm::Pointer("null"))), None);
        assert_eq!(shown(Form::Native(ValueForm::Bool)).as_deref(), Some("false"));
    }

    #[test]
    fn different_variables_of_one_name_are_numbered() {
        let told = |locations: [u32; 4]| {
            let mut finding = finding_of(&["read", "write", "write", "read"].map(|kind| (kind, "name")));
            tell_apart(&mut finding, &locations.map(LocationId));
            finding.accesses.into_iter().map(|access| access.variable).collect::<Vec<_>>()
        };
        assert_eq!(told([4, 4, 5, 5]), ["name #1", "name #1", "name #2", "name #2"]);
        assert_eq!(told([4, 4, 4, 4]), ["name"; 4]);
        let mut others = finding_of(&[("read", "one"), ("write", "two"), ("signal", "changed")]);
        tell_apart(&mut others, &[4, 5].map(LocationId));
        let names: Vec<&str> = others.accesses.iter().map(|access| access.variable.as_str()).collect();
        assert_eq!(names, ["one", "two", "changed"]);
    }

    /// A line that goes on with a call names what is passed to it.
    #[test]
    fn what_is_looked_up_is_not_what_it_is_looked_up_in() {
        let name = |lines: [&str; 2], in_library: bool| {
            let mut finding = finding_of(&[("read", ""), ("write", "")]);
            for (access, line) in finding.accesses.iter_mut().zip(lines) {
                let file = if in_library { "/rustc/1/library/map.rs" } else { "src/main.rs" };
                access.source = Some(line.to_owned());
                access.stack = vec![
                    serde_json::from_value(serde_json::json!({ "function": "f", "file": file, "line": 1 }))
                        .unwrap(),
                ];
            }
            expression(&finding, &[0, 1])
        };
        let insert = "shelf.tariffs.insert(zone, cents);";
        assert_eq!(name([".get(&parcel.zone)", insert], true).as_deref(), Some("shelf.tariffs"));
        assert_eq!(name([".get(&parcel.zone)", "let zone = Zone::new();"], true), None, "it may lead there");
        let closures = [".map(|lot| lot.price)", "lot.price = amount;"];
        assert_eq!(name(closures, false).as_deref(), Some("lot.price"));
    }

    #[test]
    fn a_condition_is_nothing_that_threads_read() {
        let finding = finding_of(&[("read", "Logger::lines_"), ("wait", "Logger::some_")]);
        assert!(is_condition(&finding, "Logger::some_"));
        assert!(!is_condition(&finding, "Logger::lines_"));
    }
}
