#include "sort.h"

#include <stddef.h>

#include "../../work.h"

enum { COMPARE_ROUNDS = 500 };

void row_init(struct row *row)
{
    pthread_mutex_init(&row->lock, NULL);
    for (unsigned i = 0; i < ROW_NUMBERS; i++)
        row->numbers[i] = ROW_NUMBERS - 1 - i;
}

/* Numbers are keys of records; comparing the records takes a while. */
static bool comes_after(unsigned a, unsigned b)
{
    unsigned record = compute(a ^ b, COMPARE_ROUNDS);

    return a > b && record != 0;
}

static void order(unsigned *pair)
{
    unsigned left = pair[0];                            /* truth:A1 */
    unsigned right = pair[1];                           /* truth:B1 */

    if (comes_after(left, right)) {
        pair[0] = right;                                /* truth:A2 */
        pair[1] = left;                                 /* truth:B2 */
    }
}

static void order_pair(struct row *row, unsigned first)
{
#ifdef FIXED
    pthread_mutex_lock(&row->lock);
    order(&row->numbers[first]);
    pthread_mutex_unlock(&row->lock);
#else
    order(&row->numbers[first]);
#endif
}

void row_pass_low(struct row *row)
{
    order_pair(row, 0);
}

void row_pass_high(struct row *row)
{
    order_pair(row, 1);
}

bool row_is_complete(const struct row *row)
{
    unsigned seen = 0;

    for (unsigned i = 0; i < ROW_NUMBERS; i++)
        seen |= 1u << row->numbers[i];
    return seen == (1u << ROW_NUMBERS) - 1;
}
