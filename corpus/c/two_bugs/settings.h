/* The settings of a server. They are loaded while its threads are started. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <pthread.h>

struct settings {
    pthread_mutex_t lock;
    pthread_cond_t loaded;
    unsigned level;
};

void settings_init(struct settings *settings);
void settings_load(struct settings *settings);

/* The log level; 0 before the settings are loaded, which is no valid level. */
unsigned settings_level(struct settings *settings);

#endif
