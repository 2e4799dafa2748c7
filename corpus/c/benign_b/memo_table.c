/* Correct: a table of computed values that several threads fill and use, with a lock for each of its stripes. Which
 * thread computes a value, and how often it is thrown out, differs from run to run; the values do not. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

#ifndef THREADS
#define THREADS 3
#endif

enum { STRIPES = 4, LINES = 4, KEYS = 29, QUESTIONS = 150, VALUE_ROUNDS = 1500 };

struct line {
    bool used;
    unsigned key;
    unsigned value;
};

struct stripe {
    pthread_mutex_t lock;
    struct line lines[LINES];
    unsigned next_victim;
    unsigned long hits;
    unsigned long misses;
};

struct client {
    pthread_t thread;
    unsigned number;
    unsigned wrong;
};

static struct stripe table[STRIPES];

static struct line *find(struct stripe *stripe, unsigned key)
{
    for (int i = 0; i < LINES; i++) {
        if (stripe->lines[i].used && stripe->lines[i].key == key)
            return &stripe->lines[i];
    }
    return NULL;
}

static void remember(struct stripe *stripe, unsigned key, unsigned value)
{
    if (find(stripe, key) != NULL)
        return;
    stripe->lines[stripe->next_victim] = (struct line){.used = true, .key = key, .value = value};
    stripe->next_victim = (stripe->next_victim + 1) % LINES;
}

static unsigned ask(unsigned key)
{
    struct stripe *stripe = &table[key % STRIPES];
    unsigned value = 0;

    pthread_mutex_lock(&stripe->lock);
    struct line *line = find(stripe, key);
    bool hit = line != NULL;
    if (hit) {
        stripe->hits++;
        value = line->value;
    } else {
        stripe->misses++;
    }
    pthread_mutex_unlock(&stripe->lock);
    if (hit)
        return value;

    value = compute(key, VALUE_ROUNDS);
    pthread_mutex_lock(&stripe->lock);
    remember(stripe, key, value); /* which looks again, since another thread may have been quicker */
    pthread_mutex_unlock(&stripe->lock);
    return value;
}

static void *client_main(void *argument)
{
    struct client *client = argument;

    for (unsigned i = 0; i < QUESTIONS; i++) {
        unsigned key = (i * (client->number + 3)) % KEYS;
        if (ask(key) != compute(key, VALUE_ROUNDS))
            client->wrong++;
    }
    return NULL;
}

int main(void)
{
    struct client clients[THREADS];
    unsigned wrong = 0;
    unsigned long asked = 0;

    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&table[i].lock, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        clients[i] = (struct client){.number = i};
        pthread_create(&clients[i].thread, NULL, client_main, &clients[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(clients[i].thread, NULL);
        wrong += clients[i].wrong;
    }
    for (int i = 0; i < STRIPES; i++)
        asked += table[i].hits + table[i].misses;
    return verdict(wrong == 0 && asked == THREADS * QUESTIONS);
}
