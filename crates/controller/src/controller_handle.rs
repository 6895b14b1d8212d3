//! `ControllerHandle`: enqueues keys from elsewhere, and pauses a controller.

use crate::Key;
use crate::stats::Shared;
use kubist_apimachinery::{ObjectName, Str};
use kubist_workqueue::Lane;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Acts on a controller before and during its run: enqueues keys for reasons that no informer
/// knows (a message, a timer, a call of a webhook), and pauses it. Clones act on the same.
///
/// ```
/// # use kubist_api::core::v1::ConfigMap;
/// # use kubist_apimachinery::ObjectName;
/// # use kubist_controller::Controller;
/// # use kubist_informers::SharedInformer;
/// # async fn example(
/// #     maps: SharedInformer<ConfigMap>, mut messages: tokio::sync::mpsc::Receiver<ObjectName>,
/// # ) {
/// let mut controller = Controller::new("maps", &maps);
/// let handle = controller.handle();
/// tokio::spawn(async move {
///     while let Some(name) = messages.recv().await {
///         handle.enqueue(name);
///     }
/// });
/// # }
/// ```
pub struct ControllerHandle<Q = ObjectName> {
    pub(crate) shared: Arc<Shared<Q>>,
}

impl<Q: Key> ControllerHandle<Q> {
    /// Returns the controller's name.
    pub fn name(&self) -> &Str {
        &self.shared.name
    }

    /// Enqueues a key, as a change does. Keys that are enqueued before the controller runs are kept
    /// for it, each once. After the run it has no effect.
    pub fn enqueue(&self, key: Q) {
        self.shared.enqueue(Lane::Normal, key);
    }

    /// Enqueues a key after a time; before the controller runs, at its begin.
    pub fn enqueue_after(&self, key: Q, wait: Duration) {
        self.shared.enqueue_after(key, wait);
    }

    /// Stops the controller from taking keys. Running reconciles end; changes are collected, and
    /// caches stay current.
    pub fn pause(&self) {
        self.shared.set_paused(true);
    }

    /// Lets the controller go on.
    pub fn resume(&self) {
        self.shared.set_paused(false);
    }

    /// Reports whether it is paused.
    pub fn is_paused(&self) -> bool {
        self.shared.is_paused()
    }
}

impl<Q> Clone for ControllerHandle<Q> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<Q> fmt::Debug for ControllerHandle<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.shared.name;
        f.debug_tuple("ControllerHandle").field(name).finish()
    }
}
