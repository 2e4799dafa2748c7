#include "timer.h"

#include <stddef.h>
#include <unistd.h>

#include "../../work.h"

enum {
    FIRST_DEADLINE_MICROSECONDS = 10,
    DEADLINE_ROUNDS = 1200,
    STATUS_ROUNDS = 24000,
};

void timer_thread_init(struct timer_thread *timer)
{
    pthread_mutex_init(&timer->lock, NULL);
    timer->thread = 0;                                  /* truth:A0 */
    timer->fired = 0;
}

static bool on_timer_thread(const struct timer_thread *timer)
{
    pthread_t owner = timer->thread;                    /* truth:A1 */
    return pthread_equal(owner, pthread_self());
}

static void fire(struct timer_thread *timer, unsigned index)
{
    timer->deadlines[index] = compute(index, DEADLINE_ROUNDS);
    if (on_timer_thread(timer))
        timer->fired++;
}

static void *timer_main(void *argument)
{
    struct timer_thread *timer = argument;

#ifdef FIXED
    /* The creator holds the lock until it has stored the thread's id. */
    pthread_mutex_lock(&timer->lock);
    pthread_mutex_unlock(&timer->lock);
#endif
    usleep(FIRST_DEADLINE_MICROSECONDS);
    for (unsigned i = 0; i < TIMER_CAPACITY; i++)
        fire(timer, i);
    return NULL;
}

static unsigned report_status(int error)
{
    return compute((unsigned)error, STATUS_ROUNDS);
}

static void create_thread(struct timer_thread *timer)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, timer_main, timer);

    timer->status = report_status(error);
    timer->thread = thread;                             /* truth:A2 */
}

void timer_thread_start(struct timer_thread *timer)
{
#ifdef FIXED
    pthread_mutex_lock(&timer->lock);
    create_thread(timer);
    pthread_mutex_unlock(&timer->lock);
#else
    create_thread(timer);
#endif
}

bool timer_thread_finish(struct timer_thread *timer)
{
    pthread_join(timer->thread, NULL);
    return timer->fired == TIMER_CAPACITY;
}
