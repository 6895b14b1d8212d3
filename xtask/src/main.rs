//! The build tool of the workspace.
fn main() {}
