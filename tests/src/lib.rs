//! Integration tests of the workspace. This library has their shared code, and compiles the
//! examples in `docs/`.

use std::path::{Path, PathBuf};

/// Returns a folder of reference data beside the workspace, or none with a message.
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
    #[doc = include_str!("../../docs/guide/README.md")]
    struct Guide;
}
