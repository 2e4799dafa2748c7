#include "pool.h"

#include "../../work.h"

enum { CHECK_ROUNDS = 100 };

#ifdef FIXED
/* A head that was replaced and came back is told from one that stayed. */
static const uint64_t change = 1ull << 32;
#else
static const uint64_t change = 0;
#endif

void pool_init(struct pool *pool, uint32_t contents)
{
    pool->head = 0;
    for (uint32_t buffer = 0; buffer < BUFFERS; buffer++) {
        pool->next[buffer] = buffer + 1;
        pool->contents[buffer] = contents + buffer;
    }
}

static uint64_t head_of(const struct pool *pool)
{
    return __atomic_load_n(&pool->head, __ATOMIC_SEQ_CST);              /* truth:A1 */
}

/* What the head becomes, if it names this buffer from then on. */
static uint64_t replaced(uint64_t head, uint32_t buffer)
{
    return (head & ~(uint64_t)UINT32_MAX) + change + buffer;
}

/* Stands for a look at the buffer's guard words. */
static bool is_intact(uint32_t contents)
{
    return compute(contents, CHECK_ROUNDS) != 0;
}

uint32_t pool_take(struct pool *pool)
{
    for (;;) {
        uint64_t head = head_of(pool);
        uint32_t buffer = (uint32_t)head;
        uint32_t next = __atomic_load_n(&pool->next[buffer], __ATOMIC_SEQ_CST); /* truth:B1 */
        if (!is_intact(pool->contents[buffer]))
            continue;
        if (__atomic_compare_exchange_n(&pool->head, &head, replaced(head, next), /* truth:A3 */
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return buffer;
    }
}

void pool_give_back(struct pool *pool, uint32_t buffer)
{
    uint64_t head = __atomic_load_n(&pool->head, __ATOMIC_SEQ_CST);

    do
        __atomic_store_n(&pool->next[buffer], (uint32_t)head, __ATOMIC_SEQ_CST); /* truth:B2 */
    while (!__atomic_compare_exchange_n(&pool->head, &head, replaced(head, buffer), /* truth:A2 */
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

bool pool_has(const struct pool *pool, uint32_t buffer)
{
    uint32_t at = (uint32_t)pool->head;

    for (unsigned steps = 0; at != buffer && at < BUFFERS && steps < BUFFERS; steps++)
        at = pool->next[at];
    return at == buffer;
}
