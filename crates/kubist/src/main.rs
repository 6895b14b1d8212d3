//! The `kubist` command.
fn main() {}
