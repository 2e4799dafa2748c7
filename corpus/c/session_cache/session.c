#include "session.h"

#include "../../work.h"

enum { SIGN_ROUNDS = 100 };

void session_begin(struct session *session, unsigned key)
{
    pthread_mutex_init(&session->lock, NULL);
    session->is_cached = true;
    session->holders = 1;
    session->key = key;
}

bool session_find(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    bool found = session->is_cached;                                    /* truth:A5 */
    if (found)
        __atomic_fetch_add(&session->holders, 1, __ATOMIC_SEQ_CST);     /* truth:A2 */
    pthread_mutex_unlock(&session->lock);
    return found;
}

unsigned session_sign(const struct session *session, unsigned message)
{
    unsigned key = __atomic_load_n(&session->key, __ATOMIC_SEQ_CST);    /* truth:A4 */

    return key == 0 ? 0 : compute(key ^ message, SIGN_ROUNDS);
}

/* Nobody finds the session from now on. */
static void end(struct session *session)
{
    pthread_mutex_lock(&session->lock);
#ifdef FIXED
    bool is_held = __atomic_load_n(&session->holders, __ATOMIC_SEQ_CST) > 0;
#else
    bool is_held = false;
#endif
    if (!is_held) {
        session->is_cached = false;                                     /* truth:A6 */
        __atomic_store_n(&session->key, 0, __ATOMIC_SEQ_CST);           /* truth:A3 */
    }
    pthread_mutex_unlock(&session->lock);
}

void session_release(struct session *session)
{
    if (__atomic_sub_fetch(&session->holders, 1, __ATOMIC_SEQ_CST) == 0) /* truth:A1 */
        end(session);
}
