/* Rows of three numbers that two threads sort together: a pass orders the first pair of a row or the second, and both
 * pairs have the number in the middle. */
#ifndef SORT_H
#define SORT_H

#include <pthread.h>
#include <stdbool.h>

enum { ROW_NUMBERS = 3 };

struct row {
    pthread_mutex_t lock;
    unsigned numbers[ROW_NUMBERS];
};

/* Fills the row in falling order. */
void row_init(struct row *row);

/* Orders the first and the second number. */
void row_pass_low(struct row *row);

/* Orders the second and the third number. */
void row_pass_high(struct row *row);

/* Whether all numbers are still there. */
bool row_is_complete(const struct row *row);

#endif
