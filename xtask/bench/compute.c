/* Compute-bound: sorting and matrix multiplication, each thread on memory of its own. No sharing at all, so
 * everything above native is the price of looking at accesses that concern nobody. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, ELEMENTS = 1 << 16, SIDE = 96 };

struct job {
    int scale;
    unsigned seed;
    unsigned checksum;
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void sift_down(unsigned *heap, int root, int end)
{
    for (;;) {
        int child = 2 * root + 1;
        if (child >= end)
            return;
        if (child + 1 < end && heap[child] < heap[child + 1])
            child++;
        if (heap[root] >= heap[child])
            return;
        unsigned swapped = heap[root];
        heap[root] = heap[child];
        heap[child] = swapped;
        root = child;
    }
}

static void heap_sort(unsigned *values, int count)
{
    for (int root = count / 2 - 1; root >= 0; root--)
        sift_down(values, root, count);
    for (int end = count - 1; end > 0; end--) {
        unsigned largest = values[0];
        values[0] = values[end];
        values[end] = largest;
        sift_down(values, 0, end);
    }
}

static void multiply(const double *left, const double *right, double *product)
{
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            double sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += left[row * SIDE + k] * right[k * SIDE + column];
            product[row * SIDE + column] = sum;
        }
}

static void *work(void *argument)
{
    struct job *job = argument;
    unsigned *values = malloc(ELEMENTS * sizeof *values);
    double *matrices = malloc(3 * SIDE * SIDE * sizeof *matrices);

    for (int round = 0; round < job->scale; round++) {
        for (int i = 0; i < ELEMENTS; i++)
            values[i] = next_random(&job->seed);
        heap_sort(values, ELEMENTS);
        for (int i = 0; i < 2 * SIDE * SIDE; i++)
            matrices[i] = next_random(&job->seed) % 100;
        for (int repetition = 0; repetition < 8; repetition++)
            multiply(matrices, matrices + SIDE * SIDE, matrices + 2 * SIDE * SIDE);
        job->checksum += values[ELEMENTS / 2] + (unsigned)matrices[3 * SIDE * SIDE - 1];
    }
    free(values);
    free(matrices);
    return NULL;
}

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[THREADS];
    struct job jobs[THREADS];

    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.scale = scale, .seed = (unsigned)i + 1};
        pthread_create(&threads[i], NULL, work, &jobs[i]);
    }
    unsigned checksum = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        checksum += jobs[i].checksum;
    }
    printf("%u\n", checksum);
    return 0;
}
