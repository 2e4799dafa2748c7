//! Loops of Rust's shapes. What is written to `told` is which execution of a loop this is, and which iteration of it.
use std::hint::black_box;

/// Tells it from what else threads share.
const MARK: u64 = 0x7e11;

static mut TOLD: u64 = 0;
static mut EXECUTIONS: u64 = 0;

#[inline(never)]
fn tell(execution: u64, iteration: u64) {
    // SAFETY: the only other thread is joined at once.
    unsafe { (&raw mut TOLD).write(MARK << 48 | execution << 16 | iteration) };
    std::thread::spawn(|| assert_ne!(unsafe { (&raw const TOLD).read() }, 0)).join().unwrap();
}

fn execution() -> u64 {
    // SAFETY: only the main thread comes here.
    unsafe {
        EXECUTIONS += 1;
        EXECUTIONS
    }
}

fn ranges() {
    let outer = execution();
    for i in 0..black_box(3) {
        tell(outer, i);
        let inner = execution();
        for j in 0..black_box(2) {
            tell(inner, j);
        }
    }
}

fn slices() {
    let this = execution();
    for &i in black_box(&[0, 1, 2, 3, 4]) {
        if i % 3 != 1 {
            tell(this, i);
        }
    }
}

fn whiles() {
    let this = execution();
    let mut i = 0;
    while i < black_box(4) {
        tell(this, i);
        i += 1;
    }
    let this = execution();
    let mut i = 0;
    let found = loop {
        tell(this, i);
        if i == black_box(2) {
            break i;
        }
        i += 1;
    };
    assert_eq!(found, 2);
}

fn constant() {
    let this = execution();
    for i in 0..3 {
        tell(this, i);
    }
}

fn main() {
    tell(0, 1);
    ranges();
    slices();
    whiles();
    constant();
    tell(0, 1);
}
