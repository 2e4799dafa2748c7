// Included before every test program: what keeps the programs short. Threads run one after another, so that
// the order of accesses is known; the helpers themselves touch nothing that is shared.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *(*kit_routine)(void *);

static inline pthread_t start(kit_routine routine, void *argument) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, routine, argument);
    if (error != 0) {
        fprintf(stderr, "pthread_create: %s\n", strerror(error));
        _exit(99);
    }
    return thread;
}

// Runs a thread to its end.
static inline void in_thread(kit_routine routine) {
    pthread_join(start(routine, NULL), NULL);
}

#define THREAD(name) static void *name(void *argument __attribute__((unused)))
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition); \
            _exit(98); \
        } \
    } while (0)
