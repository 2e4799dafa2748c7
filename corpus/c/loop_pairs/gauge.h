/* A gauge with a coarse and a fine scale. Each reading has a number that both scales share. */
#ifndef GAUGE_H
#define GAUGE_H

#include <pthread.h>
#include <stdbool.h>

struct gauge {
    pthread_mutex_t lock;
    unsigned coarse;
    unsigned fine;
};

struct reading {
    unsigned coarse;
    unsigned fine;
};

void gauge_init(struct gauge *gauge);

/* Measures several times, one after the other. */
void gauge_measure(struct gauge *gauge);

struct reading gauge_read(struct gauge *gauge);

/* Whether both scales come from the same measurement. */
bool reading_is_whole(const struct reading *reading);

#endif
