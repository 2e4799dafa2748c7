//! What is different about tests that run on a Java virtual machine.

use std::ffi::OsString;
use std::path::PathBuf;

use runner::{Instrumentation, Target};

use crate::args::RunArguments;

/// What the virtual machine prints about a thread that ends by an exception. Its exit status tells of the main
/// thread's only.
pub const UNCAUGHT_EXCEPTION: &str = r#"^Exception in thread ""#;

/// Tells the agent which classes to look at besides those under test.
const INCLUDE: &str = "UNSNARL_JVM_INCLUDE";

/// Tells it to look at loops.
const LOOPS: &str = "UNSNARL_JVM_LOOPS";

/// Can the command start a Java virtual machine?
pub fn may_run_in(target: &Target) -> bool {
    matches!(target.instrumentation, Instrumentation::Jvm | Instrumentation::Launcher)
}

/// Is this an option whose value is a word of its own?
pub fn has_value(word: &str) -> bool {
    const WITH_VALUE: [&str; 9] = [
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--add-modules",
        "--add-opens",
        "--add-exports",
        "--add-reads",
    ];
    WITH_VALUE.contains(&word)
}

/// Where sources are looked for: here, and where Java projects keep theirs, since class files name them by package.
pub fn source_roots() -> Vec<PathBuf> {
    let folders = ["", "src/main/java", "src/test/java", "src"];
    let here = std::env::current_dir();
    here.iter().flat_map(|here| folders.map(|folder| here.join(folder))).collect()
}

/// What a session of this command is named after: the class or archive that is run, not `java`.
pub fn subject(target: &Target, arguments: &[OsString]) -> Option<OsString> {
    if target.instrumentation != Instrumentation::Jvm {
        return None;
    }
    let mut words = arguments.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if has_value(&word) {
            words.next();
        } else if !word.starts_with(['-', '@']) {
            let name = word.strip_suffix(".jar").or(word.strip_suffix(".java")).unwrap_or(&word);
            return name.rsplit(['.', '/']).next().map(OsString::from);
        }
    }
    None
}

/// The environment of a run, with what the agent has to know.
pub fn environment(
    arguments: &RunArguments,
    mut environment: Vec<(OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    if !arguments.java.include.is_empty() {
        environment.push((INCLUDE.into(), arguments.java.include.join(":").into()));
    }
    if arguments.java.loops {
        environment.push((LOOPS.into(), "1".into()));
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn sessions_are_named_after_what_is_run() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "").unwrap();
        std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut target = Target::find(script.as_os_str()).unwrap();
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(subject(&target, &words("-cp x Main")), None);
        target.instrumentation = Instrumentation::Jvm;
        let named = |line: &str| subject(&target, &words(line));
        assert_eq!(named("-cp lib/a.jar -Xmx1g com.shop.Main 7").as_deref(), Some(OsStr::new("Main")));
        assert_eq!(named("-jar build/shop.jar").as_deref(), Some(OsStr::new("shop")));
        assert_eq!(named("-version"), None);
    }
}
