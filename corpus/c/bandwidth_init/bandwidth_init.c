/* A file-sharing client opens its session. The peer manager comes first and starts the event thread; the settings and
 * the bandwidth follow. The first event usually comes long after, but nothing makes it: when it is early it finds no
 * bandwidth, and the program dies before it could have stored one. */
#include <pthread.h>
#include <stdio.h>

#include "../../work.h"
#include "session.h"

enum { DISK_CHECK_ROUNDS = 400000 };

static void *check_disk(void *argument)
{
    unsigned *digest = argument;

    *digest = compute(1, DISK_CHECK_ROUNDS);
    return NULL;
}

int main(void)
{
    pthread_t disk;
    unsigned digest;

    pthread_create(&disk, NULL, check_disk, &digest);
    struct session *session = session_open();
    unsigned allocated = session_close(session);
    pthread_join(disk, NULL);
    printf("allocated %u, disk %08x\n", allocated, digest);
    return 0;
}
