//! Buffers that are taken over piece by piece: their first words show a handover, the others just change their user.

use crate::kit::c;

/// Four threads, one after the other, that do this with so many words of `x`.
fn history(count: usize, bodies: [&str; 4]) -> Vec<String> {
    let names = ["first", "second", "third", "fourth"];
    let threads: Vec<String> = names
        .iter()
        .zip(bodies)
        .map(|(name, body)| format!("THREAD({name}) {{\n{body}\nreturn NULL;\n}}\n"))
        .collect();
    let program = c(&format!(
        "volatile long x[{count}], sink;\nvolatile int n = {count};\n{}\
         int main(void) {{ in_thread(first); in_thread(second); in_thread(third); in_thread(fourth); return 0; }}\n",
        threads.concat()
    ));
    program.record().history("x").lines().map(str::to_owned).collect()
}

/// One line for each of the words, with this history.
fn words(numbers: impl Iterator<Item = usize>, turns: &str) -> Vec<String> {
    numbers.map(|word| format!("+{}:8 {turns}", word * 8)).collect()
}

#[test]
fn what_one_access_has_filled_shows_its_handover_by_its_first_words() {
    let told = history(
        2000,
        [
            "memset((void *)x, 1, n * sizeof *x); //@fill",
            "for (int i = 0; i < n; i++)\nsink = x[i]; //@use",
            "x[1500] = 3; //@far",
            "",
        ],
    );
    let mut expected = words(0..64, "first w@fill | second R@use");
    expected.push("+12000:8 second r@use | third W@far".to_owned());
    assert_eq!(told, expected);
}

#[test]
fn what_is_only_read_word_after_word_shows_its_handover_by_its_first_words() {
    let told = history(
        2000,
        [
            "for (int i = 0; i < n; i++)\nsink = x[i]; //@one",
            "for (int i = 0; i < n; i++)\nsink = x[i]; //@other",
            "x[1500] = 3; //@far",
            "",
        ],
    );
    let mut expected = words(0..64, "first r@one | second R@other");
    expected.push("+12000:8 first r@one | third W@far".to_owned());
    assert_eq!(told, expected);
}

#[test]
fn items_that_do_not_follow_one_another_are_all_told() {
    // Farther from each other than a cache line, and in two places by turns.
    for step in ["20 * i % n", "n / 2 * (i % 2) + i"] {
        let read = |site: &str| format!("for (int i = 0; i < 200; i++)\nsink = x[{step}]; //@{site}");
        let told = history(4000, [&read("one"), &read("other"), "", ""]);
        assert_eq!(told.len(), 200, "{told:#?}");
        assert!(told.iter().all(|line| line.ends_with(":8 first r@one | second R@other")), "{told:#?}");
    }
}

#[test]
fn loops_that_write_or_take_over_what_was_written_are_told() {
    let told = history(
        2000,
        [
            "for (int i = 0; i < n; i++)\nx[i] = 1; //@fill",
            "for (int i = 0; i < n; i++)\nsink = x[i]; //@use",
            "for (int i = 0; i < n; i++)\nx[i] = 2; //@anew",
            "",
        ],
    );
    assert_eq!(told, words(0..2000, "first w@fill | second R@use | third W@anew"));
}

#[test]
fn of_what_many_have_read_and_one_access_fills_anew_the_first_words_are_told() {
    let told = history(
        2000,
        [
            "for (int i = 0; i < n; i++)\nsink = x[i]; //@one",
            "for (int i = 0; i < n; i++)\nsink = x[i]; //@other",
            "memset((void *)x, 1, n * sizeof *x); //@anew",
            "sink = x[1500]; //@far",
        ],
    );
    let mut expected = words(0..64, "first r@one | second R@other | third W@anew");
    // Of these one reader is known, who is enough to show that it was read before.
    expected.extend(words(64..128, "first r@one | third W@anew"));
    expected.push("+12000:8 third w@anew | fourth R@far".to_owned());
    assert_eq!(told, expected);
}

/// Four sites fill a heap block, so that none of them fills thousands of words: its words become locations until there are
/// thousands.
#[test]
fn of_a_heap_block_the_first_thousands_of_words_are_told_and_what_is_new() {
    let source = r#"
enum { PART = 3000 };
static long *block;
volatile long sink;
THREAD(filler) {
    for (int i = 0; i < PART; i++)
        block[i] = 1; //@one
    for (int i = PART; i < 2 * PART; i++)
        block[i] = 2; //@two
    for (int i = 2 * PART; i < 3 * PART; i++)
        block[i] = 3; //@three
    return NULL;
}
THREAD(user) {
    for (int i = 0; i < 3 * PART; i++)
        sink = ((volatile long *)block)[i]; //@use
    return NULL;
}
THREAD(late) {
    sink = ((volatile long *)block)[3 * PART - 1]; //@end
    ((volatile long *)block)[3 * PART - 2] = 4; //@late
    return NULL;
}
int main(void) {
    block = malloc(3 * PART * sizeof *block);
    in_thread(filler);
    in_thread(user);
    in_thread(late);
    return 0;
}
"#;
    let told: Vec<String> = c(source).record().heap().lines().map(str::to_owned).collect();
    let mut expected = words(0..3000, "filler w@one | user R@use");
    expected.extend(words(3000..4096, "filler w@two | user R@use"));
    // Of what has not been seen before, as many as of any handover.
    expected.extend(words(6000..6064, "filler w@three | user R@use"));
    expected.push("+71984:8 user r@use | late W@late".to_owned());
    expected.push("+71992:8 user r@use | late R@end".to_owned());
    assert_eq!(told, expected);
}
