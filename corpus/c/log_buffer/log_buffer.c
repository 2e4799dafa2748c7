/* Two workers of a web server answer a request for each of its virtual hosts, one worker from the first host to the
 * last, the other from the last to the first, and log it in the buffer of the host. A line is copied to where the
 * buffer was found to end; where the workers meet, they find the same end, and one line overwrites the other. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "access_log.h"

enum {
    HOSTS = 64,
    UNBUFFERED_HOSTS = 8,
    ANSWER_ROUNDS = 2500,
    HOSTS_PER_PACKET = 8,
    NETWORK_MICROSECONDS = 20,
};

static const char get_line[] = "GET /index.html 200\n";
static const char post_line[] = "POST /form 303\n";

static struct access_log logs[HOSTS];
static pthread_barrier_t start;

/* Hosts at both ends of the list are not buffered. */
static bool is_buffered(unsigned host)
{
    return host >= UNBUFFERED_HOSTS && host < HOSTS - UNBUFFERED_HOSTS;
}

static void answer(unsigned host, const char *line, unsigned *digest)
{
    if (host % HOSTS_PER_PACKET == 0)
        usleep(NETWORK_MICROSECONDS);
    background_step(host);
    *digest ^= compute(host, ANSWER_ROUNDS);
    access_log_write(&logs[host], line);
}

static void *answer_gets(void *argument)
{
    pthread_barrier_wait(&start);
    for (unsigned host = 0; host < HOSTS; host++)
        answer(host, get_line, argument);
    return NULL;
}

static void *answer_posts(void *argument)
{
    pthread_barrier_wait(&start);
    for (unsigned host = HOSTS; host-- > 0;)
        answer(host, post_line, argument);
    return NULL;
}

static int damaged_logs(void)
{
    int damaged = 0;

    for (unsigned host = 0; host < HOSTS; host++) {
        const struct access_log *log = &logs[host];
        if (!is_buffered(host))
            continue;
        damaged += !access_log_contains(log, get_line) | !access_log_contains(log, post_line);
    }
    return damaged;
}

int main(void)
{
    pthread_t gets;
    pthread_t posts;
    unsigned digests[2] = {0};

    for (unsigned host = 0; host < HOSTS; host++)
        access_log_init(&logs[host], is_buffered(host));
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&gets, NULL, answer_gets, &digests[0]);
    pthread_create(&posts, NULL, answer_posts, &digests[1]);
    pthread_join(gets, NULL);
    pthread_join(posts, NULL);

    int damaged = damaged_logs();
    printf("digest %08x\n", digests[0] + digests[1]);
    if (damaged > 0) {
        fprintf(stderr, "%d logs lost a line\n", damaged);
        return 1;
    }
    return 0;
}
