#include "handle.h"

#include <stddef.h>

#include "../../work.h"

enum { WRITE_ROUNDS = 700 };

void handle_open(struct handle *handle)
{
    pthread_mutex_init(&handle->lock, NULL);
    handle->state = HANDLE_IDLE;
    handle->position = 0;
}

static bool begin_use(struct handle *handle)
{
    pthread_mutex_lock(&handle->lock);
    bool usable = handle->state == HANDLE_IDLE;
    if (usable)
        handle->state = HANDLE_BUSY;                    /* truth:A1 */
    pthread_mutex_unlock(&handle->lock);
    return usable;
}

static void end_use(struct handle *handle)
{
    pthread_mutex_lock(&handle->lock);
#ifdef FIXED
    if (handle->state == HANDLE_BUSY)
#endif
    handle->state = HANDLE_IDLE;                        /* truth:A3 */
    pthread_mutex_unlock(&handle->lock);
}

bool handle_write(struct handle *handle, unsigned bytes)
{
    if (!begin_use(handle))
        return false;
    handle->position += compute(bytes, WRITE_ROUNDS) % 100;
    end_use(handle);
    return true;
}

static void mark_closed(struct handle *handle)
{
    pthread_mutex_lock(&handle->lock);
    handle->state = HANDLE_CLOSED;                      /* truth:A2 */
    pthread_mutex_unlock(&handle->lock);
}

void handle_close(struct handle *handle)
{
    mark_closed(handle);
}

bool handle_is_closed(const struct handle *handle)
{
    return handle->state == HANDLE_CLOSED;
}
