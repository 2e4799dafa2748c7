/* Two crawlers ask a server for all of its pages, one from the first to the last, one from the last to the first. The
 * server counts requests without a lock, so where the crawlers meet, one of two increments can be lost. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "hits.h"

enum {
    RENDER_ROUNDS = 2500,
    PAGES_PER_PACKET = 8,
    NETWORK_MICROSECONDS = 20,
};

struct crawler {
    pthread_t thread;
    unsigned digest;
};

static struct hits hits;
static pthread_barrier_t start;

static void serve(struct crawler *crawler, unsigned page)
{
    if (page % PAGES_PER_PACKET == 0)
        usleep(NETWORK_MICROSECONDS);
    background_step(page);
    crawler->digest ^= compute(page, RENDER_ROUNDS);
    crawler->digest += hits_count(&hits, page);
}

static void *crawl_up(void *argument)
{
    pthread_barrier_wait(&start);
    for (unsigned page = 0; page < HITS_PAGES; page++)
        serve(argument, page);
    return NULL;
}

static void *crawl_down(void *argument)
{
    pthread_barrier_wait(&start);
    for (unsigned page = HITS_PAGES; page-- > 0;)
        serve(argument, page);
    return NULL;
}

static unsigned requests_counted(void)
{
    unsigned total = 0;

    for (unsigned page = 0; page < HITS_PAGES; page++)
        total += hits.pages[page];
    return total;
}

int main(void)
{
    struct crawler up = {0};
    struct crawler down = {0};

    hits_init(&hits);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&up.thread, NULL, crawl_up, &up);
    pthread_create(&down.thread, NULL, crawl_down, &down);
    pthread_join(up.thread, NULL);
    pthread_join(down.thread, NULL);
    printf("digest %08x\n", up.digest + down.digest);
    assert(requests_counted() == 2 * HITS_PAGES);
    return 0;
}
