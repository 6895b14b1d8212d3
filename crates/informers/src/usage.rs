//! `Usage`: who uses an informer, so that it can stop when nobody does.
//!
//! Handles, listers and handlers that are served each hold one. It is not about memory: what is
//! held by nobody is freed anyway; it is about a watch that nobody needs.

use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use tokio_util::sync::CancellationToken;

/// Held by whoever uses an informer.
pub(crate) struct Usage {
    unused: CancellationToken,
}

impl Drop for Usage {
    fn drop(&mut self) {
        self.unused.cancel();
    }
}

/// The one place that makes usages of an informer.
pub(crate) struct Users {
    inner: Mutex<Inner>,
}

struct Inner {
    current: Weak<Usage>,
    /// Cancelled when the current usage is gone.
    unused: CancellationToken,
    /// How many usages were made.
    made: u64,
    retired: bool,
}

impl Users {
    pub(crate) fn new() -> Self {
        let unused = CancellationToken::new();
        unused.cancel();
        Self {
            inner: Mutex::new(Inner {
                current: Weak::new(),
                unused,
                made: 0,
                retired: false,
            }),
        }
    }

    /// A share in the present usage, or in a new one; none once the informer was given up.
    pub(crate) fn acquire(&self) -> Option<Arc<Usage>> {
        let mut inner = self.inner.lock();
        if inner.retired {
            return None;
        }
        Some(inner.current.upgrade().unwrap_or_else(|| {
            inner.unused = CancellationToken::new();
            inner.made += 1;
            let usage = Arc::new(Usage {
                unused: inner.unused.clone(),
            });
            inner.current = Arc::downgrade(&usage);
            usage
        }))
    }

    /// Waits until nobody uses the informer; somebody may again afterwards. Says how many usages
    /// there were.
    pub(crate) async fn unused(&self) -> u64 {
        let (unused, made) = {
            let inner = self.inner.lock();
            (inner.unused.clone(), inner.made)
        };
        unused.cancelled().await;
        made
    }

    /// Gives the informer up, if nobody has used it since it was unused after `made` usages.
    pub(crate) fn retire(&self, made: u64) -> bool {
        let mut inner = self.inner.lock();
        inner.retired |= inner.made == made && inner.current.strong_count() == 0;
        inner.retired
    }
}
