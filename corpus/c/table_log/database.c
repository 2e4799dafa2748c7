#include "database.h"

#include "../../work.h"

/* Inserting logs the row, deleting the text of the statement, which takes longer to encode. */
enum {
    ROW_EVENT_ROUNDS = 50,
    STATEMENT_EVENT_ROUNDS = 3000,
};

void database_init(struct database *database, int row)
{
    table_init(&database->table, row);
    binlog_init(&database->binlog);
}

static struct event encode(int row)
{
    unsigned rounds = row == ROW_DELETED ? STATEMENT_EVENT_ROUNDS : ROW_EVENT_ROUNDS;
    return (struct event){.row = row, .checksum = compute((unsigned)row, rounds)};
}

#ifdef FIXED

static pthread_mutex_t commit_order = PTHREAD_MUTEX_INITIALIZER;

static void change(struct database *database, int row)
{
    pthread_mutex_lock(&commit_order);
    table_store(&database->table, row);
    binlog_append(&database->binlog, encode(row));
    pthread_mutex_unlock(&commit_order);
}

#else

static void change(struct database *database, int row)
{
    table_store(&database->table, row);
    binlog_append(&database->binlog, encode(row));
}

#endif

void database_insert(struct database *database, int row)
{
    change(database, row);
}

void database_delete(struct database *database)
{
    change(database, ROW_DELETED);
}

bool database_replica_agrees(const struct database *database)
{
    const struct binlog *binlog = &database->binlog;
    return binlog->length > 0 && binlog->events[binlog->length - 1].row == database->table.row;
}
