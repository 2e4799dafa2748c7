/* A program starts a service, does something else for as long as the job should take, and stops the service. A worker
 * that is late finds its job withdrawn. In such a run the report is usually also made before the worker's heartbeat: an
 * unusual order too, but an innocent one, which follows from the first and never causes a failure. */
#include <stdio.h>
#include <unistd.h>

#include "../../work.h"
#include "service.h"

enum {
    REQUESTS = 2,
    REQUEST_ROUNDS = 15000,
    NETWORK_MICROSECONDS = 50,
};

static unsigned do_something_else(void)
{
    unsigned digest = 0;

    for (unsigned request = 0; request < REQUESTS; request++) {
        usleep(NETWORK_MICROSECONDS);
        service_note(request);
        digest ^= compute(request, REQUEST_ROUNDS);
    }
    return digest;
}

static struct service service;

int main(void)
{
    struct job job = {.size = 3};

    service_start(&service, &job);
    unsigned digest = do_something_else();
    unsigned report = service_stop(&service);
    bool job_was_there = service_finish(&service);
    printf("report %08x, digest %08x\n", report, digest);
    return job_was_there ? 0 : 1;
}
