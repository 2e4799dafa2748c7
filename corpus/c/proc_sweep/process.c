#include "process.h"

#include <stdlib.h>

#include "../../work.h"

enum { TARIFF_ROUNDS = 900 };

struct process *process_new(unsigned id)
{
    struct process *process = malloc(sizeof *process);

    if (process == NULL)
        abort();
    process->id = id;
    process->ticks = 0;
    return process;
}

unsigned process_price(unsigned ticks)
{
    return ticks + compute(ticks, TARIFF_ROUNDS) % 4;
}
