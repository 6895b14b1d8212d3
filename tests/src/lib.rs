//! Integration tests of the workspace; this library holds what they share.

use std::path::{Path, PathBuf};

/// A folder of reference data beside the workspace; none (and a line that says so) without it.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn shared(path: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared")
        .join(path);
    if folder.exists() {
        return Some(folder);
    }
    eprintln!("skipped: ../shared/{path} is not there");
    None
}
