/* A database saves the journals of its tables, from the last to the first, while a client changes the tables from the
 * first to the last. A change that comes while its journal is being saved is refused, and the refusal forgets to unlock
 * the journal. The client's thread ends with the lock, and the thread that saves the journal waits for it for ever. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "journal.h"

enum {
    TABLES = 64,
    CHANGE_ROUNDS = 2500,
    SAVE_ROUNDS = 2200,
    TABLES_PER_PACKET = 8,
    NETWORK_MICROSECONDS = 20,
};

static struct journal journals[TABLES];
static pthread_barrier_t start;

static unsigned prepare(unsigned table, unsigned rounds)
{
    if (table % TABLES_PER_PACKET == 0)
        usleep(NETWORK_MICROSECONDS);
    background_step(table);
    return compute(table, rounds);
}

static bool change(unsigned table)
{
    return journal_append(&journals[table], prepare(table, CHANGE_ROUNDS));
}

static void *client_main(void *argument)
{
    unsigned *changes = argument;
    unsigned made = 0;

    pthread_barrier_wait(&start);
    while (made < TABLES && change(made))
        made++;
    *changes = made;
    return NULL;
}

static unsigned save_all(void)
{
    unsigned digest = 0;

    for (unsigned table = TABLES; table-- > 0;) {
        digest ^= prepare(table, SAVE_ROUNDS);
        digest ^= journal_save(&journals[table]);
    }
    return digest;
}

int main(void)
{
    pthread_t client;
    unsigned changes;

    for (unsigned table = 0; table < TABLES; table++)
        journal_init(&journals[table]);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&client, NULL, client_main, &changes);
    pthread_barrier_wait(&start);
    unsigned digest = save_all();
    pthread_join(client, NULL);
    printf("%u changes, digest %08x\n", changes, digest);
    return 0;
}
