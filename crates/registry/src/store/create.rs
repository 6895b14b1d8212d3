//! Create: from a decoded body to a stored object.

use super::{GroupRules, Store};
use crate::storage::PutOptions;
use crate::storage::error::{Operation, StorageError};
use crate::store::admission;
use crate::store::admitting::{Admitted, Admitting};
use crate::store::hooks::{AllBegun, Begin};
use crate::store::stores::Stores;
use crate::store::track_fields::TrackFields;
use crate::stored::Stored;
use crate::strategy::admission::Admission;
use crate::strategy::context::RequestContext;
use crate::strategy::facts::{Generation, MetadataRules};
use crate::strategy::name_rule::NameRule;
use crate::strategy::object_fields::equal_in;
use crate::strategy::object_write::ObjectChange;
use crate::strategy::validate_metadata::{validate_metadata, validate_named};
use crate::strategy::{object_fields, warn};
use kubist_apimachinery::{AnyObject, ObjectMeta, Status, Str, wire};
use kubist_storage::Guard;
use std::collections::BTreeSet;

/// Attempts to find a free generated name, as upstream.
const GENERATE_NAME_TRIES: usize = 8;

/// The context of a create.
#[derive(Clone, Copy)]
pub(crate) struct CreateCall<'a> {
    pub(crate) stores: &'a Stores,
    pub(crate) cx: &'a RequestContext,
    pub(crate) dry_run: bool,
    /// Tracks the owners of fields.
    pub(crate) tracking: &'a dyn TrackFields,
    /// The validation rules that replace the strategy's, if any.
    pub(crate) rules: Option<GroupRules>,
    /// What admission is told; none if the server creates the object.
    pub(crate) admitting: Option<Admitting<'a>>,
}

impl<'a> CreateCall<'a> {
    /// Returns what admission is told of the object of this name.
    fn admitted(&self, namespace: &'a str, name: &'a str) -> Admitted<'a> {
        Admitted {
            cx: self.cx,
            admitting: self.admitting,
            operation: admission::Operation::Create,
            namespace,
            name,
            dry_run: self.dry_run,
        }
    }
}

impl Store {
    /// Creates an object in `namespace`.
    pub(crate) async fn create(
        &self,
        call: CreateCall<'_>,
        namespace: &str,
        mut object: Box<dyn AnyObject>,
    ) -> Result<Stored, Status> {
        let CreateCall { stores, cx, .. } = call;
        self.ensure_namespace_matches(&mut *object, namespace)?;
        let name = object.meta().name.clone();
        let guards = if call.dry_run {
            // Nothing is written that would check them.
            self.creation_guards(stores, namespace, &name).await?
        } else {
            let likely = self.likely_creation_guards(stores, namespace, &name);
            likely.await?
        };
        self.strategy.apply_defaults(&mut *object);
        remove_system_fields(object.meta_mut());
        self.track(cx, call.tracking, None, &mut *object).await;
        let write = call.admitted(namespace, &name);
        self.admit(write, &mut object, None).await?;
        self.ensure_namespace_matches(&mut *object, namespace)?;
        let mut admission = Admission::new(cx, stores);
        admission.dry_run = call.dry_run;
        self.strategy.admit(&admission, &mut *object, None).await?;
        self.create_named(call, object, guards).await
    }

    /// Creates the object; a generated name is tried anew until a free one is found.
    async fn create_named(
        &self,
        call: CreateCall<'_>,
        mut object: Box<dyn AnyObject>,
        mut guards: Vec<Guard>,
    ) -> Result<Stored, Status> {
        let meta = object.meta();
        let base = meta.generate_name.clone();
        let generated = meta.name.is_empty() && !base.is_empty();
        let mut tries = GENERATE_NAME_TRIES;
        loop {
            let mut named = object.boxed_clone();
            if generated {
                named.meta_mut().name = call.stores.random.name(&base).into();
            }
            let meta = named.meta();
            let (namespace, name) = (meta.namespace.clone(), meta.name.clone());
            match self.create_once(call, named, guards.clone()).await {
                Err(StorageError::ObjectTooLarge { bytes, bytes_max })
                    if may_fit_without_managers(&*object, bytes, bytes_max) =>
                {
                    // As upstream, it is tried again without its managed fields.
                    object.meta_mut().managed_fields = Vec::new();
                }
                // Upstream reports a generated name even where one was given beside the prefix.
                Err(StorageError::Exists { terminating, .. }) if !base.is_empty() => {
                    tries -= 1;
                    if tries == 0 || !generated {
                        return Err(self.name_is_taken(&name, terminating));
                    }
                }
                // The namespace or the definition has changed meanwhile, or was deleted.
                Err(StorageError::GuardChanged { .. }) => {
                    guards = self.creation_guards(call.stores, &namespace, &name).await?;
                }
                result => {
                    let stored = result.map_err(self.failed(Operation::Create, &name))?;
                    if !call.dry_run {
                        self.note(call.cx, (&namespace, &name), &stored, ObjectChange::Created);
                    }
                    return Ok(stored);
                }
            }
        }
    }

    /// Returns the error for a generated name that is taken.
    fn name_is_taken(&self, name: &str, terminating: bool) -> Status {
        let mut status = Status::generate_name_conflict(&self.resource(), name, 1);
        if terminating {
            status.message = format!("object is being deleted: {}", status.message).into();
        }
        status
    }

    async fn create_once(
        &self,
        call: CreateCall<'_>,
        mut object: Box<dyn AnyObject>,
        guards: Vec<Guard>,
    ) -> Result<Stored, StorageError> {
        let CreateCall { cx, dry_run, .. } = call;
        let begin = Begin { cx, dry_run };
        // Waits for a place before anything is allocated, so that no request holds resources while
        // it waits.
        let place = if self.writes_with_hooks(dry_run) {
            Some(self.finishing.place().await?)
        } else {
            None
        };
        let mut begun = AllBegun::begin(&self.hooks, begin, &mut *object, None).await?;
        let prepared = match self.prepare_create(call, object, guards) {
            Ok(prepared) => {
                let meta = prepared.1.meta();
                let write = call.admitted(&meta.namespace, &meta.name);
                let judged = self.validate_admission(write, &*prepared.1, None).await;
                judged.map(|reserved| {
                    begun.extend(reserved);
                    prepared
                })
            }
            Err(status) => Err(status),
        };
        let (key, object, request) = match prepared {
            Ok(prepared) => prepared,
            Err(status) => {
                begun.rollback().await;
                return Err(status.into());
            }
        };
        let place = match place {
            // What admission has reserved must be given back too, if the write fails.
            None if !dry_run && !begun.is_empty() => Some(self.finishing.place().await?),
            place => place,
        };
        if let Some(place) = place {
            return self.create_hooked(place, begun, key, object, request).await;
        }
        let created = self.storage.create(key, object, request, dry_run).await;
        begun.rollback().await;
        created
    }

    /// The steps between the hooks and storage.
    fn prepare_create(
        &self,
        call: CreateCall<'_>,
        object: Box<dyn AnyObject>,
        guards: Vec<Guard>,
    ) -> Result<(String, Box<dyn AnyObject>, PutOptions), Status> {
        let object = self.begin_create(call.stores, call.cx, object, call.rules)?;
        let meta = object.meta();
        let key = self.storage.keys().key(&meta.namespace, &meta.name)?;
        let ttl = self.strategy.facts().time_to_live;
        Ok((key, object, PutOptions { ttl, guards }))
    }

    /// The steps between admission and storage: preparation, validation, canonical form. Also used
    /// by an update that creates the object.
    pub(crate) fn begin_create(
        &self,
        stores: &Stores,
        cx: &RequestContext,
        mut object: Box<dyn AnyObject>,
        own_rules: Option<GroupRules>,
    ) -> Result<Box<dyn AnyObject>, Status> {
        let meta = object.meta_mut();
        remove_system_fields(meta);
        meta.uid = stores.random.uid().into();
        meta.creation_timestamp = Some(cx.now());
        if !matches!(self.strategy.facts().generation, Generation::None) {
            meta.generation = 1;
        }
        remove_duplicate_owners(cx, &mut *object);
        if self.has_status && !self.strategy.facts().keeps_status_on_create {
            object = self.without_status(object)?;
        }
        self.strategy.prepare_for_create(cx, &mut *object);
        let meta = object.meta();
        let mut errors = Vec::new();
        let rules = self.strategy.facts().metadata_rules;
        if rules != MetadataRules::Common {
            let names =
                |name: &str, prefix: bool| self.strategy.name_problems(&*object, name, prefix);
            errors = validate_named(meta, self.namespaced, &names, rules);
        }
        let further = match own_rules {
            Some(own) => (own.create)(&*object),
            None => self.strategy.validate(&*object, &errors),
        };
        errors.extend(further);
        let names = self.strategy.facts().name_rule;
        let is_path = rules != MetadataRules::Common && names.is_path_segment();
        if errors.is_empty() && !is_path {
            errors = validate_metadata(meta, self.namespaced, NameRule::PathSegment, rules);
        }
        self.invalid(&meta.name, &errors)?;
        warn(cx, &*self.strategy, &*object, None);
        Ok(object)
    }

    fn without_status(&self, object: Box<dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let Some(status) = self.status_number() else {
            return Ok(object);
        };
        let is_status = |number| number == status;
        let empty = self.kind().new_object();
        if empty.is_none_or(|empty| equal_in(&*object, &*empty, is_status)) {
            return Ok(object);
        }
        object_fields::without(self.kind(), &*object, is_status).map_err(Status::internal_error)
    }
}

/// Removes the metadata that only servers set, before a new object's fields get their owners: as
/// upstream, nobody owns it.
pub fn remove_system_fields(meta: &mut ObjectMeta) {
    meta.uid = Str::default();
    meta.creation_timestamp = None;
    meta.deletion_timestamp = None;
    meta.deletion_grace_period_seconds = None;
    meta.self_link = Str::default();
}

/// Reports whether an object that was too large may be small enough without its managed fields. If
/// not, it is not checked again: that of a large definition takes seconds.
fn may_fit_without_managers(object: &dyn AnyObject, bytes: usize, bytes_max: usize) -> bool {
    let managers = &object.meta().managed_fields;
    let managed = managers
        .iter()
        .map(|it| size_of_val(it) + wire::heap_size(it));
    let managed = managed.sum::<usize>();
    !managers.is_empty() && (bytes_max == 0 || bytes.saturating_sub(managed) <= bytes_max)
}

/// Removes duplicate owner references, with a warning, as upstream.
pub fn remove_duplicate_owners(cx: &RequestContext, object: &mut dyn AnyObject) {
    remove_duplicates(cx, object, "");
}

/// Removes duplicate owner references after a patch. Upstream checks them later, with another
/// warning.
pub fn remove_patched_duplicate_owners(cx: &RequestContext, object: &mut dyn AnyObject) {
    remove_duplicates(cx, object, " after mutating admission happens");
}

fn remove_duplicates(cx: &RequestContext, object: &mut dyn AnyObject, when: &str) {
    let owners = &mut object.meta_mut().owner_references;
    if owners.len() < 2 {
        return;
    }
    let (mut seen, mut twice) = (BTreeSet::new(), Vec::new());
    owners.retain(|owner| {
        let texts = [&owner.uid, &owner.api_version, &owner.kind, &owner.name].map(Str::clone);
        let first = seen.insert((texts, owner.controller, owner.block_owner_deletion));
        if !first {
            twice.push(owner.uid.clone());
        }
        first
    });
    if !twice.is_empty() {
        cx.warn(format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner \
             references in 1.20+, and may reject such requests as early as 1.24; please fix your \
             requests; duplicate UID(s) observed: {}",
            twice.join(", ")
        ));
    }
}
