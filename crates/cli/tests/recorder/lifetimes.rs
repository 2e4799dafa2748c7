//! Memory that is given another life is a new location.

use recording::EventKind;

use crate::history::Process;
use crate::kit::{Compiler, c, cpp};

#[test]
fn freed_and_reused_memory_is_new() {
    let program = c(r#"
int *volatile block;
THREAD(first) {
    *block = 1; //@first
    return NULL;
}
THREAD(second) {
    *block = 2; //@second
    return NULL;
}
int main(void) {
    int *old = block = malloc(4);
    in_thread(first);
    free(block); //@free
    block = malloc(4);
    CHECK(block == old);
    in_thread(second);
    return *block != 2; //@main
}
"#);
    assert_eq!(
        program.record().heap(),
        "+0:4 first w@first | main W@free\n\
         +0:4 second w@second | main R@main"
    );
}

#[test]
fn use_after_free_follows_the_free() {
    let program = c(r#"
volatile int *volatile block;
volatile int sink;
THREAD(user) {
    sink = *block; //@use
    return NULL;
}
int main(void) {
    block = malloc(4);
    *block = 1; //@init
    free((void *)block); //@free
    in_thread(user);
    return 0;
}
"#);
    let process = program.record();
    assert_eq!(process.heap(), "+0:4 main w@free | user R@use");
    assert_eq!(last_writes_that_free(&process), 1);
}

fn last_writes_that_free(process: &Process<'_>) -> usize {
    let frees = |event: &&recording::ThreadEvent| event.event.flags & recording::flag::FREE != 0;
    process.recording.events.iter().filter(frees).filter(|event| event.kind == EventKind::LastWrite).count()
}

/// The block is in its owner's hands when it is given back, but not its own.
#[test]
fn the_end_of_a_turn_may_be_the_end_of_the_memory() {
    let program = c(r#"
volatile int *volatile block;
volatile int sink;
THREAD(user) {
    sink = *block; //@use
    return NULL;
}
int main(void) {
    block = malloc(4);
    *block = 1; //@init
    in_thread(user);
    for (int i = 0; i < 2; i++)
        *block = 2; //@change
    free((void *)block); //@free
    in_thread(user);
    return 0;
}
"#);
    let process = program.record();
    assert_eq!(process.heap(), "+0:4 main w@init | user R@use | main W@change w@free | user2 R@use");
    assert_eq!(last_writes_that_free(&process), 1);
}

#[test]
fn deletion_is_seen_in_the_destructor_that_ends_in_it() {
    let program = cpp(r#"
struct Object { virtual ~Object() {} volatile int value = 1; }; //@class
Object *volatile object;
volatile int sink;
__attribute__((noinline)) static void destroy() {
    delete object;
}
THREAD(user) {
    sink = object->value; //@use
    return NULL;
}
int main() {
    object = new Object;
    destroy();
    in_thread(user);
    return 0;
}
"#);
    let process = program.record();
    assert_eq!(process.heap(), "+0:4 main w@class | user R@use");
    let (location, _) =
        process.lasting_locations().find(|(id, _)| process.accesses(*id).count() == 2).expect("one");
    let leaf = process.accesses(location).next().expect("the deletion").event.leaf;
    assert_eq!(process.stack(leaf), "Object::~Object < destroy < main");
}

#[test]
fn a_block_that_moves_is_freed_and_one_that_stays_is_not() {
    let program = c(r#"
volatile int *volatile block;
volatile int sink;
THREAD(worker) {
    sink = *block; //@stayed
    return NULL;
}
THREAD(late) {
    sink = *block; //@moved
    return NULL;
}
int main(void) {
    volatile int *old = block = malloc(64);
    *block = 1; //@init
    block = realloc((void *)block, 32); //@shrink
    CHECK(block == old);
    in_thread(worker);
    void *fence = malloc(64);
    int *new = realloc((void *)block, 4096); //@grow
    CHECK(new != old && *new == 1);
    in_thread(late);
    free(fence);
    free(new);
    return 0;
}
"#);
    assert_eq!(
        program.record().heap(),
        "+0:4 main r@shrink w@init | worker R@stayed | main R@grow W@grow | late R@moved"
    );
}

#[test]
fn content_survives_reallocation() {
    let program = c(r#"
int main(void) {
    for (volatile size_t from = 0; from < 300000; from = from * 3 + 1)
        for (volatile size_t to = 1; to < 300000; to = to * 4 + 1) {
            unsigned char *bytes = malloc(from);
            for (size_t i = 0; i < from; i++)
                bytes[i] = i * 7;
            bytes = realloc(bytes, to);
            for (size_t i = 0; i < (from < to ? from : to); i++)
                CHECK(bytes[i] == (unsigned char)(i * 7));
            free(bytes);
        }
    errno = 0;
    volatile size_t huge = SIZE_MAX / 4;
    char *kept = malloc(16);
    strcpy(kept, "kept");
    CHECK(realloc(kept, huge) == NULL && errno == ENOMEM);
    CHECK(strcmp(kept, "kept") == 0);
    CHECK(reallocarray(kept, huge, 16) == NULL && errno == ENOMEM);
    free(kept);
    kept = realloc(NULL, 10);
    CHECK(kept != NULL);
    CHECK(realloc(kept, 0) == NULL);
    void *aligned;
    CHECK(posix_memalign(&aligned, 4096, 100) == 0 && (uintptr_t)aligned % 4096 == 0);
    free(aligned);
    return 0;
}
"#);
    program.run_well();
}

#[test]
fn large_blocks_that_are_reused_are_new() {
    let program = c(r#"
volatile char *volatile block;
volatile char sink;
THREAD(worker) {
    block[70000] = 1; //@worker
    return NULL;
}
int main(void) {
    for (int i = 0; i < 3; i++) {
        block = malloc(100000);
        block[70000] = 0; //@init
        in_thread(worker);
        free((void *)block);
    }
    return 0;
}
"#);
    let line = |number: &str| format!("main w@init | worker{number} W@worker");
    let heap = program.record().heap();
    let histories: Vec<&str> =
        heap.lines().filter_map(|line| line.split_once(' ')).map(|(_, turns)| turns).collect();
    assert_eq!(histories, [line(""), line("2"), line("3")]);
}

#[test]
fn an_ended_threads_stack_is_new_to_the_next() {
    let program = c(r#"
volatile int *volatile pointer;
volatile uintptr_t addresses[2];
static void lend(volatile int *local) {
    pointer = local;
    addresses[addresses[0] != 0] = (uintptr_t)local;
}
THREAD(user) {
    (*pointer)++; //@user
    return NULL;
}
THREAD(owner) {
    volatile int local = 1; //@owner
    lend(&local);
    in_thread(user);
    return NULL;
}
int main(void) {
    in_thread(owner);
    in_thread(owner);
    CHECK(addresses[0] == addresses[1]);
    return 0;
}
"#);
    let process = program.record();
    let histories: Vec<String> = process
        .lasting_locations()
        .filter(|(_, location)| process.recording.module_of_data(location.address).is_none())
        .map(|(id, _)| {
            process.accesses(id).map(|event| process.thread(event.actor())).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(histories, ["owner user user", "owner2 user2 user2"]);
}

#[test]
fn unmapped_memory_that_is_mapped_again_is_new() {
    let program = c(r#"
volatile int *volatile page;
THREAD(worker) {
    *page = 2; //@worker
    return NULL;
}
int main(void) {
    for (int i = 0; i < 2; i++) {
        void *wanted = (void *)0x200000000000;
        page = mmap(wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        CHECK(page == wanted);
        *page = 1; //@init
        in_thread(worker);
        munmap((void *)page, 4096);
    }
    return 0;
}
"#);
    assert_eq!(
        program.record().heap(),
        "+0:4 main w@init | worker W@worker\n+0:4 main w@init | worker2 W@worker"
    );
}

/// A slot of a function that has returned, taken by the next call, is a new location; one of a function that is still
/// being executed is not.
#[test]
fn a_stack_slot_that_another_call_takes_is_new() {
    let program = c(r#"
volatile int *volatile slot;
volatile int outer_sum;
THREAD(writes) { *slot += 1; return NULL; } //@worker
__attribute__((noinline)) static void first(void) {
    volatile int local = 1; //@first
    slot = &local;
    in_thread(writes);
    outer_sum += local; //@first-end
}
__attribute__((noinline)) static void second(void) {
    volatile int local = 2; //@second
    slot = &local;
    in_thread(writes);
    outer_sum += local; //@second-end
}
__attribute__((noinline)) static void caller(void (*function)(void)) { function(); }
int main(void) {
    volatile int lasting = 5; //@lasting
    slot = &lasting;
    in_thread(writes);
    for (int i = 0; i < 2; i++)
        first();
    // Twice by way of a function that does nothing else.
    caller(first);
    volatile int *place = slot;
    caller(second);
    CHECK(slot == place);
    slot = &lasting;
    in_thread(writes);
    return lasting != 7; //@end
}
"#);
    let process = program.record();
    process.expect_whole();
    let histories: Vec<String> = process
        .lasting_locations()
        .map(|(id, _)| process.turns(id).replace(char::is_numeric, ""))
        .filter(|history| history.contains("@worker") && !history.contains("program.c"))
        .collect();
    assert_eq!(
        histories,
        [
            "main w@lasting | writes R@worker W@worker | writes R@worker W@worker | main R@end",
            "main w@first | writes R@worker W@worker | main R@first-end",
            "main w@first | writes R@worker W@worker | main R@first-end",
            "main w@first | writes R@worker W@worker | main R@first-end",
            "main w@second | writes R@worker W@worker | main R@second-end",
        ]
    );
}

#[test]
fn a_location_on_the_heap_knows_where_its_block_was_allocated() {
    let program = c(r#"
struct node { long a, b; int items[8]; };
struct node *volatile node;
char *volatile large;
int *volatile grown;
THREAD(worker) {
    node->b++; //@b
    node->items[3]++; //@item
    large[300000]++; //@large
    grown[1000]++; //@grown
    return NULL;
}
__attribute__((noinline)) static void *allocate(size_t size) {
    return calloc(1, size); //@calloc
}
int main(void) {
    // The new block lies where smaller ones were.
    for (int i = 0; i < 100; i++)
        free(malloc(24)); //@small
    node = allocate(sizeof *node);
    large = malloc(1 << 20); //@malloc
    grown = malloc(400);
    grown = realloc(grown, 5000); //@realloc
    node->b = node->items[3] = large[300000] = grown[1000] = 1;
    in_thread(worker);
    in_thread(worker);
    return 0;
}
"#);
    let process = program.record();
    let mut blocks: Vec<String> = process
        .lasting_locations()
        .filter(|(_, location)| location.allocated_at != 0)
        .map(|(id, location)| {
            let first = process.accesses(id).last().expect("an access");
            let at = process.site(location.allocated_at);
            let stack = process.stack(location.allocated_at);
            format!("{}: {at} +{} ({stack})", process.site(first.event.leaf), location.block_offset)
        })
        .collect();
    blocks.sort();
    assert_eq!(
        blocks,
        [
            "b: calloc +8 (allocate < main)",
            "grown: realloc +4000 (main)",
            "item: calloc +28 (allocate < main)",
            "large: malloc +300000 (main)",
        ]
    );
}

/// A library asks for it, in the name of whoever called that.
#[test]
fn memory_that_new_hands_out_was_asked_for_where_new_stands() {
    let source = r#"
#include <memory>
struct node { long a, b; };
node *volatile one;
std::shared_ptr<node> other;
THREAD(worker) {
    one->b++; //@one
    other->b++; //@other
    return NULL;
}
__attribute__((noinline)) static void make(bool both) {
    if (both)
        one = new node(); //@new
    other = std::make_shared<node>(); //@shared
}
int main() {
    make(true);
    one->b = 1;
    other->b = 1;
    in_thread(worker);
    return 0;
}
"#;
    for flags in ["-O0", "-O2"] {
        let program = Compiler::cpp().flags(flags).program(source);
        let process = program.record();
        let asked_at = |line: &str| {
            let of_line = |id| process.accesses(id).any(|access| process.site(access.event.leaf) == line);
            let mut on_heap = process.lasting_locations().filter(|(_, location)| location.allocated_at != 0);
            let (_, location) = on_heap.find(|&(id, _)| of_line(id)).expect(line);
            (process.site(location.allocated_at), process.stack(location.allocated_at))
        };
        assert_eq!(asked_at("one"), ("new".to_owned(), "make < main".to_owned()), "{flags}");
        let (_, stack) = asked_at("other");
        assert!(stack.ends_with("make < main"), "{flags}: {stack}");
    }
}

#[test]
fn thread_local_variables_are_each_threads_own() {
    let program = c(r#"
__thread volatile int own;
volatile int *volatile lent;
void *places[2];
sem_t is_lent, is_used;
static void *use_own(void *place) {
    *(void **)place = (void *)&own;
    own = 1; //@own
    return NULL;
}
static void *lend(void *unused) {
    own = 2; //@lend
    lent = &own;
    sem_post(&is_lent);
    sem_wait(&is_used);
    CHECK(own == 3); //@get back
    return unused;
}
int main(void) {
    // One after another, so that the second gets the first one's memory.
    for (int i = 0; i < 2; i++)
        pthread_join(start(use_own, &places[i]), NULL);
    CHECK(places[0] == places[1]);
    sem_init(&is_lent, 0, 0);
    sem_init(&is_used, 0, 0);
    pthread_t lender = start(lend, NULL);
    sem_wait(&is_lent);
    *lent = 3; //@use
    sem_post(&is_used);
    pthread_join(lender, NULL);
    return 0;
}
"#);
    let process = program.record();
    process.expect_whole();
    let histories: Vec<String> = process.lasting_locations().map(|(id, _)| process.turns(id)).collect();
    assert!(histories.contains(&"lend w@lend | main W@use | lend R@get back".to_owned()), "{histories:#?}");
    assert!(!histories.iter().any(|history| history.contains("@own")), "{histories:#?}");
}

/// Whoever gives memory back that others have used may be the last to use it, or the first of many: another thread can go
/// before it. What is a thread's own is nobody's business.
#[test]
fn giving_shared_memory_back_is_a_point() {
    let points = |end: &str| {
        let source = r#"
static int *shared;
static void *touch(void *argument) { *shared = 1; return argument; }
int main(void) {
    int *own = malloc(sizeof *own);
    *own = 1;
    int *block = malloc(sizeof *block);
    *block = 0;
    shared = block;
    pthread_join(start(touch, NULL), NULL);
    END
    return 0;
}
"#;
        c(&source.replace("END", end)).plan("seed=1,schedule=random").run_well().recordings[0].header.points
    };
    assert_eq!(points("free(block);"), points("") + 1);
    assert_eq!(points("free(own);"), points(""));
}
