use runner::{BuildId, Error, Frame, Symbolizer, Target};

use crate::Workshop;

/// Lines matter below.
const SOURCE: &str = r#"
struct { int head, count; } queue;
static inline __attribute__((always_inline)) void bump(int *p) {
  __asm__ volatile("mark: nop");
  (*p)++;
}
void push(void) {
  bump(&queue.count);
}
int main(void) { push(); return 0; }
"#;

fn place(frame: &Frame) -> (&str, Option<&str>, Option<u32>, bool) {
    let file = frame.file.as_deref().map(|file| file.rsplit('/').next().unwrap());
    (&frame.function, file, frame.line, frame.inlined)
}

#[test]
fn code_is_named_with_the_functions_inlined_into_it() {
    let workshop = Workshop::new();
    workshop.write("queue.c", SOURCE);
    for flags in ["-pie", "-no-pie", "-shared -fPIC"] {
        workshop.tool(&format!("gcc -g -O1 {flags} queue.c -o queue"));
        let mut symbolizer = Symbolizer::default();
        let path = workshop.path("queue");
        let frames = symbolizer.frames(&path, None, workshop.address("queue", "mark")).unwrap();
        let places: Vec<_> = frames.iter().map(place).collect();
        assert_eq!(
            places,
            [("bump", Some("queue.c"), Some(4), true), ("push", Some("queue.c"), Some(8), false)],
            "{flags}"
        );
        assert_eq!(frames[1].column, Some(3));
    }
}

/// As compilers make it of two equal pieces of code, here by hand.
#[test]
fn code_without_a_line_has_that_before_it_in_its_function() {
    let workshop = Workshop::new();
    workshop.write("queue.c", &SOURCE.replace("mark: nop", "nop\\n.loc 1 0\\nmark: nop"));
    workshop.tool("gcc -g -O1 queue.c -o queue");
    let (path, mark) = (workshop.path("queue"), workshop.address("queue", "mark"));
    let mut symbolizer = Symbolizer::default();
    let places: Vec<_> = symbolizer.frames(&path, None, mark).unwrap().iter().map(place).collect();
    let bump = ("bump", Some("queue.c"), Some(4), true);
    assert_eq!(places, [bump, ("push", Some("queue.c"), Some(8), false)]);
}

#[test]
fn variables_are_named_by_member_or_by_distance() {
    let workshop = Workshop::new();
    workshop.write("queue.c", SOURCE);
    let path = workshop.path("queue");
    let members = ["queue.head", "queue.count"];
    for (flags, names) in [
        ("-g", members),
        ("-g -gz", members),
        ("-g -gsplit-dwarf", members),
        ("-g -gsplit-dwarf -gdwarf-4", members),
        ("-g -O1 -flto", members),
        ("", ["queue", "queue+4"]),
    ] {
        workshop.tool(&format!("gcc {flags} queue.c -o queue"));
        let queue = workshop.address("queue", "queue");
        let mut symbolizer = Symbolizer::default();
        let mut name = |address| {
            let named = symbolizer.variable(&path, None, address, 4).unwrap();
            named.map(|named| named.name)
        };
        assert_eq!(name(queue).as_deref(), Some(names[0]), "{flags}");
        assert_eq!(name(queue + 4).as_deref(), Some(names[1]), "{flags}");
        assert_eq!(name(queue + 8), None, "{flags}");
    }
}

#[test]
fn what_the_c_library_sets_aside_is_no_array() {
    let workshop = Workshop::new();
    workshop.write(
        "pool.c",
        "#include <semaphore.h>\n#include <threads.h>\n\
         struct pool { mtx_t lock; sem_t slots[2]; } pool; int main(void) { return 0; }\n",
    );
    workshop.tool("gcc -g pool.c -o pool");
    let (path, pool) = (workshop.path("pool"), workshop.address("pool", "pool"));
    let mut symbolizer = Symbolizer::default();
    let mut name = |offset: usize| {
        symbolizer.variable(&path, None, pool + offset as u64, 0).unwrap().map(|named| named.name)
    };
    let sizes = (size_of::<libc::pthread_mutex_t>(), size_of::<libc::sem_t>());
    assert_eq!(name(0).as_deref(), Some("pool.lock"));
    assert_eq!(name(sizes.0 + sizes.1).as_deref(), Some("pool.slots[1]"));
}

#[test]
fn a_pointer_that_was_optimized_away_is_not_what_it_points_to() {
    let workshop = Workshop::new();
    let source = "#include <stdatomic.h>\n\
                  struct { atomic_int head, count; } queue;\n\
                  int main(void) { atomic_store(&queue.count, 1); return atomic_load(&queue.count) - 1; }\n";
    workshop.write("queue.c", source);
    workshop.tool("gcc -g -O1 queue.c -o queue");
    let path = workshop.path("queue");
    let count = workshop.address("queue", "queue") + 4;
    let named = Symbolizer::default().variable(&path, None, count, 4).unwrap();
    assert_eq!(named.map(|named| named.name).as_deref(), Some("queue.count"));
}

#[test]
fn names_are_demangled() {
    let workshop = Workshop::new();
    let source = "#include <string>\n\
                  std::string label() { asm volatile(\"label_mark: nop\"); return {}; }\n\
                  namespace shop { int sold; struct Till { static int open; }; int Till::open; template <class T> void sell(T) { asm volatile(\"mark: nop\"); } }\n\
                  int main() { label(); shop::sell(shop::sold); }\n";
    workshop.write("shop.cc", source);
    workshop.tool("g++ -g shop.cc -o shop");
    let path = workshop.path("shop");
    let mut symbolizer = Symbolizer::default();
    let frames = symbolizer.frames(&path, None, workshop.address("shop", "mark")).unwrap();
    assert_eq!(frames[0].function, "void shop::sell<int>(int)");
    let frames = symbolizer.frames(&path, None, workshop.address("shop", "label_mark")).unwrap();
    assert_eq!(frames[0].function, "label()");
    let sold = workshop.address("shop", "_ZN4shop4soldE");
    assert_eq!(symbolizer.variable(&path, None, sold, 4).unwrap().unwrap().name, "shop::sold");
    let open = workshop.address("shop", "_ZN4shop4Till4openE");
    assert_eq!(symbolizer.variable(&path, None, open, 4).unwrap().unwrap().name, "shop::Till::open");
    workshop.tool("strip -g shop");
    let mut symbolizer = Symbolizer::default();
    assert_eq!(symbolizer.variable(&path, None, sold, 4).unwrap().unwrap().name, "shop::sold");
}

#[test]
fn without_debug_info_the_symbol_table_serves_and_without_it_the_address() {
    let workshop = Workshop::new();
    workshop.write("queue.c", SOURCE);
    workshop.tool("gcc -O1 -rdynamic -fvisibility=hidden queue.c -o queue");
    let (mark, path) = (workshop.address("queue", "mark"), workshop.path("queue"));
    let unknown = |function: String| Frame { function, file: None, line: None, column: None, inlined: false };
    let frames = Symbolizer::default().frames(&path, None, mark).unwrap().to_vec();
    assert_eq!(frames, [unknown("push".to_owned())]);
    workshop.tool("strip queue");
    let frames = Symbolizer::default().frames(&path, None, mark).unwrap().to_vec();
    assert_eq!(frames, [unknown(format!("queue+{mark:#x}"))]);
}

#[test]
fn debug_info_that_was_split_off_is_found_by_build_id() {
    let workshop = Workshop::new();
    workshop.write("queue.c", SOURCE);
    workshop.tool("gcc -g -O1 queue.c -o queue");
    let (mark, path) = (workshop.address("queue", "mark"), workshop.path("queue"));
    let id = Target::find(path.as_os_str()).unwrap().binaries[0].build_id.clone().unwrap();
    let (first, rest) = id.as_str().split_at(2);
    std::fs::create_dir_all(workshop.path("debug").join(first)).unwrap();
    workshop.tool(&format!("objcopy --only-keep-debug queue debug/{first}/{rest}.debug"));
    workshop.tool("strip queue");
    let mut symbolizer = Symbolizer::with_debug_folder(&workshop.path("debug"));
    let frames = symbolizer.frames(&path, Some(&id), mark).unwrap();
    assert_eq!(place(&frames[0]), ("bump", Some("queue.c"), Some(4), true));
}

#[test]
fn a_binary_that_was_rebuilt_since_is_refused() {
    let workshop = Workshop::new();
    workshop.write("queue.c", SOURCE);
    workshop.tool("gcc -g queue.c -o queue");
    let path = workshop.path("queue");
    let recorded = BuildId::from_bytes(&[1, 2, 3]).unwrap();
    let error = Symbolizer::default().frames(&path, Some(&recorded), 0).unwrap_err();
    let Error::Rebuilt { found, .. } = &error else { panic!("{error}") };
    assert_eq!(
        error.to_string(),
        format!("{} was rebuilt since: its build id was 010203 and is {found} now", path.display())
    );
    assert!(Symbolizer::default().frames(&path, Some(&found.clone()), 0).is_ok());
}

#[test]
fn what_is_gone_or_no_binary_is_an_error() {
    let workshop = Workshop::new();
    let text = workshop.write("text", "hello");
    assert!(matches!(Symbolizer::default().frames(&text, None, 0), Err(Error::Symbols { .. })));
    assert!(matches!(Symbolizer::default().frames(&workshop.path("gone"), None, 0), Err(Error::Io { .. })));
}

#[test]
fn calls_are_told_by_where_they_lead() {
    let workshop = Workshop::new();
    let calls = ["call first", "call first", "call second", "call *%rax", "call *slot(%rip)"];
    let marked = calls.iter().enumerate().map(|(nth, call)| format!("{call}\nmark{nth}: nop\n"));
    let source =
        format!(".data\nslot: .quad first\n.text\nfirst: ret\nsecond: ret\n{}", marked.collect::<String>());
    workshop.write("calls.s", &source);
    workshop.tool("gcc -shared -nostdlib calls.s -o calls");
    let mut symbolizer = Symbolizer::default();
    let mut called = |mark: &str| {
        symbolizer.called(&workshop.path("calls"), None, workshop.address("calls", mark)).unwrap()
    };
    let [first, second, slot] = ["first", "second", "slot"].map(|name| workshop.address("calls", name));
    assert_eq!(called("mark0"), Some(first));
    assert_eq!(called("mark1"), Some(first));
    assert_eq!(called("mark2"), Some(second));
    assert_eq!(called("mark3"), None);
    assert_eq!(called("mark4"), Some(slot));
    // What lies outside of all code.
    assert_eq!(called("slot"), None);
}
