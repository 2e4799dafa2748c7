/* The listener of a web server looks for idle workers, from the last to the first, while the workers finish what they
 * were serving, from the first to the last. A worker says that it is idle before its slot is free. A listener that
 * looks in between would put a connection into a slot that is taken. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "lane.h"

enum {
    LANES = 64,
    SERVE_ROUNDS = 2500,
    ACCEPT_ROUNDS = 3000,
    LANES_PER_POLL = 8,
    POLL_MICROSECONDS = 20,
};

static struct lane lanes[LANES];
static pthread_barrier_t start;

static unsigned poll_lane(unsigned number, unsigned rounds)
{
    if (number % LANES_PER_POLL == 0)
        usleep(POLL_MICROSECONDS);
    background_step(number);
    return compute(number, rounds);
}

static void *workers_main(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < LANES; i++) {
        *digest ^= poll_lane(i, SERVE_ROUNDS);
        lane_finish(&lanes[i]);
    }
    return NULL;
}

static void *listener_main(void *argument)
{
    int *full_slots = argument;
    int found = 0;
    unsigned digest = 0;

    pthread_barrier_wait(&start);
    for (unsigned i = LANES; i-- > 0;) {
        digest ^= poll_lane(i, ACCEPT_ROUNDS);
        struct lane_state state = lane_look(&lanes[i]);
        found += state.idle && state.connection != 0;
    }
    *full_slots = found;
    printf("accepted %08x\n", digest);
    return NULL;
}

int main(void)
{
    pthread_t workers;
    pthread_t listener;
    unsigned digest = 0;
    int full_slots;

    for (unsigned i = 0; i < LANES; i++)
        lane_init(&lanes[i], i + 1);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&workers, NULL, workers_main, &digest);
    pthread_create(&listener, NULL, listener_main, &full_slots);
    pthread_join(workers, NULL);
    pthread_join(listener, NULL);
    printf("served %08x\n", digest);
    assert(full_slots == 0);
    return 0;
}
