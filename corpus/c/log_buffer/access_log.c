#include "access_log.h"

#include <string.h>

#include "../../work.h"

enum { FILTER_ROUNDS = 500 };

void access_log_init(struct access_log *log, bool buffered)
{
    pthread_mutex_init(&log->lock, NULL);
    log->buffered = buffered;
    log->used = 0;
    memset(log->buffer, 0, sizeof log->buffer);
}

static size_t room_for(const struct access_log *log, size_t length)
{
    size_t used = log->used;                            /* truth:A1 */
    bool fits = log->buffered && used + length < ACCESS_LOG_SIZE;

    return fits ? used : 0;
}

/* Stands for asking the filters. */
static bool is_allowed(size_t length)
{
    return compute((unsigned)length, FILTER_ROUNDS) != 0;
}

static void append(struct access_log *log, const char *line)
{
    size_t length = strlen(line);
    size_t at = room_for(log, length);

    if (!is_allowed(length))
        return;
    memcpy(log->buffer + at, line, length);
    log->used = at + length;                            /* truth:A2 */
}

void access_log_write(struct access_log *log, const char *line)
{
#ifdef FIXED
    pthread_mutex_lock(&log->lock);
    append(log, line);
    pthread_mutex_unlock(&log->lock);
#else
    append(log, line);
#endif
}

bool access_log_contains(const struct access_log *log, const char *line)
{
    return strstr(log->buffer, line) != NULL;
}
