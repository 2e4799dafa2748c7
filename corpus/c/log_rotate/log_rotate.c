/* A session writes to a server's log while an administrator rotates it. During the rotation the log is closed for
 * a moment; a session that looks just then believes that logging is switched off, and drops its entry. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include "../../background.h"
#include "../../work.h"
#include "log.h"

enum {
    STATEMENTS = 30,
    STATEMENT_ROUNDS = 80000,
    ROTATIONS = 1,
    ROTATION_INTERVAL_ROUNDS = 760000,
};

struct session {
    pthread_t thread;
    unsigned result;
};

static struct log server_log;

static void execute(struct session *session, unsigned statement)
{
    background_step(statement);
    session->result ^= compute(statement, STATEMENT_ROUNDS);
    log_write(&server_log, statement);
}

static void *session_main(void *argument)
{
    struct session *session = argument;

    for (unsigned statement = 0; statement < STATEMENTS; statement++)
        execute(session, statement);
    return NULL;
}

static void *administrator_main(void *argument)
{
    unsigned *idled = argument;

    for (unsigned i = 0; i < ROTATIONS; i++) {
        *idled ^= compute(i, ROTATION_INTERVAL_ROUNDS);
        background_step(i);
        log_rotate(&server_log);
    }
    return NULL;
}

int main(void)
{
    struct session session = {0};
    pthread_t administrator;
    unsigned idled = 0;

    log_open(&server_log);
    pthread_create(&session.thread, NULL, session_main, &session);
    pthread_create(&administrator, NULL, administrator_main, &idled);
    pthread_join(session.thread, NULL);
    pthread_join(administrator, NULL);

    if (server_log.length != STATEMENTS) {
        fprintf(stderr, "%d statements, %d log entries\n", STATEMENTS, server_log.length);
        return 1;
    }
    return 0;
}
