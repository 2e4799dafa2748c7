/* A transform by two threads: each works on its half of the points and notes how long its steps took. */
#ifndef TRANSFORM_H
#define TRANSFORM_H

#include <pthread.h>

enum { TRANSFORM_POINTS = 512 };

struct transform {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int finished;
    double points[TRANSFORM_POINTS];
    /* Written by the helper, in steps of work; positive once they are known. */
    unsigned transpose_steps;
    unsigned total_steps;
};

/* The half of the helper thread. */
void transform_upper_half(struct transform *transform);

/* The half of the calling thread; afterwards the whole transform is said to be complete. */
void transform_lower_half(struct transform *transform);

#endif
