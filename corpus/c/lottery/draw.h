/* A lottery's drum: whoever buys a ticket turns it, and then reads the number that it shows. */
#ifndef DRAW_H
#define DRAW_H

#include <pthread.h>

struct drum {
    pthread_mutex_t lock;
    unsigned shown;
    unsigned turns;
};

void drum_init(struct drum *drum);

/* The number of a new ticket. No two tickets of a drum have the same. */
unsigned drum_draw(struct drum *drum, unsigned buyer);

#endif
