/* A kernel's accountant charges all processes for their time, from the last slot to the first, while the sweeper
 * removes the processes that have ended, from the first to the last. The accountant tests a slot and then uses it;
 * a sweep in between leaves it a null pointer. Processes stay allocated until the end: they are not the issue. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "process_table.h"

enum {
    REAP_ROUNDS = 2600,
    MEASURE_ROUNDS = 2000,
    SLOTS_PER_TICK = 8,
    TICK_MICROSECONDS = 20,
};

static struct process_table table;
static struct process *ended[PROCESS_SLOTS];
static pthread_barrier_t start;

static unsigned look_at(unsigned slot, unsigned rounds)
{
    if (slot % SLOTS_PER_TICK == 0)
        usleep(TICK_MICROSECONDS);
    background_step(slot);
    return compute(slot, rounds);
}

static void *sweeper_main(void *argument)
{
    unsigned *result = argument;
    unsigned digest = 0;

    pthread_barrier_wait(&start);
    for (unsigned slot = 0; slot < PROCESS_SLOTS; slot++) {
        digest ^= look_at(slot, REAP_ROUNDS);
        ended[slot] = process_table_sweep(&table, slot);
    }
    *result = digest;
    return NULL;
}

static void *accountant_main(void *argument)
{
    unsigned *result = argument;
    unsigned charged = 0;

    pthread_barrier_wait(&start);
    for (unsigned slot = PROCESS_SLOTS; slot-- > 0;) {
        unsigned ticks = look_at(slot, MEASURE_ROUNDS) % 100;
        charged += process_table_charge(&table, slot, ticks);
    }
    *result = charged;
    return NULL;
}

static void bury(void)
{
    for (unsigned slot = 0; slot < PROCESS_SLOTS; slot++)
        free(ended[slot]);
}

int main(void)
{
    pthread_t sweeper;
    pthread_t accountant;
    unsigned digest;
    unsigned charged;

    process_table_fill(&table);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&sweeper, NULL, sweeper_main, &digest);
    pthread_create(&accountant, NULL, accountant_main, &charged);
    pthread_join(sweeper, NULL);
    pthread_join(accountant, NULL);
    bury();
    printf("charged %u processes, digest %08x\n", charged, digest);
    return 0;
}
