//! Which sites touch shared memory, also where their accesses leave no record of their own.

use recording::EventKind;

use crate::history::Process;
use crate::kit::c;

/// The sites noted in the midst of turns, by thread, in the order in which they were noted.
fn within(process: &Process<'_>) -> String {
    let noted = process.recording.events.iter().filter(|event| event.kind == EventKind::Within);
    let word = |event: &recording::ThreadEvent| {
        format!("{}@{}", process.thread(event.thread), process.site(event.event.leaf))
    };
    noted.map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_site_in_the_midst_of_a_turn_is_noted_once() {
    let program = c(r#"
volatile int shared;
volatile int sink;
THREAD(worker) {
    for (int i = 0; i < 1000; i++) {
        shared = 1; //@first
        shared = 2; //@middle
        sink = shared; //@read
        shared = 3; //@last
    }
    return NULL;
}
int main(void) {
    for (int i = 0; i < 1000; i++) {
        shared = 1; //@private
        shared = 2; //@init
    }
    in_thread(worker);
    in_thread(worker);
    shared = 4; //@end
    return 0;
}
"#);
    let process = program.record();
    assert_eq!(
        process.history("shared"),
        "main w@init | worker W@first R@read r@read w@last | worker2 W@first R@read r@read w@last | main W@end"
    );
    assert_eq!(within(&process), "worker@middle worker@read worker@last worker@first");
}

/// A child's file tells its own sites, also those that its parent has noted in the parent's.
#[test]
fn a_forked_child_notes_its_sites_anew() {
    let program = c(r#"
#include <sys/wait.h>
volatile int shared;
__attribute__((noinline)) static void store(void) {
    for (int i = 0; i < 10; i++) {
        shared = 1; //@one
        shared = 2; //@two
    }
}
THREAD(worker) {
    store();
    return NULL;
}
int main(void) {
    shared = 1;
    in_thread(worker);
    if (fork() == 0) {
        shared = 1;
        in_thread(worker);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
"#);
    let noted: Vec<String> = program.run_well().processes().iter().map(within).collect();
    // The child knows its parent's threads, so that its own worker is the second.
    assert_eq!(noted, ["worker@two worker@one", "worker2@two worker2@one"]);
}
