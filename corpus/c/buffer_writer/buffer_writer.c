/* Three writers append a line to each of many buffers: the first from the first buffer to the last, the second from
 * the last to the first, the third to every other one later. At the end a checker counts the lines. A writer asks
 * where the buffer ends and puts its line there: two calls, and when another writer comes between, its line is
 * overwritten. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "writer.h"

enum {
    BUFFERS = 64,
    WRITERS = 3,
    RESEARCH_ROUNDS = 2500,
    BUFFERS_PER_PAUSE = 8,
    PAUSE_MICROSECONDS = 20,
    LATE_MICROSECONDS = 3000,
};

static struct buffer buffers[BUFFERS];
static pthread_barrier_t start;

static void research_and_write(struct writer *writer, unsigned number)
{
    if (number % BUFFERS_PER_PAUSE == 0)
        usleep(PAUSE_MICROSECONDS);
    background_step(number);
    writer->digest += compute(number, RESEARCH_ROUNDS);
    writer_write(writer, &buffers[number]);
}

static void *write_upwards(void *argument)
{
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < BUFFERS; i++)
        research_and_write(argument, i);
    return NULL;
}

static void *write_downwards(void *argument)
{
    pthread_barrier_wait(&start);
    for (unsigned i = BUFFERS; i-- > 0;)
        research_and_write(argument, i);
    return NULL;
}

static void *write_later(void *argument)
{
    pthread_barrier_wait(&start);
    usleep(LATE_MICROSECONDS);
    for (unsigned i = 0; i < BUFFERS; i += 2)
        research_and_write(argument, i);
    return NULL;
}

static unsigned lines_found(void)
{
    unsigned found = 0;

    for (unsigned i = 0; i < BUFFERS; i++)
        found += buffers[i].length;
    return found;
}

int main(void)
{
    void *(*const bodies[WRITERS])(void *) = {write_upwards, write_downwards, write_later};
    struct writer writers[WRITERS] = {0};
    unsigned written = 0;

    for (unsigned i = 0; i < BUFFERS; i++)
        buffer_init(&buffers[i]);
    pthread_barrier_init(&start, NULL, WRITERS);
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i].name = i + 1;
        pthread_create(&writers[i].thread, NULL, bodies[i], &writers[i]);
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        written += writers[i].lines;
    }

    unsigned found = lines_found();
    printf("%u lines\n", written);
    if (found != written) {
        fprintf(stderr, "%u lines written, %u found\n", written, found);
        return 1;
    }
    return 0;
}
