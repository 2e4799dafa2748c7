/* Two interpreter threads share a table of strings. One repeats every string, from the first to the last; the other
 * hashes every string, from the last to the first. Repeating stores the new buffer and the new length in
 * two critical sections, so where the threads meet, the hash may be taken of a new buffer with an old length. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "../../background.h"
#include "../../work.h"
#include "js_string.h"

enum {
    STRINGS = 64,
    TIMES = 3,
    OPCODE_ROUNDS = 2500,
    OPCODES_PER_EVENT = 8,
    EVENT_MICROSECONDS = 20,
};

struct interpreter {
    pthread_t thread;
    unsigned accumulator;
    unsigned torn_strings;
};

static struct js_string strings[STRINGS];
static pthread_barrier_t start;

static void interpret(struct interpreter *interpreter, unsigned opcode)
{
    background_step(opcode);
    interpreter->accumulator ^= compute(opcode, OPCODE_ROUNDS);
    if (opcode % OPCODES_PER_EVENT == 0)
        usleep(EVENT_MICROSECONDS);
}

static void *repeat_main(void *argument)
{
    struct interpreter *interpreter = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < STRINGS; i++) {
        js_string_repeat(&strings[i], TIMES);
        interpret(interpreter, i);
    }
    return NULL;
}

static unsigned hash(struct interpreter *interpreter, struct js_string *string)
{
    struct js_view view = js_string_view(string);
    unsigned hash = 0;

    if (view.chars[view.length] != '\0')
        interpreter->torn_strings++;
    for (size_t i = 0; i < view.length; i++)
        hash = hash * 31 + (unsigned char)view.chars[i];
    return hash;
}

static void *hash_main(void *argument)
{
    struct interpreter *interpreter = argument;

    pthread_barrier_wait(&start);
    for (unsigned i = STRINGS; i-- > 0;) {
        interpreter->accumulator ^= hash(interpreter, &strings[i]);
        interpret(interpreter, i);
    }
    return NULL;
}

int main(void)
{
    struct interpreter repeater = {0};
    struct interpreter hasher = {0};

    for (unsigned i = 0; i < STRINGS; i++)
        js_string_init(&strings[i], "onload");
    pthread_barrier_init(&start, NULL, 2);
    pthread_create(&repeater.thread, NULL, repeat_main, &repeater);
    pthread_create(&hasher.thread, NULL, hash_main, &hasher);
    pthread_join(repeater.thread, NULL);
    pthread_join(hasher.thread, NULL);

    if (hasher.torn_strings != 0) {
        fprintf(stderr, "%u strings did not end where their length said\n", hasher.torn_strings);
        return 1;
    }
    return 0;
}
