/* A cache of documents. Whoever uses an object holds a reference; the last one to drop his cleans the object up. */
#ifndef CACHE_H
#define CACHE_H

#include <pthread.h>
#include <stdbool.h>

struct object {
    pthread_mutex_t lock;
    int references;
    unsigned key;
};

void object_init(struct object *object, unsigned key, int references);

/* Gives a reference back; true if the caller is to clean the object up. */
bool object_drop(struct object *object);

#endif
