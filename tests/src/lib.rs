//! Integration tests of the workspace; this library holds what they share, and the pages of
//! `docs/` whose examples must compile.

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

/// The examples of these pages are tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../docs/coming-from-client-go.md")]
    struct ComingFromClientGo;
    #[doc = include_str!("../../docs/coming-from-kube-rs.md")]
    struct ComingFromKubeRs;
}
