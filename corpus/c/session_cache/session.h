/* Sessions that threads share, found by a cache. A session ends when nobody holds it any more. */
#ifndef SESSION_H
#define SESSION_H

#include <pthread.h>
#include <stdbool.h>

struct session {
    pthread_mutex_t lock;
    bool is_cached;
    unsigned holders;
    unsigned key;
};

/* One holder to begin with. */
void session_begin(struct session *session, unsigned key);

/* Finds the session in the cache and holds it; says whether it was there. */
bool session_find(struct session *session);

/* A number made with the session's key, which must be held. */
unsigned session_sign(const struct session *session, unsigned message);

/* Holds the session no longer. */
void session_release(struct session *session);

#endif
