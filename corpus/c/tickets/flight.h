/* The seats of a flight. Every operation is atomic by itself. */
#ifndef FLIGHT_H
#define FLIGHT_H

#include <pthread.h>
#include <stdbool.h>

struct flight {
    pthread_mutex_t lock;
    int seats;
    int sold;
};

void flight_init(struct flight *flight, int seats, int sold);

/* Sells a ticket if there is a seat left. */
bool flight_sell(struct flight *flight);

/* Whether more tickets were sold than there are seats. */
bool flight_is_overbooked(const struct flight *flight);

#endif
