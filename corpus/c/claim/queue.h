/* A bounded first-in first-out queue of pages. Every operation is atomic by itself. */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>
#include <stdbool.h>

enum { QUEUE_CAPACITY = 64 };

struct page {
    int number;
    bool last;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t drained;
    struct page *items[QUEUE_CAPACITY];
    int head;
    int size;
};

void queue_init(struct queue *queue);

/* The queue must not be full. */
void queue_push(struct queue *queue, struct page *page);

/* The oldest page, or NULL when the queue is empty. */
struct page *queue_pop(struct queue *queue);

int queue_size(struct queue *queue);

void queue_wait_until_empty(struct queue *queue);

#endif
