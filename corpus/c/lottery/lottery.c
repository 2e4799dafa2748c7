/* Two buyers draw a ticket from each drum of a lottery, one from the first drum to the last, one from the last to the
 * first. Turning the drum and reading its number are locked, but not together: when the other buyer turns it in
 * between, both get the same number. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "draw.h"

enum {
    DRUMS = 64,
    BUYERS = 2,
    PAY_ROUNDS = 2500,
    DRUMS_PER_QUEUE = 8,
    QUEUE_MICROSECONDS = 20,
};

struct buyer {
    pthread_t thread;
    unsigned name;
    unsigned spent;
    unsigned tickets[DRUMS];
};

static struct drum drums[DRUMS];
static pthread_barrier_t opening;

static void buy(struct buyer *buyer, unsigned drum)
{
    if (drum % DRUMS_PER_QUEUE == 0)
        usleep(QUEUE_MICROSECONDS);
    background_step(drum);
    buyer->spent += compute(drum, PAY_ROUNDS) % 5;
    buyer->tickets[drum] = drum_draw(&drums[drum], buyer->name);
}

static void *buy_upwards(void *argument)
{
    pthread_barrier_wait(&opening);
    for (unsigned drum = 0; drum < DRUMS; drum++)
        buy(argument, drum);
    return NULL;
}

static void *buy_downwards(void *argument)
{
    pthread_barrier_wait(&opening);
    for (unsigned drum = DRUMS; drum-- > 0;)
        buy(argument, drum);
    return NULL;
}

static int twins(const struct buyer buyers[BUYERS])
{
    int found = 0;

    for (unsigned drum = 0; drum < DRUMS; drum++)
        found += buyers[0].tickets[drum] == buyers[1].tickets[drum];
    return found;
}

int main(void)
{
    struct buyer buyers[BUYERS] = {{.name = 1}, {.name = 2}};

    for (unsigned drum = 0; drum < DRUMS; drum++)
        drum_init(&drums[drum]);
    pthread_barrier_init(&opening, NULL, BUYERS);
    pthread_create(&buyers[0].thread, NULL, buy_upwards, &buyers[0]);
    pthread_create(&buyers[1].thread, NULL, buy_downwards, &buyers[1]);
    for (int i = 0; i < BUYERS; i++)
        pthread_join(buyers[i].thread, NULL);

    int found = twins(buyers);
    printf("spent %u\n", buyers[0].spent + buyers[1].spent);
    if (found > 0) {
        fprintf(stderr, "%d numbers were sold twice\n", found);
        return 1;
    }
    return 0;
}
