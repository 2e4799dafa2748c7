#include "ring.h"

#include <stddef.h>

enum { RING_SLOTS = RING_MEMBERS + 1 };

void ring_init(struct ring *ring)
{
    pthread_mutex_init(&ring->lock, NULL);
    ring->head = 0;
    ring->count = RING_MEMBERS;
    for (unsigned member = 0; member < RING_MEMBERS; member++)
        ring->slots[member] = member;
}

unsigned ring_peek(struct ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    unsigned head = ring->head;                         /* truth:A1 */
    unsigned member = ring->slots[head];
    pthread_mutex_unlock(&ring->lock);
    return member;
}

unsigned ring_take(struct ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    unsigned head = ring->head;                         /* truth:A3 */
    unsigned member = ring->slots[head];
    ring->head = (head + 1) % RING_SLOTS;               /* truth:A2 */
    ring->count--;
    pthread_mutex_unlock(&ring->lock);
    return member;
}

void ring_add(struct ring *ring, unsigned member)
{
    pthread_mutex_lock(&ring->lock);
    ring->slots[(ring->head + ring->count) % RING_SLOTS] = member;
    ring->count++;
    pthread_mutex_unlock(&ring->lock);
}

bool ring_is_complete(const struct ring *ring)
{
    unsigned seen = 0;

    for (unsigned i = 0; i < ring->count; i++)
        seen |= 1u << ring->slots[(ring->head + i) % RING_SLOTS];
    return seen == (1u << RING_MEMBERS) - 1;
}
