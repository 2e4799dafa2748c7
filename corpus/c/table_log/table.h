/* A table of one row. */
#ifndef TABLE_H
#define TABLE_H

#include <pthread.h>

enum { ROW_DELETED = 0 };

struct table {
    pthread_mutex_t lock;
    int row;
};

void table_init(struct table *table, int row);
void table_store(struct table *table, int row);

#endif
