/* A thread that fires timers, and the rule that timers fire on no other thread. */
#ifndef TIMER_H
#define TIMER_H

#include <pthread.h>
#include <stdbool.h>

enum { TIMER_CAPACITY = 16 };

struct timer_thread {
    pthread_mutex_t lock;
    pthread_t thread;
    unsigned deadlines[TIMER_CAPACITY];
    unsigned fired;
    unsigned status;
};

void timer_thread_init(struct timer_thread *timer);

/* Starts the thread, which then fires every timer once. */
void timer_thread_start(struct timer_thread *timer);

/* Waits for the thread to end; true if every timer fired. */
bool timer_thread_finish(struct timer_thread *timer);

#endif
