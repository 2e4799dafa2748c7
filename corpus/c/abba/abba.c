/* Two users of a file server tidy up: one moves a file of each project from its inbox to its archive, from the first
 * project to the last; the other moves one back, from the last to the first. Both lock the folder that they take from
 * first. Where they meet, each can hold what the other waits for, and the program hangs. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "folder.h"

enum {
    PROJECTS = 64,
    FILES = 10,
    BROWSE_ROUNDS = 2500,
    PROJECTS_PER_REQUEST = 8,
    REQUEST_MICROSECONDS = 20,
};

struct project {
    struct folder inbox;
    struct folder archive;
};

static struct project projects[PROJECTS];
static pthread_barrier_t start;

static unsigned browse(unsigned project)
{
    if (project % PROJECTS_PER_REQUEST == 0)
        usleep(REQUEST_MICROSECONDS);
    background_step(project);
    return compute(project, BROWSE_ROUNDS);
}

static void *archive_main(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < PROJECTS; i++) {
        *digest ^= browse(i);
        folder_move(&projects[i].inbox, &projects[i].archive);
    }
    return NULL;
}

static void *restore_main(void *argument)
{
    unsigned *digest = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = PROJECTS; i-- > 0;) {
        *digest ^= browse(i);
        folder_move(&projects[i].archive, &projects[i].inbox);
    }
    return NULL;
}

int main(void)
{
    pthread_t archiver;
    pthread_t restorer;
    unsigned digests[2] = {0};

    for (unsigned i = 0; i < PROJECTS; i++) {
        folder_init(&projects[i].inbox, FILES);
        folder_init(&projects[i].archive, FILES);
    }
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&archiver, NULL, archive_main, &digests[0]);
    pthread_create(&restorer, NULL, restore_main, &digests[1]);
    pthread_join(archiver, NULL);
    pthread_join(restorer, NULL);
    printf("digest %08x\n", digests[0] + digests[1]);
    return 0;
}
