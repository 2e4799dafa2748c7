/* The exit status of a correct program. With `FLAKY` one run in twenty fails although everything went right: by a
 * chance that no interleaving explains, so that an honest tool names no cause. */
#ifndef CORPUS_VERDICT_H
#define CORPUS_VERDICT_H

#include <stdio.h>

#ifdef FLAKY
#include <sys/random.h>
#endif

static inline int verdict(int correct)
{
    if (!correct) {
        fprintf(stderr, "a correct program went wrong\n");
        return 2;
    }
#ifdef FLAKY
    unsigned chance = 0;

    if (getrandom(&chance, sizeof chance, 0) == (ssize_t)sizeof chance && chance % 20 == 0) {
        fprintf(stderr, "bad luck\n");
        return 1;
    }
#endif
    return 0;
}

#endif
