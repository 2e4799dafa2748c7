/* A database shuts down while a client still makes changes. A change that comes when the journal is being closed is
 * refused, and the refusal forgets to unlock the journal. The client's thread ends with the lock, and the thread that
 * closes the journal waits for it for ever. Usually the client has made its changes before. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "journal.h"

enum {
    CHANGES = 4,
    CHANGE_ROUNDS = 30000,
    NETWORK_MICROSECONDS = 20,
    TABLES = 5,
    SAVE_ROUNDS = 8000,
    DISK_MICROSECONDS = 50,
};

static struct journal journal;

static bool make_change(unsigned number)
{
    usleep(NETWORK_MICROSECONDS);
    background_step(number);
    return journal_append(&journal, compute(number, CHANGE_ROUNDS));
}

static void *client_main(void *argument)
{
    unsigned *changes = argument;
    unsigned made = 0;

    while (made < CHANGES && make_change(made))
        made++;
    *changes = made;
    return NULL;
}

static unsigned save_tables(void)
{
    unsigned saved = 0;

    for (unsigned table = 0; table < TABLES; table++) {
        usleep(DISK_MICROSECONDS);
        background_step(table);
        saved ^= compute(table, SAVE_ROUNDS);
    }
    return saved;
}

static unsigned shut_down(pthread_t client)
{
    unsigned saved = save_tables();

    journal_begin_close(&journal);
    pthread_join(client, NULL);
    return journal_end_close(&journal) ^ saved;
}

int main(void)
{
    pthread_t client;
    unsigned changes;

    journal_init(&journal);
    pthread_create(&client, NULL, client_main, &changes);
    unsigned digest = shut_down(client);
    printf("%u changes, digest %08x\n", changes, digest);
    return 0;
}
