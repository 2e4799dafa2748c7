/* Two clients of a server change the same databases: one inserts a row into each, from the first to the last; the
 * other deletes the row of each, from the last to the first. The server locks the table for the change and
 * the log for the entry, but not both together, so where the clients meet, the log may tell the two changes
 * in the wrong order, and a replica ends with another row. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "database.h"

enum {
    DATABASES = 64,
    OLD_ROW = 5,
    NEW_ROW = 9,
    PARSE_ROUNDS = 2000,
    STATEMENTS_PER_PACKET = 8,
    NETWORK_MICROSECONDS = 20,
};

struct client {
    pthread_t thread;
    unsigned digest;
};

static struct database databases[DATABASES];
static pthread_barrier_t start;

static void receive_statement(struct client *client, unsigned number)
{
    if (number % STATEMENTS_PER_PACKET == 0)
        usleep(NETWORK_MICROSECONDS);
    background_step(number);
    client->digest ^= compute(number, PARSE_ROUNDS);
}

static void *insert_main(void *argument)
{
    struct client *client = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < DATABASES; i++) {
        receive_statement(client, i);
        database_insert(&databases[i], NEW_ROW);
    }
    return NULL;
}

static void *delete_main(void *argument)
{
    struct client *client = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = DATABASES; i-- > 0;) {
        receive_statement(client, i);
        database_delete(&databases[i]);
    }
    return NULL;
}

int main(void)
{
    struct client inserter = {0};
    struct client deleter = {0};

    for (unsigned i = 0; i < DATABASES; i++)
        database_init(&databases[i], OLD_ROW);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&inserter.thread, NULL, insert_main, &inserter);
    pthread_create(&deleter.thread, NULL, delete_main, &deleter);
    pthread_join(inserter.thread, NULL);
    pthread_join(deleter.thread, NULL);

    for (unsigned i = 0; i < DATABASES; i++) {
        if (!database_replica_agrees(&databases[i])) {
            fprintf(stderr, "the replica of database %u differs\n", i);
            return 1;
        }
    }
    return 0;
}
