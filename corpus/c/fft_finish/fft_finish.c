/* A benchmark transforms its points with a helper thread and prints the helper's times when its own half is done. It
 * does not wait for the helper, so a late one has not stored its times yet, and the program prints zeros. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../background.h"
#include "transform.h"

static struct transform transform = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
static pthread_barrier_t start;

static void *helper_main(void *argument)
{
    pthread_barrier_wait(&start);
    background_step(1);
    transform_upper_half(argument);
    background_step(2);
    return NULL;
}

static bool print_times(void)
{
    unsigned transposed = transform.transpose_steps;    /* truth:A1 */
    unsigned total = transform.total_steps;             /* truth:B1 */

    printf("transpose: %u steps\ntotal: %u steps\n", transposed, total);
    return transposed > 0 && total > 0;
}

static bool run_benchmark(void)
{
    pthread_barrier_wait(&start);
    background_step(3);
    transform_lower_half(&transform);
    return print_times();
}

int main(void)
{
    pthread_t helper;

    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&helper, NULL, helper_main, &transform);
    bool plausible = run_benchmark();
    pthread_join(helper, NULL);
    return plausible ? 0 : 1;
}
