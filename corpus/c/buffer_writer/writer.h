/* What a thread writes into buffers. */
#ifndef WRITER_H
#define WRITER_H

#include "buffer.h"

struct writer {
    pthread_t thread;
    unsigned name;
    unsigned digest;
    unsigned lines;
};

/* Appends one line. */
void writer_write(struct writer *writer, struct buffer *buffer);

#endif
