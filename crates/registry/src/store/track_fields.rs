//! `TrackFields`: who owns the fields of a written object.

use crate::store::Store;
use crate::store::log_limit::LogLimit;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{AnyObject, ManagedFieldsEntry, Status};

/// Updates the managed fields of a new object.
///
/// Runs after defaults and before admission, as upstream: what admission and preparation change has
/// no owner.
pub(crate) trait TrackFields: Send + Sync {
    /// Returns the managed fields of the new object: the fields that differ from the old object
    /// belong to the manager of the request. Both objects are in the storage version; `None` stands
    /// for an object that does not exist.
    fn track(
        &self,
        old: Option<&dyn AnyObject>,
        new: &dyn AnyObject,
    ) -> Result<Vec<ManagedFieldsEntry>, Status>;
}

/// For objects whose fields cannot be tracked. Clients can write as many as they like.
static UNTRACKED: LogLimit = LogLimit::new();

impl Store {
    /// Sets the managed fields of a new object. If they cannot be computed, it has none.
    pub(crate) async fn track(
        &self,
        cx: &RequestContext,
        tracking: &dyn TrackFields,
        old: Option<&dyn AnyObject>,
        new: &mut dyn AnyObject,
    ) {
        let managers = &self.field_managers;
        let written: &dyn AnyObject = new;
        let tracked = managers
            .with_conversions(cx, || tracking.track(old, written))
            .await;
        let managed_fields = tracked.unwrap_or_else(|error| {
            let (kind, name) = (self.kind().facts().kind, &new.meta().name);
            if UNTRACKED.passes(cx.now()) {
                tracing::warn!(kind, %name, %error, "fields are not tracked");
            }
            Vec::new()
        });
        new.meta_mut().managed_fields = managed_fields;
    }
}

/// Writes objects without managed fields. As upstream, an object that is too large to be stored is
/// tried again without them.
pub(crate) struct WithoutManagers;

impl TrackFields for WithoutManagers {
    fn track(
        &self,
        _old: Option<&dyn AnyObject>,
        _new: &dyn AnyObject,
    ) -> Result<Vec<ManagedFieldsEntry>, Status> {
        Ok(Vec::new())
    }
}

/// Reverts the times of managers if nothing else has changed, so that nothing is written.
pub(crate) fn keep_times(new: &mut dyn AnyObject, old: &dyn AnyObject) {
    let (entries, before) = (&new.meta().managed_fields, &old.meta().managed_fields);
    let timeless = |it: &ManagedFieldsEntry| ManagedFieldsEntry {
        time: None,
        ..it.clone()
    };
    let differ_in_time =
        entries != before && entries.iter().map(timeless).eq(before.iter().map(timeless));
    if !differ_in_time {
        return;
    }
    let written = std::mem::replace(&mut new.meta_mut().managed_fields, before.clone());
    if !new.equals(old) {
        new.meta_mut().managed_fields = written;
    }
}
