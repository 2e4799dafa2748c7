/* A parallel compressor: the main thread feeds blocks into a queue, compressors take them out, and when the last
 * block is written the main thread tears the queue down and writes the trailer. It never waits for the
 * compressors themselves: one that looks for another block after the teardown locks a mutex that is gone. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../../background.h"
#include "../../work.h"
#include "fifo.h"

enum {
    COMPRESSORS = 2,
    BLOCKS = 24,
    BLOCK_ROUNDS = 20000,
    RECYCLE_ROUNDS = 5000,
    POLL_ROUNDS = 1500,
    TRAILER_ROUNDS = 100000,
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned sizes[BLOCKS];
    int written;
} output = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct compressor {
    pthread_t thread;
    struct fifo *fifo;
    unsigned recycled;
};

static void write_block(int block, unsigned size)
{
    pthread_mutex_lock(&output.lock);
    output.sizes[block] = size;
    output.written++;
    if (output.written == BLOCKS)
        pthread_cond_signal(&output.changed);
    pthread_mutex_unlock(&output.lock);
}

static void wait_for_last_block(void)
{
    pthread_mutex_lock(&output.lock);
    while (output.written < BLOCKS)
        pthread_cond_wait(&output.changed, &output.lock);
    pthread_mutex_unlock(&output.lock);
}

static void compress(struct compressor *compressor, int block)
{
    background_step((unsigned)block);
    write_block(block, compute((unsigned)block, BLOCK_ROUNDS) % 900);
    compressor->recycled ^= compute((unsigned)block, RECYCLE_ROUNDS);
}

/* Compresses a block if there is one; false after the last. */
static bool serve(struct compressor *compressor)
{
    int block = 0;

    switch (fifo_take(compressor->fifo, &block)) {
    case FIFO_BLOCK:
        compress(compressor, block);
        return true;
    case FIFO_EMPTY:
        compressor->recycled ^= compute(1, POLL_ROUNDS);
        return true;
    default:
        return false;
    }
}

static void *compressor_main(void *argument)
{
    while (serve(argument))
        continue;
    return NULL;
}

static void feed(struct fifo *fifo)
{
    for (int block = 0; block < BLOCKS; block++)
        fifo_put(fifo, block);
    fifo_finish(fifo);
}

static unsigned write_trailer(void)
{
    unsigned checksum = 0;

    for (int block = 0; block < BLOCKS; block++)
        checksum += output.sizes[block];
    return compute(checksum, TRAILER_ROUNDS);
}

static void close_archive(struct fifo *fifo)
{
    fifo_destroy(fifo);
    printf("trailer %08x\n", write_trailer());
}

int main(void)
{
    struct compressor compressors[COMPRESSORS];
    struct fifo *fifo = fifo_create();

    for (int i = 0; i < COMPRESSORS; i++) {
        compressors[i] = (struct compressor){.fifo = fifo};
        pthread_create(&compressors[i].thread, NULL, compressor_main, &compressors[i]);
    }
    feed(fifo);
    wait_for_last_block();
#ifdef FIXED
    for (int i = 0; i < COMPRESSORS; i++)
        pthread_join(compressors[i].thread, NULL);
#endif
    close_archive(fifo);
    return 0;
}
