//! The formats of a report, seen from outside: the same samples through each of them.

mod json;
mod samples;
mod sources;
mod terminal;
