/* Producer/consumer: a bounded queue with a mutex and two condition variables passes blocks from one thread
 * to another, which checksums them. Every block changes hands. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CAPACITY = 16, BLOCKS = 4000, BLOCK_SIZE = 1024 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    unsigned char *blocks[CAPACITY];
    int head, size;
};

struct producer {
    struct queue *queue;
    long blocks;
};

static void queue_put(struct queue *queue, unsigned char *block)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->size == CAPACITY)
        pthread_cond_wait(&queue->not_full, &queue->lock);
    queue->blocks[(queue->head + queue->size) % CAPACITY] = block;
    queue->size++;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

static unsigned char *queue_get(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->size == 0)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    unsigned char *block = queue->blocks[queue->head];
    queue->head = (queue->head + 1) % CAPACITY;
    queue->size--;
    pthread_cond_signal(&queue->not_full);
    pthread_mutex_unlock(&queue->lock);
    return block;
}

static void *produce(void *argument)
{
    struct producer *producer = argument;
    unsigned state = 1;

    for (long i = 0; i < producer->blocks; i++) {
        unsigned char *block = malloc(BLOCK_SIZE);
        for (int j = 0; j < BLOCK_SIZE; j++) {
            state = state * 1664525u + 1013904223u;
            block[j] = (unsigned char)(state >> 24);
        }
        queue_put(producer->queue, block);
    }
    queue_put(producer->queue, NULL);
    return NULL;
}

static unsigned checksum(const unsigned char *block)
{
    unsigned low = 1, high = 0;

    for (int i = 0; i < BLOCK_SIZE; i++) {
        low = (low + block[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                 .not_empty = PTHREAD_COND_INITIALIZER,
                                 .not_full = PTHREAD_COND_INITIALIZER};
    struct producer producer = {.queue = &queue, .blocks = (long)scale * BLOCKS};
    pthread_t thread;
    unsigned sum = 0;
    unsigned char *block;

    pthread_create(&thread, NULL, produce, &producer);
    while ((block = queue_get(&queue)) != NULL) {
        sum ^= checksum(block);
        free(block);
    }
    pthread_join(thread, NULL);
    printf("%08x\n", sum);
    return 0;
}
