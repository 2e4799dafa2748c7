/* Lock-free and contended: two threads draw tickets from one counter and move nodes between two stacks by
 * compare-and-swap. A stack's head packs a node's number with a version, so that it never looks unchanged
 * when it was changed in between. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, NODES = 256, MOVES = 50000, NONE = NODES };

static _Atomic uint32_t next_node[NODES];
static _Atomic uint64_t stacks[2];
static _Atomic unsigned long tickets;

static uint64_t head(uint64_t previous, uint32_t node)
{
    return ((previous >> 32) + 1) << 32 | node;
}

static void push(_Atomic uint64_t *stack, uint32_t node)
{
    uint64_t top = atomic_load_explicit(stack, memory_order_relaxed);

    do
        atomic_store_explicit(&next_node[node], (uint32_t)top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(stack, &top, head(top, node), memory_order_release,
                                                  memory_order_relaxed));
}

static uint32_t pop(_Atomic uint64_t *stack)
{
    uint64_t top = atomic_load_explicit(stack, memory_order_acquire);

    for (;;) {
        uint32_t node = (uint32_t)top;
        if (node == NONE)
            return NONE;
        uint32_t below = atomic_load_explicit(&next_node[node], memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(stack, &top, head(top, below), memory_order_acquire,
                                                  memory_order_acquire))
            return node;
    }
}

static void *move(void *argument)
{
    unsigned long last = (unsigned long)*(int *)argument * THREADS * MOVES;
    unsigned long ticket;

    while ((ticket = atomic_fetch_add_explicit(&tickets, 1, memory_order_relaxed)) < last) {
        uint32_t node = pop(&stacks[ticket % 2]);
        if (node != NONE)
            push(&stacks[(ticket >> 1) % 2], node);
    }
    return NULL;
}

static int drain(_Atomic uint64_t *stack)
{
    int nodes = 0;

    while (pop(stack) != NONE)
        nodes++;
    return nodes;
}

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[THREADS];

    atomic_store(&stacks[0], NONE);
    atomic_store(&stacks[1], NONE);
    for (uint32_t node = 0; node < NODES; node++)
        push(&stacks[node % 2], node);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, move, &scale);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int nodes = drain(&stacks[0]) + drain(&stacks[1]);
    printf("%d\n", nodes);
    return nodes == NODES ? 0 : 1;
}
