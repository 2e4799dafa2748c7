#include "queue.h"

#include <assert.h>
#include <stddef.h>

void queue_init(struct queue *queue)
{
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->drained, NULL);
    queue->head = 0;
    queue->size = 0;
}

void queue_push(struct queue *queue, struct page *page)
{
    pthread_mutex_lock(&queue->lock);
    int size = queue->size;
    assert(size < QUEUE_CAPACITY);
    queue->items[(queue->head + size) % QUEUE_CAPACITY] = page;
    queue->size = size + 1;
    pthread_mutex_unlock(&queue->lock);
}

struct page *queue_pop(struct queue *queue)
{
    struct page *page = NULL;

    pthread_mutex_lock(&queue->lock);
    int size = queue->size;                             /* truth:A3 */
    if (size > 0) {
        page = queue->items[queue->head];
        queue->head = (queue->head + 1) % QUEUE_CAPACITY;
        queue->size = size - 1;                         /* truth:A2 */
        if (size == 1)
            pthread_cond_signal(&queue->drained);
    }
    pthread_mutex_unlock(&queue->lock);
    return page;
}

int queue_size(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    int size = queue->size;                             /* truth:A1 */
    pthread_mutex_unlock(&queue->lock);
    return size;
}

void queue_wait_until_empty(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->size > 0)
        pthread_cond_wait(&queue->drained, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
}
