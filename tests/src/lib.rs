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
    #[doc = include_str!("../../docs/guide/1-first-operator.md")]
    struct GuideFirstOperator;
    #[doc = include_str!("../../docs/guide/2-your-own-kind.md")]
    struct GuideYourOwnKind;
    #[doc = include_str!("../../docs/guide/3-applying.md")]
    struct GuideApplying;
    #[doc = include_str!("../../docs/guide/4-testing.md")]
    struct GuideTesting;
    #[doc = include_str!("../../docs/guide/5-webhooks.md")]
    struct GuideWebhooks;
    #[doc = include_str!("../../docs/guide/6-running.md")]
    struct GuideRunning;
    #[doc = include_str!("../../docs/guide/7-from-other-libraries.md")]
    struct GuideFromOtherLibraries;
    #[doc = include_str!("../../docs/guide/8-mistakes.md")]
    struct GuideMistakes;
    #[doc = include_str!("../../docs/guide/9-the-test-kit.md")]
    struct GuideTheTestKit;
    #[doc = include_str!("../../docs/guide/11-in-place-of-upstream.md")]
    struct GuideInPlaceOfUpstream;
}
