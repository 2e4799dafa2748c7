/* Innocent sharing around the bug of a corpus program. `NOISE` chooses how much of it there is:
 *   0  none;
 *   1  locked statistics and a locked cache, as any server has them;
 *   2  besides, now and then some hundred accesses to a striped table and to a progress counter: thousands per run.
 * Nothing here is ever wrong, so nothing here may rank above the bug. The state is per including file:
 * include this in one source file of a program only. */
#ifndef CORPUS_BACKGROUND_H
#define CORPUS_BACKGROUND_H

#ifndef NOISE
#define NOISE 1
#endif

#if NOISE >= 1

#include <pthread.h>

enum { CACHE_LINES = 8 };

static struct {
    unsigned long lookups;
    unsigned long misses;
    unsigned keys[CACHE_LINES];
    unsigned values[CACHE_LINES];
} background_cache;
static pthread_mutex_t background_cache_lock = PTHREAD_MUTEX_INITIALIZER;

static inline unsigned background_lookup(unsigned key)
{
    unsigned line = key % CACHE_LINES;

    pthread_mutex_lock(&background_cache_lock);
    background_cache.lookups++;
    if (background_cache.keys[line] != key) {
        background_cache.misses++;
        background_cache.keys[line] = key;
        background_cache.values[line] = key * 2654435761u;
    }
    unsigned value = background_cache.values[line];
    pthread_mutex_unlock(&background_cache_lock);
    return value;
}

#endif

#if NOISE >= 2

enum { STRIPES = 8, CELLS_PER_STRIPE = 32, STEPS_PER_SWEEP = 4 };

static struct {
    pthread_mutex_t lock;
    unsigned cells[CELLS_PER_STRIPE];
} background_stripes[STRIPES] = {
    {PTHREAD_MUTEX_INITIALIZER, {0}}, {PTHREAD_MUTEX_INITIALIZER, {0}}, {PTHREAD_MUTEX_INITIALIZER, {0}},
    {PTHREAD_MUTEX_INITIALIZER, {0}}, {PTHREAD_MUTEX_INITIALIZER, {0}}, {PTHREAD_MUTEX_INITIALIZER, {0}},
    {PTHREAD_MUTEX_INITIALIZER, {0}}, {PTHREAD_MUTEX_INITIALIZER, {0}},
};
static unsigned background_progress;

static inline void background_sweep(unsigned value)
{
    for (unsigned stripe = 0; stripe < STRIPES; stripe++) {
        unsigned *cells = background_stripes[stripe].cells;

        pthread_mutex_lock(&background_stripes[stripe].lock);
        for (unsigned i = 1; i < CELLS_PER_STRIPE; i++)
            cells[i] = cells[i - 1] ^ value;
        cells[0] += value;
        pthread_mutex_unlock(&background_stripes[stripe].lock);
        __atomic_fetch_add(&background_progress, 1, __ATOMIC_RELAXED);
    }
}

#endif

/* One unit of what the rest of a program would be doing. */
static inline void background_step(unsigned key)
{
#if NOISE == 0
    (void)key;
#elif NOISE == 1
    (void)background_lookup(key);
#else
    unsigned value = background_lookup(key);
    if (key % STEPS_PER_SWEEP == 0)
        background_sweep(value);
#endif
}

#endif
