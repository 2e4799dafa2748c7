use std::ffi::OsString;
use std::process::{Command, Output};

use runner::compiler::{Compiler, Language};
use runner::{Instrumentation, Recorder, Target};

use crate::{Workshop, words};

struct Driver {
    workshop: Workshop,
    recorder: Recorder,
}

const PROGRAM: &str = "int shared; int main(void) { shared++; return 0; }\n";

impl Driver {
    fn new() -> Driver {
        let workshop = Workshop::new();
        let recorder = workshop.counting_recorder();
        workshop.write("p.c", PROGRAM);
        workshop.write("p.cc", PROGRAM);
        Driver { workshop, recorder }
    }

    fn line(&self, compiler: &str, arguments: &str) -> Vec<OsString> {
        let language = if compiler.contains("++") { Language::Cxx } else { Language::C };
        let compiler = Compiler::choose(language, Some(compiler)).unwrap();
        compiler.command_line(&self.recorder, &words(arguments)).unwrap()
    }

    fn invoke(&self, compiler: &str, arguments: &str) -> Output {
        let line = self.line(compiler, arguments);
        Command::new(&line[0]).args(&line[1..]).current_dir(self.workshop.path("")).output().unwrap()
    }

    fn cc(&self, arguments: &str) -> String {
        let output = self.invoke("gcc", arguments);
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn run(&self, program: &str) -> String {
        self.workshop.tool(&format!("{}", self.workshop.path(program).display()))
    }

    /// A stand-in for `unsnarl cc`, for build systems.
    fn wrapper(&self, name: &str, compiler: &str) -> String {
        let line = self.line(compiler, "");
        let quoted: Vec<String> = line.iter().map(|word| format!("'{}'", word.display())).collect();
        let path = self.workshop.script(name, &format!("exec {} \"$@\"", quoted.join(" ")));
        path.display().to_string()
    }

    fn assert_recorded(&self, program: &str) {
        let target = Target::find(self.workshop.path(program).as_os_str()).unwrap();
        assert_eq!(target.instrumentation, Instrumentation::StaticRecorder, "{program}");
    }
}

/// Function entry, read and write, as printed by the counting recorder.
const COUNTED: &str = "3 calls\n";

#[test]
fn programs_are_instrumented_and_linked_with_the_recorder_in_one_step_or_two() {
    let driver = Driver::new();
    for flags in ["", "-O2", "-g0", "-flto -O1", "-fsanitize=thread", "-no-pie", "-pthread -Wl,--gc-sections"]
    {
        driver.cc(&format!("{flags} p.c -o one"));
        assert_eq!(driver.run("one"), COUNTED, "{flags}");
        driver.cc(&format!("{flags} -c p.c -o p.o"));
        driver.cc(&format!("{flags} p.o -o two"));
        assert_eq!(driver.run("two"), COUNTED, "{flags}");
        driver.assert_recorded("two");
        let needed = driver.workshop.tool("readelf -d two");
        assert!(!needed.contains("libtsan"), "{flags}: {needed}");
    }
    assert!(driver.invoke("g++", "p.cc -o three").status.success());
    assert_eq!(driver.run("three"), COUNTED);
}

#[test]
fn arguments_may_come_from_files_and_sources_from_a_pipe() {
    let driver = Driver::new();
    driver.workshop.write("flags", "-fsanitize=thread p.c -o from-file");
    driver.cc("@flags");
    assert_eq!(driver.run("from-file"), COUNTED);
    let line = driver.line("gcc", "-x c - -o from-pipe");
    let mut command = Command::new(&line[0]);
    let source = std::fs::File::open(driver.workshop.path("p.c")).unwrap();
    command.args(&line[1..]).current_dir(driver.workshop.path("")).stdin(source);
    assert!(command.status().unwrap().success());
    assert_eq!(driver.run("from-pipe"), COUNTED);
}

#[test]
fn debug_info_is_added_unless_the_user_decided() {
    let driver = Driver::new();
    for (flags, expected) in [("", true), ("-g0", false), ("-ggdb3", true), ("-O2", true)] {
        driver.cc(&format!("{flags} -c p.c -o p.o"));
        assert_eq!(driver.workshop.tool("readelf -S p.o").contains(".debug_info"), expected, "{flags}");
    }
}

#[test]
fn a_file_that_opts_out_is_not_instrumented() {
    let driver = Driver::new();
    driver.cc("-fno-sanitize=thread -c p.c -o p.o");
    assert!(!driver.workshop.tool("nm p.o").contains("__tsan_"));
    driver.cc("p.o -o p");
    assert_eq!(driver.run("p"), "0 calls\n");
}

#[test]
fn a_shared_library_finds_its_hooks_in_the_program_that_loads_it() {
    let driver = Driver::new();
    driver.workshop.write("plugin.c", "int n; void touch(void) { n++; }\n");
    for strictness in ["", "-Wl,-z,defs", "-Wl,--no-undefined"] {
        driver.cc(&format!("-shared -fPIC {strictness} plugin.c -o plugin.so"));
    }
    let main = "#include <dlfcn.h>\nint main(void) {\n void *p = dlopen(\"./plugin.so\", RTLD_NOW);\n\
                if (!p) return 1;\n ((void (*)(void))dlsym(p, \"touch\"))();\n return 0;\n}\n";
    driver.workshop.write("main.c", main);
    driver.cc("-O1 main.c -o main");
    let output =
        Command::new(driver.workshop.path("main")).current_dir(driver.workshop.path("")).output().unwrap();
    assert!(output.status.success());
    // Function entry in both, read and write in the plugin.
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "4 calls\n");
    let symbols = driver.workshop.tool("nm -D plugin.so");
    assert!(symbols.contains("U __tsan_write4") && !symbols.contains("T __tsan_"), "{symbols}");
}

#[test]
fn questions_are_answered_as_by_the_compiler_itself() {
    let driver = Driver::new();
    for question in ["--version", "-dumpmachine", "-dumpversion", "-print-prog-name=ld", "-M p.c"] {
        assert_eq!(driver.cc(question), driver.workshop.tool(&format!("gcc {question}")), "{question}");
    }
    assert!(driver.cc("-E -dM p.c").contains("__SANITIZE_THREAD__"));
    driver.cc("-S p.c -o p.s");
    assert!(std::fs::read_to_string(driver.workshop.path("p.s")).unwrap().contains("__tsan_func_entry"));
    let incomplete = driver.invoke("gcc", "p.c -o");
    assert!(String::from_utf8_lossy(&incomplete.stderr).contains("missing filename"));
    assert!(!driver.invoke("gcc", "nothing.c").status.success());
}

#[test]
fn wholly_static_programs_are_linked_whatever_says_that_they_are() {
    let driver = Driver::new();
    driver.workshop.write("options", "-O1 -static\n");
    let options = format!("@{}", driver.workshop.path("options").display());
    for arguments in ["-static", "-static-pie", "--static", &options, "-static -L."] {
        driver.cc(&format!("{arguments} p.c -o p"));
        assert_eq!(driver.run("p"), COUNTED, "{arguments}");
        driver.assert_recorded("p");
        assert!(!driver.workshop.tool("readelf -lW p").contains("INTERP"), "{arguments}");
    }
    // What unsnarl cannot see among the arguments is told, in place of a program that cannot run.
    driver.workshop.write("user.specs", "*self_spec:\n+ -static\n\n");
    let output = driver.invoke("gcc", "-specs=user.specs p.c -o p");
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("only if -static or -static-pie is among its arguments"), "{message}");
}

#[test]
fn links_at_the_same_time_share_what_static_programs_need() {
    let driver = Driver::new();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let driver = &driver;
            scope.spawn(move || driver.cc(&format!("-static p.c -o p{number}")));
        }
    });
    for number in 0..4 {
        assert_eq!(driver.run(&format!("p{number}")), COUNTED);
    }
    let folders = std::fs::read_dir(driver.recorder.folder()).unwrap();
    let names: Vec<_> = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(
        names.iter().filter(|name| name.starts_with("static-") && !name.ends_with("specs")).count(),
        1,
        "{names:?}"
    );
    assert!(!names.iter().any(|name| name.starts_with(".tmp")), "{names:?}");
}

#[test]
fn relocatable_objects_are_left_as_they_are() {
    let driver = Driver::new();
    // A relocatable object is no program yet.
    driver.cc("-c p.c -o p.o");
    driver.cc("-r p.o -o joined.o");
    assert!(!driver.workshop.tool("nm joined.o").contains("unsnarl_recorder_version"));
}

#[test]
fn make_builds_with_it() {
    let driver = Driver::new();
    let cc = driver.wrapper("cc", "gcc");
    driver.workshop.tool(&format!("make -s p CC={cc}"));
    assert_eq!(driver.run("p"), COUNTED);
}

#[test]
fn cmake_builds_with_it_also_when_languages_are_mixed() {
    if Command::new("cmake").arg("--version").output().is_err() {
        eprintln!("SKIPPED cmake_builds_with_it_also_when_languages_are_mixed: there is no cmake");
        return;
    }
    let driver = Driver::new();
    driver.workshop.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(p C CXX)\nfind_package(Threads REQUIRED)\n\
         add_library(part STATIC part.c)\nadd_executable(mixed main.cc)\n\
         target_link_libraries(mixed part Threads::Threads)\n",
    );
    driver.workshop.write("part.c", "int shared; void touch(void) { shared++; }\n");
    driver.workshop.write("main.cc", "extern \"C\" void touch(); int main() { touch(); }\n");
    let (cc, cxx) = (driver.wrapper("cc", "gcc"), driver.wrapper("c++", "g++"));
    driver.workshop.tool(&format!("cmake -B build -DCMAKE_C_COMPILER={cc} -DCMAKE_CXX_COMPILER={cxx}"));
    driver.workshop.tool("cmake --build build");
    assert_eq!(driver.run("build/mixed"), "4 calls\n");
    driver.assert_recorded("build/mixed");
}
