/* A client of memcached, started by the process that becomes the server: stores values and reads them back on several
 * connections at a time, checks every answer, and has the server end. Arguments: the server's socket, and how many thousand requests to make. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A batch of requests is sent in one go, so that the time is the server's, not that of waking it up. */
enum { CONNECTIONS = 4, KEYS = 4000, BATCH = 50, LONGEST = 256 };

struct text {
    size_t size;
    char bytes[LONGEST];
};

/* What is sent and answered for each key. A key has the same value each time, whichever connection stores it. */
static struct text set[KEYS], get[KEYS], value[KEYS];
static const struct text stored = {8, "STORED\r\n"};

struct batch {
    size_t size;
    char bytes[BATCH * LONGEST];
};

static struct batch requests, answers[CONNECTIONS], answered;

/* Our parent, which would wait for requests forever. */
static pid_t server;

static void fail(const char *what)
{
    fprintf(stderr, "requests: %s\n", what);
    if (getppid() == server)
        kill(server, SIGKILL);
    exit(1);
}

static void add(struct batch *batch, const struct text *text)
{
    memcpy(batch->bytes + batch->size, text->bytes, text->size);
    batch->size += text->size;
}

static void make_texts(void)
{
    for (int key = 0; key < KEYS; key++) {
        char content[LONGEST / 2];
        int size = snprintf(content, sizeof content, "value %0*d", 1 + key % 100, key);
        set[key].size = snprintf(set[key].bytes, LONGEST, "set key-%d 0 0 %d\r\n%s\r\n", key, size, content);
        get[key].size = snprintf(get[key].bytes, LONGEST, "get key-%d\r\n", key);
        value[key].size =
            snprintf(value[key].bytes, LONGEST, "VALUE key-%d 0 %d\r\n%s\r\nEND\r\n", key, size, content);
    }
}

static int try_to_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        fail("the path of the socket is too long");
    strcpy(address.sun_path, path);
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0)
        return connection;
    close(connection);
    return -1;
}

static int connected(const char *path)
{
    for (int attempt = 0; attempt < 60000; attempt++) {
        int connection = try_to_connect(path);
        if (connection >= 0)
            return connection;
        usleep(1000);
    }
    fail("the server does not answer");
    return -1;
}

static void ask(int connection, const struct batch *batch)
{
    for (size_t sent = 0; sent < batch->size;) {
        ssize_t more = write(connection, batch->bytes + sent, batch->size - sent);
        if (more <= 0)
            fail("the server takes no requests");
        sent += more;
    }
}

static void expect(int connection, const struct batch *batch)
{
    for (answered.size = 0; answered.size < batch->size;) {
        ssize_t more = read(connection, answered.bytes + answered.size, batch->size - answered.size);
        if (more <= 0)
            fail("the server has hung up");
        answered.size += more;
    }
    if (memcmp(answered.bytes, batch->bytes, batch->size) != 0)
        fail("a wrong answer");
}

static void store_all(int connection)
{
    for (int first = 0; first < KEYS; first += BATCH) {
        requests.size = answers[0].size = 0;
        for (int key = first; key < first + BATCH; key++) {
            add(&requests, &set[key]);
            add(&answers[0], &stored);
        }
        ask(connection, &requests);
        expect(connection, &answers[0]);
    }
}

/* One request of ten stores a value. */
static void make_batch(struct batch *answer, unsigned *state)
{
    requests.size = answer->size = 0;
    for (int number = 0; number < BATCH; number++) {
        *state = *state * 1664525 + 1013904223;
        int key = (*state >> 8) % KEYS, is_set = number % 10 == 0;
        add(&requests, is_set ? &set[key] : &get[key]);
        add(answer, is_set ? &stored : &value[key]);
    }
}

int main(int count, char **arguments)
{
    server = getppid();
    if (count != 3)
        fail("expects a socket and a number");
    const char *path = arguments[1];
    long batches = atol(arguments[2]) * 1000 / BATCH / CONNECTIONS;
    int connections[CONNECTIONS];
    unsigned state = 1;
    make_texts();
    for (int at = 0; at < CONNECTIONS; at++)
        connections[at] = connected(path);
    store_all(connections[0]);
    for (long batch = 0; batch < batches; batch++) {
        for (int at = 0; at < CONNECTIONS; at++) {
            make_batch(&answers[at], &state);
            ask(connections[at], &requests);
        }
        for (int at = 0; at < CONNECTIONS; at++)
            expect(connections[at], &answers[at]);
    }
    printf("%ld answers\n", batches * BATCH * CONNECTIONS);
    fflush(stdout);
    /* The server takes note when its main thread has something to do. */
    char end;
    struct batch last = {10, "shutdown\r\n"};
    ask(connections[0], &last);
    if (read(connections[0], &end, 1) > 0)
        fail("the server does not end");
    try_to_connect(path);
    return 0;
}
