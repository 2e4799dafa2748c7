/* A server closes the connections of its clients, from the first to the last, while late requests of the same clients come in,
 * from the last to the first, and look for the sessions in a cache. Who lets go of a session last takes it out of
 * the cache; a request that finds it after the last has let go and before it is out brings it back, and its key is wiped all the same. */
#include <pthread.h>
#include <stdio.h>

#include "../../background.h"
#include "../../work.h"
#include "session.h"

enum {
    CLIENTS = 24,
    CLOSE_ROUNDS = 4000,
    REQUEST_ROUNDS = 4500,
};

static struct session sessions[CLIENTS];
static unsigned signatures[CLIENTS];
static pthread_barrier_t start;

static void close_connection(unsigned client, unsigned *digest)
{
    background_step(client);
    *digest ^= compute(client, CLOSE_ROUNDS);
    session_release(&sessions[client]);
}

static void *close_all(void *digest)
{
    pthread_barrier_wait(&start);
    for (unsigned client = 0; client < CLIENTS; client++)
        close_connection(client, digest);
    return NULL;
}

/* A session that has ended is no trouble: a new one would begin. */
static unsigned answer(unsigned client, unsigned message)
{
    struct session *session = &sessions[client];

    if (!session_find(session))
        return 1;
    unsigned signature = session_sign(session, message);
    session_release(session);
    return signature;
}

static void *answer_all(void *digest)
{
    unsigned *sum = digest;

    pthread_barrier_wait(&start);
    for (unsigned client = CLIENTS; client-- > 0;) {
        background_step(client);
        *sum ^= compute(client, REQUEST_ROUNDS);
        signatures[client] = answer(client, *sum);
    }
    return NULL;
}

int main(void)
{
    pthread_t closing;
    pthread_t answering;
    unsigned digests[2] = {0};
    int unsigned_answers = 0;

    for (unsigned client = 0; client < CLIENTS; client++)
        session_begin(&sessions[client], client + 1);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&closing, NULL, close_all, &digests[0]);
    pthread_create(&answering, NULL, answer_all, &digests[1]);
    pthread_join(closing, NULL);
    pthread_join(answering, NULL);

    for (unsigned client = 0; client < CLIENTS; client++)
        unsigned_answers += signatures[client] == 0;
    printf("%d answers are not signed, digest %08x\n", unsigned_answers, digests[0] + digests[1]);
    return unsigned_answers > 0;
}
