/* Two threads take turns at an array of counters: every access is a handover. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#define WORDS 4096
static volatile long counters[WORDS];
static sem_t turn[2];
static long rounds;
static void *work(void *self)
{
    for (long i = (long)self; i < rounds; i += 2) {
        sem_wait(&turn[(long)self]);
        for (int k = 0; k < WORDS; k++)
            counters[k] = i;
        sem_post(&turn[!(long)self]);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t second;
    rounds = atol(argv[argc - 1]) / WORDS;
    sem_init(&turn[0], 0, 1);
    sem_init(&turn[1], 0, 0);
    pthread_create(&second, NULL, work, (void *)1);
    work((void *)0);
    pthread_join(second, NULL);
    printf("%ld\n", counters[0]);
    return 0;
}
