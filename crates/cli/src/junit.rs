//! `unsnarl run --junit CartTest#adds -- …`: one JUnit test, however the project runs its tests. The command that comes
//! behind is told which test to run, in its own way; its exit status then is that test's result.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::args::RunArguments;
use crate::exit::Complaint;
use crate::java::has_value;
use crate::run;

/// The class that runs tests of JUnit 5, and of JUnit 4 with its vintage engine.
const CONSOLE: &str = "org.junit.platform.console.ConsoleLauncher";
/// The class that runs whole test classes of JUnit 4.
const CORE: &str = "org.junit.runner.JUnitCore";

/// A test class, or one of its tests.
struct Test<'a> {
    class: &'a str,
    method: Option<&'a str>,
}

impl Test<'_> {
    /// Reads `com.shop.CartTest#adds`, `CartTest.adds` being another class.
    fn parse(text: &str) -> Result<Test<'_>, Complaint> {
        let (class, method) = match text.split_once('#') {
            Some((class, method)) => (class, Some(method.trim_end_matches("()"))),
            None => (text, None),
        };
        let is_name = |name: &str| {
            let plain = |c: char| c.is_alphanumeric() || "_$.".contains(c);
            !name.is_empty() && name.chars().all(plain)
        };
        if is_name(class) && method.is_none_or(is_name) {
            return Ok(Test { class, method });
        }
        Err(Complaint::usage(format!("`{text}` names no test; say it as in com.shop.CartTest#adds")))
    }
}

/// The arguments with a command that runs the test they name alone, in a session of that name.
pub fn applied(mut arguments: RunArguments) -> anyhow::Result<RunArguments> {
    if let Some(test) = arguments.java.junit.take() {
        arguments.command = command(&arguments.command, &test)?;
        let short = test.rsplit_once('.').map_or(test.as_str(), |(_, short)| short);
        arguments.session.get_or_insert_with(|| run::session_name(&short.replace('#', ".")));
    }
    Ok(arguments)
}

/// The command with what makes it run this test alone.
fn command(command: &[OsString], test: &str) -> Result<Vec<OsString>, Complaint> {
    let test = Test::parse(test)?;
    let program = command.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
    let added = match program.to_string_lossy().as_ref() {
        "mvn" | "mvnw" | "mvnd" => maven(&command[1..], &test),
        "gradle" | "gradlew" => gradle(&command[1..], &test),
        "java" => launcher(&command[1..], &test)?,
        other => {
            let what = format!("--junit does not know how `{other}` is told which test to run");
            return Err(Complaint {
                advice: "  it knows java, mvn and gradle; else name the test in the command itself",
                ..Complaint::usage(what)
            });
        }
    };
    Ok(command.iter().cloned().chain(added.into_iter().map(OsString::from)).collect())
}

/// Options of Maven and of Gradle whose value is a word of its own.
const MAVEN_VALUES: [&str; 9] = ["-f", "-pl", "-P", "-s", "-gs", "-t", "-l", "-T", "-rf"];
const GRADLE_VALUES: [&str; 6] = ["-p", "-b", "-c", "-g", "-I", "-x"];

/// Is there a word that is no option, nor an option's value?
fn has_goal(words: &[OsString], with_value: &[&str]) -> bool {
    let mut words = words.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if with_value.contains(&word.as_ref()) {
            words.next();
        } else if !word.starts_with('-') {
            return true;
        }
    }
    false
}

fn maven(words: &[OsString], test: &Test) -> Vec<String> {
    let name = test.method.map_or(test.class.to_owned(), |method| format!("{}#{method}", test.class));
    let goal = (!has_goal(words, &MAVEN_VALUES)).then(|| "test".to_owned());
    // Old and new versions of its plugin have a flag of their own for a test that is not there.
    let flags = [
        format!("-Dtest={name}"),
        "-DfailIfNoTests=true".to_owned(),
        "-Dsurefire.failIfNoSpecifiedTests=true".to_owned(),
    ];
    goal.into_iter().chain(flags).collect()
}

fn gradle(words: &[OsString], test: &Test) -> Vec<String> {
    let name = test.method.map_or(test.class.to_owned(), |method| format!("{}.{method}", test.class));
    let selection = ["--tests".to_owned(), name];
    if !has_goal(words, &GRADLE_VALUES) {
        return ["cleanTest", "test"].map(str::to_owned).into_iter().chain(selection).collect();
    }
    // It would remember that the test has passed, unless it forgets it afterwards: `:app:test` by `:app:cleanTest`.
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let task = words.iter().rev().find_map(|word| word.strip_suffix("test"));
    let task = task.filter(|project| project.is_empty() || project.ends_with(':'));
    let forgets = task.map(|project| format!("{project}cleanTest"));
    let is_told = |task: &String| words.iter().any(|word| word == task);
    selection.into_iter().chain(forgets.filter(|task| !is_told(task))).collect()
}

fn launcher(words: &[OsString], test: &Test) -> Result<Vec<String>, Complaint> {
    let class_path = class_path(words);
    if has_main_class(words) {
        return Err(Complaint::usage(
            "--junit brings a main class of its own: leave yours out, as in java -cp classes:junit.jar"
                .to_owned(),
        ));
    }
    if class_path.iter().any(|entry| has_class(entry, CONSOLE)) {
        let select = match test.method {
            Some(method) => format!("--select-method={}#{method}", test.class),
            None => format!("--select-class={}", test.class),
        };
        let flags = ["--fail-if-no-tests", "--disable-banner", "--details=tree"].map(str::to_owned);
        return Ok([CONSOLE.to_owned(), select].into_iter().chain(flags).collect());
    }
    let is_junit_4 = class_path.iter().any(|entry| has_class(entry, CORE));
    match (is_junit_4, test.method) {
        (true, None) => Ok(vec![CORE.to_owned(), test.class.to_owned()]),
        (true, Some(_)) => Err(Complaint {
            advice: "  put junit-platform-console-standalone.jar on the class path, or name the class alone",
            ..Complaint::usage("JUnit 4 by itself runs whole classes, not single tests".to_owned())
        }),
        (false, _) => Err(Complaint {
            advice: "  put junit-platform-console-standalone.jar on it, as in java -cp classes:junit.jar",
            ..Complaint::usage("there is no JUnit on the class path".to_owned())
        }),
    }
}

/// The folders and archives of the class path: the last that is told counts, or else the environment's.
fn class_path(words: &[OsString]) -> Vec<PathBuf> {
    let flags = ["-cp", "-classpath", "--class-path"].map(OsStr::new);
    let joined = |word: &OsString| word.to_str()?.strip_prefix("--class-path=").map(OsString::from);
    let told = (0..words.len()).rev().find_map(|at| match flags.contains(&words[at].as_os_str()) {
        true => words.get(at + 1).cloned(),
        false => joined(&words[at]),
    });
    let value = told.or_else(|| std::env::var_os("CLASSPATH")).unwrap_or_default();
    std::env::split_paths(&value).flat_map(archives).collect()
}

/// `lib/*` stands for all archives in a folder.
fn archives(entry: PathBuf) -> Vec<PathBuf> {
    if entry.file_name() != Some(OsStr::new("*")) {
        return vec![entry];
    }
    let folder = entry.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let all = fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    all.filter(|file| file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jar")))
        .collect()
}

fn has_main_class(words: &[OsString]) -> bool {
    let mut words = words.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if has_value(&word) {
            words.next();
        } else if !word.starts_with(['-', '@']) || word == "-jar" {
            return true;
        }
    }
    false
}

/// Does a folder or archive hold this class? An archive has the names of its files in plain text at its end.
fn has_class(entry: &Path, class: &str) -> bool {
    let file = format!("{}.class", class.replace('.', "/"));
    if entry.is_dir() {
        return entry.join(file).is_file();
    }
    let content = fs::read(entry).unwrap_or_default();
    content.windows(file.len()).any(|window| window == file.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn told(line: &str, test: &str) -> Result<String, String> {
        let joined = |all: Vec<OsString>| all.join(OsStr::new(" ")).to_string_lossy().into_owned();
        command(&words(line), test).map(joined).map_err(|complaint| complaint.what)
    }

    #[test]
    fn build_tools_are_told_in_their_own_way() {
        let maven =
            "mvn -q test -Dtest=a.CartTest#adds -DfailIfNoTests=true -Dsurefire.failIfNoSpecifiedTests=true";
        assert_eq!(told("mvn -q", "a.CartTest#adds").unwrap(), maven);
        assert_eq!(told("mvn -q test", "a.CartTest#adds()").unwrap(), maven);
        let gradle = "./gradlew cleanTest test --tests a.CartTest.adds";
        assert_eq!(told("./gradlew", "a.CartTest#adds").unwrap(), gradle);
        assert_eq!(told("./gradlew cleanTest test", "a.CartTest#adds").unwrap(), gradle);
        let gradle = "gradle -q :app:test --tests CartTest.adds :app:cleanTest";
        assert_eq!(told("gradle -q :app:test", "CartTest#adds").unwrap(), gradle);
        assert_eq!(told("gradle latest", "CartTest").unwrap(), "gradle latest --tests CartTest");
        assert_eq!(told("gradle -p app", "T").unwrap(), "gradle -p app cleanTest test --tests T");
        assert!(told("mvn -pl app", "T").unwrap().starts_with("mvn -pl app test -Dtest=T "));
    }

    #[test]
    fn the_launcher_is_looked_for_on_the_class_path() {
        let folder = tempfile::tempdir().unwrap();
        let jar = folder.path().join("junit.jar");
        let line = format!("java -ea -cp classes:{}", jar.display());
        fs::write(&jar, "PK…org/junit/runner/JUnitCore.class…").unwrap();
        assert_eq!(told(&line, "CartTest").unwrap(), format!("{line} {CORE} CartTest"));
        assert!(told(&line, "CartTest#adds").unwrap_err().contains("whole classes"));
        fs::write(&jar, "PK…org/junit/platform/console/ConsoleLauncher.class…").unwrap();
        let all = told(&line, "CartTest#adds").unwrap();
        assert!(all.starts_with(&format!("{line} {CONSOLE} --select-method=CartTest#adds ")), "{all}");
        for flag in ["-cp x -cp ", "--class-path=x:"] {
            let line = format!("java {flag}{}/*", folder.path().display());
            assert!(told(&line, "CartTest").unwrap().contains(CONSOLE), "{line}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(told("java -cp classes", "CartTest").unwrap_err().contains("no JUnit"));
        assert!(told("java -cp classes Main", "CartTest").unwrap_err().contains("main class"));
        assert!(told("./run.sh", "CartTest").unwrap_err().contains("run.sh"));
        assert!(told("mvn", "CartTest#").unwrap_err().contains("names no test"));
        assert!(told("mvn", "rm -rf").unwrap_err().contains("names no test"));
    }
}
