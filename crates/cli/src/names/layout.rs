//! Names by where things lie in an object: beside a lock that is held, or in a block whose type the source tells.

use localize::profile::Block;
use localize::{Access, Code, Profile, SiteId};
use report::Frame;
use report::expression::last_name;
use runner::{BuildId, Named, TypePlace};

use super::Names;

/// A member of an object, by the object's type.
#[derive(Clone, Debug)]
pub(crate) struct LaidOut {
    /// The whole name: `Histogram::count_`, `pool->idle`.
    pub(crate) name: Named,
    /// The last name in it.
    pub(crate) field: String,
}

impl Names {
    /// What an access is about, by its distance from a lock of the same object that is held, or from the start of its heap
    /// block.
    pub(crate) fn laid_out(&mut self, access: &Access, profile: &Profile, code: &Code) -> Option<LaidOut> {
        self.beside_lock(access, profile, code).or_else(|| self.in_block(access, profile, code))
    }

    fn beside_lock(&mut self, access: &Access, profile: &Profile, code: &Code) -> Option<LaidOut> {
        let location = &profile.locations[access.location.0 as usize];
        for lock in profile.run.held(access).unwrap_or_default() {
            let Some(frame) = self.own_frame(lock.taken_at, code) else { continue };
            let Some(line) = self.source_line(&frame).filter(|_| !is_rust(&frame)) else { continue };
            let Some(site) = self.own_site(lock.taken_at, code) else { continue };
            let Some(expression) = the_only_lock(&line) else { continue };
            let field = last_name(expression);
            let Some(owner) = self.owner_of(field, frame.function.as_deref(), site, code) else { continue };
            let address = profile.objects[lock.object.0 as usize].address;
            let behind = location.address.wrapping_sub(address) as i64;
            let place = TypePlace { owner: &owner, member: Some(field), behind };
            let Some(part) = self.part_of(site, place, location.size, code) else { continue };
            // In C an expression says more than a type does.
            let is_c = frame.file.as_deref().is_some_and(|file| file.ends_with(".c") || file.ends_with(".h"));
            let object = match expression.strip_suffix(field) {
                Some(object) if is_c && !object.is_empty() => object.to_owned(),
                _ => format!("{owner}::"),
            };
            return Some(laid_out(&object, part));
        }
        None
    }

    fn in_block(&mut self, access: &Access, profile: &Profile, code: &Code) -> Option<LaidOut> {
        let location = &profile.locations[access.location.0 as usize];
        let block = location.block?;
        let frame = self.own_frame(block.allocated_at, code).filter(|frame| !is_rust(frame))?;
        self.member_of(block, &frame, location.size, code)
    }

    /// A place in a block of Rust's, by the type of what is behind an `Arc` or in a `Box`. What a line says of a place within a collection tells
    /// more, so this is for what no line has a name for.
    pub(super) fn in_rust_block(&mut self, block: Block, frame: &Frame, code: &Code) -> Option<String> {
        let found = self.member_of(block, frame, 0, code).filter(|_| is_rust(frame))?;
        let name = found.name.name;
        // How a collection keeps its elements is its own matter.
        let own = name.find(".buf.").or_else(|| name.find(".base."));
        Some(own.map_or(name.as_str(), |inside| &name[..inside]).to_owned())
    }

    /// What lies in a block, by the type that the line of its allocation names.
    fn member_of(&mut self, block: Block, frame: &Frame, size: u32, code: &Code) -> Option<LaidOut> {
        let line = self.source_line(frame)?;
        let allocated = report::allocated_type(&line)?;
        let behind = i64::from(block.offset.checked_sub(allocated.offset)?);
        let own = || report::enclosing_type(frame.function.as_deref()?);
        let owner = match allocated.type_name {
            "Self" => own()?,
            name => name.to_owned(),
        };
        let place = TypePlace { owner: &owner, member: None, behind };
        let site = self.own_site(block.allocated_at, code)?;
        let part = self.part_of(site, place, size, code)?;
        let is_c = frame.file.as_deref().is_some_and(|file| file.ends_with(".c"));
        let joint = if is_c || is_rust(frame) { "." } else { "::" };
        Some(laid_out(&format!("{owner}{joint}"), part))
    }

    /// The type that has a member of this name: that of the function, or the only one.
    fn owner_of(&mut self, field: &str, function: Option<&str>, site: SiteId, code: &Code) -> Option<String> {
        let members = self.members(site, field, code);
        if let Some(class) = function.and_then(report::enclosing_type)
            && members.iter().any(|member| member.is_of(&class))
        {
            return Some(class);
        }
        let mut owners: Vec<String> = members.into_iter().filter_map(|member| member.owner).collect();
        owners.dedup();
        if owners.len() == 1 { owners.pop() } else { None }
    }

    fn part_of(&mut self, site: SiteId, place: TypePlace<'_>, size: u32, code: &Code) -> Option<Named> {
        let site = code.site(site);
        let module = code.module(site.module?);
        let build_id = BuildId::from_bytes(&module.build_id);
        let path = std::path::Path::new(&module.path);
        let address = site.address.saturating_sub(1);
        self.symbolizer.part_of(path, build_id.as_ref(), address, place, size.into()).ok()?
    }
}

/// The lock that is taken on a line that takes no other.
fn the_only_lock(line: &str) -> Option<&str> {
    let expression = report::locked_expression(line)?;
    let rest = &line[line.find(expression)? + expression.len()..];
    report::locked_expression(rest).is_none().then_some(expression)
}

fn is_rust(frame: &Frame) -> bool {
    frame.file.as_deref().is_some_and(|file| file.ends_with(".rs"))
}

fn laid_out(object: &str, part: Named) -> LaidOut {
    let path = part.name.trim_start_matches('.');
    let field = last_name(path).to_owned();
    LaidOut { name: Named { name: format!("{object}{path}"), form: part.form }, field }
}
