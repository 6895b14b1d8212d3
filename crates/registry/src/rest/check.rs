//! The rules of a kind without storage: the object that a create or an update would store.

use super::Rest;
use crate::store::update::UpdateRequest;
use crate::store::updated_object::Replacement;
use crate::stored::Stored;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{AnyObject, Status};

impl Rest {
    /// Returns the object that a create of `object` would store, in the served version: with
    /// defaults, prepared, validated and in canonical form. Runs no admission, lookup, allocation
    /// or write.
    pub fn prepare_create(
        &self,
        cx: &RequestContext,
        object: Box<dyn AnyObject>,
    ) -> Result<Box<dyn AnyObject>, Status> {
        let store = self.store();
        let mut object = self.to_storage(object)?;
        store.strategy.apply_defaults(&mut *object);
        let prepared = store.begin_create(&self.stores, cx, object, self.group_rules())?;
        let read = Stored::from_object(store.storage.kind(), 0, prepared);
        self.to_served(read.completed().to_object()?)
    }

    /// Returns the object that an update of the stored object `old` by `new` would store,
    /// restricted to the fields of this path. Resource versions are not compared; otherwise as
    /// [`prepare_create`](Self::prepare_create).
    pub fn prepare_update(
        &self,
        cx: &RequestContext,
        new: Box<dyn AnyObject>,
        old: Box<dyn AnyObject>,
    ) -> Result<Box<dyn AnyObject>, Status> {
        let store = self.store();
        let old = self.to_storage(old)?;
        let mut new = self.to_storage(new)?;
        store.strategy.apply_defaults(&mut *new);
        let meta = old.meta().clone();
        let request = UpdateRequest {
            stores: &self.stores,
            cx,
            namespace: &meta.namespace,
            name: &meta.name,
            object: &Replacement(new.boxed_clone()),
            scope: self.update_scope(),
            subresource: self.subresource_name(),
            dry_run: true,
            tracking: None,
            rules: self.group_rules(),
            admitting: None,
        };
        let prepared = store.begin_update(&request, new, &*old)?;
        self.to_served(prepared)
    }
}
