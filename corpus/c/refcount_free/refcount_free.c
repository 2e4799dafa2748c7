/* Two requests of a web server share the documents of its cache, and give them back: one from the first to the last,
 * the other from the last to the first. Giving back decrements the count of references, and then asks whether it is
 * zero. Where both decrement before either asks, both find zero, and both clean up: a double free, which the test
 * counts instead of letting it corrupt the heap. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "cache.h"

enum {
    DOCUMENTS = 64,
    REQUESTS = 2,
    SEND_ROUNDS = 2500,
    DOCUMENTS_PER_PACKET = 8,
    NETWORK_MICROSECONDS = 20,
};

struct request {
    pthread_t thread;
    unsigned digest;
    unsigned cleanups;
};

static struct object documents[DOCUMENTS];
static pthread_barrier_t start;

static void serve(struct request *request, unsigned document)
{
    if (document % DOCUMENTS_PER_PACKET == 0)
        usleep(NETWORK_MICROSECONDS);
    background_step(document);
    request->digest ^= compute(document, SEND_ROUNDS);
    request->cleanups += object_drop(&documents[document]);
}

static void *serve_upwards(void *argument)
{
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        serve(argument, i);
    return NULL;
}

static void *serve_downwards(void *argument)
{
    pthread_barrier_wait(&start);
    for (unsigned i = DOCUMENTS; i-- > 0;)
        serve(argument, i);
    return NULL;
}

int main(void)
{
    struct request up = {0};
    struct request down = {0};

    for (unsigned i = 0; i < DOCUMENTS; i++)
        object_init(&documents[i], i, REQUESTS);
    pthread_barrier_init(&start, NULL, REQUESTS);
    pthread_create(&up.thread, NULL, serve_upwards, &up);
    pthread_create(&down.thread, NULL, serve_downwards, &down);
    pthread_join(up.thread, NULL);
    pthread_join(down.thread, NULL);

    unsigned cleanups = up.cleanups + down.cleanups;
    printf("digest %08x\n", up.digest + down.digest);
    if (cleanups != DOCUMENTS) {
        fprintf(stderr, "%d documents, %u clean-ups\n", DOCUMENTS, cleanups);
        return 1;
    }
    return 0;
}
