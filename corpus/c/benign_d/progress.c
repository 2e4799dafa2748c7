/* Correct: workers count what they have done in plain variables, and a monitor looks at them without any lock to
 * draw a progress bar. The races are deliberate: a bar that lags behind hurts nobody, and the result comes from
 * elsewhere. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

enum { WORKERS = 3, CHUNKS = 80, CHUNK_ROUNDS = 4000, BAR_WIDTH = 20 };

struct worker {
    pthread_t thread;
    volatile int done; /* also read by the monitor */
    unsigned digest;
};

struct bar {
    char text[BAR_WIDTH + 1];
    int redrawn;
};

static struct worker workers[WORKERS];
static volatile int all_done; /* bumped without a lock, so that bumps can get lost: for display only */
static int finished;          /* set once, by main */

static unsigned chunk_digest(unsigned worker, unsigned chunk)
{
    return compute(worker * CHUNKS + chunk, CHUNK_ROUNDS);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    unsigned number = (unsigned)(worker - workers);

    for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
        worker->digest ^= chunk_digest(number, chunk);
        worker->done++;
        all_done++;
    }
    return NULL;
}

static void redraw(struct bar *bar)
{
    int done = 0;

    for (int i = 0; i < WORKERS; i++)
        done += workers[i].done;
    int filled = done * BAR_WIDTH / (WORKERS * CHUNKS);
    for (int i = 0; i < BAR_WIDTH; i++)
        bar->text[i] = i < filled ? '#' : '.';
    bar->redrawn++;
}

static void *monitor(void *argument)
{
    struct bar *bar = argument;
    int shown = -1;

    while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE)) {
        int done = all_done;
        if (done != shown)
            redraw(bar);
        shown = done;
        sched_yield();
    }
    redraw(bar);
    return NULL;
}

int main(void)
{
    pthread_t monitor_thread;
    struct bar bar = {0};
    int correct = 1;

    pthread_create(&monitor_thread, NULL, monitor, &bar);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
    pthread_join(monitor_thread, NULL);

    for (unsigned i = 0; i < WORKERS; i++) {
        unsigned expected = 0;
        for (unsigned chunk = 0; chunk < CHUNKS; chunk++)
            expected ^= chunk_digest(i, chunk);
        correct = correct && workers[i].digest == expected;
    }
    return verdict(correct && bar.text[BAR_WIDTH - 1] == '#' && bar.redrawn > 0);
}
