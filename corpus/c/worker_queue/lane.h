/* How a web server hands connections to a worker: the worker says that it is idle, the listener puts a connection into
 * the worker's slot. An idle worker's slot is always free. */
#ifndef LANE_H
#define LANE_H

#include <pthread.h>
#include <stdbool.h>

struct lane {
    pthread_mutex_t idle_lock;
    int idle;
    pthread_mutex_t slot_lock;
    unsigned slot;
    unsigned served;
};

/* What the listener knows about a lane. */
struct lane_state {
    bool idle;
    unsigned connection;
};

/* The worker is busy with a connection at first. */
void lane_init(struct lane *lane, unsigned connection);

/* The worker has served its connection and waits for another. */
void lane_finish(struct lane *lane);

struct lane_state lane_look(struct lane *lane);

#endif
