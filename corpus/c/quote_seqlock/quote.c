#include "quote.h"

#include <stdbool.h>

#include "../../work.h"

enum { ROUNDING_ROUNDS = 40 };

static void begin(struct quote *quote)
{
    __atomic_add_fetch(&quote->sequence, 1, __ATOMIC_SEQ_CST);
}

static void end(struct quote *quote)
{
    __atomic_add_fetch(&quote->sequence, 1, __ATOMIC_SEQ_CST);
}

void quote_publish(struct quote *quote, struct offers offers)
{
    begin(quote);
    __atomic_store_n(&quote->bid, offers.bid, __ATOMIC_SEQ_CST);        /* truth:A2 */
    __atomic_store_n(&quote->ask, offers.ask, __ATOMIC_SEQ_CST);        /* truth:A3 */
    end(quote);
}

/* Waits until nobody is publishing. */
static unsigned settled(const struct quote *quote)
{
    unsigned sequence;

    do
        sequence = __atomic_load_n(&quote->sequence, __ATOMIC_SEQ_CST);
    while (sequence % 2 == 1);
    return sequence;
}

static bool is_still(const struct quote *quote, unsigned sequence)
{
#ifdef FIXED
    return __atomic_load_n(&quote->sequence, __ATOMIC_SEQ_CST) == sequence;
#else
    (void)quote;
    return sequence % 2 == 0;
#endif
}

/* Stands for rounding to what the exchange trades in. */
static unsigned rounded(unsigned price)
{
    return compute(price, ROUNDING_ROUNDS) == 0 ? 0 : price;
}

struct offers quote_read(const struct quote *quote)
{
    struct offers offers;
    unsigned sequence;

    do {
        sequence = settled(quote);
        offers.bid = rounded(__atomic_load_n(&quote->bid, __ATOMIC_SEQ_CST)); /* truth:A1 */
        offers.ask = rounded(__atomic_load_n(&quote->ask, __ATOMIC_SEQ_CST)); /* truth:A4 */
    } while (!is_still(quote, sequence));
    return offers;
}
