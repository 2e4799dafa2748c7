#include "table.h"

#include <stddef.h>

void table_init(struct table *table, int row)
{
    pthread_mutex_init(&table->lock, NULL);
    table->row = row;
}

void table_store(struct table *table, int row)
{
    pthread_mutex_lock(&table->lock);
    table->row = row;                                   /* truth:A1 */
    pthread_mutex_unlock(&table->lock);
}
