#include "log.h"

#include <assert.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static void close_file(struct log *log)
{
    log->type = LOG_CLOSED;                             /* truth:A1 */
    close(log->descriptor);
}

static void open_file(struct log *log, enum log_type type)
{
    /* The oracle counts entries in memory, so where the text goes does not matter. */
    log->descriptor = open("/dev/null", O_WRONLY);
    log->file++;
    dprintf(log->descriptor, "# log file %u\n", log->file);
    log->type = type;                                   /* truth:A3 */
}

void log_open(struct log *log)
{
    pthread_mutex_init(&log->lock, NULL);
    log->file = 0;
    log->length = 0;
    open_file(log, LOG_NORMAL);
}

static bool log_is_open(const struct log *log)
{
    return log->type != LOG_CLOSED;                     /* truth:A2 */
}

static void append(struct log *log, unsigned entry)
{
    assert(log->length < LOG_CAPACITY);
    log->entries[log->length++] = entry;
}

#ifdef FIXED

void log_write(struct log *log, unsigned entry)
{
    pthread_mutex_lock(&log->lock);
    if (log_is_open(log))
        append(log, entry);
    pthread_mutex_unlock(&log->lock);
}

#else

void log_write(struct log *log, unsigned entry)
{
    if (!log_is_open(log))
        return;
    pthread_mutex_lock(&log->lock);
    append(log, entry);
    pthread_mutex_unlock(&log->lock);
}

#endif

void log_rotate(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    enum log_type type = log->type;
    close_file(log);
    open_file(log, type);
    pthread_mutex_unlock(&log->lock);
}
