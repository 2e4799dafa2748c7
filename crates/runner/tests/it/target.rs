use runner::compiler::{Compiler, Language};
use runner::{Error, Instrumentation, Target};

use crate::{Workshop, words};

const PROGRAM: &str = "int shared; int main(void) { shared++; return 0; }\n";

fn look_at(workshop: &Workshop, name: &str) -> Target {
    Target::find(workshop.path(name).as_os_str()).unwrap()
}

#[test]
fn builds_are_told_apart() {
    let workshop = Workshop::new();
    workshop.write("p.c", PROGRAM);
    workshop.tool("gcc p.c -o plain");
    workshop.tool("gcc -fsanitize=thread p.c -o tsan");
    workshop.tool("gcc -fsanitize=thread -static-libtsan p.c -o own-tsan");
    let instrumentation = |name: &str| look_at(&workshop, name).instrumentation;
    assert_eq!(instrumentation("plain"), Instrumentation::NotInstrumented);
    assert_eq!(instrumentation("tsan"), Instrumentation::SharedTsan { soname: "libtsan.so.2".to_owned() });
    assert_eq!(instrumentation("own-tsan"), Instrumentation::StaticTsan);
    workshop.tool("strip tsan");
    assert_eq!(instrumentation("tsan"), Instrumentation::SharedTsan { soname: "libtsan.so.2".to_owned() });

    let target = look_at(&workshop, "plain");
    assert!(matches!(target.check_recordable(), Err(Error::NotInstrumented { .. })));
    assert!(matches!(look_at(&workshop, "own-tsan").check_recordable(), Err(Error::StaticTsan { .. })));
    look_at(&workshop, "tsan").check_recordable().unwrap();
    let id = workshop.tool("readelf -n plain");
    let id = id.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).unwrap();
    assert_eq!(target.binaries[0].build_id.as_ref().unwrap().as_str(), id);
}

#[test]
fn the_sanitizer_of_another_gcc_is_refused_by_name() {
    let workshop = Workshop::new();
    workshop.write("p.c", PROGRAM);
    workshop.write("old.c", "void __tsan_init(void) {}\n");
    workshop.tool("gcc -shared -Wl,-soname,libtsan.so.0 old.c -o libtsan.so.0");
    workshop.tool("gcc p.c -Wl,--no-as-needed ./libtsan.so.0 -o old");
    match look_at(&workshop, "old").check_recordable() {
        Err(Error::OtherTsan { soname, supported, .. }) => {
            assert_eq!((soname.as_str(), supported), ("libtsan.so.0", "libtsan.so.2"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn instrumented_libraries_of_a_plain_program_are_found() {
    let workshop = Workshop::new();
    workshop.write("l.c", "int shared; void touch(void) { shared++; }\n");
    workshop.write("p.c", "void touch(void); int main(void) { touch(); return 0; }\n");
    workshop.tool("gcc -fsanitize=thread -fPIC -c l.c");
    workshop.tool("gcc -shared l.o -o libl.so");
    workshop.tool("gcc p.c libl.so -Wl,--unresolved-symbols=ignore-all -Wl,-rpath,$ORIGIN -o p");
    let target = look_at(&workshop, "p");
    assert_eq!(target.instrumentation, Instrumentation::Libraries(vec![workshop.path("libl.so")]));
    target.check_recordable().unwrap();
    assert_eq!(target.binaries.len(), 2);
}

#[test]
fn a_tsan_build_is_taken_over_wherever_its_loader_looks() {
    let workshop = Workshop::new();
    let recorder = workshop.counting_recorder();
    workshop.write("p.c", PROGRAM);
    // The second program's own search path, which comes before the environment's, has gcc's library.
    let gcc_folder = workshop.tool("gcc -print-file-name=libtsan.so.2");
    let gcc_folder = std::path::Path::new(gcc_folder.trim()).parent().unwrap().display().to_string();
    for flags in [String::new(), format!("-Wl,--disable-new-dtags,-rpath,{gcc_folder}")] {
        workshop.tool(&format!("gcc -fsanitize=thread p.c -o p {flags}"));
        let target = look_at(&workshop, "p");
        let environment = recorder.environment(&target, |name| std::env::var_os(name));
        let output = std::process::Command::new(&target.path).envs(environment).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "3 calls\n", "{flags} {output:?}");
    }
}

#[test]
fn the_static_recorder_is_recognized_also_after_strip() {
    let workshop = Workshop::new();
    let recorder = workshop.counting_recorder();
    workshop.write("p.c", PROGRAM);
    let program = workshop.path("p");
    let arguments = words(&format!("{} -o {}", workshop.path("p.c").display(), program.display()));
    let gcc = Compiler::choose(Language::C, Some("gcc")).unwrap();
    let line = gcc.command_line(&recorder, &arguments).unwrap();
    assert!(std::process::Command::new(&line[0]).args(&line[1..]).status().unwrap().success());
    assert_eq!(look_at(&workshop, "p").instrumentation, Instrumentation::StaticRecorder);
    workshop.tool("strip p");
    assert_eq!(look_at(&workshop, "p").instrumentation, Instrumentation::StaticRecorder);
}
