/* Strings that are built from pieces and flattened into one buffer on demand. */
#ifndef JS_STRING_H
#define JS_STRING_H

#include <pthread.h>
#include <stddef.h>

struct js_string {
    pthread_mutex_t lock;
    const char *chars;
    size_t length;
    unsigned bytes_charged;
};

struct js_view {
    const char *chars;
    size_t length;
};

void js_string_init(struct js_string *string, const char *literal);

/* Replaces the string by `times` copies of itself in a new buffer. The old buffer stays valid. */
void js_string_repeat(struct js_string *string, unsigned times);

/* The characters and how many there are; the byte after them is NUL. */
struct js_view js_string_view(struct js_string *string);

#endif
