/* Loops of all shapes. In each iteration a thread is told which execution of a loop this is, and which iteration of
 * it: what is written to `told` is what the recorder should know about the write. */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

static volatile unsigned told;
static unsigned executions;
/* Not for the compiler to know: it would take iterations out of loops. */
static volatile unsigned same[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static volatile unsigned zero = 0, two = 2, three = 3, seven = 7, eight = 8;

static void *listen(void *unused)
{
    (void)unused;
    return told != 0 ? &executions : NULL;
}

__attribute__((noinline)) static void tell(unsigned execution, unsigned iteration)
{
    pthread_t listener;

    told = execution << 16 | iteration;
    pthread_create(&listener, NULL, listen, NULL);
    pthread_join(listener, NULL);
}

static void tell_outside(void)
{
    tell(0, 1);
}

static void counted(unsigned times)
{
    unsigned execution = ++executions;

    for (unsigned i = zero; i < times; i++)
        tell(execution, i);
}

static void until(unsigned times)
{
    unsigned execution = ++executions;
    unsigned i = zero;

    do
        tell(execution, i);
    while (++i < times);
}

static void nested(void)
{
    unsigned outer = ++executions;

    for (unsigned i = zero; i < three; i++) {
        tell(outer, i);
        unsigned inner = ++executions;
        for (unsigned j = zero; j < two; j++)
            tell(inner, j);
        tell(outer, i);
        inner = ++executions;
        for (unsigned j = zero; j < i; j++)
            tell(inner, j);
    }
}

static void with_gaps(unsigned times)
{
    unsigned execution = ++executions;

    for (unsigned i = zero; i < times; i++) {
        if (i % 3 == 1)
            continue;
        if (i % 2 == 0)
            tell(execution, i);
        else
            tell(execution, i);
    }
}

static unsigned left_early(unsigned last)
{
    unsigned execution = ++executions;

    for (unsigned i = zero;; i++) {
        tell(execution, i);
        if (i == last)
            return execution;
    }
}

static void switching(void)
{
    unsigned execution = ++executions;

    for (unsigned i = zero; i < eight; i++) {
        switch (same[i]) {
        case 0:
            tell(execution, 0);
            break;
        case 1:
            if (two != 2)
                abort();
            tell(execution, 1);
            break;
        case 2:
            tell(execution, 2);
            /* fall through */
        case 4:
            tell(execution, i);
            break;
        case 5:
            continue;
        case 7:
            return;
        default:
            tell(execution, i);
        }
    }
}

static void jumping(void)
{
    unsigned execution = ++executions;
    unsigned i = zero;

again:
    tell(execution, i);
    if (++i < three)
        goto again;
}

static void recursive(unsigned depth)
{
    unsigned execution = ++executions;

    for (unsigned i = zero; i < two; i++) {
        tell(execution, i);
        if (depth > 0)
            recursive(depth - 1);
        tell(execution, i);
    }
}

static void calling(void)
{
    unsigned execution = ++executions;

    for (unsigned i = zero; i < three; i++) {
        counted(i);
        tell(execution, i);
        left_early(i);
        tell(execution, i);
    }
}

static jmp_buf way_out;

__attribute__((noinline)) static void endless(void)
{
    unsigned execution = ++executions;

    for (unsigned i = zero;; i++) {
        tell(execution, i);
        if (i == two)
            longjmp(way_out, 1);
    }
}

static void thrown_out(void)
{
    if (setjmp(way_out) == 0)
        endless();
    tell_outside();
    counted(two);
}

int main(void)
{
    tell_outside();
    counted(three);
    tell_outside();
    until(three);
    nested();
    with_gaps(seven);
    left_early(two);
    tell_outside();
    switching();
    jumping();
    recursive(two);
    calling();
    thrown_out();
    tell_outside();
    return 0;
}
