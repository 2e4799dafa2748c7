/* A buffer of lines that writers fill and a checker empties. Every operation is atomic by itself. */
#ifndef BUFFER_H
#define BUFFER_H

#include <pthread.h>

enum { BUFFER_LINES = 8 };

struct buffer {
    pthread_mutex_t lock;
    unsigned length;
    unsigned lines[BUFFER_LINES];
};

void buffer_init(struct buffer *buffer);

/* Where the next line goes. */
unsigned buffer_end(struct buffer *buffer);

/* Puts a line at a place and moves the end behind it. */
void buffer_put(struct buffer *buffer, unsigned place, unsigned line);

#endif
