//! Names for what debug info has no name for, by what the source calls it where it is accessed.

use localize::{Access, Code, LocationId, Profile, SiteId};
use report::expression::{Place, last_name, shared_expression};

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
    guards: Vec<Guard>,
    laid_out: Option<LaidOut>,
}

impl Unnamed {
    /// Remembers an access until the source is known.
    pub fn of(access: &Access, profile: &Profile, code: &Code, names: &mut Names) -> Self {
        let block = profile.locations[access.location.0 as usize].block;
        Self {
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
        let (name, form) = match (expression, layout) {
            (Some(text), _) => {
                let known = known(&text, access, key, code, names);
                (Some(known.name), known.form)
            }
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
        for &other in &same {
            show(&mut finding.accesses[other], &recorded[other].raw, &name, &form);
        }
        name_compared(finding, index, &name, &form, compared);
    }
}

/// What has no name anywhere, by the first place that it is accessed at.
fn unnamed(access: &report::Access, key: &Unnamed) -> String {
    let file = access.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
    match (file, access.line) {
        (Some(file), Some(line)) => format!("variable at {file}:{line}"),
        _ => format!("{} bytes of the heap or a stack", key.raw.size),
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
    let places: Vec<Place<'_>> = used
        .map(|access| {
            Some(Place {
                line: access.source.as_deref()?,
                column: access.column,
                writes: access.kind == report::AccessKind::Write,
            })
        })
        .collect::<Option<_>>()?;
    shared_expression(&places)
}

/// The only member of the object that a method is called on, among those of the right size, that is on the line of one
/// of these accesses.
fn own_member(
    finding: &report::Finding,
    accesses: &[usize],
    recorded: &[Unnamed],
    code: &Code,
    names: &mut Names,
) -> Option<Known> {
    for &index in accesses.iter().filter(|&&index| !finding.accesses[index].frees) {
        let (access, key) = (&finding.accesses[index], &recorded[index]);
        let Some(class) = access.function.as_deref().and_then(report::enclosing_type) else { continue };
        let Some(line) = access.source.as_deref() else { continue };
        let mut own: Vec<&str> = report::expression::expressions(line)
            .filter(|text| {
                let members = names.members(key.site, last_name(text), code);
                let fits = |size: u64| size == u64::from(key.raw.size);
                let is_plain = |value: &Option<(u64, _)>| value.as_ref().is_none_or(|(size, _)| fits(*size));
                members.iter().any(|member| member.is_of(&class) && is_plain(&member.value))
            })
            .collect();
        own.dedup();
        if let [only] = own.as_slice() {
            return Some(known(only, access, key, code, names));
        }
    }
    None
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
    let in_library = access.stack.first().is_some_and(report::Frame::is_library);
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
