//! The command line as a user meets it: real compilers, real processes, real sessions.

mod cargo;
mod check;
mod clang;
mod commands;
mod compilers;
mod confirm;
mod damage;
mod demo;
mod disk;
mod formats;
mod hangs;
mod interruption;
mod java;
mod kit;
mod limits;
mod loops;
mod oracles;
mod processes;
mod ranking;
mod replay;
mod reports;
mod rust_locks;
mod screen;
mod sessions;
mod standstill;
mod takeover;
