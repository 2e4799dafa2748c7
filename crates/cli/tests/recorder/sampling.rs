//! Bursts of accesses, and nothing across the time between them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use recording::{EventKind, ThreadEvent};

use crate::history::Process;
use crate::kit::{Compiler, Link, c};

/// A prime, so that both of two threads come to every place.
const PLACES: usize = 61;
const STEPS: usize = 4000;

/// Two threads take turns at every step; each step is the next of a ring of places in the code. So in truth a place is
/// only ever followed by the next one, whatever is left out, and much that concerns one thread alone lies between.
fn ring() -> String {
    let mut source = String::from(
        "volatile int plain;\nint atomic;\nvolatile char neighbour, byte;\nsem_t turn[2];\nvolatile int own[2][16];\n\
         static void step(int place) {\n  switch (place) {\n",
    );
    for place in 0..PLACES {
        let _ = writeln!(source, "  case {place}: plain++; //@{place}");
        let _ = writeln!(source, "    __atomic_fetch_add(&atomic, 1, __ATOMIC_RELAXED); //@{place}");
        let _ = writeln!(source, "    byte = place; //@{place}");
        let _ = writeln!(source, "    break;");
    }
    let _ = writeln!(
        source,
        "  }}
}}
static void *worker(void *argument) {{
    int self = argument != NULL;
    for (int i = self; i < {STEPS}; i += 2) {{
        sem_wait(&turn[self]);
        step(i % {PLACES});
        sem_post(&turn[!self]);
        for (int k = 0; k < 40; k++)
            own[self][0]++;
    }}
    return NULL;
}}
int main(void) {{
    sem_init(&turn[0], 0, 1);
    sem_init(&turn[1], 0, 0);
    neighbour = 1;
    pthread_t first = start(worker, NULL), second = start(worker, &turn);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return atomic != {STEPS};
}}"
    );
    source
}

/// What the recording shows of one variable: for each two accesses that follow each other, by different threads, their
/// places; and how many gaps there are.
fn followers(process: &Process<'_>, variable: &str) -> (BTreeSet<(usize, usize)>, usize) {
    let address = process.address(variable);
    let at_variable = |event: &&ThreadEvent| {
        let is_kind = event.kind.is_access() || event.kind == EventKind::Gap;
        is_kind && process.recording.locations[event.event.object as usize].address == address
    };
    let (mut pairs, mut gaps, mut last) = (BTreeSet::new(), 0, None);
    for event in process.recording.events.iter().filter(at_variable) {
        if event.kind == EventKind::Gap {
            (gaps, last) = (gaps + 1, None);
        } else if let Ok(place) = process.site(event.event.leaf).parse::<usize>() {
            if let Some((_, head)) = last.filter(|&(thread, _)| thread != event.actor()) {
                pairs.insert((head, place));
            }
            last = Some((event.actor(), place));
        }
    }
    (pairs, gaps)
}

fn recorded_accesses(process: &Process<'_>) -> usize {
    process.recording.events.iter().filter(|event| event.kind.is_access()).count()
}

fn is_synchronization(event: &&ThreadEvent) -> bool {
    matches!(event.kind, EventKind::SemaphorePost | EventKind::SemaphoreWait)
}

#[test]
fn what_bursts_show_of_followers_is_true() {
    for link in [Link::Shared, Link::Static] {
        let compiled = || Compiler::c().link(link).program(&ring());
        let (program, sampled_program) = (compiled(), compiled().plan("seed=1,noise=off,sample=100000"));
        let (whole, sampled) = (program.record(), sampled_program.record());
        assert_eq!((whole.recording.header.sample, sampled.recording.header.sample), (0, 100_000));
        for variable in ["plain", "atomic", "byte"] {
            let (truth, _) = followers(&whole, variable);
            assert_eq!(truth.len(), PLACES, "{variable}: each place has one follower");
            let (seen, gaps) = followers(&sampled, variable);
            // There are about 60 bursts. Each wrong bridge over a gap would be noticed but for one time in 61.
            assert!(gaps >= 10, "{variable}: {gaps} gaps");
            assert!(seen.len() >= PLACES / 4, "{variable}: {} pairs", seen.len());
            assert!(seen.is_subset(&truth), "{variable}: {:?}", seen.difference(&truth));
        }
        let share = recorded_accesses(&sampled) as f64 / recorded_accesses(&whole) as f64;
        assert!((0.003..0.7).contains(&share), "{share}");
        let synchronization =
            |process: &Process<'_>| process.recording.events.iter().filter(is_synchronization).count();
        assert_eq!(synchronization(&sampled), synchronization(&whole), "always recorded");
    }
}

#[test]
fn memory_of_one_thread_is_not_handed_over_across_a_gap() {
    let program = c(r#"
volatile long words[4096];
THREAD(first) {
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 4096; i++)
            words[i] = i; //@first
    return NULL;
}
volatile long own;
THREAD(second) {
    for (int i = 0; i < 100000; i++)
        own++;
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 4096; i++)
            words[i] = i; //@second
    return NULL;
}
int main(void) {
    in_thread(first);
    in_thread(second);
    return 0;
}
"#)
    .plan("seed=3,noise=off,sample=200000");
    let process = program.record();
    let words = process.address("words");
    let mut handed_over = process.recording.locations.iter();
    // Whatever burst was open when the first thread ended is over before the second one comes to the words.
    assert!(!handed_over.any(|location| (words..words + 8 * 4096).contains(&location.address)));
}
