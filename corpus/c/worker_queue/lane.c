#include "lane.h"

#include <stddef.h>

#include "../../work.h"

enum { RECYCLE_ROUNDS = 800 };

void lane_init(struct lane *lane, unsigned connection)
{
    pthread_mutex_init(&lane->idle_lock, NULL);
    pthread_mutex_init(&lane->slot_lock, NULL);
    lane->idle = 0;
    lane->slot = connection;
    lane->served = 0;
}

static void announce_idle(struct lane *lane)
{
    pthread_mutex_lock(&lane->idle_lock);
    lane->idle = 1;                                     /* truth:A1 */
    pthread_mutex_unlock(&lane->idle_lock);
}

static void free_slot(struct lane *lane)
{
    pthread_mutex_lock(&lane->slot_lock);
    lane->slot = 0;                                     /* truth:B1 */
    pthread_mutex_unlock(&lane->slot_lock);
}

/* Stands for resetting the connection's memory pool. */
static void recycle(struct lane *lane)
{
    lane->served += compute(lane->served, RECYCLE_ROUNDS) % 2 + 1;
}

void lane_finish(struct lane *lane)
{
#ifdef FIXED
    recycle(lane);
    free_slot(lane);
    announce_idle(lane);
#else
    announce_idle(lane);
    recycle(lane);
    free_slot(lane);
#endif
}

static bool is_idle(struct lane *lane)
{
    pthread_mutex_lock(&lane->idle_lock);
    bool idle = lane->idle > 0;                         /* truth:A2 */
    pthread_mutex_unlock(&lane->idle_lock);
    return idle;
}

static unsigned connection_in(struct lane *lane)
{
    pthread_mutex_lock(&lane->slot_lock);
    unsigned connection = lane->slot;                   /* truth:B2 */
    pthread_mutex_unlock(&lane->slot_lock);
    return connection;
}

struct lane_state lane_look(struct lane *lane)
{
    bool idle = is_idle(lane);

    return (struct lane_state){.idle = idle, .connection = connection_in(lane)};
}
