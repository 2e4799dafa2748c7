#include "folder.h"

#include <stddef.h>

#include "../../work.h"

enum { NAME_LOOKUP_ROUNDS = 600 };

void folder_init(struct folder *folder, unsigned files)
{
    pthread_mutex_init(&folder->lock, NULL);
    folder->files = files;
}

static unsigned look_up_name(const struct folder *folder)
{
    return compute(folder->files, NAME_LOOKUP_ROUNDS) != 0;
}

#ifdef FIXED

/* Always in the order of addresses, so that nobody waits in a circle. */
static unsigned lock_both(struct folder *from, struct folder *to)
{
    pthread_mutex_lock(from < to ? &from->lock : &to->lock);
    unsigned found = look_up_name(from);
    pthread_mutex_lock(from < to ? &to->lock : &from->lock);
    return found;
}

#else

static unsigned lock_both(struct folder *from, struct folder *to)
{
    pthread_mutex_lock(&from->lock);                    /* truth:A1 */
    unsigned found = look_up_name(from);
    pthread_mutex_lock(&to->lock);                      /* truth:A2 */
    return found;
}

#endif

void folder_move(struct folder *from, struct folder *to)
{
    unsigned found = lock_both(from, to);

    from->files -= found;
    to->files += found;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}
