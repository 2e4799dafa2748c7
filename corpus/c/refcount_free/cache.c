#include "cache.h"

#include <stddef.h>

#include "../../work.h"

enum { STATISTICS_ROUNDS = 700 };

void object_init(struct object *object, unsigned key, int references)
{
    pthread_mutex_init(&object->lock, NULL);
    object->references = references;
    object->key = key;
}

static int decrement(struct object *object)
{
    pthread_mutex_lock(&object->lock);
    int left = object->references - 1;
    object->references = left;                          /* truth:A1 */
    pthread_mutex_unlock(&object->lock);
    return left;
}

#ifdef FIXED

static bool drop_reference(struct object *object)
{
    int left = decrement(object);
    unsigned statistics = compute(object->key, STATISTICS_ROUNDS);

    return left == 0 && statistics != 0;
}

#else

static bool is_unused(struct object *object)
{
    pthread_mutex_lock(&object->lock);
    bool unused = object->references == 0;              /* truth:A2 */
    pthread_mutex_unlock(&object->lock);
    return unused;
}

static bool drop_reference(struct object *object)
{
    decrement(object);
    unsigned statistics = compute(object->key, STATISTICS_ROUNDS);

    return is_unused(object) && statistics != 0;
}

#endif

bool object_drop(struct object *object)
{
    return drop_reference(object);
}
