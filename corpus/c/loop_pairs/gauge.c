#include "gauge.h"

#include <stddef.h>

#include "../../work.h"

enum {
    MEASUREMENTS = 2,
    SETTLE_ROUNDS = 600,
    ROUNDING_ROUNDS = 800,
    SCALE = 16,
};

void gauge_init(struct gauge *gauge)
{
    pthread_mutex_init(&gauge->lock, NULL);
    gauge->coarse = 0;
    gauge->fine = 0;
}

/* The number of the measurement is in the high bits, what was measured in the low ones. */
static unsigned settle(unsigned number, unsigned scale)
{
    return number * SCALE + compute(number + scale, SETTLE_ROUNDS) % SCALE;
}

static void store(struct gauge *gauge, unsigned number)
{
    unsigned coarse = settle(number, 0);
    unsigned fine = settle(number, 1);

    pthread_mutex_lock(&gauge->lock);
    gauge->coarse = coarse;                             /* truth:A2 */
    gauge->fine = fine;                                 /* truth:B2 */
    pthread_mutex_unlock(&gauge->lock);
}

void gauge_measure(struct gauge *gauge)
{
    for (unsigned number = 1; number <= MEASUREMENTS; number++)
        store(gauge, number);
}

static unsigned round_off(unsigned value)
{
    return compute(value, ROUNDING_ROUNDS) != 0 ? value : 0;
}

#ifdef FIXED

struct reading gauge_read(struct gauge *gauge)
{
    pthread_mutex_lock(&gauge->lock);
    struct reading reading = {.coarse = gauge->coarse, .fine = gauge->fine};
    pthread_mutex_unlock(&gauge->lock);
    reading.coarse = round_off(reading.coarse);
    return reading;
}

#else

static unsigned read_coarse(struct gauge *gauge)
{
    pthread_mutex_lock(&gauge->lock);
    unsigned coarse = gauge->coarse;                    /* truth:A1 */
    pthread_mutex_unlock(&gauge->lock);
    return coarse;
}

static unsigned read_fine(struct gauge *gauge)
{
    pthread_mutex_lock(&gauge->lock);
    unsigned fine = gauge->fine;                        /* truth:B1 */
    pthread_mutex_unlock(&gauge->lock);
    return fine;
}

struct reading gauge_read(struct gauge *gauge)
{
    unsigned coarse = round_off(read_coarse(gauge));

    return (struct reading){.coarse = coarse, .fine = read_fine(gauge)};
}

#endif

bool reading_is_whole(const struct reading *reading)
{
    return reading->coarse / SCALE == reading->fine / SCALE;
}
