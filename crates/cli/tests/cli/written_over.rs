//! What one thread writes for another, and a third one writes over, is told by all three.

use crate::kit::{UNSNARL, Workplace};

/// An answer is swept away by whoever finds it there before the one that has asked.
const ANSWERS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
enum { NONE, ASKED, ANSWERED };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int state, asked;
static void *ask(void *argument) {
    pthread_mutex_lock(&lock);
    state = ASKED; /* ask */
    asked = 1;
    while (state == ASKED) /* wait */
        pthread_cond_wait(&answered, &lock);
    if (state != ANSWERED)
        abort();
    pthread_mutex_unlock(&lock);
    return argument;
}
static void *answer(void *argument) {
    for (int done = 0; !done;) {
        pthread_mutex_lock(&lock);
        if (asked) {
            state = ANSWERED; /* answer */
            done = 1;
            pthread_cond_signal(&answered);
        }
        pthread_mutex_unlock(&lock);
    }
    return argument;
}
static void *sweep(void *argument) {
    for (int round = 0; round < 2; round++) {
        pthread_mutex_lock(&lock);
        if (state == ANSWERED)
            state = NONE; /* sweep */
        pthread_mutex_unlock(&lock);
    }
    return argument;
}
int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, ask, 0);
    pthread_create(&threads[1], 0, answer, 0);
    pthread_create(&threads[2], 0, sweep, 0);
    for (int nth = 0; nth < 3; nth++)
        pthread_join(threads[nth], 0);
    return 0;
}
"#;

#[test]
fn an_answer_that_is_swept_away_is_told_with_who_gave_it() {
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc"), "answers", ANSWERS);
    let flags = "--session answers --schedule pos --seed 1 --runs 60 --confirm 1 --json report.json";
    place.call(&format!("run {flags} -- ./answers")).exits(0);
    let report = std::fs::read(place.path("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let first = &report["findings"][0];
    let step = |access: &serde_json::Value| {
        let line = ANSWERS.lines().nth(access["line"].as_u64().unwrap() as usize - 1).unwrap();
        let mark = line.split_once("/* ").and_then(|(_, rest)| rest.split_once(" */")).map(|(mark, _)| mark);
        (access["thread"].as_u64().unwrap(), mark.unwrap_or("other"))
    };
    let steps: Vec<(u64, &str)> = first["accesses"].as_array().unwrap().iter().map(step).collect();
    assert_eq!(steps, [(1, "ask"), (2, "answer"), (3, "sweep"), (1, "wait")], "{first}");
    assert_eq!(first["kind"], "atomicity-violation");
}
