//! `Usage`: tracks the users of an informer, so that it can stop when it is unused.
//!
//! Handles, listers and active handlers each hold one. This is not about memory, which is freed
//! anyway, but about a watch that is no longer needed.

use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use tokio_util::sync::CancellationToken;

/// Held by each user of an informer.
pub(crate) struct Usage {
    unused: CancellationToken,
}

impl Drop for Usage {
    fn drop(&mut self) {
        self.unused.cancel();
    }
}

/// Creates the usages of an informer.
pub(crate) struct Users {
    inner: Mutex<Inner>,
}

struct Inner {
    current: Weak<Usage>,
    /// Cancelled when the current usage is dropped.
    unused: CancellationToken,
    /// The number of usages created.
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

    /// Shares the current usage or creates a new one; `None` once the informer was stopped as
    /// unused.
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

    /// Waits until the informer is unused; it may be used again afterwards. Returns the number of
    /// usages created so far.
    pub(crate) async fn unused(&self) -> u64 {
        let (unused, made) = {
            let inner = self.inner.lock();
            (inner.unused.clone(), inner.made)
        };
        unused.cancelled().await;
        made
    }

    /// Stops the informer if it has not been used since `made` usages were created.
    pub(crate) fn retire(&self, made: u64) -> bool {
        let mut inner = self.inner.lock();
        inner.retired |= inner.made == made && inner.current.strong_count() == 0;
        inner.retired
    }
}
