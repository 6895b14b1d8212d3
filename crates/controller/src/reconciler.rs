//! `Reconciler`: brings one object from what it is to what it should be.

use crate::{Action, Error};
use kubist_apimachinery::ObjectName;

/// Called with the name of an object that may need something. A closure is one too.
///
/// It is told no reason, and may be called without one: it compares what is with what should be,
/// every time. The object may be gone. A future that is dropped (timeout, end of the stop's
/// patience) must leave nothing half done that the next call could not find.
pub trait Reconciler: Send + Sync + 'static {
    /// Works on one name. Never called for a name that is being worked on.
    fn reconcile(&self, key: ObjectName) -> impl Future<Output = Result<Action, Error>> + Send;
}

impl<F, Fut, E> Reconciler for F
where
    F: Fn(ObjectName) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Action, E>> + Send,
    E: Into<Error>,
{
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        self(key).await.map_err(Into::into)
    }
}
