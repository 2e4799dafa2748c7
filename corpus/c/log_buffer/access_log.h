/* The access log of a virtual host. Lines are collected in a buffer, which is written out when it is full; a log that
 * is not buffered is written out after each line. */
#ifndef ACCESS_LOG_H
#define ACCESS_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { ACCESS_LOG_SIZE = 256 };

struct access_log {
    pthread_mutex_t lock;
    bool buffered;
    size_t used;
    char buffer[ACCESS_LOG_SIZE];
};

void access_log_init(struct access_log *log, bool buffered);
void access_log_write(struct access_log *log, const char *line);

/* Whether the buffer holds this text. */
bool access_log_contains(const struct access_log *log, const char *line);

#endif
