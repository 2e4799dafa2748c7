/* Byte- and string-heavy: two threads split a text that both read, byte by byte and with the C library's
 * functions, and count its words in tables of their own. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, TEXT_SIZE = 1 << 18, BUCKETS = 1 << 10, LONGEST_WORD = 15 };

struct entry {
    char word[LONGEST_WORD + 1];
    unsigned count;
};

struct reader {
    int scale;
    size_t from, to;
    struct entry table[BUCKETS];
    unsigned words;
};

static char text[TEXT_SIZE + 1];

static void write_text(void)
{
    unsigned state = 7;

    for (size_t i = 0; i < TEXT_SIZE; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned random = state >> 24;
        text[i] = random < 40 ? ' ' : (char)((random & 1 ? 'a' : 'A') + random % 7);
    }
}

static unsigned hash(const char *word)
{
    unsigned sum = 2166136261u;

    while (*word != '\0')
        sum = (sum ^ (unsigned char)*word++) * 16777619u;
    return sum;
}

static void count(struct reader *reader, const char *word)
{
    struct entry *entry = &reader->table[hash(word) % BUCKETS];

    if (strcmp(entry->word, word) != 0) {
        strcpy(entry->word, word);
        entry->count = 0;
    }
    entry->count++;
    reader->words++;
}

static void scan(struct reader *reader)
{
    char word[LONGEST_WORD + 1];
    size_t length = 0;

    for (size_t i = reader->from; i < reader->to; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c != ' ' && length < LONGEST_WORD) {
            word[length++] = (char)tolower(c);
        } else if (length > 0) {
            word[length] = '\0';
            count(reader, word);
            length = 0;
        }
    }
}

static void *read_text(void *argument)
{
    struct reader *reader = argument;

    for (int round = 0; round < reader->scale; round++)
        scan(reader);
    return NULL;
}

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    static struct reader readers[THREADS];
    pthread_t threads[THREADS];
    unsigned words = 0;

    write_text();
    for (int i = 0; i < THREADS; i++) {
        readers[i].scale = scale;
        readers[i].from = (size_t)i * TEXT_SIZE / THREADS;
        readers[i].to = (size_t)(i + 1) * TEXT_SIZE / THREADS;
        pthread_create(&threads[i], NULL, read_text, &readers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        words += readers[i].words;
    }
    printf("%u\n", words);
    return 0;
}
