/* A coordinator offers two leases and later audits who holds them. Two nodes compete for each lease: a draining
 * node, about to be switched off, and a standby node. One lease on the draining node can be moved in time;
 * both at once lose the service. The coordinator's offer and audit should be one step, but every
 * statement takes the lock anew. After the motivating example of the Falcon paper. */
#define _GNU_SOURCE /* for recursive mutexes without an initialization call */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"

enum holder { NOBODY, OFFERED, DRAINING, STANDBY };

enum {
    ERRANDS = 6,
    ERRAND_ROUNDS = 3000,
    DRAIN_ROUNDS = 20000,
    STANDBY_ROUNDS = 10000,
    SETTLE_MICROSECONDS = 300,
};

static struct {
    enum holder primary;
    enum holder backup;
} leases;

/* Recursive, so that a caller can hold it over several of the steps below. */
static pthread_mutex_t leases_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static unsigned run_errands(unsigned seed)
{
    for (unsigned i = 0; i < ERRANDS; i++) {
        background_step(seed + i);
        seed = compute(seed, ERRAND_ROUNDS);
    }
    return seed;
}

static void offer_primary(void)
{
    pthread_mutex_lock(&leases_lock);
    if (leases.primary == NOBODY)
        leases.primary = OFFERED;                       /* truth:A1 */
    pthread_mutex_unlock(&leases_lock);
}

static void offer_backup(void)
{
    pthread_mutex_lock(&leases_lock);
    if (leases.backup == NOBODY)
        leases.backup = OFFERED;                        /* truth:B1 */
    pthread_mutex_unlock(&leases_lock);
}

static void audit(void)
{
    pthread_mutex_lock(&leases_lock);
    bool primary_drains = leases.primary == DRAINING;   /* truth:A3 */
    bool backup_drains = leases.backup == DRAINING;     /* truth:B3 */
    pthread_mutex_unlock(&leases_lock);
    assert(!(primary_drains & backup_drains));
}

static void offer_and_audit(void)
{
    offer_primary();
    offer_backup();
    usleep(SETTLE_MICROSECONDS);
    audit();
}

static void *coordinator_main(void *argument)
{
    (void)argument;
#ifdef FIXED
    pthread_mutex_lock(&leases_lock);
    offer_and_audit();
    pthread_mutex_unlock(&leases_lock);
#else
    offer_and_audit();
#endif
    return NULL;
}

static void take_primary_while_draining(void)
{
    pthread_mutex_lock(&leases_lock);
    if (leases.primary == OFFERED)
        leases.primary = DRAINING;                      /* truth:A2 */
    pthread_mutex_unlock(&leases_lock);
}

static void take_backup_while_draining(void)
{
    pthread_mutex_lock(&leases_lock);
    if (leases.backup == OFFERED)
        leases.backup = DRAINING;                       /* truth:B2 */
    pthread_mutex_unlock(&leases_lock);
}

static void take_leases_while_draining(void)
{
    take_primary_while_draining();
    take_backup_while_draining();
}

static void *draining_main(void *argument)
{
    unsigned *result = argument;

    *result = compute(run_errands(2), DRAIN_ROUNDS);
    take_leases_while_draining();
    return NULL;
}

static void take_primary_on_standby(void)
{
    pthread_mutex_lock(&leases_lock);
    if (leases.primary == OFFERED)
        leases.primary = STANDBY;
    pthread_mutex_unlock(&leases_lock);
}

static void take_backup_on_standby(void)
{
    pthread_mutex_lock(&leases_lock);
    if (leases.backup == OFFERED)
        leases.backup = STANDBY;
    pthread_mutex_unlock(&leases_lock);
}

static void take_leases_on_standby(void)
{
    take_primary_on_standby();
    take_backup_on_standby();
}

static void *standby_main(void *argument)
{
    unsigned *result = argument;

    *result = compute(run_errands(3), STANDBY_ROUNDS);
    take_leases_on_standby();
    return NULL;
}

int main(void)
{
    void *(*const bodies[])(void *) = {coordinator_main, standby_main, draining_main};
    pthread_t threads[3];
    unsigned results[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, bodies[i], &results[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
