/* A load balancer keeps the servers of each site in a circular list: whoever is at the head gets the request and
 * goes to the tail. Two threads dispatch a request to every site, one from the first to the last, one from the last
 * to the first. A thread looks who is at the head, and later moves the head to the tail; where both look before
 * either moves, the same server is added twice, and another one is lost. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "ring.h"

enum {
    SITES = 64,
    ACCEPT_ROUNDS = 2500,
    CONNECT_ROUNDS = 600,
    SITES_PER_PACKET = 8,
    NETWORK_MICROSECONDS = 20,
};

static struct ring rings[SITES];
static pthread_barrier_t start;

static unsigned connect_to(unsigned server)
{
    return compute(server, CONNECT_ROUNDS);
}

#ifdef FIXED

static unsigned rotate(struct ring *ring)
{
    unsigned server = ring_take(ring);
    unsigned connection = connect_to(server);

    ring_add(ring, server);
    return connection;
}

#else

static unsigned rotate(struct ring *ring)
{
    unsigned server = ring_peek(ring);
    unsigned connection = connect_to(server);

    ring_take(ring);
    ring_add(ring, server);
    return connection;
}

#endif

static unsigned dispatch(unsigned site)
{
    if (site % SITES_PER_PACKET == 0)
        usleep(NETWORK_MICROSECONDS);
    background_step(site);
    return compute(site, ACCEPT_ROUNDS) ^ rotate(&rings[site]);
}

static void *dispatch_upwards(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned site = 0; site < SITES; site++)
        *digest ^= dispatch(site);
    return NULL;
}

static void *dispatch_downwards(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned site = SITES; site-- > 0;)
        *digest ^= dispatch(site);
    return NULL;
}

int main(void)
{
    pthread_t up;
    pthread_t down;
    unsigned digests[2] = {0};
    int incomplete = 0;

    for (unsigned site = 0; site < SITES; site++)
        ring_init(&rings[site]);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&up, NULL, dispatch_upwards, &digests[0]);
    pthread_create(&down, NULL, dispatch_downwards, &digests[1]);
    pthread_join(up, NULL);
    pthread_join(down, NULL);

    for (unsigned site = 0; site < SITES; site++)
        incomplete += !ring_is_complete(&rings[site]);
    printf("digest %08x\n", digests[0] + digests[1]);
    if (incomplete > 0) {
        fprintf(stderr, "%d sites lost a server\n", incomplete);
        return 1;
    }
    return 0;
}
