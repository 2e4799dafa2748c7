//! Words that threads go through byte by byte.

use crate::differential::Random;
use crate::kit::c;

const WORDS: usize = 512;
/// Enough words before the first odd one for a handover to be no news, beyond a small budget.
const USUAL: usize = 64;
/// Each of their bytes may be handed on to the late thread; 64 handovers between two sites are always recorded.
const ODD: usize = 8;

/// The bytes of a buffer in the order in which a thread goes through them: of the odd words not all, or not in order.
fn way_through(random: &mut Random, odd: &[usize]) -> Vec<usize> {
    let mut way = Vec::new();
    for word in 0..WORDS {
        let passed = if odd.contains(&word) { random.below(9) } else { 8 };
        way.extend((0..passed).map(|byte| word * 8 + byte));
        if odd.contains(&word) {
            way.extend((0..random.below(4)).map(|_| word * 8 + random.below(8)));
        }
    }
    way
}

fn list(bytes: &[usize]) -> String {
    bytes.iter().map(|byte| format!("{byte},")).collect()
}

#[test]
fn of_a_word_that_was_gone_through_in_part_each_byte_is_described_as_it_was_left() {
    for seed in 1..=8 {
        let mut random = Random(seed);
        // The last word is odd: the thread ends in its midst.
        let mut odd: Vec<usize> = (1..ODD).map(|_| USUAL + random.below(WORDS - USUAL - 1)).collect();
        odd.push(WORDS - 1);
        odd.sort_unstable();
        odd.dedup();
        let filled = way_through(&mut random, &odd);
        let read = way_through(&mut random, &odd);
        let late: Vec<usize> = odd.iter().flat_map(|word| word * 8..word * 8 + 8).rev().collect();
        let source = format!(
            r#"
volatile unsigned char buffer[{bytes}] __attribute__((aligned(8)));
volatile unsigned sum;
static const short filled[] = {{{}}}, taken[] = {{{}}}, late_at[] = {{{}}};
#define COUNT(list) (int)(sizeof list / sizeof *list)
THREAD(filler) {{
    for (int i = 0; i < COUNT(filled); i++)
        buffer[filled[i]] = 1; //@fill
    return NULL;
}}
THREAD(reader) {{
    for (int i = 0; i < COUNT(taken); i++)
        sum += buffer[taken[i]]; //@read
    return NULL;
}}
THREAD(late) {{
    for (int i = 0; i < COUNT(late_at); i++)
        buffer[late_at[i]] = 2; //@late
    return NULL;
}}
int main(void) {{
    in_thread(filler);
    in_thread(reader);
    in_thread(late);
    return 0;
}}
"#,
            list(&filled),
            list(&read),
            list(&late),
            bytes = WORDS * 8,
        );
        let history = c(&source).plan("noise=off,budget=4096").record().history("buffer");
        let told: Vec<&str> = history.lines().filter(|line| line.contains("late")).collect();
        let mut expected: Vec<String> = Vec::new();
        for byte in late.iter().rev() {
            let first = match (filled.contains(byte), read.contains(byte)) {
                (_, true) => "reader r@read",
                (true, false) => "filler w@fill",
                (false, false) => continue,
            };
            // Beyond the budget a turn's last accesses are told alone.
            expected.push(format!("+{byte}:1 {first} | late w@late"));
        }
        assert_eq!(told, expected, "{seed}: {odd:?}");
    }
}

#[test]
fn threads_that_go_through_the_same_words_at_the_same_time() {
    let program = c(r#"
enum { BYTES = 4096, ROUNDS = 40 };
unsigned char *volatile buffer;
volatile unsigned sum;
static void go_through(int writes) {
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < BYTES; i++)
            if (writes)
                ((volatile unsigned char *)buffer)[i] = round; //@write
            else
                sum += ((volatile unsigned char *)buffer)[i]; //@read
}
THREAD(writer) { go_through(1); return NULL; }
THREAD(other_writer) { go_through(1); return NULL; }
THREAD(reader) { go_through(0); return NULL; }
THREAD(owner) {
    for (int round = 0; round < 2000; round++) {
        unsigned long *fresh = malloc(BYTES);
        fresh[round % 512] = 1;
        buffer = (unsigned char *)fresh;
        sched_yield();
    }
    return NULL;
}
int main(void) {
    buffer = malloc(BYTES);
    pthread_t threads[] = {start(writer, NULL), start(other_writer, NULL), start(reader, NULL), start(owner, NULL)};
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#)
    .plan("noise=off,budget=4096");
    let history = program.record().history("buffer");
    assert!(history.contains("owner"), "{history}");
}
