/* Correct: a lock-free stack of numbered nodes. Its head carries a tag that every change increments, so that a node
 * which was popped and pushed again is not taken for the one that was seen before. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "../../verdict.h"
#include "../../work.h"

#ifndef THREADS
#define THREADS 3
#endif

enum { NODES = 16, TURNS = 120, HOLD_ROUNDS = 400 };

static const uint32_t NOBODY = UINT32_MAX;

/* Index and tag in one word, to be compared and exchanged together. */
static uint64_t head;
static uint32_t next_of[NODES];
static int holders[NODES];

static uint64_t tagged(uint32_t index, uint64_t seen)
{
    return ((seen >> 32) + 1) << 32 | index;
}

static void push(uint32_t node)
{
    uint64_t seen = __atomic_load_n(&head, __ATOMIC_RELAXED);

    do {
        __atomic_store_n(&next_of[node], (uint32_t)seen, __ATOMIC_RELAXED);
    } while (!__atomic_compare_exchange_n(&head, &seen, tagged(node, seen), 0, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

static uint32_t pop(void)
{
    uint64_t seen = __atomic_load_n(&head, __ATOMIC_ACQUIRE);

    for (;;) {
        uint32_t node = (uint32_t)seen;
        if (node == NOBODY)
            return NOBODY;
        uint32_t next = __atomic_load_n(&next_of[node], __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&head, &seen, tagged(next, seen), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return node;
    }
}

struct user {
    pthread_t thread;
    int clashes;
    unsigned digest;
};

/* A popped node belongs to its popper: it must find nobody else there. */
static void use(struct user *user, uint32_t node)
{
    if (++holders[node] != 1)
        user->clashes++;
    user->digest ^= compute(node, HOLD_ROUNDS);
    if (--holders[node] != 0)
        user->clashes++;
}

static void *user_main(void *argument)
{
    struct user *user = argument;

    for (int turn = 0; turn < TURNS; turn++) {
        uint32_t first = pop();
        uint32_t second = pop();
        if (first != NOBODY)
            use(user, first);
        if (second != NOBODY)
            use(user, second);
        if (first != NOBODY)
            push(first);
        if (second != NOBODY)
            push(second);
    }
    return NULL;
}

int main(void)
{
    struct user users[THREADS] = {{0}};
    int clashes = 0;
    int left = 0;

    head = NOBODY;
    for (uint32_t node = 0; node < NODES; node++)
        push(node);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&users[i].thread, NULL, user_main, &users[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(users[i].thread, NULL);
        clashes += users[i].clashes;
    }
    while (pop() != NOBODY)
        left++;
    return verdict(clashes == 0 && left == NODES);
}
