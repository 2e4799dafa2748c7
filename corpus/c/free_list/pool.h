/* Buffers of which the free ones form a list that needs no lock. */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stdint.h>

enum { BUFFERS = 3 };

struct pool {
    /* The number of the first free buffer, or BUFFERS. In the upper half, the fixed pool counts changes. */
    uint64_t head;
    uint32_t next[BUFFERS];
    uint32_t contents[BUFFERS];
};

void pool_init(struct pool *pool, uint32_t contents);

/* The number of a buffer that nobody else has. There must be one. */
uint32_t pool_take(struct pool *pool);

void pool_give_back(struct pool *pool, uint32_t buffer);

/* When nobody uses the pool any more: whether this buffer is free. */
bool pool_has(const struct pool *pool, uint32_t buffer);

#endif
