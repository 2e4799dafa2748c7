/* Two threads sort the rows of a matrix: one makes the low pass over all rows, from the first to the last, the
 * other the high pass, from the last to the first. A pass reads two neighbours and writes them back in order. Where
 * the threads are at the same row, one writes back a middle number that the other has moved on, and so a number is
 * lost. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "sort.h"

enum {
    ROWS = 64,
    LOAD_ROUNDS = 2500,
    ROWS_PER_BLOCK = 8,
    DISK_MICROSECONDS = 20,
};

static struct row rows[ROWS];
static pthread_barrier_t start;

static unsigned load(unsigned row)
{
    if (row % ROWS_PER_BLOCK == 0)
        usleep(DISK_MICROSECONDS);
    background_step(row);
    return compute(row, LOAD_ROUNDS);
}

static void *low_main(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < ROWS; i++) {
        *digest ^= load(i);
        row_pass_low(&rows[i]);
    }
    return NULL;
}

static void *high_main(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = ROWS; i-- > 0;) {
        *digest ^= load(i);
        row_pass_high(&rows[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t low;
    pthread_t high;
    unsigned digests[2] = {0};
    int incomplete = 0;

    for (unsigned i = 0; i < ROWS; i++)
        row_init(&rows[i]);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&low, NULL, low_main, &digests[0]);
    pthread_create(&high, NULL, high_main, &digests[1]);
    pthread_join(low, NULL);
    pthread_join(high, NULL);

    for (unsigned i = 0; i < ROWS; i++)
        incomplete += !row_is_complete(&rows[i]);
    printf("digest %08x\n", digests[0] + digests[1]);
    if (incomplete > 0) {
        fprintf(stderr, "%d rows lost a number\n", incomplete);
        return 1;
    }
    return 0;
}
