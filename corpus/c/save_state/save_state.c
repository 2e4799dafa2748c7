/* A download manager receives a packet for each of its downloads, from the first to the last. It is told to stop, and
 * its signal thread saves the state of all downloads, from the last to the first. A download moves its offset first
 * and counts the bytes later; a state saved in between skips bytes that were never written. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "download.h"

enum {
    DOWNLOADS = 64,
    PACKET_BYTES = 1400,
    RECEIVE_ROUNDS = 2500,
    ENCODE_ROUNDS = 3000,
    DOWNLOADS_PER_WAIT = 8,
    WAIT_MICROSECONDS = 20,
};

static struct download downloads[DOWNLOADS];
static pthread_barrier_t start;

static unsigned prepare(unsigned number, unsigned rounds)
{
    if (number % DOWNLOADS_PER_WAIT == 0)
        usleep(WAIT_MICROSECONDS);
    background_step(number);
    return compute(number, rounds);
}

static void *receiver_main(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < DOWNLOADS; i++) {
        *digest ^= prepare(i, RECEIVE_ROUNDS);
        download_receive(&downloads[i], PACKET_BYTES);
    }
    return NULL;
}

static void *signal_main(void *argument)
{
    unsigned *broken = argument;
    unsigned found = 0;
    unsigned digest = 0;

    pthread_barrier_wait(&start);
    for (unsigned i = DOWNLOADS; i-- > 0;) {
        digest ^= prepare(i, ENCODE_ROUNDS);
        struct saved_state state = download_save(&downloads[i]);
        found += !state_is_consistent(&state);
    }
    *broken = found;
    printf("saved %08x\n", digest);
    return NULL;
}

int main(void)
{
    pthread_t receiver;
    pthread_t signals;
    unsigned digest = 0;
    unsigned broken;

    for (unsigned i = 0; i < DOWNLOADS; i++)
        download_init(&downloads[i]);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&receiver, NULL, receiver_main, &digest);
    pthread_create(&signals, NULL, signal_main, &broken);
    pthread_join(receiver, NULL);
    pthread_join(signals, NULL);
    printf("received %08x\n", digest);
    if (broken > 0) {
        fprintf(stderr, "%u downloads cannot be resumed\n", broken);
        return 1;
    }
    return 0;
}
