#include "binlog.h"

#include <assert.h>
#include <stddef.h>

void binlog_init(struct binlog *binlog)
{
    pthread_mutex_init(&binlog->lock, NULL);
    binlog->length = 0;
}

void binlog_append(struct binlog *binlog, struct event event)
{
    pthread_mutex_lock(&binlog->lock);
    int length = binlog->length;
    assert(length < BINLOG_CAPACITY);
    binlog->events[length] = event;
    binlog->length = length + 1;                        /* truth:A2 */
    pthread_mutex_unlock(&binlog->lock);
}
