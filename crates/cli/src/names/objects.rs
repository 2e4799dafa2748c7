//! Names for locks, conditions and threads.

use std::collections::BTreeSet;

use localize::{Access, Action, Code, ObjectId, Profile, SiteId, StackId, Standstill, SyncTarget, ThreadId};
use report::Frame;

use super::{DistinctNames, Names, openmp};

/// A lock that is held through a variable of its own.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    /// The variable.
    pub(crate) binding: String,
    /// The lock, as the source calls it there.
    pub(crate) expression: String,
    /// The function there.
    pub(crate) function: Option<String>,
    /// Where it was taken.
    pub(crate) site: SiteId,
    /// How far behind the lock the access was, in bytes.
    pub(crate) behind_lock: i64,
}

impl Names {
    /// A lock, condition or the like: its variable, or what the source calls it where it was first taken.
    pub fn object(&mut self, object: ObjectId, profile: &Profile, code: &Code) -> String {
        self.known_object(object, profile, code)
            .unwrap_or_else(|| format!("lock at {:#x}", profile.objects[object.0 as usize].address))
    }

    /// Whether more is known of a lock, condition or the like than its address.
    pub fn is_named(&mut self, object: ObjectId, profile: &Profile, code: &Code) -> bool {
        self.known_object(object, profile, code).is_some()
    }

    fn known_object(&mut self, object: ObjectId, profile: &Profile, code: &Code) -> Option<String> {
        if let Some(given) = profile.names.objects.get(&object) {
            return Some(given.clone());
        }
        if let Some(name) = self.static_object(object, profile, code) {
            return Some(name);
        }
        let taken =
            profile.run.locksets.iter().filter_map(|set| set.last()).find(|lock| lock.object == object);
        if let Some(lock) = taken {
            let called = self.called(lock.taken_at, report::locked_expression, code);
            return called.or_else(|| Some(format!("lock taken at {}", self.place_of(lock.taken_at, code))));
        }
        let is_meant = |target: SyncTarget| target == SyncTarget::Object(object);
        let waits = profile.run.waits.iter().filter(|wait| is_meant(wait.target)).map(|wait| wait.stack);
        let events = profile.run.synchronization.iter().filter(|event| is_meant(event.target));
        let stacks: BTreeSet<StackId> = waits.chain(events.map(|event| event.stack)).collect();
        stacks.into_iter().find_map(|stack| self.called(stack, report::condition_expression, code))
    }

    /// What the source calls a lock or the like where it is used, by the function that finds its name on a line.
    fn called(
        &mut self,
        stack: StackId,
        expression: fn(&str) -> Option<&str>,
        code: &Code,
    ) -> Option<String> {
        let frame = self.own_frame(stack, code)?;
        let site = self.own_site(stack, code)?;
        let line = self.source_line(&frame)?;
        let statement = frame.column.map_or(&*line, |column| report::statement_at(&line, column));
        let expression = expression(statement).or_else(|| expression(&line))?;
        let (function, file) = (frame.function.as_deref(), frame.file.as_deref());
        let own = self.qualified(expression, function, file, site, code);
        let own = own.or_else(|| self.by_its_type(expression, file, site, code));
        Some(own.unwrap_or_else(|| expression.to_owned()))
    }

    /// A lock or the like with static storage.
    fn static_object(&mut self, object: ObjectId, profile: &Profile, code: &Code) -> Option<String> {
        let (module, address) = profile.objects[object.0 as usize].in_module?;
        let named = self.variable(module, address, 0, code)?;
        Some(openmp::region(&named.name).unwrap_or_else(|| without_internals(&named.name).to_owned()))
    }

    /// A member of an object that one function calls this and another one that, by the only type that has it:
    /// `Fork::mutex` for `first.mutex`. In C, where names are longer, the expression says more.
    fn by_its_type(
        &mut self,
        expression: &str,
        file: Option<&str>,
        site: SiteId,
        code: &Code,
    ) -> Option<String> {
        let joint = match file?.rsplit('.').next()? {
            "rs" => ".",
            "c" | "h" => return None,
            _ => "::",
        };
        let field = report::expression::last_name(expression);
        // Types without names for their fields have them all alike.
        if field.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        let mut owners: Vec<String> =
            self.members(site, field, code).into_iter().filter_map(|member| member.owner).collect();
        owners.dedup();
        match owners.as_slice() {
            [owner] if field != expression => Some(format!("{owner}{joint}{field}")),
            _ => None,
        }
    }

    /// The locks held at an access whose guards have names: these name what the locks guard.
    pub(crate) fn guards(&mut self, access: &Access, profile: &Profile, code: &Code) -> Vec<Guard> {
        let address = profile.locations[access.location.0 as usize].address;
        let mut guards = Vec::new();
        for lock in profile.run.held(access).unwrap_or_default() {
            let Some(frame) = self.own_frame(lock.taken_at, code) else { continue };
            let Some(line) = self.source_line(&frame) else { continue };
            if let (Some(binding), Some(expression)) =
                (report::binding(&line), report::locked_expression(&line))
            {
                let lock_address = profile.objects[lock.object.0 as usize].address;
                guards.push(Guard {
                    binding: binding.to_owned(),
                    expression: expression.to_owned(),
                    function: frame.function.clone(),
                    site: self.own_site(lock.taken_at, code).unwrap_or(lock.taken_in),
                    behind_lock: address.wrapping_sub(lock_address) as i64,
                });
            }
        }
        guards
    }

    /// What threads did on the way into a standstill, in words. Different objects of the same name get numbers.
    pub fn standstill(
        &mut self,
        standstill: &Standstill,
        profile: &Profile,
        code: &Code,
    ) -> Vec<report::Access> {
        let objects = standstill.steps.iter().filter_map(|step| step.action.object());
        let objects = DistinctNames::of(objects, self, profile, code);
        let mut accesses = Vec::new();
        for step in &standstill.steps {
            let kind = match step.action {
                Action::Read(index) | Action::Write(index) => {
                    accesses.push(self.access(&profile.run.accesses[index], step.role, profile, code));
                    continue;
                }
                Action::Lock(_) => report::AccessKind::Lock,
                Action::Signal(_) => report::AccessKind::Signal,
                Action::Wait(_) => report::AccessKind::Wait,
            };
            let variable = step.action.object().map(|object| objects.get(object)).unwrap_or_default();
            let access = self.step(kind, step.role, step.site, step.stack, code);
            accesses.push(report::Access { variable, ..access });
        }
        accesses
    }

    /// Who a thread is, of which an access is known.
    pub fn thread_role(
        &mut self,
        thread: ThreadId,
        access: &report::Access,
        profile: &Profile,
        code: &Code,
    ) -> report::ThreadRole {
        let known = &profile.threads[thread.0 as usize];
        // What starts threads in the libraries is the same for all of them.
        let start = access.stack.iter().rev().find(|frame| frame.line.is_some() && !frame.is_library());
        report::ThreadRole {
            thread: access.thread,
            name: Some(known.name.clone()).filter(|name| !name.is_empty()),
            start: start.and_then(|frame| frame.function.clone()),
            created_at: known.created_at.map(|stack| self.place_of(stack, code)),
            creation: known.created_at.map(|stack| self.stack(code.stack(stack), code)).unwrap_or_default(),
        }
    }

    /// The functions of the program's own that take a lock.
    pub fn functions_that_take(
        &mut self,
        lock: ObjectId,
        profile: &Profile,
        code: &Code,
    ) -> BTreeSet<String> {
        let held = profile.run.locksets.iter().flatten().filter(|held| held.object == lock);
        let stacks: BTreeSet<StackId> = held.map(|held| held.taken_at).collect();
        stacks.into_iter().filter_map(|stack| self.own_frame(stack, code)?.function).collect()
    }

    /// The functions called from these lines that take one of these locks themselves.
    pub fn takers(
        &mut self,
        locks: &[ObjectId],
        place: &report::FixPlace,
        profile: &Profile,
        code: &Code,
    ) -> Vec<String> {
        let mut stacks: Vec<StackId> = Vec::new();
        for lock in profile.run.locksets.iter().flatten().filter(|lock| locks.contains(&lock.object)) {
            if !stacks.contains(&lock.taken_at) {
                stacks.push(lock.taken_at);
            }
        }
        let mut takers = BTreeSet::new();
        // A Java monitor may be taken again by who holds it.
        if locks.iter().any(|lock| profile.names.objects.contains_key(lock)) {
            return Vec::new();
        }
        for stack in stacks {
            let frames = self.stack(code.stack(stack), code);
            let own: Vec<&Frame> =
                frames.iter().filter(|frame| frame.line.is_some() && !frame.is_library()).collect();
            let is_called = own.iter().skip(1).any(|frame| {
                frame.file.as_deref() == Some(place.file.as_str())
                    && frame.function == place.function
                    && frame.line.is_some_and(|line| (place.first_line..=place.last_line).contains(&line))
            });
            if is_called {
                takers.extend(own.first().and_then(|frame| frame.function.clone()));
            }
        }
        takers.into_iter().collect()
    }
}

/// A lock's name without the members inside it, which have names that C reserves for its own library:
/// `queue.lock` for `queue.lock.__data.__lock`.
fn without_internals(name: &str) -> &str {
    let is_reserved = |member: &str| {
        let mut letters = member.chars();
        letters.next() == Some('_') && letters.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase())
    };
    // The same for Rust's own locks and parking_lot's, whose members have ordinary names.
    const INSIDES: [&str; 3] = [".inner.futex", ".inner.state", ".raw.state"];
    if let Some(inside) = INSIDES.iter().find_map(|inside| name.find(inside)) {
        return &name[..inside];
    }
    let members = name.match_indices('.').map(|(dot, _)| dot);
    members.into_iter().find(|dot| is_reserved(&name[dot + 1..])).map_or(name, |dot| &name[..dot])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_named_without_their_insides() {
        assert_eq!(without_internals("queue.lock.__data.__lock"), "queue.lock");
        assert_eq!(without_internals("shards[3]._M_mutex.__data"), "shards[3]");
        assert_eq!(without_internals("cache::CACHE.inner.futex.v.value"), "cache::CACHE");
        assert_eq!(without_internals("_lock"), "_lock");
        assert_eq!(without_internals("queue._lock"), "queue._lock");
    }
}
