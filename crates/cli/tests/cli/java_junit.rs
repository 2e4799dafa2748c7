//! Tests of JUnit, by its own launchers and by build tools.

use std::path::Path;

use crate::kit::{Workplace, present, skip};

const CART_TEST: &str = r#"
import org.junit.jupiter.api.Test;
import static org.junit.jupiter.api.Assertions.assertEquals;
class CartTest {
    int items;
    @Test void adds() throws Exception {
        Thread other = new Thread(this::addThree);
        other.start();
        addThree();
        other.join();
        assertEquals(6, items);
    }
    void addThree() {
        for (int i = 0; i < 3; i++) {
            items++;
        }
    }
    @Test void isNotAsked() {
        throw new IllegalStateException("not asked for");
    }
}
"#;

/// Where Debian keeps JUnit 5, or wherever this variable says.
fn junit() -> Option<String> {
    let folder = std::env::var("UNSNARL_TEST_JUNIT").unwrap_or("/usr/share/java".to_owned());
    let names = [
        "junit-jupiter-api",
        "junit-jupiter-engine",
        "junit-platform-console",
        "junit-platform-launcher",
        "junit-platform-engine",
        "junit-platform-commons",
        "junit-platform-reporting",
        "opentest4j",
        "apiguardian-api",
        "picocli",
    ];
    let jars: Vec<String> = names.iter().map(|name| format!("{folder}/{name}.jar")).collect();
    let missing = jars.iter().find(|jar| !Path::new(jar).exists());
    if let Some(missing) = missing {
        skip(&format!("there is no {missing} (package junit5)"));
        return None;
    }
    Some(jars.join(":"))
}

#[test]
fn one_junit_test_is_run_and_judged() {
    let Some(jars) = junit().filter(|_| present("javac")) else { return };
    let place = Workplace::new();
    place.write("src/test/java/CartTest.java", CART_TEST);
    place.shell(&format!("javac -g -cp {jars} -d classes src/test/java/CartTest.java"));
    let flags = "--schedule random --runs 8 --jobs 2 --seed 1 --timeout 5m --junit CartTest#adds";
    let seen = place.call(&format!("run {flags} -- java -cp classes:{jars}")).exits(0);
    seen.says(&["CartTest.items", "items++"]);
    let passed = place.outcomes("CartTest.adds").iter().filter(|outcome| *outcome == "pass").count();
    assert!((1..8).contains(&passed), "{passed}");
    // A test that is not there fails nothing: it is a mistake.
    place.call(&format!("run --runs 1 --junit CartTest#addz -- java -cp classes:{jars}")).exits(13);
}

/// Two tests that run at the same time, on threads of JUnit's own, and share what they should not.
const PARALLEL: &str = r#"
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import static org.junit.jupiter.api.Assertions.assertEquals;
class StockTest {
    static final CountDownLatch both = new CountDownLatch(2);
    static int stock;
    @Test void sells() throws Exception {
        fill();
    }
    @Test void buys() throws Exception {
        fill();
    }
    static void fill() throws Exception {
        both.countDown();
        both.await();
        for (int i = 1; i <= 2; i++) {
            int before = stock;
            stock = before + 1;
            assertEquals(before + 1, stock);
        }
    }
}
"#;

#[test]
fn tests_that_run_in_parallel_are_recorded() {
    let Some(jars) = junit().filter(|_| present("javac")) else { return };
    let place = Workplace::new();
    place.write("src/test/java/StockTest.java", PARALLEL);
    place.shell(&format!("javac -g -cp {jars} -d classes src/test/java/StockTest.java"));
    let parallel = "-Djunit.jupiter.execution.parallel.enabled=true \
        -Djunit.jupiter.execution.parallel.mode.default=concurrent \
        -Djunit.jupiter.execution.parallel.config.strategy=fixed \
        -Djunit.jupiter.execution.parallel.config.fixed.parallelism=2";
    let flags = "--schedule random --runs 8 --jobs 2 --seed 1 --timeout 5m --junit StockTest";
    let seen = place.call(&format!("run {flags} -- java {parallel} -cp classes:{jars}"));
    seen.exits(0).says(&["StockTest.stock"]);
}

const CART_TEST_4: &str = r#"
import org.junit.Test;
import static org.junit.Assert.assertEquals;
public class CartTest4 {
    int items;
    @Test public void adds() throws Exception {
        Thread other = new Thread(this::addThree);
        other.start();
        addThree();
        other.join();
        assertEquals(6, items);
    }
    void addThree() {
        for (int i = 0; i < 3; i++) {
            items++;
        }
    }
}
"#;

#[test]
fn a_class_of_junit_4_is_run_and_judged() {
    let folder = "/usr/share/java";
    let jars = format!("{folder}/junit4.jar:{folder}/hamcrest-core.jar");
    if let Some(missing) = jars.split(':').find(|jar| !Path::new(jar).exists()) {
        return skip(&format!("there is no {missing} (package junit4)"));
    }
    if !present("javac") {
        return;
    }
    let place = Workplace::new();
    place.write("CartTest4.java", CART_TEST_4);
    place.shell(&format!("javac -g -cp {jars} -d classes CartTest4.java"));
    let flags = "--schedule random --runs 8 --jobs 2 --seed 1 --timeout 5m --junit CartTest4";
    let seen = place.call(&format!("run {flags} -- java -cp classes:{jars}")).exits(0);
    seen.says(&["CartTest4.items", "items++"]);
}

/// What Debian's package of surefire offers, without a network.
const POM: &str = "<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter-engine</artifactId>
      <version>5.9.2</version><scope>test</scope></dependency>
  </dependencies>
  <build><plugins>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>2.22.3</version></plugin>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.10.1</version></plugin>
    <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.0</version></plugin>
  </plugins></build>
</project>
";

/// Of the two virtual machines, only the one that runs the test is recorded.
#[test]
fn one_test_is_run_by_maven() {
    let repository = "/usr/share/maven-repo";
    let parts = [
        "org/apache/maven/plugins/maven-surefire-plugin/2.22.3",
        "org/apache/maven/plugins/maven-compiler-plugin/3.10.1",
        "org/apache/maven/plugins/maven-resources-plugin/3.3.0",
        "org/junit/jupiter/junit-jupiter-engine/5.9.2",
    ];
    if !present("mvn") || !present("javac") {
        return;
    }
    if let Some(missing) = parts.iter().find(|part| !Path::new(repository).join(part).exists()) {
        return skip(&format!(
            "there is no {repository}/{missing} (packages libsurefire-java, libmaven-compiler-plugin-java, libmaven-resources-plugin-java)"
        ));
    }
    let place = Workplace::new();
    place.write("pom.xml", POM);
    place.write("src/test/java/CartTest.java", CART_TEST);
    let flags = "--runs 1 --noise off --timeout 5m --junit CartTest#adds";
    // 10: no run failed.
    let maven = format!("mvn -o -q -Dmaven.repo.local={repository}");
    place.call(&format!("run {flags} -- {maven}")).exits(10);
    let runs = place.runs("CartTest.adds");
    assert!(runs.iter().all(|run| run["processes"] == 1), "{runs:?}");
    assert_eq!(runs.len(), 1);
}

/// Each run runs the test, although the first one's result could be remembered; the build tool's own virtual machines are
/// not recorded.
#[test]
fn one_test_is_run_by_gradle() {
    let jars = ["junit4.jar", "hamcrest-core.jar"].map(|jar| format!("/usr/share/java/{jar}"));
    if !present("gradle") || !present("javac") {
        return;
    }
    if let Some(missing) = jars.iter().find(|jar| !Path::new(jar).exists()) {
        return skip(&format!("there is no {missing} (package junit4)"));
    }
    let place = Workplace::new();
    // As versions from 3 on understand it, without a network.
    let [junit, hamcrest] = jars;
    let build = format!(
        "apply plugin: 'java'\ndependencies {{ testImplementation files('{junit}', '{hamcrest}') }}\n"
    );
    place.write("build.gradle", build);
    place.write("settings.gradle", "rootProject.name = 'shop'\n");
    place.write("src/test/java/CartTest4.java", CART_TEST_4);
    let flags = "--runs 2 --jobs 1 --noise off --timeout 5m --junit CartTest4#adds";
    // Whether the test passes is up to its schedule.
    let gradle = "gradle --offline --no-daemon -q --gradle-user-home home test";
    place.call(&format!("run {flags} -- {gradle}"));
    let runs = place.runs("CartTest4.adds");
    assert!(runs.len() == 2 && runs.iter().all(|run| run["processes"] == 1), "{runs:?}");
}
