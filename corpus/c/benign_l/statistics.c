/* Correct: threads measure things and keep statistics in three ways: an atomic histogram, extremes by
 * compare-and-exchange, and sums that each thread merges under a lock now and then. */
#include <limits.h>
#include <pthread.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

#ifndef THREADS
#define THREADS 3
#endif

enum { SAMPLES = 200, BUCKETS = 8, LIMIT = 1000, MERGE_EVERY = 16, SAMPLE_ROUNDS = 500 };

struct sums {
    long count;
    long total;
};

struct sampler {
    pthread_t thread;
    unsigned number;
    struct sums pending;
};

static long histogram[BUCKETS];
static int smallest = INT_MAX;
static int largest = INT_MIN;
static struct sums merged;
static pthread_mutex_t merged_lock = PTHREAD_MUTEX_INITIALIZER;

static int sample(unsigned sampler, unsigned i)
{
    return (int)(compute(sampler * SAMPLES + i, SAMPLE_ROUNDS) % LIMIT);
}

static void lower_to(int *extreme, int value)
{
    int seen = __atomic_load_n(extreme, __ATOMIC_RELAXED);

    while (value < seen && !__atomic_compare_exchange_n(extreme, &seen, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void raise_to(int *extreme, int value)
{
    int seen = __atomic_load_n(extreme, __ATOMIC_RELAXED);

    while (value > seen && !__atomic_compare_exchange_n(extreme, &seen, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void merge(struct sums *pending)
{
    pthread_mutex_lock(&merged_lock);
    merged.count += pending->count;
    merged.total += pending->total;
    pthread_mutex_unlock(&merged_lock);
    *pending = (struct sums){0};
}

static void record(struct sampler *sampler, int value)
{
    __atomic_fetch_add(&histogram[value * BUCKETS / LIMIT], 1, __ATOMIC_RELAXED);
    lower_to(&smallest, value);
    raise_to(&largest, value);
    sampler->pending.count++;
    sampler->pending.total += value;
    if (sampler->pending.count == MERGE_EVERY)
        merge(&sampler->pending);
}

static void *sampler_main(void *argument)
{
    struct sampler *sampler = argument;

    for (unsigned i = 0; i < SAMPLES; i++)
        record(sampler, sample(sampler->number, i));
    merge(&sampler->pending);
    return NULL;
}

int main(void)
{
    struct sampler samplers[THREADS];
    long count = 0, total = 0;
    int low = INT_MAX, high = INT_MIN;

    for (unsigned i = 0; i < THREADS; i++) {
        samplers[i] = (struct sampler){.number = i};
        pthread_create(&samplers[i].thread, NULL, sampler_main, &samplers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(samplers[i].thread, NULL);

    for (unsigned i = 0; i < THREADS * SAMPLES; i++) {
        int value = sample(0, i);
        total += value;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    for (int i = 0; i < BUCKETS; i++)
        count += histogram[i];
    return verdict(count == THREADS * SAMPLES && merged.count == count && merged.total == total && smallest == low &&
                   largest == high);
}
