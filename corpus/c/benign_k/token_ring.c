/* Correct: a token goes around a ring of threads by flags alone. Whoever has the token owns a plain ledger that
 * has no lock; storing the flag releases it, loading the flag acquires it. */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

enum { STATIONS = 3, LAPS = 60, WORK_ROUNDS = 800, LINES = STATIONS * LAPS };

struct station {
    pthread_t thread;
    int has_token;
    unsigned digest;
};

static struct station ring[STATIONS];
static struct {
    int lines;
    int writers[LINES];
    unsigned checksum;
} ledger;

static void wait_for_token(struct station *station)
{
    while (!__atomic_load_n(&station->has_token, __ATOMIC_ACQUIRE))
        sched_yield();
    __atomic_store_n(&station->has_token, 0, __ATOMIC_RELAXED);
}

static void pass_token(struct station *station)
{
    struct station *next = &ring[(station - ring + 1) % STATIONS];

    __atomic_store_n(&next->has_token, 1, __ATOMIC_RELEASE);
}

static void write_line(const struct station *station)
{
    ledger.writers[ledger.lines] = (int)(station - ring);
    ledger.checksum = compute(ledger.checksum + (unsigned)ledger.lines, 3);
    ledger.lines++;
}

static void *station_main(void *argument)
{
    struct station *station = argument;

    for (unsigned lap = 0; lap < LAPS; lap++) {
        station->digest ^= compute(lap, WORK_ROUNDS);
        wait_for_token(station);
        write_line(station);
        pass_token(station);
    }
    return NULL;
}

int main(void)
{
    unsigned checksum = 0;
    int wrong = 0;

    ring[0].has_token = 1;
    for (int i = 0; i < STATIONS; i++)
        pthread_create(&ring[i].thread, NULL, station_main, &ring[i]);
    for (int i = 0; i < STATIONS; i++)
        pthread_join(ring[i].thread, NULL);

    for (unsigned line = 0; line < LINES; line++) {
        checksum = compute(checksum + line, 3);
        if (ledger.writers[line] != (int)(line % STATIONS))
            wrong++;
    }
    return verdict(wrong == 0 && ledger.lines == LINES && ledger.checksum == checksum);
}
