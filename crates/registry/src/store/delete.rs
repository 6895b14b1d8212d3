//! Delete: at once, after a grace period, or when the last finalizer is gone.

use super::deletion::{self, Stage};
use super::{Store, namespaces};
use crate::storage::{Change, Changed, DeleteRequest};
use crate::storage_error::{Operation, StorageError};
use crate::strategy::BoxFuture;
use crate::{RequestContext, Stored};
use kubist_apimachinery::{
    AnyObject, DeleteOptions, Deletion, FieldError, FieldPath, GroupKind, Preconditions, Status,
    StatusDetails,
};

/// The option by which an object is deleted that cannot be read.
pub(crate) const IGNORE_READ_ERROR: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

/// What became of a delete.
#[derive(Debug)]
pub(crate) struct DeleteOutcome {
    /// The object, as it is or as it last was.
    pub(crate) stored: Stored,
    /// Whether it is gone.
    pub(crate) gone: bool,
}

impl Store {
    /// Deletes an object, or begins to.
    pub(crate) async fn delete(
        &self,
        cx: &RequestContext,
        namespace: &str,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<DeleteOutcome, Status> {
        let mut options = options.checked().map_err(|error| error.to_status())?;
        let key = self.storage.keys().key(namespace, name)?;
        if self.is_namespaces() && namespaces::PROTECTED.contains(&name) {
            let why = "this namespace may not be deleted";
            return Err(Status::forbidden(&self.resource(), name, why));
        }
        let failed = self.failed(Operation::Delete, name);
        let mut marking = Marking {
            store: self,
            cx,
            options: &options,
            decided: Decided::Now,
            touched: false,
        };
        let dry_run = options.dry_run;
        let none = Preconditions::default();
        let marked = self
            .storage
            .update(key.clone(), &none, false, dry_run, &mut marking)
            .await
            .map_err(&failed)?
            .stored;
        let (decided, touched) = (marking.decided, marking.touched);
        let gone = decided == Decided::Now;
        // A dry run has nothing to delete that carries the marks.
        if !gone || (dry_run && touched) {
            return Ok(DeleteOutcome {
                stored: marked,
                gone,
            });
        }
        if touched && options.preconditions.resource_version.is_some() {
            let version = marked.resource_version();
            options.preconditions.resource_version = Some(version.into());
        }
        let allowed = |stored: Option<&Stored>| {
            let Some(stored) = stored else {
                return Ok(());
            };
            let object = stored.object()?;
            deletion::check_preconditions(self.group, self.kind_name(), object.meta(), &options)?;
            self.strategy.admit_delete(&**object)
        };
        let removed = self.storage.delete(key, &none, dry_run, &allowed).await;
        let stored = match removed {
            Ok(stored) => stored,
            // It was marked for its end, and somebody else has ended it meanwhile.
            Err(StorageError::NotFound { .. }) if touched => marked,
            Err(error) => return Err(failed(error)),
        };
        if !dry_run {
            for hooks in &self.hooks {
                hooks.after_delete(&stored).await;
            }
        }
        Ok(DeleteOutcome { stored, gone: true })
    }

    /// Deletes an object because it cannot be read, past everything that would have to read it:
    /// finalizers, grace periods, hooks, dependents. One that can be read stays.
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
        // Not by way of dry runs, which the option does not go with.
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

    /// The success that a delete answers with when the object is gone.
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

/// What is to be done after the object was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decided {
    /// It goes now.
    Now,
    /// It stays for a while.
    Wait,
}

/// The first half of a delete: marks the object, if it has something to wait for.
struct Marking<'a> {
    store: &'a Store,
    cx: &'a RequestContext,
    options: &'a Deletion,
    decided: Decided,
    /// Whether the marks are written.
    touched: bool,
}

impl Change for Marking<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(std::future::ready(self.mark(current)))
    }
}

impl Marking<'_> {
    fn mark(&mut self, current: Option<&Stored>) -> Result<Changed, Status> {
        let Some(current) = current else {
            return Ok(Changed::Keep);
        };
        let store = self.store;
        let mut object = current.to_object()?;
        let (kind, now) = (store.kind_name(), self.cx.now());
        deletion::check_preconditions(store.group, kind, object.meta(), self.options)?;
        store.strategy.admit_delete(&*object)?;
        let begins = !object.meta().is_terminating();
        if begins && store.strategy.begin_deletion(&mut *object, now) {
            self.decided = Decided::Wait;
            self.touched = true;
            return Ok(Changed::Write(object, None));
        }
        let requested = self.options.grace_period_seconds;
        let stage = deletion::begin(&*store.strategy, &mut *object, requested, now);
        if stage == Stage::Pending {
            self.decided = Decided::Wait;
            self.touched = false;
            return Ok(Changed::Keep);
        }
        let policy = self.options.propagation;
        if let Some(finalizers) = deletion::finalizers(&*store.strategy, object.meta(), policy) {
            object.meta_mut().finalizers = finalizers;
        }
        let waits = !object.meta().finalizers.is_empty();
        if store.is_namespaces() {
            return Ok(self.mark_namespace(object, waits));
        }
        self.decided = match stage {
            Stage::Graceful(1..) => Decided::Wait,
            _ if waits => Decided::Wait,
            _ => Decided::Now,
        };
        self.touched = true;
        match stage {
            Stage::Graceful(_) => Ok(Changed::Write(object, None)),
            _ if waits => {
                deletion::mark(object.meta_mut(), now);
                Ok(Changed::Write(object, None))
            }
            _ => {
                self.touched = false;
                Ok(Changed::Keep)
            }
        }
    }

    /// A namespace waits for its contents, which its own finalizers stand for. Unlike other
    /// objects it gets no grace period.
    fn mark_namespace(&mut self, mut object: Box<dyn AnyObject>, waits: bool) -> Changed {
        let waits = waits || namespaces::has_finalizers(&*object);
        self.decided = if waits { Decided::Wait } else { Decided::Now };
        self.touched = waits;
        if !waits {
            return Changed::Keep;
        }
        let meta = object.meta_mut();
        meta.deletion_timestamp.get_or_insert_with(|| self.cx.now());
        namespaces::terminate(&mut *object);
        Changed::Write(object, None)
    }
}
