#include "session.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"

enum {
    BANDWIDTH_LIMIT = 100,
    SETTINGS_ROUNDS = 60000,
    PULSE_MICROSECONDS = 100,
    PEERS_PER_PULSE = 6,
    PEER_ROUNDS = 10000,
};

static void allocate(struct session *session, unsigned peer)
{
    struct bandwidth *bandwidth = session->bandwidth;   /* truth:A1 */

    assert(bandwidth != NULL);
    bandwidth->allocated += bandwidth->limit / (peer + 1);
}

static unsigned look_after_peers(void)
{
    unsigned digest = 0;

    for (unsigned peer = 0; peer < PEERS_PER_PULSE; peer++) {
        background_step(peer);
        digest ^= compute(peer, PEER_ROUNDS);
    }
    return digest;
}

static void pulse(struct session *session)
{
    usleep(PULSE_MICROSECONDS);
    unsigned digest = look_after_peers();

    allocate(session, digest % PEERS_PER_PULSE);
}

static void *event_main(void *argument)
{
    struct session *session = argument;

#ifdef FIXED
    /* The opener holds the lock until the session is complete. */
    pthread_mutex_lock(&session->lock);
    pthread_mutex_unlock(&session->lock);
#endif
    for (int i = 0; i < SESSION_PULSES; i++)
        pulse(session);
    return NULL;
}

static void peer_manager_new(struct session *session)
{
    pthread_create(&session->events, NULL, event_main, session);
}

static struct bandwidth *bandwidth_new(void)
{
    struct bandwidth *bandwidth = malloc(sizeof *bandwidth);

    if (bandwidth == NULL)
        abort();
    bandwidth->limit = BANDWIDTH_LIMIT;
    bandwidth->allocated = 0;
    return bandwidth;
}

static void load_settings(struct session *session)
{
    background_step(1);
    session->settings = compute(1, SETTINGS_ROUNDS);
}

static void session_init(struct session *session)
{
    peer_manager_new(session);
    load_settings(session);
    session->bandwidth = bandwidth_new();               /* truth:A2 */
}

struct session *session_open(void)
{
    struct session *session = calloc(1, sizeof *session);

    if (session == NULL)
        abort();
    pthread_mutex_init(&session->lock, NULL);
#ifdef FIXED
    pthread_mutex_lock(&session->lock);
    session_init(session);
    pthread_mutex_unlock(&session->lock);
#else
    session_init(session);
#endif
    return session;
}

unsigned session_close(struct session *session)
{
    pthread_join(session->events, NULL);
    unsigned allocated = session->bandwidth->allocated;
    pthread_mutex_destroy(&session->lock);
    free(session->bandwidth);
    free(session);
    return allocated;
}
