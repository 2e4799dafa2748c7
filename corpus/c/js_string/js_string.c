#include "js_string.h"

#include <stdlib.h>
#include <string.h>

#include "../../work.h"

enum { CHARGE_ROUNDS = 1500 };

void js_string_init(struct js_string *string, const char *literal)
{
    pthread_mutex_init(&string->lock, NULL);
    string->chars = literal;
    string->length = strlen(literal);
    string->bytes_charged = 0;
}

static char *repeated(struct js_view piece, unsigned times)
{
    char *buffer = malloc(piece.length * times + 1);

    if (buffer == NULL)
        abort();
    for (unsigned i = 0; i < times; i++)
        memcpy(buffer + i * piece.length, piece.chars, piece.length);
    buffer[piece.length * times] = '\0';
    return buffer;
}

/* The collector is told about every buffer. */
static unsigned charge(size_t bytes)
{
    return compute((unsigned)bytes, CHARGE_ROUNDS);
}

static void set_chars(struct js_string *string, const char *chars)
{
    string->chars = chars;                              /* truth:A1 */
}

static void set_length(struct js_string *string, size_t length)
{
    string->length = length;                            /* truth:A4 */
}

static void replace(struct js_string *string, const char *chars, size_t length)
{
    pthread_mutex_lock(&string->lock);
    set_chars(string, chars);
#ifndef FIXED
    pthread_mutex_unlock(&string->lock);
#endif
    unsigned charged = charge(length);
#ifndef FIXED
    pthread_mutex_lock(&string->lock);
#endif
    set_length(string, length);
    string->bytes_charged = charged;
    pthread_mutex_unlock(&string->lock);
}

void js_string_repeat(struct js_string *string, unsigned times)
{
    struct js_view old = js_string_view(string);
    replace(string, repeated(old, times), old.length * times);
}

struct js_view js_string_view(struct js_string *string)
{
    struct js_view view;

    pthread_mutex_lock(&string->lock);
    view.chars = string->chars;                         /* truth:A2 */
    view.length = string->length;                       /* truth:A3 */
    pthread_mutex_unlock(&string->lock);
    return view;
}
