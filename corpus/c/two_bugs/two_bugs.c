/* A server starts two threads and loads its settings meanwhile. Two bugs can make it fail, each by itself:
 * - a thread that is faster than the loading finds no log level;
 * - the threads count events in the same meters, one from the first to the last, one from the last to the first, and
 *   without a lock; where they meet, an event can be lost. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "meter.h"
#include "settings.h"

enum {
    METERS = 64,
    BOOT_STEPS = 2,
    BOOT_ROUNDS = 30000,
    DISK_MICROSECONDS = 50,
    EVENT_ROUNDS = 2500,
    EVENTS_PER_PACKET = 8,
    NETWORK_MICROSECONDS = 20,
};

struct server_thread {
    pthread_t thread;
    unsigned level;
    unsigned digest;
};

static struct meter meters[METERS];
static struct settings settings;
static pthread_barrier_t booted;

static void boot(struct server_thread *self)
{
    self->digest = 0;
    for (unsigned step = 0; step < BOOT_STEPS; step++) {
        usleep(DISK_MICROSECONDS);
        self->digest ^= compute(step, BOOT_ROUNDS);
    }
    pthread_barrier_wait(&booted);
}

static void handle_event(struct server_thread *self, unsigned number)
{
    if (number % EVENTS_PER_PACKET == 0)
        usleep(NETWORK_MICROSECONDS);
    background_step(number);
    self->digest ^= compute(number, EVENT_ROUNDS);
    meter_count(&meters[number]);
}

static void *logger_main(void *argument)
{
    struct server_thread *self = argument;

    boot(self);
    self->level = settings_level(&settings);
    for (unsigned i = 0; i < METERS; i++)
        handle_event(self, i);
    return NULL;
}

static void *handler_main(void *argument)
{
    struct server_thread *self = argument;

    boot(self);
    for (unsigned i = METERS; i-- > 0;)
        handle_event(self, i);
    return NULL;
}

static bool all_events_counted(void)
{
    unsigned events = 0;

    for (unsigned i = 0; i < METERS; i++)
        events += meters[i].events;
    return events == 2 * METERS;
}

int main(void)
{
    struct server_thread logger;
    struct server_thread handler;

    for (unsigned i = 0; i < METERS; i++)
        meter_init(&meters[i]);
    settings_init(&settings);
    pthread_barrier_init(&booted, NULL, 2);
    pthread_create(&logger.thread, NULL, logger_main, &logger);
    pthread_create(&handler.thread, NULL, handler_main, &handler);
    settings_load(&settings);
    pthread_join(logger.thread, NULL);
    pthread_join(handler.thread, NULL);

    bool counted = all_events_counted();
    unsigned level = logger.level;
    printf("level %u, digest %08x\n", level, logger.digest + handler.digest);
    return counted && level > 0 ? 0 : 1;
}
