/* Correct: heat spreads along a rod. Three threads own a part of the rod each and read their neighbours' edges; a barrier
 * parts reading one array from writing the other. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "../../verdict.h"

#ifndef THREADS
#define THREADS 3
#endif

enum { CELLS_PER_THREAD = 40, CELLS = THREADS * CELLS_PER_THREAD, STEPS = 60 };

struct part {
    pthread_t thread;
    int begin;
    int end;
    long hottest;
};

static long rod[2][CELLS];
static long expected[2][CELLS];
static pthread_barrier_t step_done;

static void heat_up(long *cells)
{
    memset(cells, 0, CELLS * sizeof *cells);
    cells[CELLS / 2] = 1L << 20;
    cells[CELLS / 3] = 1L << 18;
}

static long next_cell(const long *cells, int i)
{
    long left = i > 0 ? cells[i - 1] : 0;
    long right = i + 1 < CELLS ? cells[i + 1] : 0;

    return (left + 2 * cells[i] + right) / 4;
}

static void advance(long arrays[2][CELLS], int step, int begin, int end)
{
    const long *now = arrays[step % 2];
    long *next = arrays[(step + 1) % 2];

    for (int i = begin; i < end; i++)
        next[i] = next_cell(now, i);
}

static long hottest_cell(const long *cells)
{
    long hottest = 0;

    for (int i = 0; i < CELLS; i++)
        hottest = cells[i] > hottest ? cells[i] : hottest;
    return hottest;
}

static void *part_main(void *argument)
{
    struct part *part = argument;

    for (int step = 0; step < STEPS; step++) {
        advance(rod, step, part->begin, part->end);
        pthread_barrier_wait(&step_done);
    }
    part->hottest = hottest_cell(rod[STEPS % 2]);
    return NULL;
}

int main(void)
{
    struct part parts[THREADS];

    heat_up(rod[0]);
    heat_up(expected[0]);
    for (int step = 0; step < STEPS; step++)
        advance(expected, step, 0, CELLS);

    pthread_barrier_init(&step_done, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        parts[i].begin = i * CELLS_PER_THREAD;
        parts[i].end = parts[i].begin + CELLS_PER_THREAD;
        pthread_create(&parts[i].thread, NULL, part_main, &parts[i]);
    }
    int correct = 1;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(parts[i].thread, NULL);
        correct = correct && parts[i].hottest == hottest_cell(expected[STEPS % 2]);
    }
    correct = correct && memcmp(rod[STEPS % 2], expected[STEPS % 2], sizeof rod[0]) == 0;
    pthread_barrier_destroy(&step_done);
    return verdict(correct);
}
