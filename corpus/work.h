/* Computation that shares nothing. The corpus tunes its failure rates with amounts of work rather than
 * with sleeps, since sleeping threads meet at other places than busy ones. */
#ifndef CORPUS_WORK_H
#define CORPUS_WORK_H

/* Scrambles `seed` for the given number of rounds, a nanosecond or two each. Use the result: the compiler
 * drops the loop otherwise. */
static inline unsigned compute(unsigned seed, unsigned rounds)
{
    unsigned state = seed | 1u;
    while (rounds-- > 0) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    return state;
}

#endif
