/* A proxy has a pool of buffers for each of its connections. One thread takes a buffer for the answer, from the first connection
 * to the last; another takes two for the request and gives the smaller back, from the last to the first. Taking
 * looks at the first free buffer and at the one after it, and replaces the first if that is still the same. It may be the
 * same again: taken together with the next one, and given back alone. Then the next one is free and in use. */
#include <pthread.h>
#include <stdio.h>

#include "../../background.h"
#include "../../work.h"
#include "pool.h"

enum {
    CONNECTIONS = 24,
    PARSE_ROUNDS = 3500,
    ANSWER_ROUNDS = 4000,
};

static struct connection {
    struct pool pool;
    uint32_t answer;
    uint32_t request;
} connections[CONNECTIONS];
static pthread_barrier_t start;

static void answer(unsigned number, unsigned *digest)
{
    struct connection *connection = &connections[number];

    background_step(number);
    *digest ^= compute(number, ANSWER_ROUNDS);
    connection->answer = pool_take(&connection->pool);
}

static void parse(unsigned number, unsigned *digest)
{
    struct connection *connection = &connections[number];

    background_step(number);
    *digest ^= compute(number, PARSE_ROUNDS);
    uint32_t header = pool_take(&connection->pool);
    connection->request = pool_take(&connection->pool);
    pool_give_back(&connection->pool, header);
}

static void *answer_all(void *digest)
{
    pthread_barrier_wait(&start);
    for (unsigned number = 0; number < CONNECTIONS; number++)
        answer(number, digest);
    return NULL;
}

static void *parse_all(void *digest)
{
    pthread_barrier_wait(&start);
    for (unsigned number = CONNECTIONS; number-- > 0;)
        parse(number, digest);
    return NULL;
}

static int damaged_pools(void)
{
    int damaged = 0;

    for (unsigned number = 0; number < CONNECTIONS; number++) {
        const struct connection *connection = &connections[number];
        damaged += pool_has(&connection->pool, connection->request)
                   || connection->request == connection->answer;
    }
    return damaged;
}

int main(void)
{
    pthread_t answers;
    pthread_t requests;
    unsigned digests[2] = {0};

    for (unsigned number = 0; number < CONNECTIONS; number++)
        pool_init(&connections[number].pool, number);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&answers, NULL, answer_all, &digests[0]);
    pthread_create(&requests, NULL, parse_all, &digests[1]);
    pthread_join(answers, NULL);
    pthread_join(requests, NULL);

    int damaged = damaged_pools();
    printf("%d damaged pools, digest %08x\n", damaged, digests[0] + digests[1]);
    return damaged > 0;
}
