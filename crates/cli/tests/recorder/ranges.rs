//! Which bytes an access concerns, exactly: neighbours never share a history.

use crate::differential::Random;
use crate::kit::{Compiler, c};

/// The body runs in `first` and then, with its own statements, in `second`; what became of `x` is compared.
fn check(declarations: &str, first: &str, second: &str, expected: &str) {
    let program = c(&format!(
        "{declarations}\nTHREAD(first) {{\n{first}\nreturn NULL;\n}}\nTHREAD(second) {{\n{second}\nreturn NULL;\n}}\n\
         int main(void) {{ in_thread(first); in_thread(second); return 0; }}\n"
    ));
    let process = program.record();
    process.expect_whole();
    assert_eq!(process.history("x"), expected, "{declarations} {first} {second}");
}

#[test]
fn chars_next_to_each_other() {
    let x = "volatile char x[8];";
    check(x, "x[0] = 1; //@a", "x[1] = 2; //@b", "");
    check(x, "x[0] = 1; //@a\nx[1] = 1; //@b", "x[1] = 2; //@c", "+1:1 first w@b | second W@c");
    check(
        x,
        "for (int i = 0; i < 8; i++)\nx[i] = 1; //@loop",
        "x[3] = 2; //@c\nx[4] = 2; //@d",
        "+3:1 first w@loop | second W@c\n+4:1 first w@loop | second W@d",
    );
}

#[test]
fn shorts() {
    let x = "volatile short x[4];";
    check(x, "x[0] = 1; //@a\nx[1] = 1; //@b", "x[2] = 2;", "");
    check(x, "x[0] = 1; //@a\nx[1] = 1; //@b", "x[1]++; //@c", "+2:2 first w@b | second R@c W@c");
}

#[test]
fn one_half_read_and_the_other_written() {
    let x = "volatile union { short s[2]; int i; } x; volatile int sink;";
    check(
        x,
        "sink = x.s[0]; //@read\nx.s[1] = 1; //@write",
        "x.i = 2; //@both",
        "+0:2 first r@read | second W@both\n+2:2 first w@write | second W@both",
    );
}

#[test]
fn bitfields_share_the_bytes_that_the_compiler_accesses() {
    let x = "struct { unsigned a : 3; unsigned b : 5; unsigned char c; } x;";
    check(x, "x.a = 1; //@a", "x.c = 1; //@c", "");
    check(x, "x.a = 1; //@a", "x.b = 1; //@b", "+0:1 first w@a | second W@b");
}

#[test]
fn unaligned_ints_reach_across_words() {
    let x = "struct __attribute__((packed)) { char pad[6]; volatile int i; char tail[6]; } x __attribute__((aligned(8)));";
    check(x, "x.i = 1; //@a", "x.i = 2; //@b", "+6:2 first w@a | second W@b\n+8:2 first w@a | second W@b");
    check(x, "x.i = 1; //@a", "x.pad[5] = 2; x.tail[0] = 2; //@b", "");
    check(x, "x.i = 1; //@a", "((volatile char *)&x)[7] = 2; //@b", "+7:1 first w@a | second W@b");
}

#[test]
fn a_larger_access_joins_and_a_smaller_one_cuts() {
    let x = "volatile union { long l; int i[2]; } x;";
    check(
        x,
        "x.i[0] = 1; //@a\nx.i[1] = 1; //@b",
        "x.l = 2; //@c",
        "+0:4 first w@a | second W@c\n+4:4 first w@b | second W@c",
    );
    check(
        x,
        "x.l = 1; //@a",
        "x.l = 2; //@b\nx.i[1] = 3; //@c",
        // The whole was shared before it was cut: both pieces have that history.
        "+0:4 first w@a | second W@b\n+4:4 first w@a | second W@b W@c",
    );
}

#[test]
fn a_cut_location_keeps_the_last_accesses_of_open_turns() {
    let x = "volatile union { long l; int i[2]; } x;";
    check(
        x,
        "x.l = 1; //@a",
        "x.l = 2; //@b\nx.l = 3; //@c\nx.i[0] = 4; //@d",
        "+0:4 first w@a | second W@b w@c W@d\n+4:4 first w@a | second W@b w@c",
    );
}

#[test]
fn a_repeated_access_to_several_pieces_is_the_last_of_each() {
    let x = "volatile union { long l; int i[2]; short s[4]; } x; volatile int n = 3;";
    check(
        x,
        "x.i[0] = 1; //@a\nx.s[2] = 1; //@b",
        // The last two bytes are the second thread's alone.
        "x.i[0] = 2; //@c\nx.s[2] = 2; //@d\nfor (int i = 0; i < n; i++)\nx.l = 3; //@whole",
        "+0:4 first w@a | second W@c w@whole\n+4:2 first w@b | second W@d w@whole",
    );
    let program = c(r#"
volatile union { long l; int i[2]; } x;
volatile int sink, n = 3;
THREAD(first) { x.i[0] = 1; return NULL; } //@a
THREAD(second) {
    x.i[0] = 2; //@b
    for (int i = 0; i < n; i++)
        x.l = 3; //@whole
    return NULL;
}
THREAD(third) { sink = x.i[1]; return NULL; } //@read
int main(void) { in_thread(first); in_thread(second); in_thread(third); return 0; }
"#);
    assert_eq!(
        program.record().history("x"),
        "+0:4 first w@a | second W@b w@whole\n+4:4 second w@whole | third R@read"
    );
}

#[test]
fn what_is_on_record_elsewhere_still_cuts() {
    check(
        "volatile union { long l; int i[2]; } x[2]; volatile int n = 2;",
        "for (int i = 0; i < n; i++)\nx[i].l = 1; //@a",
        "for (int i = 0; i < n; i++)\nx[i].l = 2; //@b\nx[0].i[0] = 3; //@c\n\
         for (int i = 0; i < n; i++)\nx[i].i[0] = 4; //@d",
        "+0:4 first w@a | second W@b W@c w@d\n+4:4 first w@a | second W@b\n\
         +8:4 first w@a | second W@b W@d\n+12:4 first w@a | second W@b",
    );
}

#[test]
fn sixteen_byte_accesses_are_two_words() {
    let x = "#include <emmintrin.h>\nvolatile __m128i x; volatile long sink;";
    check(
        x,
        "x = _mm_set1_epi32(1); //@a",
        "x = _mm_set1_epi32(2); //@b\nsink = ((volatile long *)&x)[1]; //@c",
        "+0:8 first w@a | second W@b\n+8:8 first w@a | second W@b R@c",
    );
}

#[test]
fn memory_functions_touch_their_range_and_no_more() {
    let x = "char x[32]; char y[32]; volatile int n = 10;";
    check(
        x,
        "memset(x + 3, 1, n); //@set",
        "x[2] = 1; x[13] = 1;\nx[12] = 2; //@in",
        "+12:1 first w@set | second W@in",
    );
    check(x, "memset(x, 1, n); //@set", "memcpy(y, x + 8, n); //@copy", "+8:2 first w@set | second R@copy");
    check(
        x,
        "memset(x, 1, n); //@set",
        "memmove(x + 1, x, n - 1); //@move",
        "+0:1 first w@set | second R@move\n+1:7 first w@set | second R@move W@move\n\
         +8:1 first w@set | second R@move W@move\n+9:1 first w@set | second W@move",
    );
}

#[test]
fn a_buffer_shows_its_handover_by_its_first_words() {
    let program = c(r#"
char x[1 << 16] __attribute__((aligned(8)));
volatile int n = sizeof x;
THREAD(first) {
    memset(x, 1, n); //@set
    return NULL;
}
THREAD(second) {
    memset(x, 2, n); //@again
    return NULL;
}
THREAD(third) {
    x[50000] = 3; //@far
    return NULL;
}
int main(void) {
    in_thread(first);
    in_thread(second);
    in_thread(third);
    return 0;
}
"#);
    let process = program.record();
    let history = process.history("x");
    let mut lines: Vec<&str> = history.lines().collect();
    let last = lines.pop();
    assert_eq!(last, Some("+50000:1 second w@again | third W@far"), "the others have changed their user");
    let expected: Vec<String> =
        (0..64).map(|word| format!("+{}:8 first w@set | second W@again", word * 8)).collect();
    assert_eq!(lines, expected);
}

#[test]
fn memory_functions_do_their_work() {
    let program = c(r#"
int main(void) {
    for (volatile int size = 0; size < 200; size++)
        for (volatile int distance = -20; distance <= 20; distance++) {
            unsigned char bytes[256], expected[256];
            for (int i = 0; i < 256; i++)
                bytes[i] = expected[i] = i;
            for (int i = 0; i < size; i++)
                expected[25 + distance + i] = 25 + i;
            CHECK(memmove(bytes + 25 + distance, bytes + 25, size) == bytes + 25 + distance);
            for (int i = 0; i < 256; i++)
                CHECK(bytes[i] == expected[i]);
            memset(bytes + 7, 0xab, size);
            for (int i = 0; i < 256; i++)
                CHECK(bytes[i] == (i >= 7 && i < 7 + size ? 0xab : expected[i]));
            memcpy(bytes, expected, size);
            for (int i = 0; i < size; i++)
                CHECK(bytes[i] == expected[i]);
        }
    return 0;
}
"#);
    program.run_well();
    // The checking forms as well: these buffers' sizes are known to the compiler.
    let fortified = Compiler::c().flags("-O2 -D_FORTIFY_SOURCE=2").program(
        r#"
char target[16];
int main(int argc, char **argv) {
    memset(target, 'x', argc * 16);
    memcpy(target, "0123456789abcdef", argc * 16);
    memmove(target + 1, target, argc * 15);
    CHECK(memcmp(target, "00123456789abcde", 16) == 0);
    memcpy(target, argv[0], argc * 17);
    return 0;
}
"#,
    );
    let finished = fortified.run();
    finished.expect_signal(libc::SIGABRT);
    assert!(finished.stderr().contains("buffer overflow detected"), "{}", finished.stderr());
}

#[test]
fn strings_are_touched_up_to_their_end() {
    // The pointers keep the compiler from replacing the calls by stores that it does not instrument.
    let x = "char x[16]; char *volatile at = x; char *volatile text = \"abc\"; char *volatile az = \"az\"; \
             volatile long sink;";
    let three_and_zero = |second: &str, turn: &str| {
        let expected = format!("+0:4 first w@copy | second {turn}");
        check(x, "strcpy(at, text); //@copy", second, &expected);
    };
    three_and_zero("sink = strlen(at); //@b", "R@b");
    three_and_zero("sink = strcmp(at, text); //@b", "R@b");
    three_and_zero("sink = (long)strchr(at, 'z'); //@b", "R@b");
    three_and_zero("sink = (long)strrchr(at, 'z'); //@b", "R@b");
    three_and_zero("strcpy(at, text); //@b", "W@b");
    three_and_zero("free(strdup(at)); //@b", "R@b");
    // Comparing ends with the first difference, searching with what is found.
    check(x, "strcpy(at, text); //@copy", "sink = strcmp(at, az); //@b", "+0:2 first w@copy | second R@b");
    check(
        x,
        "strcpy(at, text); //@copy",
        "sink = (long)strchr(at, 'a'); //@b",
        "+0:1 first w@copy | second R@b",
    );
    check(x, "strcpy(at, text); //@copy", "sink = strnlen(at, 2); //@b", "+0:2 first w@copy | second R@b");
    check(
        x,
        "strcpy(at, text); //@copy",
        "sink = memcmp(at, az, at != x ? 1 : 2); //@b",
        "+0:2 first w@copy | second R@b",
    );
    check(
        x,
        "strcpy(at, text); //@copy",
        "strcat(at, az + 1); //@b",
        "+0:3 first w@copy | second R@b\n+3:1 first w@copy | second R@b W@b",
    );
}

/// What the C library keeps for all threads together.
#[test]
fn functions_that_keep_something_touch_it() {
    for call in ["strtok(text, sep)", "gmtime(&now)", "localtime(&now)", "ctime(&now)"] {
        let program = c(&format!(
            "#include <time.h>\ntime_t now; char text[] = \"a,b\", sep[] = \",\";\n\
             THREAD(first) {{\n{call}; //@a\nreturn NULL;\n}}\nTHREAD(second) {{\n{call}; //@b\nreturn NULL;\n}}\n\
             int main(void) {{ in_thread(first); in_thread(second); return 0; }}\n"
        ));
        let process = program.record();
        process.expect_whole();
        let is_at = |marker: &str| {
            process.recording.events.iter().any(|event| process.site(event.event.leaf) == marker)
        };
        assert_eq!([is_at("a"), is_at("b")], [true, true], "{call}");
    }
}

#[test]
fn what_is_kept_comes_out_right() {
    let program = c(r#"
#include <time.h>
int main(void) {
    char text[] = ",one,,two";
    CHECK(strcmp(strtok(text, ","), "one") == 0 && strcmp(strtok(NULL, ","), "two") == 0 && !strtok(NULL, ","));
    time_t day = 86400;
    CHECK(gmtime(&day)->tm_mday == 2);
    struct tm copy = *gmtime(&day);
    CHECK(strcmp(asctime(&copy), "Fri Jan  2 00:00:00 1970\n") == 0);
    CHECK(localtime(&day)->tm_year >= 69 && strlen(ctime(&day)) == 25);
    CHECK(setenv("KEPT", "yes", 1) == 0 && strcmp(getenv("KEPT"), "yes") == 0);
    CHECK(putenv("KEPT=no") == 0 && strcmp(getenv("KEPT"), "no") == 0);
    CHECK(unsetenv("KEPT") == 0 && getenv("KEPT") == NULL);
    return 0;
}
"#);
    program.run().expect_success();
}

#[test]
fn strings_come_out_right() {
    let program = c(r#"
int main(void) {
    char *volatile text = "hello";
    char room[32];
    CHECK(strcpy(room, text) == room && strcmp(room, "hello") == 0);
    CHECK(stpcpy(room, text) == room + 5);
    CHECK(strncpy(room, text, 8) == room && memcmp(room, "hello\0\0\0", 8) == 0);
    CHECK(strcat(room, " you") == room && strcmp(room, "hello you") == 0);
    CHECK(strncat(room, "!!!", 1) == room && strcmp(room, "hello you!") == 0);
    CHECK(strlen(room) == 10 && strnlen(room, 4) == 4 && strnlen(room, 32) == 10);
    CHECK(strcmp(room, "hello") > 0 && strcmp("a", room) < 0 && strncmp(room, "help", 3) == 0);
    CHECK(memcmp("\xff", "\x01", 1) > 0 && memcmp(text, "hellp", 5) < 0);
    CHECK(strchr(room, 'l') == room + 2 && strchr(room, 0) == room + 10 && strchr(room, 'z') == NULL);
    CHECK(strrchr(room, 'l') == room + 3);
    char *copy = strdup(room), *part = strndup(room, 3);
    CHECK(strcmp(copy, room) == 0 && strcmp(part, "hel") == 0);
    free(copy);
    free(part);
    return 0;
}
"#);
    program.run_well();
}

#[test]
fn the_kernel_reads_and_fills_buffers() {
    let x = "char x[16]; int ends[2];";
    check(
        x,
        "CHECK(pipe(ends) == 0); CHECK(write(ends[1], \"12345678\", 8) == 8);\nCHECK(read(ends[0], x, 16) == 8); //@fill",
        "CHECK(write(ends[1], x + 4, 4) == 4); //@give",
        "+4:4 first w@fill | second R@give",
    );
    check(x, "errno = 0; CHECK(read(-1, x, 16) == -1 && errno == EBADF); //@fails", "x[0] = 1;", "");
}

/// A free run does on a short way what a controlled one looks at closely.
#[test]
fn bytes_that_are_filled_one_by_one_are_described_alike_on_the_short_way() {
    let source = r#"
volatile unsigned char buffer[32];
volatile unsigned char sink;
THREAD(filler) {
    for (int i = 0; i < 29; i++)
        buffer[i] = i; //@fill
    for (int i = 2; i < 7; i++)
        sink = buffer[i]; //@check
    buffer[9] = 1; //@patch
    for (int i = 12; i < 18; i++)
        buffer[i]++; //@bump
    for (int i = 20; i < 24; i++)
        sink = buffer[i]; //@look
    for (int i = 31; i > 25; i--)
        buffer[i] = i; //@back
    return NULL;
}
THREAD(user) {
    for (int i = 0; i < 32; i += 3)
        sink = buffer[i]; //@use
    for (int i = 0; i < 32; i += 2)
        buffer[i] = 0; //@clear
    return NULL;
}
int main(void) {
    in_thread(filler);
    in_thread(user);
    for (int i = 0; i < 32; i++)
        sink = buffer[i]; //@end
    return 0;
}
"#;
    let short = described(source, "noise=off", 32);
    assert_eq!(short, described(source, "seed=1,schedule=random", 32));
    assert_eq!(short.len(), 32, "{short:#?}");
    assert!(short[6].contains("filler r@check w@fill | user R@use W@clear"), "{short:#?}");
}

/// The locations of so many bytes in `buffer`, and their turns.
fn described(source: &str, plan: &str, bytes: u64) -> Vec<String> {
    let program = c(source).plan(plan);
    let process = program.record();
    let start = process.address("buffer");
    let mut told: Vec<String> = process
        .lasting_locations()
        .filter(|(_, location)| (start..start + bytes).contains(&location.address))
        .map(|(id, location)| {
            let turns = process.turns(id);
            // Whether a thread's last read or its last write was later need not be known of its own bytes.
            let (first, rest) = turns.split_once(" | ").unwrap_or((&turns, ""));
            let mut first: Vec<&str> = first.split(' ').collect();
            first[1..].sort_unstable();
            format!("{:3}+{} {} | {rest}", location.address - start, location.size, first.join(" "))
        })
        .collect();
    told.sort();
    told
}

const PART_BYTES: usize = 256;

/// Accesses of different sizes at random places, each at a site of its own in a loop; and, byte by byte, where it was read and
/// written last.
fn random_accesses(
    random: &mut Random,
    are_aligned: bool,
    thread: &str,
    count: usize,
) -> (String, Vec<[String; 2]>) {
    let mut last = vec![[const { String::new() }; 2]; PART_BYTES];
    let mut body = String::new();
    for number in 0..count {
        let (size, unit) = [(1, "char"), (2, "short"), (4, "int"), (8, "long")][random.below(4)];
        let rounds = 1 + random.below(8);
        let (place, unit) = if are_aligned {
            (random.below(PART_BYTES / size) * size, unit.to_owned())
        } else {
            // None reaches across the end.
            (random.below(PART_BYTES - rounds * size), format!("anywhere_{unit}"))
        };
        let is_write = random.below(2);
        let at = format!("*(volatile {unit} *)(buffer + ({place} + i * {size}) % {PART_BYTES})");
        let access = if is_write == 1 { format!("{at} = 1") } else { format!("sink = {at}") };
        body += &format!("for (int i = 0; i < {rounds}; i++)\n{access}; //@{thread}{number}\n");
        for byte in place..place + rounds * size {
            last[byte % PART_BYTES][is_write] = format!(" {}@{thread}{number}", ["r", "w"][is_write]);
        }
    }
    (body, last)
}

#[test]
fn own_words_that_are_used_in_parts_are_described_byte_by_byte_on_the_short_way_too() {
    for (seed, are_aligned) in (1..=8).flat_map(|seed| [(seed, true), (seed, false)]) {
        let mut random = Random(seed);
        let (first, last) = random_accesses(&mut random, are_aligned, "first", 14);
        let (second, _) = random_accesses(&mut random, are_aligned, "second", 6);
        let anywhere = ["char", "short", "int", "long"]
            .map(|unit| format!("typedef {unit} __attribute__((aligned(1))) anywhere_{unit};\n"))
            .concat();
        let source = format!(
            "{anywhere}char buffer[{PART_BYTES}] __attribute__((aligned(8)));\nvolatile long sink;\n\
             THREAD(first) {{\n{first}\nreturn NULL;\n}}\nTHREAD(second) {{\n{second}\nreturn NULL;\n}}\n\
             int main(void) {{\nin_thread(first);\nin_thread(second);\n\
             for (int i = 0; i < {PART_BYTES}; i++)\nsink = *(volatile char *)(buffer + i); //@end\nreturn 0;\n}}\n"
        );
        let short = described(&source, "noise=off", PART_BYTES as u64);
        assert_eq!(short, described(&source, "seed=1,schedule=random", PART_BYTES as u64), "{source}");
        for (byte, [read, write]) in last.iter().enumerate().filter(|(_, last)| **last != ["", ""]) {
            let holds = |line: &&String| {
                let extent = line.split_whitespace().next().and_then(|extent| extent.split_once('+'));
                let (start, size) = extent.expect("a location has an extent");
                let number = |text: &str| text.parse::<usize>().expect("a number");
                (number(start)..number(start) + number(size)).contains(&byte)
            };
            let turn = format!(" first{read}{write} |");
            let line = short.iter().find(holds);
            assert!(line.is_some_and(|line| line.contains(&turn)), "{byte}: {turn} {line:?}\n{source}");
        }
    }
}
