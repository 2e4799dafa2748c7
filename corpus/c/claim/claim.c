/* A web crawler: one thread finds links and queues the pages behind them, two workers visit the pages. A worker
 * asks whether there is a page and then claims it: two calls, each correct and locked by itself, with a gap
 * between them in which the other worker can claim the same page. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "queue.h"

enum {
    WORKERS = 2,
    PAGES = 10,
    LINK_ROUNDS = 40000,
    REQUEST_ROUNDS = 300,
    PARSE_ROUNDS = 15000,
    IDLE_MICROSECONDS = 20,
};

struct worker {
    pthread_t thread;
    unsigned digest;
    int visited;
};

static struct queue frontier;
static struct page site[PAGES];
static struct page end_of_site = {.last = true};

static unsigned prepare_request(unsigned digest)
{
    return compute(digest, REQUEST_ROUNDS);
}

static struct page *take_one(struct worker *worker)
{
#ifdef FIXED
    worker->digest = prepare_request(worker->digest);
    return queue_pop(&frontier);
#else
    if (queue_size(&frontier) == 0)
        return NULL;
    worker->digest = prepare_request(worker->digest);
    struct page *page = queue_pop(&frontier);
    assert(page != NULL);
    return page;
#endif
}

static void visit(struct worker *worker, struct page *page)
{
    background_step((unsigned)page->number);
    worker->digest ^= compute((unsigned)page->number, PARSE_ROUNDS);
    worker->visited++;
}

/* Visits a page if there is one; false after the last. */
static bool crawl(struct worker *worker)
{
    struct page *page = take_one(worker);

    if (page == NULL) {
        usleep(IDLE_MICROSECONDS);
        return true;
    }
    if (page->last) {
        queue_push(&frontier, page); /* for the other worker */
        return false;
    }
    visit(worker, page);
    return true;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;

    worker->digest = 0;
    worker->visited = 0;
    while (crawl(worker))
        continue;
    return NULL;
}

/* Runs ahead of the workers by one page at most, to be polite to the site. */
static unsigned find_links(void)
{
    unsigned digest = 0;

    for (int i = 0; i < PAGES; i++) {
        digest ^= compute((unsigned)i, LINK_ROUNDS);
        background_step((unsigned)i);
        site[i].number = i;
        queue_wait_until_empty(&frontier);
        queue_push(&frontier, &site[i]);
    }
    queue_wait_until_empty(&frontier);
    queue_push(&frontier, &end_of_site);
    return digest;
}

int main(void)
{
    struct worker workers[WORKERS];
    int visited = 0;

    queue_init(&frontier);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]);
    unsigned digest = find_links();
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        visited += workers[i].visited;
        digest ^= workers[i].digest;
    }
    printf("visited %d pages, digest %08x\n", visited, digest);
    return visited == PAGES ? 0 : 1;
}
