/* A first-in first-out queue of block numbers between the reader of a file and its compressors. */
#ifndef FIFO_H
#define FIFO_H

#include <pthread.h>
#include <stdbool.h>

enum { FIFO_CAPACITY = 64 };

struct fifo {
    pthread_mutex_t *mutex;
    int blocks[FIFO_CAPACITY];
    int head;
    int count;
    bool finished;
};

struct fifo *fifo_create(void);

/* Everything that fifo_create made; nobody may use the queue any more. */
void fifo_destroy(struct fifo *fifo);

void fifo_put(struct fifo *fifo, int block);

/* No further block will come. */
void fifo_finish(struct fifo *fifo);

enum fifo_answer { FIFO_BLOCK, FIFO_EMPTY, FIFO_FINISHED };

enum fifo_answer fifo_take(struct fifo *fifo, int *block);

#endif
