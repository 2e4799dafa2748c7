/* A service with one worker, and the report that is printed when it stops. */
#ifndef SERVICE_H
#define SERVICE_H

#include <pthread.h>
#include <stdbool.h>

struct job {
    unsigned size;
};

struct service {
    pthread_t worker;
    pthread_barrier_t started;
    pthread_mutex_t lock;
    /* When the worker last began something. Only for the report: any value will do. */
    unsigned heartbeat;
    /* What the worker is to do; NULL once the service has stopped. */
    struct job *job;
    bool job_was_there;
};

/* Returns when the worker runs. */
void service_start(struct service *service, struct job *job);

/* Notes a request in the statistics. */
void service_note(unsigned request);

/* Takes the job away and returns what the report says about the worker. */
unsigned service_stop(struct service *service);

/* Waits for the worker; true if it found its job. */
bool service_finish(struct service *service);

#endif
