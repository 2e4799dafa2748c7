/* Correct: a renderer draws into the back buffer while a screen shows the front one; they swap when both are done. The
 * buffers change hands by the lock of a small state, so that the pixels themselves need none. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "../../verdict.h"
#include "../../work.h"

enum { PIXELS = 64, FRAMES = 80, DRAW_ROUNDS = 20, LAST_FRAME = FRAMES };

struct buffer {
    unsigned frame;
    unsigned pixels[PIXELS];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct buffer *front;
    struct buffer *back;
    bool shown; /* the front buffer may be swapped out */
} display = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void draw(struct buffer *buffer, unsigned frame)
{
    buffer->frame = frame;
    for (unsigned i = 0; i < PIXELS; i++)
        buffer->pixels[i] = compute(frame * PIXELS + i, DRAW_ROUNDS);
}

static struct buffer *swap_when_shown(void)
{
    pthread_mutex_lock(&display.lock);
    while (!display.shown)
        pthread_cond_wait(&display.changed, &display.lock);
    struct buffer *drawn = display.back;
    display.back = display.front;
    display.front = drawn;
    display.shown = false;
    struct buffer *next = display.back;
    pthread_cond_signal(&display.changed);
    pthread_mutex_unlock(&display.lock);
    return next;
}

static struct buffer *wait_for_frame(void)
{
    pthread_mutex_lock(&display.lock);
    while (display.shown)
        pthread_cond_wait(&display.changed, &display.lock);
    struct buffer *front = display.front;
    pthread_mutex_unlock(&display.lock);
    return front;
}

static void note_shown(void)
{
    pthread_mutex_lock(&display.lock);
    display.shown = true;
    pthread_cond_signal(&display.changed);
    pthread_mutex_unlock(&display.lock);
}

static void *render(void *argument)
{
    struct buffer *back = argument;

    for (unsigned frame = 1; frame <= LAST_FRAME; frame++) {
        draw(back, frame);
        back = swap_when_shown();
    }
    return NULL;
}

static bool is_whole(const struct buffer *buffer, unsigned frame)
{
    if (buffer->frame != frame)
        return false;
    for (unsigned i = 0; i < PIXELS; i++) {
        if (buffer->pixels[i] != compute(frame * PIXELS + i, DRAW_ROUNDS))
            return false;
    }
    return true;
}

static void *show(void *argument)
{
    int *torn = argument;

    for (unsigned frame = 1; frame <= LAST_FRAME; frame++) {
        struct buffer *front = wait_for_frame();
        if (!is_whole(front, frame))
            ++*torn;
        note_shown();
    }
    return NULL;
}

int main(void)
{
    struct buffer buffers[2] = {{0}};
    pthread_t renderer, screen;
    int torn = 0;

    display.front = &buffers[0];
    display.back = &buffers[1];
    display.shown = true;
    pthread_create(&renderer, NULL, render, display.back);
    pthread_create(&screen, NULL, show, &torn);
    pthread_join(renderer, NULL);
    pthread_join(screen, NULL);
    return verdict(torn == 0);
}
