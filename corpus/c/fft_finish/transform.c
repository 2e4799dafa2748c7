#include "transform.h"

#include <unistd.h>

#include "../../work.h"

enum {
    STAGES = 4,
    HALF = TRANSFORM_POINTS / 2,
    TWIDDLE_ROUNDS = 90,
    CACHE_FLUSH_ROUNDS = 9000,
    CHECKSUM_ROUNDS = 12000,
    DISK_MICROSECONDS = 50,
};

static void load_points(struct transform *transform, int first)
{
    for (int i = first; i < first + HALF; i++)
        transform->points[i] = (double)((i * 37) % 101);
}

static double twiddle(unsigned point)
{
    return (double)(compute(point, TWIDDLE_ROUNDS) % 1000) / 1000.0;
}

static unsigned run_stage(struct transform *transform, int first, int stage)
{
    unsigned steps = 0;

    for (int i = first + stage; i + 1 < first + HALF; i += 2) {
        double product = twiddle((unsigned)i) * transform->points[i + 1];
        transform->points[i + 1] = transform->points[i] - product;
        transform->points[i] += product;
        steps++;
    }
    return steps;
}

static unsigned run_stages(struct transform *transform, int first)
{
    unsigned steps = 0;

    for (int stage = 0; stage < STAGES; stage++)
        steps += run_stage(transform, first, stage);
    return steps;
}

static unsigned transpose(struct transform *transform, int first)
{
    unsigned digest = 0;

    for (int i = 0; i < HALF / 2; i++) {
        double kept = transform->points[first + i];
        transform->points[first + i] = transform->points[first + HALF - 1 - i];
        transform->points[first + HALF - 1 - i] = kept;
        digest++;
    }
    return digest + compute(digest, CACHE_FLUSH_ROUNDS) % 2;
}

static void note_times(struct transform *transform, unsigned transposed, unsigned total)
{
    transform->transpose_steps = transposed;            /* truth:A2 */
    transform->total_steps = total;                     /* truth:B2 */
}

void transform_upper_half(struct transform *transform)
{
    load_points(transform, HALF);
    unsigned transposed = transpose(transform, HALF);
    unsigned total = transposed + run_stages(transform, HALF);

    note_times(transform, transposed, total);
#ifdef FIXED
    pthread_mutex_lock(&transform->lock);
    transform->finished = 1;
    pthread_cond_signal(&transform->done);
    pthread_mutex_unlock(&transform->lock);
#endif
}

#ifdef FIXED

static void wait_for_upper_half(struct transform *transform)
{
    pthread_mutex_lock(&transform->lock);
    while (!transform->finished)
        pthread_cond_wait(&transform->done, &transform->lock);
    pthread_mutex_unlock(&transform->lock);
}

#endif

static unsigned save(unsigned steps)
{
    usleep(DISK_MICROSECONDS);
    return compute(steps, CHECKSUM_ROUNDS);
}

/* The caller saves its half, which gives the other half time: usually enough of it. */
void transform_lower_half(struct transform *transform)
{
    load_points(transform, 0);
    unsigned steps = transpose(transform, 0) + run_stages(transform, 0);

    transform->points[0] += (double)(save(steps) % 2);
#ifdef FIXED
    wait_for_upper_half(transform);
#endif
}
