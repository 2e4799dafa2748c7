/* Correct: the shortest round trip by branch and bound. Workers look at the best length so far without the lock, to
 * give up hopeless trips early; an old value costs time only, since a better trip is compared again under the lock. */
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

#ifndef THREADS
#define THREADS 3
#endif

enum { CITIES = 9 };

struct trip {
    int cities[CITIES];
    int length;
};

static int distance[CITIES][CITIES];
static volatile int best_length = INT_MAX; /* written under the lock, read anywhere */
static struct trip best;
static long improvements;
static int next_start = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_here;

static void draw_map(void)
{
    for (int a = 0; a < CITIES; a++) {
        for (int b = 0; b < a; b++)
            distance[a][b] = distance[b][a] = 1 + (int)(compute((unsigned)(a * CITIES + b), 9) % 97);
    }
}

static void offer(const struct trip *trip)
{
    pthread_mutex_lock(&lock);
    if (trip->length < best_length) {
        best = *trip;
        best_length = trip->length;
        improvements++;
    }
    pthread_mutex_unlock(&lock);
}

static bool visited(const struct trip *trip, int count, int city)
{
    for (int i = 0; i < count; i++) {
        if (trip->cities[i] == city)
            return true;
    }
    return false;
}

static void extend(struct trip *trip, int count)
{
    if (trip->length >= best_length)
        return;
    int last = trip->cities[count - 1];
    if (count == CITIES) {
        trip->length += distance[last][0];
        if (trip->length < best_length)
            offer(trip);
        trip->length -= distance[last][0];
        return;
    }
    for (int city = 1; city < CITIES; city++) {
        if (visited(trip, count, city))
            continue;
        trip->cities[count] = city;
        trip->length += distance[last][city];
        extend(trip, count + 1);
        trip->length -= distance[last][city];
    }
}

static int take_start(void)
{
    pthread_mutex_lock(&lock);
    int start = next_start++;
    pthread_mutex_unlock(&lock);
    return start;
}

static void search(void)
{
    for (int start = take_start(); start < CITIES; start = take_start()) {
        struct trip trip = {.cities = {0, start}, .length = distance[0][start]};
        extend(&trip, 2);
    }
}

static void *worker_main(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&all_here);
    search();
    return NULL;
}

int main(void)
{
    pthread_t workers[THREADS];
    int length = 0;

    draw_map();
    pthread_barrier_init(&all_here, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i], NULL, worker_main, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i], NULL);
    int found = best_length;

    /* Alone, the same search finds no better trip. */
    next_start = 1;
    search();
    for (int i = 0; i < CITIES; i++)
        length += distance[best.cities[i]][best.cities[(i + 1) % CITIES]];
    return verdict(best_length == found && length == found && improvements > 0);
}
