/* A feed publishes new offers for all instruments, from the first to the last, while a screen is drawn from the last to the
 * first. A reader waits until the sequence number is even, and takes both offers; that nobody has published in between
 * it does not ask, so that it may get the bid of one moment and the ask of another. */
#include <pthread.h>
#include <stdio.h>

#include "../../background.h"
#include "../../work.h"
#include "quote.h"

enum {
    INSTRUMENTS = 32,
    SPREAD = 3,
    DECODE_ROUNDS = 3000,
    DRAW_ROUNDS = 3500,
};

static struct quote quotes[INSTRUMENTS];
static pthread_barrier_t start;

static struct offers around(unsigned price)
{
    return (struct offers){.bid = price, .ask = price + SPREAD};
}

static void receive(unsigned instrument, unsigned *digest)
{
    background_step(instrument);
    *digest ^= compute(instrument, DECODE_ROUNDS);
    quote_publish(&quotes[instrument], around(200 + instrument));
}

static void *feed(void *digest)
{
    pthread_barrier_wait(&start);
    for (unsigned instrument = 0; instrument < INSTRUMENTS; instrument++)
        receive(instrument, digest);
    return NULL;
}

/* Says whether the offers belong together. */
static unsigned draw(unsigned instrument, unsigned *digest)
{
    background_step(instrument);
    *digest ^= compute(instrument, DRAW_ROUNDS);
    struct offers offers = quote_read(&quotes[instrument]);
    return offers.ask - offers.bid != SPREAD;
}

static void *screen(void *digest)
{
    unsigned torn = 0;

    pthread_barrier_wait(&start);
    for (unsigned instrument = INSTRUMENTS; instrument-- > 0;)
        torn += draw(instrument, digest);
    return (void *)(unsigned long)torn;
}

int main(void)
{
    pthread_t threads[2];
    unsigned digests[2] = {0};
    void *torn;

    for (unsigned instrument = 0; instrument < INSTRUMENTS; instrument++)
        quote_publish(&quotes[instrument], around(100 + instrument));
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&threads[0], NULL, feed, &digests[0]);
    pthread_create(&threads[1], NULL, screen, &digests[1]);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], &torn);

    printf("%lu torn quotes, digest %08x\n", (unsigned long)torn, digests[0] + digests[1]);
    return torn != NULL;
}
