/* Correct: producers and consumers around a bounded queue with one lock and two conditions. */
#include <pthread.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

enum { CAPACITY = 4, PRODUCERS = 2, CONSUMERS = 2, ITEMS_PER_PRODUCER = 60, ITEM_ROUNDS = 2000, END = -1 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_full;
    pthread_cond_t not_empty;
    int items[CAPACITY];
    int head;
    int size;
};

struct consumer {
    pthread_t thread;
    long sum;
    unsigned digest;
};

static struct queue queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
};

static void put(struct queue *queue, int item)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->size == CAPACITY)
        pthread_cond_wait(&queue->not_full, &queue->lock);
    queue->items[(queue->head + queue->size) % CAPACITY] = item;
    queue->size++;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

static int take(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->size == 0)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    int item = queue->items[queue->head];
    queue->head = (queue->head + 1) % CAPACITY;
    queue->size--;
    pthread_cond_signal(&queue->not_full);
    pthread_mutex_unlock(&queue->lock);
    return item;
}

static void *produce(void *argument)
{
    unsigned *digest = argument;

    for (int item = 1; item <= ITEMS_PER_PRODUCER; item++) {
        *digest ^= compute((unsigned)item, ITEM_ROUNDS);
        put(&queue, item);
    }
    return NULL;
}

static void *consume(void *argument)
{
    struct consumer *consumer = argument;

    for (int item = take(&queue); item != END; item = take(&queue)) {
        consumer->sum += item;
        consumer->digest ^= compute((unsigned)item, ITEM_ROUNDS);
    }
    return NULL;
}

int main(void)
{
    pthread_t producers[PRODUCERS];
    unsigned digests[PRODUCERS] = {0};
    struct consumer consumers[CONSUMERS] = {{0}};
    long sum = 0;

    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, produce, &digests[i]);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&consumers[i].thread, NULL, consume, &consumers[i]);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < CONSUMERS; i++)
        put(&queue, END);
    for (int i = 0; i < CONSUMERS; i++) {
        pthread_join(consumers[i].thread, NULL);
        sum += consumers[i].sum;
    }
    return verdict(sum == PRODUCERS * ITEMS_PER_PRODUCER * (ITEMS_PER_PRODUCER + 1) / 2 && queue.size == 0);
}
