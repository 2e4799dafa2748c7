#include "download.h"

#include <stddef.h>

#include "../../work.h"

enum { WRITE_ROUNDS = 700 };

void download_init(struct download *download)
{
    pthread_mutex_init(&download->lock, NULL);
    download->offset = 0;
    download->written = 0;
    download->checksum = 0;
}

static void write_to_file(struct download *download, unsigned bytes)
{
    download->checksum ^= compute(bytes, WRITE_ROUNDS);
}

/* The total has a lock, since other segments count in it too; the offset belongs to this segment alone. */
static void count_written(struct download *download, unsigned bytes)
{
    pthread_mutex_lock(&download->lock);
    download->written += bytes;                         /* truth:B1 */
    pthread_mutex_unlock(&download->lock);
}

static void advance(struct download *download, unsigned bytes)
{
    download->offset += bytes;                          /* truth:A1 */
    write_to_file(download, bytes);
    count_written(download, bytes);
}

#ifdef FIXED

static pthread_mutex_t save_lock = PTHREAD_MUTEX_INITIALIZER;

void download_receive(struct download *download, unsigned bytes)
{
    pthread_mutex_lock(&save_lock);
    advance(download, bytes);
    pthread_mutex_unlock(&save_lock);
}

#else

void download_receive(struct download *download, unsigned bytes)
{
    advance(download, bytes);
}

#endif

static struct saved_state copy_state(struct download *download)
{
    struct saved_state state;

    state.offset = download->offset;                    /* truth:A2 */
    pthread_mutex_lock(&download->lock);
    state.written = download->written;                  /* truth:B2 */
    pthread_mutex_unlock(&download->lock);
    return state;
}

struct saved_state download_save(struct download *download)
{
#ifdef FIXED
    pthread_mutex_lock(&save_lock);
    struct saved_state state = copy_state(download);
    pthread_mutex_unlock(&save_lock);
    return state;
#else
    return copy_state(download);
#endif
}

bool state_is_consistent(const struct saved_state *state)
{
    return state->offset == state->written;
}
