#include "fifo.h"

#include <assert.h>
#include <stdlib.h>

struct fifo *fifo_create(void)
{
    struct fifo *fifo = calloc(1, sizeof *fifo);

    if (fifo == NULL)
        abort();
    fifo->mutex = malloc(sizeof *fifo->mutex);
    if (fifo->mutex == NULL)
        abort();
    pthread_mutex_init(fifo->mutex, NULL);
    return fifo;
}

void fifo_destroy(struct fifo *fifo)
{
    pthread_mutex_t *mutex = fifo->mutex;

    fifo->mutex = NULL;                                 /* truth:A1 */
    pthread_mutex_destroy(mutex);
    free(mutex);
}

void fifo_put(struct fifo *fifo, int block)
{
    pthread_mutex_lock(fifo->mutex);
    assert(fifo->count < FIFO_CAPACITY);
    fifo->blocks[(fifo->head + fifo->count) % FIFO_CAPACITY] = block;
    fifo->count++;
    pthread_mutex_unlock(fifo->mutex);
}

void fifo_finish(struct fifo *fifo)
{
    pthread_mutex_lock(fifo->mutex);
    fifo->finished = true;
    pthread_mutex_unlock(fifo->mutex);
}

static enum fifo_answer next(struct fifo *fifo, int *block)
{
    if (fifo->count == 0)
        return fifo->finished ? FIFO_FINISHED : FIFO_EMPTY;
    *block = fifo->blocks[fifo->head];
    fifo->head = (fifo->head + 1) % FIFO_CAPACITY;
    fifo->count--;
    return FIFO_BLOCK;
}

enum fifo_answer fifo_take(struct fifo *fifo, int *block)
{
    pthread_mutex_t *mutex = fifo->mutex;               /* truth:A2 */

    pthread_mutex_lock(mutex);
    enum fifo_answer answer = next(fifo, block);
    pthread_mutex_unlock(mutex);
    return answer;
}
