/* A log that is written to one file after another. */
#ifndef LOG_H
#define LOG_H

#include <pthread.h>

enum log_type { LOG_CLOSED, LOG_NORMAL };

enum { LOG_CAPACITY = 1024 };

struct log {
    pthread_mutex_t lock;
    enum log_type type;
    unsigned file;
    int descriptor;
    int length;
    unsigned entries[LOG_CAPACITY];
};

void log_open(struct log *log);

/* Appends an entry if the log is in use. */
void log_write(struct log *log, unsigned entry);

/* Ends the current file and begins the next; no entry may get lost. */
void log_rotate(struct log *log);

#endif
