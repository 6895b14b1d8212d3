//! `Reconciler`: brings an object from its current to its desired state.

use crate::{Action, Error, Key};
use kubist_apimachinery::ObjectName;

/// Called with the key of an object that may need work. A closure is a reconciler too.
///
/// It does not learn the reason of a call, and may be called without one: it compares the current
/// with the desired state every time. The object may not exist any more. A future may be dropped
/// (at a timeout, or at the stop), so it must leave nothing half done that the next call cannot
/// detect.
pub trait Reconciler<Q = ObjectName>: Send + Sync + 'static {
    /// Reconciles one key. Never called concurrently for the same key.
    fn reconcile(&self, key: Q) -> impl Future<Output = Result<Action, Error>> + Send;
}

impl<Q: Key, F, Fut, E> Reconciler<Q> for F
where
    F: Fn(Q) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, E>> + Send,
    E: Into<Error>,
{
    async fn reconcile(&self, key: Q) -> Result<Action, Error> {
        self(key).await.map_err(Into::into)
    }
}
