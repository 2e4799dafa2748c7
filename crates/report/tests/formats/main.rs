//! The formats of a report, seen from outside: the same samples through each of them.

mod browser;
mod devtools;
mod graphs;
mod hostile;
mod html;
mod json;
mod markdown;
mod samples;
mod sarif;
mod sources;
mod stories;
mod terminal;
mod timeline;
mod trace;
