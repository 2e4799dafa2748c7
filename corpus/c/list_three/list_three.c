/* A mail server delivers a message to each of its users, from the first to the last, while a monitor summarizes the
 * inboxes from the last to the first. Delivery locks an inbox and updates count, head and tail of its list one
 * after the other; the monitor reads them without the lock, and may see a list that never was. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "inbox.h"

enum {
    USERS = 64,
    DELIVERY_ROUNDS = 2500,
    SUMMARY_ROUNDS = 3000,
    USERS_PER_BATCH = 8,
    BATCH_MICROSECONDS = 20,
};

static struct inbox inboxes[USERS];
static struct message messages[USERS];
static pthread_barrier_t start;

static unsigned prepare(unsigned user, unsigned rounds)
{
    if (user % USERS_PER_BATCH == 0)
        usleep(BATCH_MICROSECONDS);
    background_step(user);
    return compute(user, rounds);
}

static void *deliver_main(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&start);
    for (unsigned user = 0; user < USERS; user++) {
        messages[user].number = prepare(user, DELIVERY_ROUNDS);
        inbox_append(&inboxes[user], &messages[user]);
    }
    return NULL;
}

static void *monitor_main(void *argument)
{
    int *result = argument;
    int torn = 0;
    unsigned shown = 0;

    pthread_barrier_wait(&start);
    for (unsigned user = USERS; user-- > 0;) {
        shown ^= prepare(user, SUMMARY_ROUNDS);
        struct summary summary = inbox_summary(&inboxes[user]);
        if (!summary_is_consistent(&summary))
            torn++;
    }
    *result = torn;
    printf("shown %08x\n", shown);
    return NULL;
}

int main(void)
{
    pthread_t delivery;
    pthread_t monitor;
    int torn;

    for (unsigned user = 0; user < USERS; user++)
        inbox_init(&inboxes[user]);
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&delivery, NULL, deliver_main, NULL);
    pthread_create(&monitor, NULL, monitor_main, &torn);
    pthread_join(delivery, NULL);
    pthread_join(monitor, NULL);
    if (torn > 0) {
        fprintf(stderr, "%d summaries contradict themselves\n", torn);
        return 1;
    }
    return 0;
}
