#include "settings.h"

#include <stddef.h>

#include "../../work.h"

enum { PARSE_ROUNDS = 60000 };

void settings_init(struct settings *settings)
{
    pthread_mutex_init(&settings->lock, NULL);
    pthread_cond_init(&settings->loaded, NULL);
    settings->level = 0;                                /* truth:B0 */
}

static unsigned parse(void)
{
    return 1 + compute(1, PARSE_ROUNDS) % 4;
}

static void store_level(struct settings *settings, unsigned level)
{
    settings->level = level;                            /* truth:B2 */
}

void settings_load(struct settings *settings)
{
    unsigned level = parse();

    pthread_mutex_lock(&settings->lock);
    store_level(settings, level);
    pthread_cond_broadcast(&settings->loaded);
    pthread_mutex_unlock(&settings->lock);
}

unsigned settings_level(struct settings *settings)
{
    pthread_mutex_lock(&settings->lock);
#ifdef FIXED
    while (settings->level == 0)
        pthread_cond_wait(&settings->loaded, &settings->lock);
#endif
    unsigned level = settings->level;                   /* truth:B1 */
    pthread_mutex_unlock(&settings->lock);
    return level;
}
