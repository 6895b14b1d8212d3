//! Update: replaces an object, and retries after concurrent writes.

use super::create::remove_duplicate_owners;
use super::{GroupRules, Store};
use crate::storage::error::{Operation, StorageError};
use crate::storage::{Change, Changed, Outcome, PutOptions};
use crate::store::admission;
use crate::store::admitting::{Admitted, Admitting};
use crate::store::hooks::{AllBegun, Begin};
use crate::store::kept_metadata::{keep_metadata, restore_metadata};
use crate::store::stores::Stores;
use crate::store::track_fields::{TrackFields, WithoutManagers, keep_times};
use crate::store::updated_object::UpdatedObject;
use crate::stored::Stored;
use crate::strategy::admission::Admission;
use crate::strategy::context::RequestContext;
use crate::strategy::facts::{Generation, MetadataUpdate};
use crate::strategy::object_fields::{equal_in, number_of, splice};
use crate::strategy::object_write::ObjectChange;
use crate::strategy::validate_metadata::{
    validate_metadata_change, validate_metadata_update, validate_named,
};
use crate::strategy::{BoxFuture, Strategy, warn};
use kubist_apimachinery::{
    AnyObject, FieldError, FieldPath, GroupKind, ResourceVersion, Status, Str,
};
use kubist_storage::Guard;

/// The fields of an object that an update path may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpdateScope {
    /// Everything but the status, if that is a subresource.
    Whole,
    /// The status, or some of its fields (approvals).
    Status,
    /// Everything but the status, under the rules of a subresource instead of the object's own
    /// (finalizers of namespaces, ephemeral containers).
    Other,
    /// Everything: the server's own changes (bindings, evictions).
    Everything,
}

/// An update.
#[derive(Clone, Copy)]
pub(crate) struct UpdateRequest<'a> {
    pub(crate) stores: &'a Stores,
    pub(crate) cx: &'a RequestContext,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// The new object, in the storage version.
    pub(crate) object: &'a dyn UpdatedObject,
    pub(crate) scope: UpdateScope,
    /// The subresource name; empty for the object itself.
    pub(crate) subresource: &'a str,
    pub(crate) dry_run: bool,
    /// Tracks the owners of fields; none if the new object comes with its managed fields, and for
    /// changes of metadata that no manager owns.
    pub(crate) tracking: Option<&'a dyn TrackFields>,
    /// The validation rules that replace the strategy's, if any.
    pub(crate) rules: Option<GroupRules>,
    /// What admission is told; none for the server's own updates.
    pub(crate) admitting: Option<Admitting<'a>>,
}

impl<'a> UpdateRequest<'a> {
    /// Returns what admission is told of the write.
    fn admitted(&self, operation: admission::Operation) -> Admitted<'a> {
        Admitted {
            cx: self.cx,
            admitting: self.admitting,
            operation,
            namespace: self.namespace,
            name: self.name,
            dry_run: self.dry_run,
        }
    }
}

impl Store {
    /// Updates an object, or creates it where that is allowed. An update that removes the last
    /// finalizer of an object under deletion removes the object.
    pub(crate) async fn update(&self, request: UpdateRequest<'_>) -> Result<Outcome, Status> {
        let outcome = match self.update_once(request).await {
            Err(StorageError::ObjectTooLarge { .. }) if request.tracking.is_some() => {
                let smaller = UpdateRequest {
                    tracking: Some(&WithoutManagers),
                    ..request
                };
                self.update_once(smaller).await
            }
            outcome => outcome,
        };
        outcome.map_err(self.failed(Operation::Update, request.name))
    }

    async fn update_once(&self, request: UpdateRequest<'_>) -> Result<Outcome, StorageError> {
        let key = self.storage.keys().key(request.namespace, request.name)?;
        let preconditions = request.object.preconditions();
        let creates = self.creates_on_update(&request);
        let mut try_update = TryUpdate {
            store: self,
            request: &request,
            begun: AllBegun::default(),
            examined: 0,
            again: false,
        };
        let dry_run = request.dry_run;
        let write = request.admitted(admission::Operation::Update);
        let updated = if self.writes_with_hooks(dry_run) || write.reserves(self) {
            self.update_hooked(key, preconditions, creates, &mut try_update)
                .await?
        } else {
            let change = &mut try_update;
            let updated = self
                .storage
                .update(key, &preconditions, creates, dry_run, change)
                .await;
            let begun = std::mem::take(&mut try_update.begun);
            match &updated {
                Ok(_) if !dry_run => begun.commit().await,
                Ok(_) => begun.rollback().await,
                Err(error) => begun.failed(error).await,
            }
            updated?
        };
        let change = match &updated {
            it if it.deleted => ObjectChange::Deleted,
            it if it.created => ObjectChange::Created,
            _ => ObjectChange::Updated,
        };
        // An update that changes nothing keeps the revision.
        if !dry_run && updated.stored.revision() != try_update.examined {
            let at = (request.namespace, request.name);
            self.note(request.cx, at, &updated.stored, change);
        }
        Ok(updated)
    }

    fn creates_on_update(&self, request: &UpdateRequest<'_>) -> bool {
        request.scope == UpdateScope::Whole
            && request.subresource.is_empty()
            && (self.strategy.facts().allow_create_on_update || request.object.creates())
    }

    /// Checks the resource version of a new object against the stored one.
    fn check_version(&self, new: &dyn AnyObject, current: u64, name: &str) -> Result<(), Status> {
        let version = ResourceVersion::from(&new.meta().resource_version);
        let wanted = crate::storage::list::parse_version(&version)?;
        if wanted == 0 {
            if self.strategy.facts().allow_unconditional_update {
                return Ok(());
            }
            let path = FieldPath::new("metadata").child("resourceVersion");
            let error = FieldError::invalid(&path, 0, "must be specified for an update");
            // Upstream puts the resource here, not the kind.
            let kind = GroupKind::new(self.group, self.plural);
            return Err(Status::invalid(&kind, name, &[error]));
        }
        if wanted != current {
            return Err(Status::modified(&self.resource(), name));
        }
        Ok(())
    }

    /// The steps between admission and storage: preparation, validation, canonical form.
    pub(crate) fn begin_update(
        &self,
        request: &UpdateRequest<'_>,
        mut new: Box<dyn AnyObject>,
        old: &dyn AnyObject,
    ) -> Result<Box<dyn AnyObject>, Status> {
        let cx = request.cx;
        // Upstream also warns where this path cannot change the owners.
        remove_duplicate_owners(cx, &mut *new);
        let mut new = self.restore(request.scope, new, old)?;
        restore_metadata(new.meta_mut(), old.meta());
        // Upstream removes the field before it stores; a dry run stores nothing.
        if !request.dry_run {
            new.meta_mut().self_link = Str::default();
        }
        let strategy = self.strategy_of(request);
        if let Some(strategy) = strategy {
            strategy.prepare_for_update(cx, &mut *new, old);
        }
        let of_spec = matches!(request.scope, UpdateScope::Whole | UpdateScope::Other);
        if of_spec && self.bumps_generation(&*new, old) {
            new.meta_mut().generation = old.meta().generation + 1;
        }
        let mut errors = validate_metadata_update(new.meta(), old.meta(), self.namespaced);
        let checked = strategy.map_or(MetadataUpdate::Change, |it| it.facts().metadata_on_update);
        errors.extend(self.check_metadata(checked, &*new, old));
        let further = match (request.scope, request.rules, strategy) {
            (UpdateScope::Whole, Some(rules), _) => (rules.update)(&*new, old),
            (_, _, Some(strategy)) => strategy.validate_update(cx, (&*new, old), &errors),
            (_, _, None) => Vec::new(),
        };
        errors.extend(further);
        if checked == MetadataUpdate::WholeThenChange {
            let rules = self.strategy.facts().metadata_rules;
            errors.extend(validate_metadata_change(new.meta(), old.meta(), rules));
        }
        self.invalid(request.name, &errors)?;
        if request.scope == UpdateScope::Whole {
            warn(cx, &*self.strategy, &*new, Some(old));
        }
        Ok(new)
    }

    /// Returns the strategy of the written path; `None` if it has none of its own.
    fn strategy_of(&self, request: &UpdateRequest<'_>) -> Option<&dyn Strategy> {
        match request.scope {
            UpdateScope::Whole => Some(&*self.strategy),
            UpdateScope::Status | UpdateScope::Other => {
                self.strategy.subresource(request.subresource)
            }
            UpdateScope::Everything => None,
        }
    }

    /// Returns the metadata errors of an update, before the strategy validates it.
    fn check_metadata(
        &self,
        checked: MetadataUpdate,
        new: &dyn AnyObject,
        old: &dyn AnyObject,
    ) -> Vec<FieldError> {
        let rules = self.strategy.facts().metadata_rules;
        match checked {
            MetadataUpdate::Change => validate_metadata_change(new.meta(), old.meta(), rules),
            MetadataUpdate::Whole | MetadataUpdate::WholeThenChange => {
                let names =
                    |name: &str, prefix: bool| self.strategy.name_problems(new, name, prefix);
                validate_named(new.meta(), self.namespaced, &names, rules)
            }
            MetadataUpdate::Own => Vec::new(),
        }
    }

    /// Restores from the old object what this path may not change.
    fn restore(
        &self,
        scope: UpdateScope,
        mut new: Box<dyn AnyObject>,
        old: &dyn AnyObject,
    ) -> Result<Box<dyn AnyObject>, Status> {
        let Some(status) = self.status_number() else {
            return Ok(new);
        };
        let is_status = |number| number == status;
        match scope {
            UpdateScope::Everything => Ok(new),
            UpdateScope::Whole | UpdateScope::Other if !self.has_status => Ok(new),
            UpdateScope::Whole | UpdateScope::Other => {
                if equal_in(&*new, old, is_status) {
                    return Ok(new);
                }
                splice(self.kind(), &*new, old, is_status).map_err(Status::internal_error)
            }
            UpdateScope::Status => {
                let metadata = number_of(self.kind().schema(), "metadata");
                let spec = |number| number != status && Some(number) != metadata;
                if !equal_in(&*new, old, spec) {
                    new = splice(self.kind(), &*new, old, spec).map_err(Status::internal_error)?;
                }
                keep_metadata(
                    self.strategy.facts().status_keeps,
                    new.meta_mut(),
                    old.meta(),
                );
                Ok(new)
            }
        }
    }

    fn bumps_generation(&self, new: &dyn AnyObject, old: &dyn AnyObject) -> bool {
        let spec_differs = || {
            let schema = self.kind().schema();
            let apart = [number_of(schema, "metadata"), number_of(schema, "status")];
            !equal_in(new, old, |number| !apart.contains(&Some(number)))
        };
        match self.strategy.facts().generation {
            Generation::None => false,
            Generation::Spec => spec_differs(),
            Generation::SpecAndAnnotations => {
                new.meta().annotations != old.meta().annotations || spec_differs()
            }
            Generation::SpecAndLabels => new.meta().labels != old.meta().labels || spec_differs(),
            Generation::Custom(bumps) => bumps(new, old),
        }
    }

    /// Reports whether a changed object has no finalizers or grace period left.
    fn is_finished(&self, new: &dyn AnyObject, old: &dyn AnyObject) -> bool {
        let waited = old.meta().is_terminating()
            && matches!(old.meta().deletion_grace_period_seconds, None | Some(0));
        waited
            && new.meta().finalizers.is_empty()
            && !(self.is_namespaces() && super::namespaces::has_finalizers(new))
    }
}

/// One update over all its attempts.
pub(super) struct TryUpdate<'a> {
    store: &'a Store,
    request: &'a UpdateRequest<'a>,
    /// The hooks' transactions of the last attempt.
    pub(super) begun: AllBegun,
    /// The revision of the object that the last attempt examined.
    examined: u64,
    /// Whether an attempt has failed because of a concurrent write.
    again: bool,
}

impl Change for TryUpdate<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(self.try_once(current))
    }
}

impl TryUpdate<'_> {
    pub(super) async fn try_once(&mut self, current: Option<&Stored>) -> Result<Changed, Status> {
        let (store, request) = (self.store, self.request);
        self.examined = current.map_or(0, Stored::revision);
        let bytes = current.map_or(0, Stored::stored_bytes);
        request.cx.begin_work(bytes).await;
        let old = current.map(Stored::object).transpose()?;
        let old = old.map(|old| &**old);
        let managers = &store.field_managers;
        let updated = managers.with_conversions(request.cx, || request.object.updated(old));
        let mut new = updated.await?;
        store.ensure_namespace_matches(&mut *new, request.namespace)?;
        store.strategy.apply_defaults(&mut *new);
        if let Some(tracking) = request.tracking {
            store.track(request.cx, tracking, old, &mut *new).await;
        }
        let mut of_kind = Admission::new(request.cx, request.stores);
        of_kind.dry_run = request.dry_run;
        of_kind.subresource = request.subresource;
        let mut guards = Vec::new();
        if old.is_none() {
            let (stores, name) = (request.stores, new.meta().name.clone());
            guards = store
                .creation_guards(stores, request.namespace, &name)
                .await?;
        }
        let write = request.admitted(match old {
            Some(_) => admission::Operation::Update,
            None => admission::Operation::Create,
        });
        store.admit(write, &mut new, old).await?;
        store.ensure_namespace_matches(&mut *new, request.namespace)?;
        store.strategy.admit(&of_kind, &mut *new, old).await?;
        // The previous attempt is rolled back first.
        std::mem::take(&mut self.begun).rollback().await;
        if request.scope == UpdateScope::Whole {
            let begin = Begin {
                cx: request.cx,
                dry_run: request.dry_run,
            };
            self.begun = AllBegun::begin(&store.hooks, begin, &mut *new, old).await?;
        }
        let Some((old, current)) = old.zip(current) else {
            let created = self.create(new, guards)?;
            if let Changed::Create(new, _) = &created {
                let reserved = store.validate_admission(write, &**new, None).await?;
                self.begun.extend(reserved);
            }
            return Ok(created);
        };
        store.check_version(&*new, current.revision(), request.name)?;
        let mut new = store.begin_update(request, new, old)?;
        keep_times(&mut *new, old);
        let reserved = store.validate_admission(write, &*new, Some(old)).await?;
        self.begun.extend(reserved);
        if store.is_finished(&*new, old) {
            return Ok(Changed::Delete(new));
        }
        let again = std::mem::replace(&mut self.again, true);
        let guards = store.write_guards(request.stores, request.name, !again);
        let options = PutOptions {
            ttl: store.strategy.facts().time_to_live,
            guards: guards.await?,
        };
        Ok(Changed::Write(new, options))
    }

    /// Applies an update to a missing object, where that creates it.
    fn create(&self, mut new: Box<dyn AnyObject>, guards: Vec<Guard>) -> Result<Changed, Status> {
        let (store, request) = (self.store, self.request);
        // The requested version does not matter if it is valid, as upstream.
        let version = ResourceVersion::from(&new.meta().resource_version);
        crate::storage::list::parse_version(&version)?;
        new.meta_mut().resource_version = Str::default();
        let new = store.begin_create(request.stores, request.cx, new, request.rules)?;
        let ttl = store.strategy.facts().time_to_live;
        Ok(Changed::Create(new, PutOptions { ttl, guards }))
    }
}
