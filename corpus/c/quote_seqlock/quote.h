/* The best offers for an instrument, guarded by a sequence number instead of a lock: the number is odd while they are being
 * replaced. */
#ifndef QUOTE_H
#define QUOTE_H

struct quote {
    unsigned sequence;
    unsigned bid;
    unsigned ask;
};

/* The offers of one moment. */
struct offers {
    unsigned bid;
    unsigned ask;
};

/* Only one thread may publish. */
void quote_publish(struct quote *quote, struct offers offers);

struct offers quote_read(const struct quote *quote);

#endif
