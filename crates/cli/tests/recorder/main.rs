//! The recorder inside real programs: each test compiles one with gcc, runs it and reads what was recorded.

mod atomics;
mod containers;
mod contested;
mod control;
mod differential;
mod endings;
mod history;
mod interface;
mod kit;
mod layouts;
mod lifetimes;
mod noise;
mod openmp;
mod passages;
mod plain_code;
mod processes;
mod progress;
mod ranges;
mod residency;
mod sampling;
mod sites;
mod stacks;
mod surroundings;
mod synchronization;
mod threads;
mod turns;
