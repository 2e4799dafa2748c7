/* A program starts its timer thread while another thread is busy. The new thread checks that timers fire on
 * the thread that owns them, and so reads the owner's id, which its creator stores only after creating it.
 * Usually the creator is faster. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "../../background.h"
#include "../../work.h"
#include "timer.h"

enum {
    LOADERS = 1,
    DOCUMENTS = 20,
    DOCUMENT_ROUNDS = 8000,
    STARTUP_DOCUMENTS = 4,
};

struct loader {
    pthread_t thread;
    unsigned digest;
};

static void load_documents(struct loader *loader, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        background_step(i);
        loader->digest ^= compute(i, DOCUMENT_ROUNDS);
    }
}

static void *loader_main(void *argument)
{
    load_documents(argument, DOCUMENTS);
    return NULL;
}

int main(void)
{
    struct timer_thread timer;
    struct loader loaders[LOADERS] = {0};
    struct loader startup = {0};

    for (int i = 0; i < LOADERS; i++)
        pthread_create(&loaders[i].thread, NULL, loader_main, &loaders[i]);

    timer_thread_init(&timer);
    load_documents(&startup, STARTUP_DOCUMENTS);
    timer_thread_start(&timer);
    bool all_fired = timer_thread_finish(&timer);

    for (int i = 0; i < LOADERS; i++)
        pthread_join(loaders[i].thread, NULL);
    if (!all_fired) {
        fprintf(stderr, "only %u of %d timers fired\n", timer.fired, TIMER_CAPACITY);
        return 1;
    }
    return 0;
}
