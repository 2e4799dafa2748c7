/* Correct: a clock of two parts under a sequence lock. A reader that meets a writer reads again; torn values occur all
 * the time and are never used. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

enum { READERS = 2, TICKS = 150, READS = 300, TICK_ROUNDS = 1500, READ_ROUNDS = 500, NANOSECONDS_PER_TICK = 7 };

static struct {
    unsigned sequence; /* odd while a writer is at work */
    unsigned long ticks;
    unsigned long nanoseconds; /* always ticks * NANOSECONDS_PER_TICK, as seen through the lock */
} now;

struct instant {
    unsigned long ticks;
    unsigned long nanoseconds;
};

struct reader {
    pthread_t thread;
    unsigned digest;
    unsigned long retries;
    int wrong;
};

static void tick(void)
{
    __atomic_fetch_add(&now.sequence, 1, __ATOMIC_SEQ_CST);
    unsigned long ticks = __atomic_load_n(&now.ticks, __ATOMIC_RELAXED) + 1;
    __atomic_store_n(&now.ticks, ticks, __ATOMIC_SEQ_CST);
    __atomic_store_n(&now.nanoseconds, ticks * NANOSECONDS_PER_TICK, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&now.sequence, 1, __ATOMIC_SEQ_CST);
}

static struct instant read_clock(struct reader *reader)
{
    for (;; reader->retries++) {
        unsigned before = __atomic_load_n(&now.sequence, __ATOMIC_SEQ_CST);
        struct instant instant = {
            .ticks = __atomic_load_n(&now.ticks, __ATOMIC_SEQ_CST),
            .nanoseconds = __atomic_load_n(&now.nanoseconds, __ATOMIC_SEQ_CST),
        };
        unsigned after = __atomic_load_n(&now.sequence, __ATOMIC_SEQ_CST);
        if (before == after && before % 2 == 0)
            return instant;
        sched_yield();
    }
}

static void *write_main(void *argument)
{
    unsigned *digest = argument;

    for (unsigned i = 0; i < TICKS; i++) {
        *digest ^= compute(i, TICK_ROUNDS);
        tick();
    }
    return NULL;
}

static void *read_main(void *argument)
{
    struct reader *reader = argument;
    unsigned long latest = 0;

    for (unsigned i = 0; i < READS; i++) {
        struct instant instant = read_clock(reader);
        if (instant.nanoseconds != instant.ticks * NANOSECONDS_PER_TICK || instant.ticks < latest)
            reader->wrong++;
        latest = instant.ticks;
        reader->digest ^= compute(i, READ_ROUNDS);
    }
    return NULL;
}

int main(void)
{
    struct reader readers[READERS] = {{0}};
    pthread_t writer;
    unsigned digest = 0;
    int wrong = 0;

    pthread_create(&writer, NULL, write_main, &digest);
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i].thread, NULL, read_main, &readers[i]);
    pthread_join(writer, NULL);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        wrong += readers[i].wrong;
    }
    return verdict(wrong == 0 && now.ticks == TICKS);
}
