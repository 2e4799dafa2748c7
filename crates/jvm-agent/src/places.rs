//! Places in rewritten code, numbered in the order in which classes are loaded: what a hook's number stands for.

use recording::Block;

use crate::accesses::Phase;
use crate::collections::CollectionCall;
use crate::handles::{HandleUse, Made};
use crate::intercept::Meaning;
use crate::recorder::Kind;

/// A class whose code was rewritten.
#[derive(Clone, Debug)]
pub struct Class {
    /// As in `com/shop/Cart`.
    pub name: String,
    /// Where its source is, as far as the class file tells: `com/shop/Cart.java`.
    pub file: String,
    /// Tells it from another class of the same name, the same in every run.
    pub fingerprint: [u8; 16],
    /// Bytes of code of all its methods, as it was compiled.
    pub code_bytes: u32,
}

/// A method of such a class.
#[derive(Clone, Debug)]
pub struct Method {
    /// Index into [`Places::classes`].
    pub class: u32,
    /// Its name.
    pub name: String,
    /// Where its code begins among its class's.
    pub offset: u32,
    /// Bytes of its code, as it was compiled.
    pub size: u32,
    /// First instruction of each line, ascending, as it was compiled.
    pub lines: Vec<(u16, u16)>,
}

/// A field as code names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The class in which it is looked up, as in `com/shop/Cart`.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its type.
    pub descriptor: String,
}

/// A method as code names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its name.
    pub name: String,
    /// Its type.
    pub descriptor: String,
}

/// Why a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A method begins or ends.
    Method,
    /// A call; `receiver` is the number of an intercepted class, zero for any other.
    Call {
        /// See [`crate::intercept::class_number`].
        receiver: u16,
    },
    /// An iteration of a loop begins.
    Loop,
    /// A field of an object or class is read or written.
    Field {
        /// Index into [`Places::fields`].
        field: u32,
        /// Written?
        writes: bool,
    },
    /// An array's element is read or written.
    Element {
        /// Written?
        writes: bool,
        /// Its type, as in descriptors; `A` for references and `B` for bytes and booleans.
        kind: u8,
    },
    /// A monitor is about to be entered.
    MonitorApproach {
        /// As a method that is synchronized is called. Only runs with a trial have that.
        of_method: bool,
    },
    /// A monitor was entered.
    MonitorEnter,
    /// A monitor is about to be left.
    MonitorExit,
    /// Threads that wait for an object are woken: one, or all.
    Notify {
        /// All of them?
        all: bool,
    },
    /// Elements are copied from one array to another.
    Copy,
    /// A call into the library reads or changes all elements of an array.
    Elements(Kind),
    /// A collection of the library is called.
    Collection {
        /// What that does.
        call: CollectionCall,
        /// Index of the method into [`Places::called`], if it depends on the object's class which one is meant.
        method: Option<u32>,
        /// Which part of it this is.
        phase: Phase,
    },
    /// The library writes to an object of its own, in the midst of a call.
    Inside,
    /// The same, to the counter by which iterators see that there was a change.
    Counts,
    /// A handle is called.
    Handle {
        /// What that does.
        what: HandleUse,
        /// Which part of it this is.
        phase: Phase,
    },
    /// A handle was made.
    HandleMade(Made),
    /// An object or array was made.
    Born,
    /// A collection of the library was made.
    CollectionBorn,
    /// The calling thread is about to sleep or to give way.
    Pause,
    /// A method of the Java library that means something to us.
    Intercepted(Meaning),
}

/// A place from which a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Index into [`Places::methods`].
    pub method: u32,
    /// Position of the instruction, as it was compiled.
    pub position: u16,
    /// The innermost loop around it, if loops are looked at.
    pub block: Block,
    /// Why.
    pub action: Action,
}

/// All places so far.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Classes.
    pub classes: Vec<Class>,
    /// Methods.
    pub methods: Vec<Method>,
    /// Fields.
    pub fields: Vec<Field>,
    /// Methods of collections that are called.
    pub called: Vec<Called>,
    /// Sites.
    pub sites: Vec<Site>,
}

/// How much there was at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Mark([usize; 5]);

impl Places {
    /// Everything up to now.
    pub fn mark(&self) -> Mark {
        let [classes, methods, fields] = [self.classes.len(), self.methods.len(), self.fields.len()];
        Mark([classes, methods, fields, self.sites.len(), self.called.len()])
    }

    /// Forgets what was added since.
    pub fn back_to(&mut self, mark: Mark) {
        self.classes.truncate(mark.0[0]);
        self.methods.truncate(mark.0[1]);
        self.fields.truncate(mark.0[2]);
        self.sites.truncate(mark.0[3]);
        self.called.truncate(mark.0[4]);
    }

    /// Adds a site and gives its number.
    pub fn add_site(&mut self, site: Site) -> u32 {
        self.sites.push(site);
        self.sites.len() as u32 - 1
    }

    /// The number of a field; those of the class at hand are at the end.
    pub fn add_field(&mut self, since: Mark, field: Field) -> u32 {
        number_of(&mut self.fields, since.0[2], field)
    }

    /// The number of a method that is called, likewise.
    pub fn add_called(&mut self, since: Mark, called: Called) -> u32 {
        number_of(&mut self.called, since.0[4], called)
    }
}

/// Where it is among those from `first` on, to which it is added if it is not there.
fn number_of<T: PartialEq>(all: &mut Vec<T>, first: usize, one: T) -> u32 {
    let known = all[first..].iter().position(|known| *known == one);
    let index = known.map_or(all.len(), |index| first + index);
    if known.is_none() {
        all.push(one);
    }
    index as u32
}

impl Method {
    /// As people write it: `Cart.add`, `Cart.new` for a constructor, `Cart.add.lambda` for a lambda within.
    pub fn full_name(&self, class: &Class) -> String {
        let class = short_name(&class.name);
        let lambda = self.name.strip_prefix("lambda$").and_then(|rest| rest.rsplit_once('$'));
        match (self.name.as_str(), lambda) {
            ("<init>", _) => format!("{class}.new"),
            ("<clinit>", _) => format!("{class}.static"),
            (_, Some((around, _))) => format!("{class}.{around}.lambda"),
            (name, None) => format!("{class}.{name}"),
        }
    }
}

/// A class's name without its package and the classes around it, as people write it. A class without a name keeps
/// that of the class around it: `Cart.1`.
pub fn short_name(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    let is_name = |part: &str| part.starts_with(|letter: char| !letter.is_ascii_digit());
    let parts: Vec<&str> = name.split('$').collect();
    match parts.iter().rposition(|part| is_name(part)) {
        Some(last) => parts[last..].join("."),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_as_people_do() {
        assert_eq!(short_name("com/shop/Cart"), "Cart");
        assert_eq!(short_name("com/shop/Cart$Line"), "Line");
        assert_eq!(short_name("com/shop/Cart$1"), "Cart.1");
    }

    #[test]
    fn methods_are_named_as_people_do() {
        let class =
            Class { name: "shop/Cart".to_owned(), file: String::new(), fingerprint: [0; 16], code_bytes: 0 };
        let name = |name: &str| {
            let method = Method { class: 0, name: name.to_owned(), offset: 0, size: 0, lines: Vec::new() };
            method.full_name(&class)
        };
        assert_eq!(name("add"), "Cart.add");
        assert_eq!(name("<init>"), "Cart.new");
        assert_eq!(name("<clinit>"), "Cart.static");
        assert_eq!(name("lambda$add$0"), "Cart.add.lambda");
    }
}
