/* A handle to a file that several threads may use. A closed handle stays closed. */
#ifndef HANDLE_H
#define HANDLE_H

#include <pthread.h>
#include <stdbool.h>

enum handle_state { HANDLE_IDLE, HANDLE_BUSY, HANDLE_CLOSED };

struct handle {
    pthread_mutex_t lock;
    enum handle_state state;
    unsigned position;
};

void handle_open(struct handle *handle);

/* Writes if the handle is open; false otherwise. */
bool handle_write(struct handle *handle, unsigned bytes);

void handle_close(struct handle *handle);

bool handle_is_closed(const struct handle *handle);

#endif
