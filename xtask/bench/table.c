/* Read-mostly: two threads look keys up in one shared hash table under a read-write lock. One lookup in some
 * thousand changes the table. Nearly all accesses are to locations that both threads use. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, SLOTS = 1 << 12, KEYS = 1 << 11, BATCHES = 2000, LOOKUPS_PER_BATCH = 64, UPDATE_EVERY = 64 };

struct slot {
    unsigned key;
    unsigned value;
};

struct client {
    int scale;
    unsigned state;
    unsigned found;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct slot table[SLOTS];

/* Keys are never 0, which marks an empty slot. */
static struct slot *slot_of(unsigned key)
{
    unsigned index = key * 2654435761u % SLOTS;

    while (table[index].key != 0 && table[index].key != key)
        index = (index + 1) % SLOTS;
    return &table[index];
}

static void store(unsigned key, unsigned value)
{
    struct slot *slot = slot_of(key);

    slot->key = key;
    slot->value = value;
}

static unsigned next_key(struct client *client)
{
    client->state = client->state * 1664525u + 1013904223u;
    return (client->state >> 8) % KEYS + 1;
}

static void *serve(void *argument)
{
    struct client *client = argument;

    for (long batch = 0; batch < (long)client->scale * BATCHES; batch++) {
        pthread_rwlock_rdlock(&lock);
        for (int i = 0; i < LOOKUPS_PER_BATCH; i++)
            client->found += slot_of(next_key(client))->value & 1;
        pthread_rwlock_unlock(&lock);
        if (batch % UPDATE_EVERY == 0) {
            unsigned key = next_key(client);
            pthread_rwlock_wrlock(&lock);
            store(key, key | 1);
            pthread_rwlock_unlock(&lock);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[THREADS];
    struct client clients[THREADS];
    unsigned found = 0;

    for (unsigned key = 1; key <= KEYS; key++)
        store(key, key | 1);
    for (int i = 0; i < THREADS; i++) {
        clients[i] = (struct client){.scale = scale, .state = (unsigned)i + 1};
        pthread_create(&threads[i], NULL, serve, &clients[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        found += clients[i].found;
    }
    printf("%u\n", found);
    return 0;
}
