//! Tests that do not end well, or leave something behind.

use crate::kit::{Workplace, claims, compiled, processes_with};

/// Forks a child that leaves the process group and stays, with the mark in its command line.
const FORKS: &str = r#"
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int ready[2];
    char byte = 'x';
    if (pipe(ready) != 0)
        return 99;
    if (fork() == 0) {
        setsid();
        if (write(ready[1], &byte, 1) != 1)
            return 99;
        for (;;)
            pause();
    }
    /* Only once the child is on its own is there something to clean up. */
    return read(ready[0], &byte, 1) == 1 ? 0 : 99;
}
"#;

#[test]
fn a_child_left_behind_by_fork_is_ended() {
    let place = Workplace::new();
    let mark = format!("left-behind-{}", std::process::id());
    let program = compiled("forks", FORKS);
    place.call(&format!("run --runs 2 -- {} {mark}", program.display())).exits(10).says(&["2 passed"]);
    assert_eq!(processes_with(&mark), [""; 0]);
}

#[test]
fn background_jobs_of_a_script_are_ended() {
    let place = Workplace::new();
    // Unlikely enough to be nobody else's; sleep takes a sum of times.
    let mark = format!("987654 {}", std::process::id());
    let claims = claims();
    let background = format!("sleep {mark} &\nsetsid sleep {mark} &\n(setsid sleep {mark} &)\n");
    place.script("test", &format!("#!/bin/sh\n{background}{} count 2 exit\n", claims.display()));
    place.call("run --runs 2 -- ./test").exits(0).says(&["1 passed", "1 failed"]);
    assert_eq!(processes_with(&mark), [""; 0]);
}
