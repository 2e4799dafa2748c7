/* A controller measures with each of its gauges, some times in a loop, from the first gauge to the last, while a
 * display reads them from the last to the first. Storing a measurement is atomic, reading it is not: the display
 * may take the coarse scale of one iteration and the fine scale of another. Every pair of accesses by itself occurs
 * in good runs. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "gauge.h"

enum {
    GAUGES = 64,
    CONTROL_ROUNDS = 1500,
    DRAW_ROUNDS = 3000,
    GAUGES_PER_FRAME = 8,
    FRAME_MICROSECONDS = 20,
};

static struct gauge gauges[GAUGES];
static pthread_barrier_t start;

static unsigned prepare(unsigned number, unsigned rounds)
{
    if (number % GAUGES_PER_FRAME == 0)
        usleep(FRAME_MICROSECONDS);
    background_step(number);
    return compute(number, rounds);
}

static void *controller_main(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < GAUGES; i++) {
        *digest ^= prepare(i, CONTROL_ROUNDS);
        gauge_measure(&gauges[i]);
    }
    return NULL;
}

static void *display_main(void *argument)
{
    unsigned *broken = argument;
    unsigned found = 0;
    unsigned drawn = 0;

    pthread_barrier_wait(&start);
    for (unsigned i = GAUGES; i-- > 0;) {
        drawn ^= prepare(i, DRAW_ROUNDS);
        struct reading reading = gauge_read(&gauges[i]);
        found += !reading_is_whole(&reading);
    }
    *broken = found;
    printf("drawn %08x\n", drawn);
    return NULL;
}

int main(void)
{
    pthread_t controller;
    pthread_t display;
    unsigned digest = 0;
    unsigned broken;

    for (unsigned i = 0; i < GAUGES; i++)
        gauge_init(&gauges[i]);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&controller, NULL, controller_main, &digest);
    pthread_create(&display, NULL, display_main, &broken);
    pthread_join(controller, NULL);
    pthread_join(display, NULL);
    printf("measured %08x\n", digest);
    if (broken > 0) {
        fprintf(stderr, "%u readings mix two measurements\n", broken);
        return 1;
    }
    return 0;
}
