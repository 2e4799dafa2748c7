#include "draw.h"

#include <stddef.h>

#include "../../work.h"

enum { ROLL_ROUNDS = 700 };

void drum_init(struct drum *drum)
{
    pthread_mutex_init(&drum->lock, NULL);
    drum->shown = 0;
    drum->turns = 0;
}

static void turn(struct drum *drum, unsigned buyer)
{
    drum->turns++;
    drum->shown = drum->turns * 1000 + buyer;           /* truth:A1 */
}

static unsigned read_number(const struct drum *drum)
{
    return drum->shown;                                 /* truth:A2 */
}

/* Until the drum stands still. */
static unsigned roll(unsigned buyer)
{
    return compute(buyer, ROLL_ROUNDS);
}

#ifdef FIXED

unsigned drum_draw(struct drum *drum, unsigned buyer)
{
    pthread_mutex_lock(&drum->lock);
    turn(drum, buyer);
    unsigned number = roll(buyer) ? read_number(drum) : 0;
    pthread_mutex_unlock(&drum->lock);
    return number;
}

#else

unsigned drum_draw(struct drum *drum, unsigned buyer)
{
    pthread_mutex_lock(&drum->lock);
    turn(drum, buyer);
    pthread_mutex_unlock(&drum->lock);
    unsigned rolled = roll(buyer);
    pthread_mutex_lock(&drum->lock);
    unsigned number = rolled ? read_number(drum) : 0;
    pthread_mutex_unlock(&drum->lock);
    return number;
}

#endif
