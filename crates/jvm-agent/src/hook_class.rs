//! The class through which rewritten code reaches the recorder: static native methods, nothing else. It lives in
//! `java.lang`, loaded by the boot loader, so that code of every class loader and module finds it.

use crate::classfile::{ClassFile, Declaration, Pool, Refusal, access};

/// The class's name.
pub const NAME: &str = "java/lang/UnsnarlHooks";

/// A hook: a method of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The method's name; the exported symbol is `Java_java_lang_UnsnarlHooks_` and this.
    pub name: &'static str,
    /// The method's type.
    pub descriptor: &'static str,
}

const fn hook(name: &'static str, descriptor: &'static str) -> Hook {
    Hook { name, descriptor }
}

/// A method begins: its site.
pub const ENTER: Hook = hook("enter", "(I)V");
/// A synchronized method begins: the object whose monitor it holds, its site.
pub const ENTER_LOCKED: Hook = hook("enterLocked", "(Ljava/lang/Object;I)V");
/// A method ends, in whatever way: its site.
pub const EXIT: Hook = hook("exit", "(I)V");
/// A call is next.
pub const CALL: Hook = hook("call", "(I)V");
/// An iteration of a loop begins.
pub const LOOP: Hook = hook("loop", "(I)V");
/// A field is accessed next: the object, or the class of a static field.
pub const FIELD: Hook = hook("field", "(Ljava/lang/Object;I)V");
/// The same for a static field.
pub const STATIC_FIELD: Hook = hook("staticField", "(Ljava/lang/Object;I)V");
/// An array's element is accessed next: the array, the element's number.
pub const ELEMENT: Hook = hook("element", "(Ljava/lang/Object;II)V");
/// A monitor was entered, or is about to be left, or threads that wait for it are woken.
pub const MONITOR: Hook = hook("monitor", "(Ljava/lang/Object;I)V");
/// Elements are copied next: from, position, to, position, count.
pub const COPY: Hook = hook("copy", "(Ljava/lang/Object;ILjava/lang/Object;III)V");
/// A method of the library is called next that uses this object or array: see [`crate::library`].
pub const USE: Hook = hook("use", "(Ljava/lang/Object;I)V");
/// A field or element is accessed by a handle, next or just now: the handle, the object or array, the element's number
/// or the field's offset, the result.
pub const HANDLE: Hook = hook("handle", "(Ljava/lang/Object;Ljava/lang/Object;JII)V");
/// A handle was made, or an offset found out: the handle, the class or field, the name, the offset.
pub const HANDLE_MADE: Hook =
    hook("handleMade", "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;JI)V");
/// An object under construction is one, or an array was made: the object.
pub const BORN: Hook = hook("born", "(Ljava/lang/Object;I)V");
/// The thread is about to give way, or to sleep for a time that does not matter here.
pub const PAUSE: Hook = hook("pause", "(I)V");
/// The thread is about to sleep for so many milliseconds. For how long it shall sleep.
pub const SLEEP: Hook = hook("sleep", "(JI)J");
/// An intercepted method: its object, its result or an element's number.
pub const INTERCEPTED: Hook = hook("intercepted", "(Ljava/lang/Object;II)V");

/// All hooks.
pub const ALL: [Hook; 17] = [
    ENTER,
    ENTER_LOCKED,
    EXIT,
    CALL,
    LOOP,
    FIELD,
    STATIC_FIELD,
    ELEMENT,
    MONITOR,
    COPY,
    USE,
    HANDLE,
    HANDLE_MADE,
    BORN,
    PAUSE,
    SLEEP,
    INTERCEPTED,
];

/// The class as a file.
pub fn class_file() -> Result<Vec<u8>, Refusal> {
    // Public, final, and made by no compiler.
    const CLASS_ACCESS: u16 = 0x0001 | 0x0010 | 0x0020 | access::SYNTHETIC;
    const METHOD_ACCESS: u16 = 0x0001 | access::STATIC | access::NATIVE;
    /// Java 8, which every virtual machine with the interfaces that the agent needs can load.
    const VERSION: u16 = 52;
    let mut pool = Pool::empty();
    let this_class = pool.add_class(NAME)?;
    let super_class = pool.add_class("java/lang/Object")?;
    let mut methods = Vec::new();
    for hook in ALL {
        methods.push(Declaration {
            access: METHOD_ACCESS,
            name: pool.add_text(hook.name)?,
            descriptor: pool.add_text(hook.descriptor)?,
            attributes: Vec::new(),
        });
    }
    let class = ClassFile {
        version: (0, VERSION),
        pool,
        access: CLASS_ACCESS,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods,
        attributes: Vec::new(),
    };
    Ok(class.write())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back() {
        let class = ClassFile::read(&class_file().unwrap()).unwrap();
        assert_eq!(class.name(), NAME);
        assert_eq!(class.methods.len(), ALL.len());
        assert_eq!(class.pool.text(class.methods[0].name), Some(ENTER.name));
    }
}
