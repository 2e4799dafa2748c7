#include "flight.h"

#include <stddef.h>

#include "../../work.h"

enum { FORM_ROUNDS = 600 };

void flight_init(struct flight *flight, int seats, int sold)
{
    pthread_mutex_init(&flight->lock, NULL);
    flight->seats = seats;
    flight->sold = sold;
}

/* The passenger's form has to be filled in before a ticket is printed. */
static bool fill_in_form(int seats)
{
    return compute((unsigned)seats, FORM_ROUNDS) != 0;
}

bool flight_is_overbooked(const struct flight *flight)
{
    return flight->sold > flight->seats;
}

#ifdef FIXED

bool flight_sell(struct flight *flight)
{
    pthread_mutex_lock(&flight->lock);
    bool sells = flight->sold < flight->seats && fill_in_form(flight->seats);
    if (sells)
        flight->sold++;
    pthread_mutex_unlock(&flight->lock);
    return sells;
}

#else

static bool has_seat(struct flight *flight)
{
    pthread_mutex_lock(&flight->lock);
    int sold = flight->sold;                            /* truth:A1 */
    pthread_mutex_unlock(&flight->lock);
    return sold < flight->seats;
}

static void book(struct flight *flight)
{
    pthread_mutex_lock(&flight->lock);
    int sold = flight->sold;                            /* truth:A3 */
    flight->sold = sold + 1;                            /* truth:A2 */
    pthread_mutex_unlock(&flight->lock);
}

bool flight_sell(struct flight *flight)
{
    if (!has_seat(flight) || !fill_in_form(flight->seats))
        return false;
    book(flight);
    return true;
}

#endif
