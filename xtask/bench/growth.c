/* Threads that hand a few counters to each other under a lock: as many threads, and as many times each, as told. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNTERS = 8 };

static struct {
    pthread_mutex_t lock;
    unsigned long value;
} counters[COUNTERS];
static unsigned long times;

static void *work(void *argument)
{
    unsigned long number = (unsigned long)argument;

    for (unsigned long i = 0; i < times; i++) {
        unsigned long at = (number + i) % COUNTERS;

        pthread_mutex_lock(&counters[at].lock);
        counters[at].value++;
        pthread_mutex_unlock(&counters[at].lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    unsigned long count = strtoul(argv[1], NULL, 10);
    pthread_t *threads = calloc(count, sizeof *threads);
    unsigned long sum = 0;

    times = strtoul(argv[2], NULL, 10);
    for (int i = 0; i < COUNTERS; i++)
        pthread_mutex_init(&counters[i].lock, NULL);
    for (unsigned long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 3;
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < COUNTERS; i++)
        sum += counters[i].value;
    printf("%lu\n", sum);
    free(threads);
    return sum != count * times;
}
