//! Address spaces of any layout and size.

use std::process::Command;

use crate::kit::{Compiler, c, skip};
use crate::processes::{HANDED_OVER, ONE_HANDOVER};

#[test]
fn any_layout_of_the_address_space() {
    let launchers: [&[&str]; 4] = [
        &["setarch", "--addr-no-randomize"],
        &["setarch", "--addr-compat-layout"],
        &["sh", "-c", "ulimit -s unlimited && exec \"$0\""],
        &[
            "setarch",
            "--addr-no-randomize",
            "--addr-compat-layout",
            "sh",
            "-c",
            "ulimit -s unlimited && exec \"$0\"",
        ],
    ];
    for launcher in launchers {
        for flags in ["-fPIE -pie", "-fno-pie -no-pie"] {
            let program = Compiler::c().flags(flags).program(ONE_HANDOVER).launched_by(launcher);
            let process = program.record();
            process.expect_whole();
            assert_eq!(process.history("x"), HANDED_OVER, "{launcher:?} {flags}");
        }
    }
}

#[test]
fn memory_at_either_end_of_the_address_space() {
    let program = c(r#"
volatile int *low, *high;
THREAD(worker) {
    ++*low; //@worker-low
    ++*high; //@worker-high
    return NULL;
}
static volatile int *page_at(uintptr_t address) {
    void *page = mmap((void *)address, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(page == (void *)address);
    return page;
}
int main(void) {
    low = page_at(0x10000);
    high = page_at(0x7fffffffe000);
    *low = *high = 1; //@init
    in_thread(worker);
    return *low != 2 || *high != 2; //@end
}
"#);
    let process = program.record();
    process.expect_whole();
    for (address, marker) in [(0x10000, "worker-low"), (0x7fff_ffff_e000, "worker-high")] {
        let (id, _) = process
            .lasting_locations()
            .find(|(_, location)| location.address == address)
            .unwrap_or_else(|| panic!("{address:#x} was shared"));
        let sites: Vec<String> = process.accesses(id).map(|event| process.site(event.event.leaf)).collect();
        assert_eq!(sites, ["init", marker, marker, "end"]);
    }
}

/// Sparsely, so that the test needs a sixteenth of that.
#[test]
fn two_gibibytes_of_touched_memory() {
    let program = c(r#"
#define SIZE (2UL << 30)
#define STEP (64UL << 10)
char *memory;
THREAD(worker) {
    for (size_t at = 0; at < SIZE; at += STEP)
        ++*(volatile long *)(memory + at);
    return NULL;
}
int main(void) {
    memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    for (size_t at = 0; at < SIZE; at += STEP)
        *(volatile long *)(memory + at) = 1;
    in_thread(worker);
    for (size_t at = 0; at < SIZE; at += STEP)
        CHECK(*(volatile long *)(memory + at) == 2);
    return munmap(memory, SIZE);
}
"#);
    let process = program.record();
    assert_eq!(process.recording.header.fault, 0);
    // The same handover each time, so that not all of them are recorded.
    let handed_over =
        process.lasting_locations().filter(|(id, _)| process.accesses(*id).count() == 4).count();
    let left_out = process.recording.header.thinned as usize;
    assert!(
        handed_over >= 64 && handed_over + left_out >= (2 << 30) / (64 << 10),
        "{handed_over} and {left_out}"
    );
}

#[test]
fn without_proc_the_program_is_still_known_by_name() {
    const UNMOUNT: [&str; 5] = ["unshare", "--mount", "sh", "-c", "umount -l /proc && exec \"$0\""];
    let possible = Command::new(UNMOUNT[0]).args(&UNMOUNT[1..]).arg("true").output();
    if !possible.is_ok_and(|output| output.status.success()) {
        skip("cannot unmount /proc here");
        return;
    }
    let program = c(ONE_HANDOVER).launched_by(&UNMOUNT);
    let process = program.record();
    process.expect_whole();
    assert_eq!(process.history("x"), HANDED_OVER);
}
