/* How often each page of a site was asked for. */
#ifndef HITS_H
#define HITS_H

#include <pthread.h>

enum { HITS_PAGES = 64 };

struct hits {
    pthread_mutex_t lock;
    unsigned pages[HITS_PAGES];
};

void hits_init(struct hits *hits);

/* Counts a request and returns the page's rank in the list of the most popular ones. */
unsigned hits_count(struct hits *hits, unsigned page);

#endif
