//! Runs the admission chain around the writes of a store.

use super::Store;
use crate::store::admission::attributes::Attributes;
use crate::store::admission::chain::AdmissionChain;
use crate::store::admission::operation::Operation;
use crate::store::admission::options::Options;
use crate::store::admission::target::Target;
use crate::store::create::remove_patched_duplicate_owners;
use crate::store::hooks::AllBegun;
use crate::store::stores::Stores;
use crate::strategy::context::RequestContext;
use kubist_api::{Kind, ResourceFacts};
use kubist_apimachinery::{AnyObject, Status};
use kubist_field_manager::ManagedFields;
use std::sync::Arc;

/// What admission is told about a write. The server's own writes have none.
#[derive(Clone, Copy)]
pub(crate) struct Admitting<'a> {
    pub(crate) stores: &'a Arc<Stores>,
    /// The requested resource.
    pub(crate) resource: &'static ResourceFacts,
    /// The kind of the request's object.
    pub(crate) kind: &'static Kind,
    pub(crate) subresource: &'a str,
    pub(crate) options: Options<'a>,
    /// What plugins see in place of the stored object.
    pub(crate) view: Option<&'a dyn ObjectView>,
}

/// A part of stored objects, such as their scale, which a request reads and writes as an object.
pub(crate) trait ObjectView: Send + Sync {
    /// Returns the part.
    fn of(&self, object: &dyn AnyObject) -> Result<Box<dyn AnyObject>, Status>;

    /// Writes the part into the object.
    fn put(&self, part: &dyn AnyObject, object: &mut dyn AnyObject);
}

impl Admitting<'_> {
    /// Lets plugins change and judge the body of a request that stores none, such as a binding.
    pub(crate) async fn admit_action(
        &self,
        cx: &RequestContext,
        target: Target<'_>,
        body: &mut Box<dyn AnyObject>,
    ) -> Result<(), Status> {
        let registered = &self.stores.admission;
        admit_body(registered, (cx, self.stores), (target, self.options), body).await
    }
}

/// Lets plugins change and judge the body of a request that stores none.
pub(crate) async fn admit_body(
    chain: &AdmissionChain,
    (cx, stores): (&RequestContext, &Arc<Stores>),
    (target, options): (Target<'_>, Options<'_>),
    body: &mut Box<dyn AnyObject>,
) -> Result<(), Status> {
    if !chain.handles(&target) {
        return Ok(());
    }
    let attributes = || Attributes::new(target, cx, stores).with_options(options);
    chain.admit(&mut attributes().with_changing(body)).await?;
    let attributes = attributes().with_final(Some(&**body));
    let judged = chain.validate(&attributes).await;
    AllBegun::from(attributes.take_reserved()).rollback().await;
    judged
}

/// One write, as admission is told of it.
#[derive(Clone, Copy)]
pub(super) struct Admitted<'a> {
    pub(super) cx: &'a RequestContext,
    pub(super) admitting: Option<Admitting<'a>>,
    pub(super) operation: Operation,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) dry_run: bool,
}

impl<'a> Admitted<'a> {
    fn target(&self, store: &Store, admitting: &Admitting<'a>) -> Target<'a> {
        // As upstream, a namespace is in itself.
        let is_namespace = store.is_namespaces();
        Target {
            operation: self.operation,
            resource: admitting.resource,
            subresource: admitting.subresource,
            kind: admitting.kind,
            namespace: if is_namespace {
                self.name
            } else {
                self.namespace
            },
            name: self.name,
            dry_run: self.dry_run,
        }
    }

    /// Returns the target, if any plugin takes part.
    fn taken(&self, store: &Store) -> Option<(Admitting<'a>, Target<'a>)> {
        let admitting = self.admitting?;
        let target = self.target(store, &admitting);
        let chain = &admitting.stores.admission;
        chain.handles(&target).then_some((admitting, target))
    }

    /// Reports whether a plugin may reserve something, for a write that changes something.
    pub(super) fn reserves(&self, store: &Store) -> bool {
        let Some(admitting) = self.admitting.filter(|_| !self.dry_run) else {
            return false;
        };
        let target = self.target(store, &admitting);
        admitting.stores.admission.reserves(&target)
    }
}

impl Store {
    /// Lets plugins change a new object.
    pub(super) async fn admit(
        &self,
        write: Admitted<'_>,
        new: &mut Box<dyn AnyObject>,
        old: Option<&dyn AnyObject>,
    ) -> Result<(), Status> {
        let Some((admitting, target)) = write.taken(self) else {
            return Ok(());
        };
        let chain = &admitting.stores.admission;
        let attributes =
            || Attributes::new(target, write.cx, admitting.stores).with_options(admitting.options);
        let Some(view) = admitting.view else {
            let managers = new.meta().managed_fields.clone();
            let attributes = attributes().in_store(self, true);
            let mut attributes = attributes.with_changing(new).with_old(old);
            chain.admit(&mut attributes).await?;
            let changed = attributes.changed();
            drop(attributes);
            if changed {
                self.strategy.apply_defaults(&mut **new);
            }
            if new.meta().managed_fields != managers
                && let Err(error) = ManagedFields::from_entries(&new.meta().managed_fields)
            {
                new.meta_mut().managed_fields = managers;
                write.cx.warn(format!(
                    ".metadata.managedFields was in an invalid state after admission; this could \
                     be caused by an outdated mutating admission controller; please fix your \
                     requests: {error}"
                ));
            }
            remove_patched_duplicate_owners(write.cx, &mut **new);
            return Ok(());
        };
        let mut part = view.of(&**new)?;
        let before = part.boxed_clone();
        let old = old.map(|old| view.of(old)).transpose()?;
        let attributes = attributes().in_store(self, false).with_changing(&mut part);
        chain
            .admit(&mut attributes.with_old(old.as_deref()))
            .await?;
        if !part.equals(&*before) {
            view.put(&*part, &mut **new);
        }
        Ok(())
    }

    /// Lets plugins judge the final object, and returns what they have reserved for it.
    pub(super) async fn validate_admission(
        &self,
        write: Admitted<'_>,
        new: &dyn AnyObject,
        old: Option<&dyn AnyObject>,
    ) -> Result<AllBegun, Status> {
        let Some((admitting, target)) = write.taken(self) else {
            return Ok(AllBegun::default());
        };
        let parts = match admitting.view {
            None => None,
            Some(view) => Some((view.of(new)?, old.map(|old| view.of(old)).transpose()?)),
        };
        let (new, old) = match &parts {
            None => (new, old),
            Some((new, old)) => (&**new, old.as_deref()),
        };
        let attributes = Attributes::new(target, write.cx, admitting.stores)
            .with_options(admitting.options)
            .in_store(self, parts.is_none())
            .with_final(Some(new))
            .with_old(old);
        let judged = admitting.stores.admission.validate(&attributes).await;
        let begun = AllBegun::from(attributes.take_reserved());
        match judged {
            Ok(()) => Ok(begun),
            Err(status) => {
                begun.rollback().await;
                Err(status)
            }
        }
    }

    /// Asks plugins whether an object may be deleted.
    pub(super) async fn admit_deletion(
        &self,
        write: Admitted<'_>,
        old: &dyn AnyObject,
    ) -> Result<(), Status> {
        let Some((admitting, target)) = write.taken(self) else {
            return Ok(());
        };
        let mut attributes = Attributes::new(target, write.cx, admitting.stores)
            .with_options(admitting.options)
            .in_store(self, true)
            .with_old(Some(old));
        let chain = &admitting.stores.admission;
        chain.admit(&mut attributes).await?;
        let judged = chain.validate(&attributes).await;
        AllBegun::from(attributes.take_reserved()).rollback().await;
        judged
    }
}
