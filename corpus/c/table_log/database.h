/* Databases with one row each, and for each a binary log from which a replica repeats what happened. */
#ifndef DATABASE_H
#define DATABASE_H

#include <stdbool.h>

#include "binlog.h"
#include "table.h"

struct database {
    struct table table;
    struct binlog binlog;
};

void database_init(struct database *database, int row);

/* Store the row and log the change. */
void database_insert(struct database *database, int row);
void database_delete(struct database *database);

/* Whether a replica that follows the log ends with the same row. */
bool database_replica_agrees(const struct database *database);

#endif
