//! Sessions with hardly anything in them.

use std::fs;

use serde_json::{Value, json};

use crate::kit::{UNSNARL, Workplace};

const TECHNIQUES: &str = "verdict falcon unicorn griffin recon bugaboo locon avio defuse cci pset";

/// Every second run fails, whatever its threads do, and they have nothing to do with one another.
const APART: &str = r#"
#include <pthread.h>
#include <stdio.h>

static void *work(void *nothing)
{
    volatile unsigned own = 0;
    for (unsigned round = 0; round < 1000; round++)
        own += round;
    return nothing;
}

int main(void)
{
    unsigned runs = 0;
    FILE *count = fopen("count", "r");
    if (count) {
        if (fscanf(count, "%u", &runs) != 1)
            return 2;
        fclose(count);
    }
    count = fopen("count", "w");
    fprintf(count, "%u", runs + 1);
    fclose(count);
    pthread_t threads[2];
    for (int nth = 0; nth < 2; nth++)
        pthread_create(&threads[nth], NULL, work, NULL);
    for (int nth = 0; nth < 2; nth++)
        pthread_join(threads[nth], NULL);
    return runs % 2;
}
"#;

#[test]
fn runs_without_a_single_handover() {
    let place = Workplace::new();
    place.compile(&format!("{UNSNARL} cc"), "apart", APART);
    let seen = place.call("run --runs 6 --jobs 1 -- ./apart").exits(12);
    seen.says(&["6 runs", "3 passed", "3 failed"]);
    for technique in TECHNIQUES.split(' ') {
        let report = place.call(&format!("report --technique {technique} --json")).exits(12).json();
        assert_eq!(report["findings"], json!([]), "{technique}");
        assert_eq!((&report["runs"]["passed"], &report["runs"]["failed"]), (&json!(3), &json!(3)));
    }
}

#[test]
fn a_session_without_runs() {
    let place = Workplace::new();
    place.claims_session("claims");
    fs::write(place.path(".unsnarl/claims/runs.jsonl"), "").unwrap();
    fs::remove_dir_all(place.path(".unsnarl/claims/runs")).unwrap();
    fs::create_dir(place.path(".unsnarl/claims/runs")).unwrap();
    for technique in TECHNIQUES.split(' ') {
        let report = place.call(&format!("report --technique {technique} --json"));
        assert_eq!(report.exits(10).json()["findings"], json!([]), "{technique}");
    }
    place.call("show 1").exits(2).complains(&["there is no finding 1: the report has none"]);
}

/// A thread looks at what another has freed. That has no effect, since nobody has used the memory again.
const DANGLING: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *box;
static atomic_int is_freed;

static void *look(void *nothing)
{
    while (!atomic_load(&is_freed))
        ;
    volatile int seen = *box;
    (void)seen;
    return nothing;
}

int main(void)
{
    pthread_t looker;
    box = malloc(64);
    *box = 7;
    pthread_create(&looker, NULL, look, NULL);
    free(box);
    atomic_store(&is_freed, 1);
    pthread_join(looker, NULL);
    return 0;
}
"#;

#[test]
fn runs_that_pass_though_they_use_freed_memory() {
    let place = Workplace::new();
    let hangs = |name: &str, source: &str| {
        place.compile(&format!("{UNSNARL} cc"), name, source);
        place.call(&format!("run --runs 4 --jobs 1 -- ./{name}")).exits(10);
        place.call(&format!("report --json --session {name}")).exits(10).json()["hangs"].clone()
    };
    let line = |text: &str| 1 + DANGLING.lines().position(|line| line.contains(text)).unwrap();
    let said = format!(
        "look() at dangling.c:{} uses memory that another thread has freed in main() at dangling.c:{}",
        line("= *box"),
        line("free(box)")
    );
    let told = hangs("dangling", DANGLING);
    assert_eq!((&told[0]["kind"], &told[0]["threads"]), (&json!("use-after-free"), &json!([said])));
    assert_eq!((&told[0]["runs"], &told[0]["passed"]), (&json!(4), &json!(4)));
    let shown = place.call("report --session dangling").exits(10);
    shown.says(&["Use after free: threads use what others have freed in 4 runs that passed"]);
    // What is never given back is no matter of this.
    assert_eq!(hangs("kept", &DANGLING.replace("    free(box);\n", "")), json!(null));
}

/// What freed memory holds by then differs from run to run: here every fourth run fails for reasons that no recording shows. All of
/// them have the same order of all accesses, so that nothing goes with the failing ones by chance.
#[test]
fn freed_memory_is_to_blame_where_nothing_else_tells_which_runs_fail() {
    const FOURTH: &str = r#"
    FILE *runs = fopen("runs", "a");
    fputc('.', runs);
    fseek(runs, 0, SEEK_END);
    return ftell(runs) % 4 == 0;
"#;
    let place = Workplace::new();
    let source = [
        ("    return 0;\n", FOURTH),
        ("<stdatomic.h>", "<semaphore.h>\n#include <stdio.h>"),
        ("atomic_int", "sem_t"),
        ("    while (!atomic_load(&is_freed))\n        ;\n", "    sem_wait(&is_freed);\n"),
        ("atomic_store(&is_freed, 1)", "sem_post(&is_freed)"),
    ]
    .iter()
    .fold(DANGLING.to_owned(), |source, (old, new)| source.replace(old, new));
    let line = |text: &str| json!(1 + source.lines().position(|line| line.contains(text)).unwrap());
    place.compile(&format!("{UNSNARL} cc"), "fourth", &source);
    place.call("run --runs 24 --jobs 1 -- ./fourth").exits(0);
    let report = place.call("report --json").exits(0).json();
    let first = &report["findings"][0];
    let lines: Vec<&Value> =
        first["accesses"].as_array().unwrap().iter().map(|access| &access["line"]).collect();
    assert_eq!(lines, [&line("free(box)"), &line("= *box")], "{first}");
    assert!(first["confidence"].as_f64().unwrap() > 0.8, "{first}");
    assert_eq!(report["hangs"], json!(null), "it is told once");
    place.call("report").exits(0).says(&["passing runs use that memory as well"]);
}
