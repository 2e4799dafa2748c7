/* Meters that count what a server does. */
#ifndef METER_H
#define METER_H

#include <pthread.h>

struct meter {
    pthread_mutex_t lock;
    unsigned events;
};

void meter_init(struct meter *meter);
void meter_count(struct meter *meter);

#endif
