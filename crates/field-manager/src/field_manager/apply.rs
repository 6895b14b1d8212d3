//! Server-side apply.

use super::{
    BEFORE_FIRST_APPLY, FieldManager, GroupVersionKind, Named, ObjectConverter, Typed, UNKNOWN,
    UNOWNED, plain_json,
};
use crate::conflict::Conflicts;
use crate::field_set::FieldSet;
use crate::managed_fields::{ManagedFields, OwnedFields};
use crate::manager_id::ManagerId;
use crate::object_type::ObjectType;
use crate::typed::{Duplicates, TypedValue, prune};
use crate::updater::{Pair, UpdateError};
use kubist_apimachinery::go_text::escape_html;
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{AnyObject, ManagedFieldsEntry, Time};
use serde_json::{Map, Value};
use std::fmt;

/// The manager that takes over from client-side apply.
const KUBECTL: &str = "kubectl";
/// The annotation in which client-side apply keeps the configuration.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The maximum size of all annotations, keys included.
const ANNOTATIONS_BYTES_MAX: usize = 256 << 10;

/// An apply.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct ApplyRequest<'a> {
    /// The object before, at the version of the request; `None` if it does not exist.
    pub live: Option<&'a dyn AnyObject>,
    /// The configuration.
    pub config: &'a Value,
    /// The name of the manager.
    pub manager: &'a str,
    /// Whether it takes over fields that other managers own.
    pub force: bool,
    /// The time of the write.
    pub now: Time,
}

/// The result of an apply.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is a pair")]
pub struct AppliedObject {
    /// The new object, without its managed fields; none if it is the same.
    pub object: Option<Value>,
    /// Its managed fields.
    pub entries: Vec<ManagedFieldsEntry>,
}

/// An apply failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a server must answer each")]
pub enum ApplyError {
    /// The request is wrong, whatever the state of the object (400).
    BadRequest(String),
    /// Other managers own fields that the apply changes (409).
    Conflicts(Conflicts),
    /// The configuration or the object does not fit its type, or a conversion failed (500, as
    /// upstream).
    Failed(String),
}

impl FieldManager {
    /// Merges a configuration into an object, as its manager.
    ///
    /// # Errors
    /// See [`ApplyError`].
    pub fn apply(
        &self,
        request: &ApplyRequest<'_>,
        converter: &dyn ObjectConverter,
    ) -> Result<AppliedObject, ApplyError> {
        let entries = request.live.map_or(&[][..], |it| &it.meta().managed_fields);
        let managers = self.read(entries);
        let managers = managers.map_err(|error| {
            ApplyError::Failed(format!("failed to decode managed fields: {error}"))
        })?;
        self.check(request.config)?;
        let config = self.typed(request.config, Duplicates::Refused);
        let config = config.map_err(|errors| {
            let named = Named(request.config);
            ApplyError::Failed(format!(
                "failed to create typed patch object ({named}): {errors}"
            ))
        })?;
        let live = self.typed_live(request.live)?;
        let managers = self.with_earlier_fields(managers, &live, request.now, converter)?;
        let (object, managers) =
            self.apply_over_last(request, &live, &config, managers, converter)?;
        let mut object = object.map(TypedValue::into_value);
        if request.manager == KUBECTL {
            renew_last_applied(&mut object, live.value(), request.config);
        }
        let entries = managers.to_readable_entries();
        let entries = entries.map_err(|error| ApplyError::Failed(error.to_string()))?;
        Ok(AppliedObject { object, entries })
    }

    /// Checks an object against its type. Fields that the type lacks, which were stored before the
    /// schema changed, are pruned.
    fn typed_live(&self, live: Option<&dyn AnyObject>) -> Result<TypedValue, ApplyError> {
        let live = live.unwrap_or(&*self.of.empty);
        let object = plain_json(live);
        if object.is_null() {
            // An apply to nothing would replace the object by the configuration.
            let why = "the stored object is nested too deeply to be applied";
            return Err(ApplyError::Failed(why.to_owned()));
        }
        let ObjectType { schema, root } = &self.of.object_type;
        if let Ok(typed) = self.of.object_type.typed(object, Duplicates::Allowed) {
            return Ok(typed);
        }
        let mut pruned = plain_json(live);
        let named = Named(&pruned).to_string();
        prune(schema, root, &mut pruned);
        let typed = self.of.object_type.typed(pruned, Duplicates::Allowed);
        typed.map_err(|errors| {
            let why = format!("failed to create typed live object ({named}): {errors}");
            ApplyError::Failed(why)
        })
    }

    /// Checks the type of a configuration, and that it has no managed fields.
    fn check(&self, config: &Value) -> Result<(), ApplyError> {
        let text = |name: &str| config[name].as_str().unwrap_or_default();
        if (text("apiVersion"), text("kind")) != (&*self.of.api_version, &*self.of.kind) {
            let why = format!("invalid object type: {}", GroupVersionKind(config));
            return Err(ApplyError::BadRequest(why));
        }
        if config["metadata"]["managedFields"].is_array() {
            let why = "metadata.managedFields must be nil";
            return Err(ApplyError::BadRequest(why.to_owned()));
        }
        Ok(())
    }

    /// Gives the fields of an object without managers to one that stands for all earlier writes.
    fn with_earlier_fields(
        &self,
        managers: ManagedFields,
        live: &TypedValue,
        now: Time,
        converter: &dyn ObjectConverter,
    ) -> Result<ManagedFields, ApplyError> {
        if !managers.is_empty() {
            return Ok(managers);
        }
        let failed = |why: &dyn fmt::Display| {
            ApplyError::Failed(format!(
                "failed to create manager for existing fields: {why}"
            ))
        };
        let empty = to_json_value(&*self.of.empty);
        let empty = self.of.object_type.typed(empty, Duplicates::Allowed);
        let empty = empty.map_err(|errors| failed(&errors))?;
        let earlier = self.updater_id(BEFORE_FIRST_APPLY);
        let change = Pair {
            live: &empty,
            new: live,
        };
        let tracked = self.tracked(&change, managers, &earlier, now, converter);
        tracked.map_err(|error| failed(&error))
    }

    /// Applies. `kubectl` takes fields that it applied client-side before without a conflict.
    fn apply_over_last(
        &self,
        request: &ApplyRequest<'_>,
        live: &TypedValue,
        config: &TypedValue,
        managers: ManagedFields,
        converter: &dyn ObjectConverter,
    ) -> Result<(Option<TypedValue>, ManagedFields), ApplyError> {
        let apply =
            |managers, force| self.apply_typed(request, live, config, managers, force, converter);
        if request.manager != KUBECTL || request.force {
            return apply(managers, request.force);
        }
        let conflicts = match apply(managers.clone(), false) {
            Err(ApplyError::Conflicts(conflicts)) => conflicts,
            result => return result,
        };
        let Some(allowed) = self.last_applied_fields(live) else {
            return Err(ApplyError::Conflicts(conflicts));
        };
        match conflicts.filter(|it| !allowed.has(&it.path)) {
            Some(rest) => Err(ApplyError::Conflicts(rest)),
            None => apply(managers, true),
        }
    }

    fn apply_typed(
        &self,
        request: &ApplyRequest<'_>,
        live: &TypedValue,
        config: &TypedValue,
        managers: ManagedFields,
        force: bool,
        converter: &dyn ObjectConverter,
    ) -> Result<(Option<TypedValue>, ManagedFields), ApplyError> {
        let name = if request.manager.is_empty() {
            UNKNOWN
        } else {
            request.manager
        };
        let manager = ManagerId::applier(name, self.of.subresource.clone());
        let adapter = Typed { converter };
        let applied = self
            .updater(&adapter)
            .apply(live, config, managers, &manager, force);
        let applied = applied.map_err(|error| match error {
            UpdateError::Conflicts(conflicts) => ApplyError::Conflicts(conflicts),
            other => ApplyError::Failed(other.to_string()),
        })?;
        let mut managers = applied.managers;
        if let Some(owned) = managers.get(&manager) {
            let owned = OwnedFields {
                fields: owned.fields.difference(&UNOWNED).into(),
                ..owned.clone()
            };
            managers.set(manager.clone(), owned);
        }
        if applied.object.is_some() {
            managers.set_time(&manager, Some(request.now));
        }
        Ok((applied.object, managers))
    }

    /// Returns the fields that client-side apply applied last and that have not changed since; none
    /// if the object was not so applied, or at another version.
    fn last_applied_fields(&self, live: &TypedValue) -> Option<FieldSet> {
        let annotation = annotation(live.value()).filter(|it| !it.is_empty())?;
        let last: Value = serde_json::from_str(annotation).ok()?;
        if last["apiVersion"] != *self.of.api_version || !last["kind"].is_string() {
            return None;
        }
        // As upstream, objects with repeated list items take no part in this.
        let live = self.typed(live.value(), Duplicates::Refused).ok()?;
        let last = self.typed(&last, Duplicates::Refused).ok()?;
        let fields = last.to_field_set().ok()?;
        let since = last.compare(&live).ok()?;
        let kept = fields.difference(&since.modified).difference(&since.added);
        Some(kept.difference(&since.removed))
    }
}

fn annotation(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][LAST_APPLIED].as_str()
}

fn annotations_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.pointer_mut("/metadata/annotations")?.as_object_mut()
}

/// Writes the configuration into the annotation of client-side apply, if the object has it, so that
/// `kubectl apply` can go back to it.
fn renew_last_applied(object: &mut Option<Value>, live: &Value, config: &Value) {
    let current = object.as_ref().unwrap_or(live);
    if annotation(current).is_none_or(str::is_empty) {
        return;
    }
    let mut config = config.clone();
    if let Some(annotations) = annotations_mut(&mut config) {
        annotations.remove(LAST_APPLIED);
    }
    let text = format!("{}\n", escape_html(&config.to_string()));
    let mut renewed = current.clone();
    if let Some(annotations) = annotations_mut(&mut renewed) {
        annotations.insert(LAST_APPLIED.to_owned(), text.into());
        let bytes = annotations
            .iter()
            .map(|(name, value)| name.len() + value.as_str().map_or(0, str::len));
        if bytes.sum::<usize>() > ANNOTATIONS_BYTES_MAX {
            annotations.remove(LAST_APPLIED);
        }
    }
    if renewed != *current {
        *object = Some(renewed);
    }
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRequest(why) | Self::Failed(why) => f.write_str(why),
            Self::Conflicts(conflicts) => write!(f, "{conflicts}"),
        }
    }
}

impl std::error::Error for ApplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Conflicts(conflicts) => Some(conflicts),
            Self::BadRequest(_) | Self::Failed(_) => None,
        }
    }
}
