#include "service.h"

#include <stddef.h>

#include "../../background.h"
#include "../../work.h"

enum {
    WARM_UP_ROUNDS = 80000,
    PREPARATION_ROUNDS = 15000,
};

void service_note(unsigned request)
{
    background_step(request);
}

static unsigned warm_up(void)
{
    service_note(0);
    return compute(1, WARM_UP_ROUNDS);
}

static void beat(struct service *service, unsigned time)
{
    pthread_mutex_lock(&service->lock);
    service->heartbeat = time;                          /* truth:B1 */
    pthread_mutex_unlock(&service->lock);
}

static bool take_job(struct service *service)
{
    pthread_mutex_lock(&service->lock);
    struct job *job = service->job;                     /* truth:A2 */
    pthread_mutex_unlock(&service->lock);
    return job != NULL && job->size > 0;
}

static void *worker_main(void *argument)
{
    struct service *service = argument;

    pthread_barrier_wait(&service->started);
    unsigned now = warm_up();

    beat(service, now);
    bool prepared = compute(now, PREPARATION_ROUNDS) != 0;
    service->job_was_there = take_job(service) && prepared;
    return NULL;
}

void service_start(struct service *service, struct job *job)
{
    service->job = job;
    pthread_mutex_init(&service->lock, NULL);
    pthread_barrier_init(&service->started, NULL, 2);
    pthread_create(&service->worker, NULL, worker_main, service);
    pthread_barrier_wait(&service->started);
}

static void withdraw_job(struct service *service)
{
    pthread_mutex_lock(&service->lock);
    service->job = NULL;                                /* truth:A1 */
    pthread_mutex_unlock(&service->lock);
}

static unsigned last_heartbeat(struct service *service)
{
    pthread_mutex_lock(&service->lock);
    unsigned heartbeat = service->heartbeat;            /* truth:B2 */
    pthread_mutex_unlock(&service->lock);
    return heartbeat;
}

unsigned service_stop(struct service *service)
{
#ifdef FIXED
    pthread_join(service->worker, NULL);
#endif
    withdraw_job(service);
    unsigned prepared = compute(1, PREPARATION_ROUNDS);
    return last_heartbeat(service) ^ prepared;
}

bool service_finish(struct service *service)
{
#ifndef FIXED
    pthread_join(service->worker, NULL);
#endif
    return service->job_was_there;
}
