/* A process and what its time costs. */
#ifndef PROCESS_H
#define PROCESS_H

struct process {
    unsigned id;
    unsigned ticks;
};

struct process *process_new(unsigned id);

/* What so many ticks count for at the current tariff. */
unsigned process_price(unsigned ticks);

#endif
