/* A circular list of servers: who comes next is at the head. Every operation is atomic by itself. */
#ifndef RING_H
#define RING_H

#include <pthread.h>
#include <stdbool.h>

enum { RING_MEMBERS = 4 };

struct ring {
    pthread_mutex_t lock;
    unsigned head;
    unsigned count;
    unsigned slots[RING_MEMBERS + 1];
};

/* Fills the ring with the members 0, 1, 2, … */
void ring_init(struct ring *ring);

/* The member at the head. */
unsigned ring_peek(struct ring *ring);

/* Takes the member at the head out and returns it. */
unsigned ring_take(struct ring *ring);

/* Puts a member in at the tail. */
void ring_add(struct ring *ring, unsigned member);

/* Whether every member is in the ring. */
bool ring_is_complete(const struct ring *ring);

#endif
