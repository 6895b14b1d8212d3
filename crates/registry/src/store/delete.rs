//! Delete: at once, after a grace period, or when the last finalizer is gone.

use super::deletion::{self, Stage};
use super::{Store, namespaces};
use crate::storage::error::{Operation, StorageError};
use crate::storage::predicate::Predicate;
use crate::storage::{Change, Changed, DeleteRequest, PutOptions};
use crate::store::admission;
use crate::store::admitting::{Admitted, Admitting};
use crate::store::stores::Stores;
use crate::stored::Stored;
use crate::strategy::BoxFuture;
use crate::strategy::context::RequestContext;
use crate::strategy::object_write::ObjectChange;
use kubist_apimachinery::{
    AnyObject, DeleteOptions, Deletion, FieldError, FieldPath, GroupKind, ObjectMeta,
    Preconditions, Status, StatusDetails, Str,
};
use std::sync::Arc;

/// The delete option that allows the deletion of an object that cannot be decoded.
pub const IGNORE_READ_ERROR: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

/// The result of a delete.
#[derive(Debug)]
pub(crate) struct DeleteOutcome {
    /// The object in its current or last state.
    pub(crate) stored: Stored,
    /// Whether the object has been removed.
    pub(crate) gone: bool,
}

/// A request to delete an object.
#[derive(Clone, Copy)]
pub(crate) struct DeleteCall<'a> {
    pub(crate) stores: &'a Arc<Stores>,
    pub(crate) cx: &'a RequestContext,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) options: &'a DeleteOptions,
    /// A further condition on the object. If it does not hold, the object counts as not found.
    pub(crate) selection: Option<Selection<'a>>,
    /// What admission is told; none if the server deletes the object.
    pub(crate) admitting: Option<Admitting<'a>>,
}

impl<'a> DeleteCall<'a> {
    /// Returns what admission is told of the deletion.
    fn admitted(&self) -> Admitted<'a> {
        Admitted {
            cx: self.cx,
            admitting: self.admitting,
            operation: admission::Operation::Delete,
            namespace: self.namespace,
            // As upstream, the deletion of a collection names none.
            name: self.selection.map_or(self.name, |_| ""),
            dry_run: !self.options.dry_run.is_empty(),
        }
    }
}

/// The selection that found an object; it is deleted only if it still matches.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a> {
    pub(crate) uid: &'a str,
    pub(crate) predicate: &'a Predicate,
}

impl Store {
    /// Deletes an object, or starts its deletion. Only the checked version is removed; after a
    /// concurrent write, the object is checked again.
    pub(crate) async fn delete(&self, call: DeleteCall<'_>) -> Result<DeleteOutcome, Status> {
        let dry_run = !call.options.dry_run.is_empty();
        if self.writes_with_hooks(dry_run) {
            return self.delete_hooked(call).await;
        }
        self.delete_here(call).await
    }

    /// As `delete`, but in this future, which must not be dropped between the write and the hooks.
    pub(super) async fn delete_here(&self, call: DeleteCall<'_>) -> Result<DeleteOutcome, Status> {
        let DeleteCall {
            namespace, name, ..
        } = call;
        let options = call.options.checked().map_err(|error| error.to_status())?;
        let key = self.storage.keys().key(namespace, name)?;
        if self.is_namespaces() && namespaces::PROTECTED.contains(&name) {
            let why = "this namespace may not be deleted";
            return Err(Status::forbidden(&self.resource(), name, why));
        }
        let failed = self.failed(Operation::Delete, name);
        let mut marking = Marking {
            store: self,
            call: &call,
            options: &options,
            decided: Decided::Now,
            examined: 0,
            again: false,
        };
        let dry_run = options.dry_run;
        let none = Preconditions::default();
        let marked = self
            .storage
            .update(key.clone(), &none, false, dry_run, &mut marking)
            .await
            .map_err(&failed)?;
        let change = if marked.deleted {
            ObjectChange::Deleted
        } else {
            ObjectChange::Updated
        };
        if !dry_run && marked.stored.revision() != marking.examined {
            self.note(call.cx, (namespace, name), &marked.stored, change);
        }
        let gone = marking.decided == Decided::Now;
        let stored = if !gone || marked.deleted || dry_run {
            marked.stored
        } else {
            let before = marked.stored.revision();
            match self.end(key, &options, &call, marked.stored).await {
                Ok(DeleteOutcome { stored, gone: true }) => {
                    // Otherwise another request has removed it.
                    if stored.revision() != before {
                        self.note(call.cx, (namespace, name), &stored, ObjectChange::Deleted);
                    }
                    stored
                }
                Ok(waits) => return Ok(waits),
                Err(error) => return Err(failed(error)),
            }
        };
        if gone && !dry_run {
            for hooks in &self.hooks {
                hooks.after_delete(&stored).await;
            }
        }
        Ok(DeleteOutcome { stored, gone })
    }

    /// Removes an object that is marked for deletion and waits for nothing more.
    async fn end(
        &self,
        key: String,
        options: &Deletion,
        call: &DeleteCall<'_>,
        marked: Stored,
    ) -> Result<DeleteOutcome, StorageError> {
        let mut options = options.clone();
        if options.preconditions.resource_version.is_some() {
            let version = marked.resource_version();
            options.preconditions.resource_version = Some(version.into());
        }
        let mut ending = Ending {
            store: self,
            call,
            options: &options,
            uid: marked.object()?.meta().uid.clone(),
            is_another: false,
        };
        let none = Preconditions::default();
        let ended = self.storage.update(key, &none, false, false, &mut ending);
        match ended.await {
            Ok(_) if ending.is_another => {}
            Ok(ended) => {
                return Ok(DeleteOutcome {
                    gone: ended.deleted,
                    stored: ended.stored,
                });
            }
            // The object was marked for deletion, and another request has removed it meanwhile.
            Err(StorageError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(DeleteOutcome {
            stored: marked,
            gone: true,
        })
    }

    /// Deletes an object that cannot be decoded. Skips everything that reads it: finalizers, grace
    /// periods, hooks, dependents. An object that can be decoded is not deleted.
    pub(crate) async fn delete_unreadable(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Status, Status> {
        let key = self.storage.keys().key(namespace, name)?;
        let failed = self.failed(Operation::Delete, name);
        let readable = match self.storage.get(&key, None).await {
            Ok(found) => found.is_none_or(|it| it.object().is_ok()),
            Err(StorageError::Refused(_)) => false,
            Err(error) => return Err(failed(error)),
        };
        if readable {
            let path = FieldPath::new(IGNORE_READ_ERROR);
            let why = "is exclusively used to delete corrupt object(s), try again by removing \
                       this option";
            let error = FieldError::invalid(&path, true, why);
            // The resource and not the kind, as upstream.
            let resource = GroupKind::new(self.group, self.plural);
            return Err(Status::invalid(&resource, name, &[error]));
        }
        let request = DeleteRequest {
            unreadable: true,
            ..DeleteRequest::default()
        };
        // Not used for dry runs: validation rejects the option together with `dryRun`.
        let removed = self.storage.0.delete(key, request, &|_| Ok(())).await;
        match removed {
            Ok(_) | Err(StorageError::NotFound { .. }) => {
                Ok(Status::success().with_details(StatusDetails {
                    name: name.into(),
                    kind: self.kind_name().into(),
                    ..StatusDetails::default()
                }))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Returns the success status of a delete that has removed the object.
    pub(crate) fn success(&self, object: &dyn AnyObject) -> Status {
        let meta = object.meta();
        Status::success().with_details(StatusDetails {
            name: meta.name.clone(),
            group: self.group.into(),
            kind: self.plural.into(),
            uid: meta.uid.clone(),
            ..StatusDetails::default()
        })
    }

    fn kind_name(&self) -> &'static str {
        self.kind().facts().kind
    }
}

/// The next step of a delete, after the object was examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decided {
    /// Remove the object now.
    Now,
    /// Keep the object for now.
    Wait,
}

/// A delete: removes the object, or marks it if it has a grace period or finalizers.
struct Marking<'a> {
    store: &'a Store,
    call: &'a DeleteCall<'a>,
    options: &'a Deletion,
    decided: Decided,
    /// The revision of the object that the last attempt examined.
    examined: u64,
    /// Whether an attempt has failed because of a concurrent write.
    again: bool,
}

impl Change for Marking<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            let mut changed = self.mark(current)?;
            admit(self.store, self.call, current, &changed).await?;
            if let Changed::Write(_, options) = &mut changed {
                let (stores, name) = (self.call.stores, self.call.name);
                let again = std::mem::replace(&mut self.again, true);
                options.guards = self.store.write_guards(stores, name, !again).await?;
            }
            Ok(changed)
        })
    }
}

impl Marking<'_> {
    fn mark(&mut self, current: Option<&Stored>) -> Result<Changed, Status> {
        let Some(current) = current else {
            return Ok(Changed::Keep);
        };
        let store = self.store;
        self.examined = current.revision();
        let mut object = current.to_object()?;
        let (kind, now) = (store.kind_name(), self.call.cx.now());
        self.check_selected(current, object.meta())?;
        let preconditions = &self.options.preconditions;
        if store.is_namespaces() {
            namespaces::check_preconditions(object.meta(), preconditions)?;
        } else {
            deletion::check_preconditions(store.group, kind, object.meta(), preconditions)?;
        }
        store.strategy.admit_delete(&*object)?;
        let begins = !object.meta().is_terminating();
        if store.is_namespaces() && (begins || namespaces::has_finalizers(&*object)) {
            self.decided = Decided::Wait;
            if !begins {
                return Ok(Changed::Keep);
            }
            namespaces::begin_deletion(&mut *object, self.call.options, now);
            return Ok(Changed::Write(object, PutOptions::default()));
        }
        if begins && store.strategy.begin_deletion(&mut *object, now) {
            self.decided = Decided::Wait;
            return Ok(Changed::Write(object, PutOptions::default()));
        }
        let requested = self.options.grace_period_seconds;
        let stage = deletion::begin(&*store.strategy, &mut *object, requested, now);
        if stage == Stage::Pending {
            self.decided = Decided::Wait;
            return Ok(Changed::Keep);
        }
        let policy = self.options.propagation;
        if let Some(finalizers) = deletion::finalizers(&*store.strategy, object.meta(), policy) {
            object.meta_mut().finalizers = finalizers;
        }
        let waits = !object.meta().finalizers.is_empty();
        self.decided = match stage {
            Stage::Graceful(1..) => Decided::Wait,
            _ if waits => Decided::Wait,
            _ => Decided::Now,
        };
        match stage {
            Stage::Graceful(_) => Ok(Changed::Write(object, PutOptions::default())),
            _ if waits => {
                deletion::mark(object.meta_mut(), now);
                Ok(Changed::Write(object, PutOptions::default()))
            }
            _ => Ok(Changed::Remove),
        }
    }

    /// Returns 404 if the object is not the one that was found, or is no longer selected.
    fn check_selected(&self, current: &Stored, meta: &ObjectMeta) -> Result<(), Status> {
        let DeleteCall {
            namespace, name, ..
        } = *self.call;
        match &self.call.selection {
            Some(selection)
                if meta.uid != *selection.uid
                    || !selection.predicate.matches(current, namespace, name) =>
            {
                Err(Status::not_found(&self.store.resource(), name))
            }
            _ => Ok(()),
        }
    }
}

/// The removal of an object that was marked with a grace period of zero.
struct Ending<'a> {
    store: &'a Store,
    call: &'a DeleteCall<'a>,
    options: &'a Deletion,
    uid: Str,
    /// Whether the object is already removed, and another has its name.
    is_another: bool,
}

impl Change for Ending<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            let changed = self.end(current)?;
            admit(self.store, self.call, current, &changed).await?;
            Ok(changed)
        })
    }
}

/// Asks admission about a step of a deletion. As upstream, a deletion that is pending already is
/// not asked about, and one that is marked and then ended at once is asked about twice.
async fn admit(
    store: &Store,
    call: &DeleteCall<'_>,
    current: Option<&Stored>,
    changed: &Changed,
) -> Result<(), Status> {
    match current {
        Some(current) if !matches!(changed, Changed::Keep) => {
            let old = current.object()?;
            store.admit_deletion(call.admitted(), &**old).await
        }
        _ => Ok(()),
    }
}

impl Ending<'_> {
    fn end(&mut self, current: Option<&Stored>) -> Result<Changed, Status> {
        let Some(current) = current else {
            return Ok(Changed::Keep);
        };
        let (store, object) = (self.store, current.object()?);
        let meta = object.meta();
        self.is_another = meta.uid != self.uid;
        if self.is_another || !meta.finalizers.is_empty() {
            return Ok(Changed::Keep);
        }
        let preconditions = &self.options.preconditions;
        deletion::check_preconditions(store.group, store.kind_name(), meta, preconditions)?;
        store.strategy.admit_delete(&**object)?;
        Ok(Changed::Remove)
    }
}
