//! Which classes are under test.

use crate::collections::torn;
use crate::intercept;
use crate::rewrite::Scope;

/// Packages of the platform and of tools that run tests: how they work inside is not the user's business.
const NOT_UNDER_TEST: &[&str] = &[
    "java/",
    "javax/",
    "jdk/",
    "sun/",
    "com/sun/",
    "org/junit/",
    "junit/",
    "org/hamcrest/",
    "org/opentest4j/",
    "org/apiguardian/",
    "picocli/",
    "com/univocity/",
    "org/testng/",
    "org/mockito/",
    "org/assertj/",
    "net/bytebuddy/",
    "org/apache/maven/",
    "org/codehaus/plexus/",
    "org/codehaus/classworlds/",
    "org/eclipse/sisu/",
    "org/eclipse/aether/",
    "com/google/inject/",
    "org/slf4j/",
    "org/fusesource/",
    "org/jline/",
    "org/gradle/",
    "worker/org/gradle/",
    "groovy/",
    "org/groovy/",
    "kotlin/",
    "scala/",
];

/// Programs that start other virtual machines to run tests: their own runs are nobody's business either.
const BUILD_TOOLS: &[&str] = &[
    "org.codehaus.plexus.classworlds.launcher.Launcher",
    "org.gradle.wrapper.GradleWrapperMain",
    "org.gradle.launcher.GradleMain",
    "org.gradle.launcher.daemon.bootstrap.GradleDaemon",
];

/// Is this the command line of a build tool? It begins with the main class.
pub fn is_build_tool(command: &str) -> bool {
    command.split(' ').next().is_some_and(|main| BUILD_TOOLS.contains(&main))
}

/// Not as part of a package: what the virtual machine runs while it starts up and links code together would flood the
/// recording. A class of these can be named by itself, as `java.lang.StringBuffer`.
const ONLY_BY_NAME: &[&str] = &["java/lang/", "jdk/internal/", "sun/"];

/// What the user wants to have looked at besides the classes under test.
#[derive(Clone, Debug, Default)]
pub struct Included {
    /// `java/util/` for `java.util.**`, `java/util/Vector` for one class.
    patterns: Vec<Pattern>,
    /// Are loops looked at?
    pub loops: bool,
    /// Do synchronized methods enter their monitor by an instruction, so that threads can be held back before that?
    pub unlocked: bool,
    /// Does every access get an event, rather than what changes hands?
    pub every_access: bool,
}

#[derive(Clone, Debug)]
enum Pattern {
    Package(String),
    Class(String),
}

impl Included {
    /// Reads a list such as `java.util.**:com.shop.Cart`.
    pub fn parse(list: &str) -> Included {
        let patterns = list.split(':').filter(|pattern| !pattern.is_empty()).map(|pattern| {
            let path = pattern.replace('.', "/");
            match path.strip_suffix("**").or_else(|| path.strip_suffix('*')) {
                Some(package) => Pattern::Package(package.to_owned()),
                None => Pattern::Class(path),
            }
        });
        Included { patterns: patterns.collect(), ..Included::default() }
    }

    fn names(&self, class: &str) -> bool {
        let is_part = !begins_with(class, ONLY_BY_NAME);
        self.patterns.iter().any(|pattern| match pattern {
            // Everything there is, for testing the rewriter itself.
            Pattern::Package(package) if package.is_empty() => true,
            Pattern::Package(package) => is_part && class.starts_with(package.as_str()),
            // Its nested classes are meant too.
            Pattern::Class(name) => {
                class.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
            }
        })
    }

    /// Which hooks a class gets; none for one that nobody looks at.
    pub fn scope(&self, class: &str) -> Option<Scope> {
        let intercepted = intercept::of_class(class).is_some();
        // Made at run time to link a lambda to its code, which is under test by itself.
        let is_glue = class.contains("$$Lambda") || class.contains("LambdaForm") || class.contains("$Proxy");
        let is_hook = class == crate::hook_class::NAME;
        let all = !is_glue && !is_hook && (is_under_test(class) || self.names(class));
        let torn = !all && torn::is_watched(class);
        (all || intercepted || torn).then_some(Scope {
            all,
            intercepted,
            torn,
            loops: self.loops,
            unlocked: self.unlocked,
        })
    }
}

/// Is it none of the platform's classes, nor a test tool's?
pub fn is_under_test(class: &str) -> bool {
    !begins_with(class, NOT_UNDER_TEST)
}

fn begins_with(class: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| class.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_platform_is_looked_at_when_asked_for() {
        let included = Included::parse("java.util.**:javax.swing.JTable");
        let all = |class: &str| included.scope(class).is_some_and(|scope| scope.all);
        assert!(all("com/shop/Cart"));
        assert!(all("java/util/Vector") && all("java/util/concurrent/ForkJoinPool"));
        assert!(all("javax/swing/JTable") && all("javax/swing/JTable$1"));
        assert!(!all("javax/swing/JTableHeader") && !all("java/io/File"));
        assert!(!all("com/shop/Cart$$Lambda$14"));
    }

    #[test]
    fn build_tools_are_told_from_what_they_start() {
        assert!(is_build_tool("org.codehaus.plexus.classworlds.launcher.Launcher -o test"));
        assert!(!is_build_tool("worker.org.gradle.process.internal.worker.GradleWorkerMain 'Gradle Test'"));
        assert!(!is_build_tool("com.shop.Main"));
    }

    #[test]
    fn what_the_virtual_machine_needs_is_left_alone() {
        let included = Included::parse("java.**:java.lang.StringBuffer");
        assert_eq!(included.scope("java/lang/String"), None);
        assert_eq!(included.scope("java/lang/StringBuilder"), None);
        assert!(included.scope("java/lang/StringBuffer").unwrap().all);
        let thread = included.scope("java/lang/Thread").unwrap();
        assert!(thread.intercepted && !thread.all);
    }
}
