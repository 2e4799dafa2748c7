/* A session of a file-sharing client: its peer manager works from events, its bandwidth is shared by all peers. */
#ifndef SESSION_H
#define SESSION_H

#include <pthread.h>

enum { SESSION_PULSES = 4 };

struct bandwidth {
    unsigned limit;
    unsigned allocated;
};

struct session {
    pthread_mutex_t lock;
    pthread_t events;
    unsigned settings;
    struct bandwidth *bandwidth;
};

/* Starts the event thread, too. */
struct session *session_open(void);

/* Waits for the last pulse. Returns how much bandwidth the pulses allocated. */
unsigned session_close(struct session *session);

#endif
