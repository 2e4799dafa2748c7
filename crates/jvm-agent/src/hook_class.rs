//! The class through which rewritten code reaches the recorder. It lives in `java.lang`, loaded by the boot loader, so that
//! code of every class loader and module finds it.

/// The class's name.
pub const NAME: &str = "java/lang/UnsnarlHooks";

/// A hook: a method of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The method's name.
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
/// A method of the library is called next that uses all of this array: see [`crate::library`].
pub const ELEMENTS: Hook = hook("elements", "(Ljava/lang/Object;I)V");
/// A collection is called, next or just now: it, the key, the element's number.
pub const COLLECTION: Hook = hook("collection", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
/// The same for an object of a class under test, which may be a collection by what that extends.
pub const OWN_COLLECTION: Hook = hook("ownCollection", "(Ljava/lang/Object;Ljava/lang/Object;II)V");
/// In the midst of a call, the library writes to this object next.
pub const INSIDE: Hook = hook("inside", "(Ljava/lang/Object;I)V");
/// A call of this collection, which others may have got into, is over.
pub const OVER: Hook = hook("over", "(Ljava/lang/Object;I)V");
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
pub const ALL: [Hook; 21] = [
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
    ELEMENTS,
    COLLECTION,
    OWN_COLLECTION,
    INSIDE,
    OVER,
    HANDLE,
    HANDLE_MADE,
    BORN,
    PAUSE,
    SLEEP,
    INTERCEPTED,
];

/// The class as a file: hook-class/java/lang/UnsnarlHooks.java, compiled, so that nobody needs a compiler for Java to build
/// the agent. A test compiles it again.
pub const CLASS_FILE: &[u8] = include_bytes!("../hook-class/UnsnarlHooks.class");

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::classfile::ClassFile;

    #[test]
    fn it_has_all_hooks() {
        let class = ClassFile::read(CLASS_FILE).unwrap();
        assert_eq!(class.name(), NAME);
        for hook in ALL {
            let is_it = |method: &&crate::classfile::Declaration| {
                let texts = [method.name, method.descriptor].map(|number| class.pool.text(number));
                texts == [Some(hook.name), Some(hook.descriptor)]
            };
            assert!(class.methods.iter().any(|method| is_it(&method)), "{}", hook.name);
        }
    }

    /// Prints the command by which it was made.
    #[test]
    fn it_is_what_its_source_says() {
        let version = Command::new("javac").arg("-version").output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        if !version.is_ok_and(|version| version.starts_with("javac 17.")) {
            eprintln!("SKIPPED it_is_what_its_source_says: there is no javac 17");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("hook-class");
        let mut javac = Command::new("javac");
        javac.args(["-source", "11", "-target", "11", "-g:none", "-Xlint:-options", "-XDignore.symbol.file"]);
        javac.args(["--patch-module", "java.base=.", "-d"]).arg(folder.path());
        javac.arg("java/lang/UnsnarlHooks.java").current_dir(&source);
        eprintln!("{javac:?}");
        assert!(javac.status().unwrap().success());
        let compiled = std::fs::read(folder.path().join("java/lang/UnsnarlHooks.class")).unwrap();
        assert!(compiled == CLASS_FILE, "hook-class/UnsnarlHooks.class is older than its source");
    }
}
