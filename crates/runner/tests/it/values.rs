//! Names and values of static data and of members, as real compilers describe them.

use std::path::PathBuf;

use runner::{Symbolizer, TypePlace};

use crate::Workshop;

struct Binary {
    workshop: Workshop,
    symbolizer: Symbolizer,
}

impl Binary {
    fn build(file: &str, source: &str, compiler: &str) -> Binary {
        let workshop = Workshop::new();
        workshop.write(file, source);
        workshop.tool(&format!("{compiler} {file} -o program"));
        Binary { workshop, symbolizer: Symbolizer::default() }
    }

    fn path(&self) -> PathBuf {
        self.workshop.path("program")
    }

    /// What is said of the value of a static variable so many bytes behind a symbol.
    #[track_caller]
    fn check(&mut self, symbol: &str, offset: u64, size: u32, value: u64, said: &str) {
        let address = self.workshop.address("program", symbol) + offset;
        let path = self.path();
        let named = self.symbolizer.variable(&path, None, address, size.into()).unwrap().unwrap();
        let shown = named.form.and_then(|form| form.show(value, size, |_| None));
        assert_eq!(format!("{} = {}", named.name, shown.as_deref().unwrap_or("?")), said);
    }
}

#[test]
fn c_values_read_as_their_types_do() {
    let source = "#include <stdint.h>\n#include <stdbool.h>\n\
        enum state { IDLE, BUSY = 4, BROKEN = -1 };\n\
        struct door { bool open; char sign; uint8_t level; enum state state; const double *width; float height; };\n\
        typedef struct door door_t;\n\
        door_t doors[2]; volatile unsigned long long ticks; _Atomic int visitors;\n\
        int main(void) { return 0; }\n";
    let mut binary = Binary::build("doors.c", source, "gcc -g");
    binary.check("doors", 0, 1, 1, "doors[0].open = true");
    binary.check("doors", 1, 1, 65, "doors[0].sign = 'A'");
    binary.check("doors", 2, 1, 65, "doors[0].level = 65");
    binary.check("doors", 4, 4, 4, "doors[0].state = BUSY");
    binary.check("doors", 4, 4, 0xffff_ffff, "doors[0].state = BROKEN");
    binary.check("doors", 8, 8, 0, "doors[0].width = NULL");
    binary.check("doors", 24 + 16, 4, u64::from(2.5f32.to_bits()), "doors[1].height = 2.5");
    binary.check("ticks", 0, 8, u64::MAX, "ticks = 18446744073709551615");
    binary.check("visitors", 0, 4, 0xffff_ffff, "visitors = -1");
    // Half of a value is none.
    binary.check("ticks", 0, 4, 0, "ticks = ?");
}

#[test]
fn cpp_values_hide_what_the_library_keeps_them_in() {
    let source = "#include <atomic>\n#include <vector>\n\
        enum class Mode : unsigned char { Off, On }; struct Item {};\n\
        std::atomic<bool> stopped; std::atomic<Item*> head; std::vector<int> items; Mode mode;\n\
        int main() { items.push_back(1); }\n";
    let mut binary = Binary::build("lists.cc", source, "g++ -g");
    binary.check("stopped", 0, 1, 1, "stopped = true");
    binary.check("head", 0, 8, 0, "head = nullptr");
    binary.check("head", 0, 8, 0x5500, "head = 0x5500");
    binary.check("items", 8, 8, 0x5500, "items = 0x5500");
    binary.check("mode", 0, 1, 1, "mode = On");
}

#[test]
fn rust_values_name_their_variants() {
    let source = "use std::sync::Mutex;\nuse std::sync::atomic::*;\n\
        #[allow(dead_code)] #[repr(u8)] enum State { Ready, Done }\n\
        #[no_mangle] static STOP: AtomicBool = AtomicBool::new(false);\n\
        #[no_mangle] static COUNT: AtomicUsize = AtomicUsize::new(0);\n\
        #[no_mangle] static mut STATE: State = State::Ready;\n\
        #[no_mangle] static mut NAME: Option<&'static i32> = None;\n\
        #[no_mangle] static CONFIG: AtomicPtr<i32> = AtomicPtr::new(std::ptr::null_mut());\n\
        #[no_mangle] static IDLE: Mutex<Vec<u8>> = Mutex::new(Vec::new());\n\
        fn main() { STOP.store(true, Ordering::Relaxed); COUNT.store(1, Ordering::Relaxed);\n\
            CONFIG.load(Ordering::Relaxed); IDLE.lock().unwrap().push(1);\n\
            unsafe { STATE = State::Done; NAME = Some(&1); } }\n";
    let mut binary = Binary::build("states.rs", source, "rustc -Cdebuginfo=2 -Awarnings");
    binary.check("STOP", 0, 1, 1, "states::STOP = true");
    binary.check("COUNT", 0, 8, u64::MAX, "states::COUNT = 18446744073709551615");
    binary.check("STATE", 0, 1, 1, "states::STATE = Done");
    binary.check("NAME", 0, 8, 0, "states::NAME = None");
    binary.check("NAME", 0, 8, 0x5500, "states::NAME = Some");
    binary.check("CONFIG", 0, 8, 0, "states::CONFIG = null");
    // The lock comes before what it guards, and a vector's length last.
    let listing = binary.workshop.tool("nm -S program");
    let line = listing.lines().find(|line| line.ends_with(" IDLE")).unwrap().to_owned();
    let size = u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
    binary.check("IDLE", size - 8, 8, 3, "states::IDLE.len = 3");
}

#[test]
fn members_are_found_by_the_code_that_uses_them() {
    let source = "class Stock { public: bool is_empty() { return left_ == 0; } int left_; };\n\
        struct Other { char left_; };\n\
        Other other; int main() { Stock stock{}; return stock.is_empty(); }\n";
    let mut binary = Binary::build("stock.cc", source, "g++ -g");
    let code = binary.workshop.address("program", "main") + 1;
    let path = binary.path();
    let mut owners = |code: u64, field: &str, size: u64| -> Vec<String> {
        let members = binary.symbolizer.members(&path, None, code, field).unwrap();
        let fitting =
            members.into_iter().filter(|member| member.value.as_ref().is_some_and(|(own, _)| *own == size));
        fitting.filter_map(|member| member.owner).collect()
    };
    assert_eq!(owners(code, "left_", 4), ["Stock"]);
    assert_eq!(owners(code, "left_", 1), ["Other"]);
    assert_eq!(owners(code, "right_", 4), [""; 0]);
    assert_eq!(owners(1, "left_", 4), [""; 0]);
}

#[test]
fn what_lies_beside_a_member_is_found_by_its_distance() {
    let source = "struct Pool { int host; long lock; int idle[2]; bool closed; };\n\
        int main() { Pool pool{}; return pool.idle[1]; }\n";
    let mut binary = Binary::build("pool.cc", source, "g++ -g");
    let code = binary.workshop.address("program", "main") + 1;
    let path = binary.path();
    let mut at = |member: Option<&str>, behind: i64, size: u64| {
        let place = TypePlace { owner: "Pool", member, behind };
        let named = binary.symbolizer.part_of(&path, None, code, place, size).unwrap();
        named.map(|named| (named.name, named.form.is_some()))
    };
    let some = |name: &str, has_form| Some((name.to_owned(), has_form));
    assert_eq!(at(Some("lock"), 12, 4), some(".idle[1]", true));
    assert_eq!(at(Some("lock"), -8, 4), some(".host", true));
    assert_eq!(at(None, 24, 4), some(".closed", false));
    assert_eq!(at(Some("lock"), 200, 4), None);
    assert_eq!(at(Some("lock"), -16, 4), None);
    assert_eq!(at(Some("key"), 0, 4), None);
}

#[test]
fn what_a_rust_lock_guards_is_found_by_its_distance() {
    let source = "use std::sync::Mutex;\npub struct Pool { pub host: u32, pub idle: Mutex<Vec<u8>> }\n\
        #[no_mangle] #[inline(never)] pub fn take(pool: &Pool) -> usize { pool.idle.lock().unwrap().len() }\n\
        #[no_mangle] pub static IDLE: Mutex<Vec<u8>> = Mutex::new(Vec::new());\n\
        fn main() { println!(\"{}\", take(&Pool { host: 1, idle: Mutex::new(vec![1]) })); }\n";
    let mut binary = Binary::build("pool.rs", source, "rustc -Cdebuginfo=2 -Awarnings");
    let code = binary.workshop.address("program", "take") + 1;
    let path = binary.path();
    let mut lengths = 0;
    for behind in (-32..32).step_by(4) {
        let named = binary.symbolizer.guarded(&path, None, code, ("Pool", "idle"), behind, 8).unwrap();
        if named.is_some_and(|named| named.name == ".len" && named.form.is_some()) {
            lengths += 1;
        }
    }
    assert_eq!(lengths, 1);
    let other = binary.symbolizer.guarded(&path, None, code, ("Pool", "host"), 0, 4).unwrap();
    assert_eq!(other, None);
}
