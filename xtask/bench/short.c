/* A test as there are many: two threads share a little under a lock and wait for something, for 10 ms in all. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { STEPS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long done;

static void *work(void *unused)
{
    const struct timespec answer = { .tv_nsec = 9000000 };

    (void)unused;
    for (int i = 0; i < STEPS; i++) {
        pthread_mutex_lock(&lock);
        done++;
        pthread_mutex_unlock(&lock);
    }
    nanosleep(&answer, NULL);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 3;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", done);
    return done != 2 * STEPS;
}
