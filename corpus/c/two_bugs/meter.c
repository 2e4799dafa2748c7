#include "meter.h"

#include <stddef.h>

#include "../../work.h"

enum { RATE_ROUNDS = 1200 };

void meter_init(struct meter *meter)
{
    pthread_mutex_init(&meter->lock, NULL);
    meter->events = 0;
}

static unsigned rate_after(unsigned events)
{
    return compute(events, RATE_ROUNDS);
}

static void add_event(struct meter *meter)
{
    unsigned events = meter->events;                    /* truth:A1 */
    unsigned step = rate_after(events) != 0;

    meter->events = events + step;                      /* truth:A2 */
}

void meter_count(struct meter *meter)
{
#ifdef FIXED
    pthread_mutex_lock(&meter->lock);
    add_event(meter);
    pthread_mutex_unlock(&meter->lock);
#else
    add_event(meter);
#endif
}
