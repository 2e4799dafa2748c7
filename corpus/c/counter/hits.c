#include "hits.h"

#include <stddef.h>

#include "../../work.h"

enum { RANKING_ROUNDS = 500 };

void hits_init(struct hits *hits)
{
    pthread_mutex_init(&hits->lock, NULL);
    for (unsigned page = 0; page < HITS_PAGES; page++)
        hits->pages[page] = 0;
}

static unsigned rank_of(unsigned count)
{
    return compute(count, RANKING_ROUNDS) % HITS_PAGES;
}

static unsigned increment(unsigned *counter)
{
    unsigned count = *counter;                          /* truth:A1 */
    unsigned rank = rank_of(count);

    *counter = count + 1;                               /* truth:A2 */
    return rank;
}

unsigned hits_count(struct hits *hits, unsigned page)
{
#ifdef FIXED
    pthread_mutex_lock(&hits->lock);
    unsigned rank = increment(&hits->pages[page]);
    pthread_mutex_unlock(&hits->lock);
    return rank;
#else
    return increment(&hits->pages[page]);
#endif
}
