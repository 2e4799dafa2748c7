//! unsnarl.
fn main() {}
