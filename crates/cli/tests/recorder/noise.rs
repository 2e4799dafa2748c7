//! Noise changes the schedule and nothing else.

use crate::kit::c;

const SOURCE: &str = r#"
volatile long counter, sum;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
sem_t items;
static void *work(void *argument) {
    for (int i = 0; i < 300; i++) {
        sem_wait(&items);
        pthread_mutex_lock(&lock);
        counter++;
        sum += counter;
        pthread_mutex_unlock(&lock);
    }
    return argument;
}
int main(void) {
    sem_init(&items, 0, 0);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = start(work, NULL);
    for (int i = 0; i < 900; i++)
        sem_post(&items);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", counter, sum);
    return 0;
}
"#;

#[test]
fn results_do_not_depend_on_noise_or_seed() {
    for noise in ["off", "low", "medium", "high"] {
        for seed in [1, 2] {
            let program = c(SOURCE).plan(&format!("seed={seed},noise={noise}"));
            let finished = program.run_well();
            assert_eq!(finished.stdout(), "900 405450\n", "{noise} {seed}");
            assert_eq!(finished.recordings[0].header.seed, seed);
        }
    }
}

/// A delay is a yield, a spin or a sleep; the system counts how often a thread has gone to sleep. Only one thread
/// runs at a time, so that nobody has to wait for any other reason, but for a page now and then.
#[test]
fn no_noise_no_delays() {
    let sleeps = |noise: &str| -> u64 {
        let program = c(r#"
volatile int x;
THREAD(worker) {
    struct rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < 20000; i++)
        x++;
    getrusage(RUSAGE_THREAD, &after);
    printf("%ld", after.ru_nvcsw - before.ru_nvcsw);
    return NULL;
}
int main(void) {
    x = 1;
    in_thread(worker);
    return 0;
}
"#)
        .plan(&format!("seed=1,noise={noise}"));
        program.run_well().stdout().parse().expect("a number")
    };
    let (off, high) = (sleeps("off"), sleeps("high"));
    assert!(off < 20, "{off}");
    assert!(high > 100, "{high}");
}
