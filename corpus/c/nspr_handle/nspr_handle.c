/* A program writes to each of its handles, from the last to the first, while it shuts down and closes them, from the
 * first to the last. A writer marks the handle busy and afterwards idle again, whatever happened in between: a handle
 * that was closed while it was busy is open again, and leaks. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "handle.h"

enum {
    HANDLES = 64,
    FORMAT_ROUNDS = 2000,
    SHUTDOWN_ROUNDS = 2500,
    HANDLES_PER_WAIT = 8,
    WAIT_MICROSECONDS = 20,
};

static struct handle handles[HANDLES];
static pthread_barrier_t start;

static unsigned prepare(unsigned number, unsigned rounds)
{
    if (number % HANDLES_PER_WAIT == 0)
        usleep(WAIT_MICROSECONDS);
    background_step(number);
    return compute(number, rounds);
}

static void *writer_main(void *argument)
{
    unsigned *written = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = HANDLES; i-- > 0;) {
        unsigned bytes = prepare(i, FORMAT_ROUNDS);
        *written += handle_write(&handles[i], bytes);
    }
    return NULL;
}

static void *shutdown_main(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < HANDLES; i++) {
        *digest ^= prepare(i, SHUTDOWN_ROUNDS);
        handle_close(&handles[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t writer;
    pthread_t shutdown;
    unsigned written = 0;
    unsigned digest = 0;
    int leaked = 0;

    for (unsigned i = 0; i < HANDLES; i++)
        handle_open(&handles[i]);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&writer, NULL, writer_main, &written);
    pthread_create(&shutdown, NULL, shutdown_main, &digest);
    pthread_join(writer, NULL);
    pthread_join(shutdown, NULL);

    for (unsigned i = 0; i < HANDLES; i++)
        leaked += !handle_is_closed(&handles[i]);
    printf("wrote to %u handles, digest %08x\n", written, digest);
    if (leaked > 0) {
        fprintf(stderr, "%d handles are still open\n", leaked);
        return 1;
    }
    return 0;
}
