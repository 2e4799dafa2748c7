/* The changes of a table in the order in which they happened. */
#ifndef BINLOG_H
#define BINLOG_H

#include <pthread.h>

enum { BINLOG_CAPACITY = 8 };

struct event {
    int row;
    unsigned checksum;
};

struct binlog {
    pthread_mutex_t lock;
    int length;
    struct event events[BINLOG_CAPACITY];
};

void binlog_init(struct binlog *binlog);
void binlog_append(struct binlog *binlog, struct event event);

#endif
