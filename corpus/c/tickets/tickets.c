/* Two agencies sell a seat of each flight of an airline, one agency from the first flight to the last, one from the
 * last to the first. Most flights have one seat left. An agency asks for a seat, fills in a form and books. Where
 * both ask before either books, the flight is overbooked. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "flight.h"

enum {
    FLIGHTS = 64,
    SEATS = 120,
    UNPOPULAR_FLIGHTS = 8,
    AGENCIES = 2,
    ADVICE_ROUNDS = 2500,
    FLIGHTS_PER_CALL = 8,
    CALL_MICROSECONDS = 20,
};

struct agency {
    pthread_t thread;
    unsigned calls;
    unsigned tickets;
};

static struct flight flights[FLIGHTS];
static pthread_barrier_t opening;

static void serve_customer(struct agency *agency, unsigned flight)
{
    if (flight % FLIGHTS_PER_CALL == 0)
        usleep(CALL_MICROSECONDS);
    background_step(flight);
    agency->calls += compute(flight, ADVICE_ROUNDS) % 3;
    agency->tickets += flight_sell(&flights[flight]);
}

static void *sell_upwards(void *argument)
{
    pthread_barrier_wait(&opening);
    for (unsigned flight = 0; flight < FLIGHTS; flight++)
        serve_customer(argument, flight);
    return NULL;
}

static void *sell_downwards(void *argument)
{
    pthread_barrier_wait(&opening);
    for (unsigned flight = FLIGHTS; flight-- > 0;)
        serve_customer(argument, flight);
    return NULL;
}

/* The flights that either agency sells first have a seat for both. */
static int seats_left(unsigned flight)
{
    return flight < UNPOPULAR_FLIGHTS || flight >= FLIGHTS - UNPOPULAR_FLIGHTS ? 2 : 1;
}

int main(void)
{
    struct agency agencies[AGENCIES] = {0};
    int overbooked = 0;

    for (unsigned flight = 0; flight < FLIGHTS; flight++)
        flight_init(&flights[flight], SEATS, SEATS - seats_left(flight));
    pthread_barrier_init(&opening, NULL, AGENCIES);
    pthread_create(&agencies[0].thread, NULL, sell_upwards, &agencies[0]);
    pthread_create(&agencies[1].thread, NULL, sell_downwards, &agencies[1]);
    for (int i = 0; i < AGENCIES; i++)
        pthread_join(agencies[i].thread, NULL);

    for (unsigned flight = 0; flight < FLIGHTS; flight++)
        overbooked += flight_is_overbooked(&flights[flight]);
    printf("%u calls\n", agencies[0].calls + agencies[1].calls);
    if (overbooked > 0) {
        fprintf(stderr, "%d flights are overbooked\n", overbooked);
        return 1;
    }
    return 0;
}
