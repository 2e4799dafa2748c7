//! How the pages come into memory that describe the target's.

use crate::kit::{c, skip};

/// How many pages the system had to bring in while fresh `memory` was filled in this way, beside its own; none where it cannot bring in
/// many at a time.
fn pages_brought_in(fill: &str) -> Option<u64> {
    let program = c(&format!(
        r#"
#include <sys/mman.h>
#include <sys/resource.h>
static long brought_in(void) {{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}}
int main(void) {{
    size_t size = 8 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    if (madvise(memory, size, 23 /* MADV_POPULATE_WRITE */) != 0)
        return 0;
    long before = brought_in();
    {fill}
    printf("%ld\n", brought_in() - before);
    return 0;
}}
"#
    ));
    let finished = program.run_well();
    let printed = finished.stdout();
    if printed.is_empty() {
        skip("the system cannot bring in pages before they are touched");
        return None;
    }
    Some(printed.trim().parse().expect("the program prints a number"))
}

#[test]
fn a_page_that_is_looked_at_before_it_is_changed_is_brought_in_once() {
    let fill = "for (size_t i = 0; i < size; i += 8) *(volatile long *)(memory + i) = 1;";
    let Some(pages) = pages_brought_in(fill) else { return };
    // Four bytes for each of the target's are 8192 pages, of which few are looked at before they are there.
    assert!(pages < 8192 + 2048, "{pages} pages were brought in");
}

#[test]
fn few_bytes_here_and_there_do_not_bring_in_all_pages_around_them() {
    let fill = "for (size_t i = 0; i < size; i += 65536) *(volatile long *)(memory + i) = 1;";
    let Some(pages) = pages_brought_in(fill) else { return };
    // Sixty-four pages describe the bytes from one of these words to the next.
    assert!(pages < 128 * 8, "{pages} pages were brought in");
}
