#include "buffer.h"

#include <assert.h>
#include <stddef.h>

void buffer_init(struct buffer *buffer)
{
    pthread_mutex_init(&buffer->lock, NULL);
    buffer->length = 0;
}

unsigned buffer_end(struct buffer *buffer)
{
    pthread_mutex_lock(&buffer->lock);
    unsigned end = buffer->length;                      /* truth:A1 */
    pthread_mutex_unlock(&buffer->lock);
    return end;
}

void buffer_put(struct buffer *buffer, unsigned place, unsigned line)
{
    assert(place < BUFFER_LINES);
    pthread_mutex_lock(&buffer->lock);
    buffer->lines[place] = line;                        /* truth:B1 */
    buffer->length = place + 1;                         /* truth:A2 */
    pthread_mutex_unlock(&buffer->lock);
}
