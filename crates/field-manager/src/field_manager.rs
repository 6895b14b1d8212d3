//! `FieldManager`: keeps `metadata.managedFields` of one resource, or subresource, at one version.
//!
//! The rules of Kubernetes around [`Updater`](crate::Updater): which managers there are and how they
//! are named, what has no owner, how many updaters are kept, when times change, and the transition
//! from and to client-side apply. As upstream's `managedfields` package.

mod apply;
mod cap;

pub use apply::{AppliedObject, ApplyError, ApplyRequest};

use crate::field_filter::FieldFilter;
use crate::field_set::FieldSet;
use crate::managed_fields::{ManagedFields, OwnedFields};
use crate::manager_id::ManagerId;
use crate::schema::{Schema, TypeRef};
use crate::typed::{Duplicates, TypedErrors, TypedValue};
use crate::updater::{ConvertError, UpdateError, Updater, VersionConverter};
use kubist_apimachinery::{ManagedFieldsEntry, Str, Time};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// The name of a manager without one.
const UNKNOWN: &str = "unknown";
/// The manager of the fields that an object had before it was first applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The fields of every object that have no owner.
static UNOWNED: LazyLock<FieldSet> = LazyLock::new(|| {
    let of_object = ["apiVersion", "kind", "metadata"];
    let of_metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let mut set = FieldSet::default();
    for name in of_object {
        set.insert(&[name.into()]);
    }
    for name in of_metadata {
        set.insert(&["metadata".into(), name.into()]);
    }
    set
});

/// The type of the objects of one version.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct ObjectType {
    /// The schema.
    pub schema: Arc<Schema>,
    /// The type of an object in it.
    pub root: TypeRef,
}

/// Converts objects between versions, as JSON.
pub trait ObjectConverter: Send + Sync {
    /// Converts an object to another version.
    ///
    /// # Errors
    /// The version does not exist any more, or the object cannot be converted.
    fn convert(&self, object: &Value, to: &str) -> Result<(Value, ObjectType), ConvertError>;
}

/// Keeps the managed fields of a resource.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct FieldManager {
    /// The type of the objects at the version of the requests.
    pub object_type: ObjectType,
    /// The API version of the requests.
    pub api_version: Str,
    /// The kind of the objects.
    pub kind: Str,
    /// The subresource; empty for the object itself.
    pub subresource: Str,
    /// The fields that can have owners, by API version; a version without a filter has all.
    pub filters: BTreeMap<Str, FieldFilter>,
    /// An object without content.
    pub empty: Value,
}

/// A stored object. An object that does not exist is an [`empty`](FieldManager::empty) one.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct LiveObject<'a> {
    /// The object at the version of the request, without its managed fields.
    pub object: &'a Value,
    /// Its managed fields.
    pub entries: &'a [ManagedFieldsEntry],
    /// Whether it exists.
    pub exists: bool,
}

/// A write other than an apply.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct UpdateRequest<'a> {
    /// The object before.
    pub live: LiveObject<'a>,
    /// The new object, without its managed fields.
    pub object: &'a Value,
    /// The managed fields in the new object.
    pub entries: &'a [ManagedFieldsEntry],
    /// The name of the manager.
    pub manager: &'a str,
    /// The time of the write.
    pub now: Time,
}

impl FieldManager {
    /// Returns the managed fields of an object after an update.
    ///
    /// # Errors
    /// An object does not fit its type, or a conversion failed. Upstream then writes the object
    /// without managed fields.
    pub fn update(
        &self,
        request: &UpdateRequest<'_>,
        converter: &dyn ObjectConverter,
    ) -> Result<Vec<ManagedFieldsEntry>, UpdateError> {
        let managers = self.managers_before(request.live.entries, request.entries);
        if managers.is_empty() && request.live.exists {
            return Ok(Vec::new()); // Its fields are tracked from its first apply.
        }
        let live = self.typed(request.live.object, Duplicates::Allowed);
        let new = self.typed(request.object, Duplicates::Allowed);
        let live =
            live.map_err(|errors| UpdateError::Typed("failed to type the live object", errors))?;
        let new =
            new.map_err(|errors| UpdateError::Typed("failed to type the new object", errors))?;
        let manager = self.updater_id(request.manager);
        let managers = self.tracked(&live, &new, managers, &manager, request.now, converter)?;
        Ok(managers.to_entries())
    }

    /// Returns the managers that a write starts from. A client can set them, and an empty list, or
    /// one empty entry, resets them.
    fn managers_before(
        &self,
        live: &[ManagedFieldsEntry],
        new: &[ManagedFieldsEntry],
    ) -> ManagedFields {
        if self.subresource.is_empty() {
            if let [only] = new
                && *only == ManagedFieldsEntry::default()
            {
                return ManagedFields::default();
            }
            match ManagedFields::from_entries(new) {
                Ok(managers) if !managers.is_empty() => return managers,
                _ => {}
            }
        }
        ManagedFields::from_entries(live).unwrap_or_default()
    }

    fn updater_id(&self, name: &str) -> ManagerId {
        let name = if name.is_empty() { UNKNOWN } else { name };
        ManagerId::updater(name, self.api_version.clone(), self.subresource.clone())
    }

    /// Gives what an update changed to its manager. The time of the manager changes only if it
    /// takes fields.
    fn tracked(
        &self,
        live: &TypedValue,
        new: &TypedValue,
        managers: ManagedFields,
        manager: &ManagerId,
        now: Time,
        converter: &dyn ObjectConverter,
    ) -> Result<ManagedFields, UpdateError> {
        // No manager has an empty version, so none is this one.
        let this = ManagerId::updater("current-operation", "", "");
        let adapter = Typed { converter };
        let updater = self.updater(&adapter);
        let mut managers = updater.update(live, new, managers, &this)?;
        if let Some(taken) = managers.remove(&this) {
            let fields = taken.fields.difference(&UNOWNED);
            if !fields.is_empty() {
                let fields = match managers.get(manager) {
                    Some(before) => fields.union(&before.fields),
                    None => fields,
                };
                let owned = OwnedFields {
                    fields,
                    api_version: self.api_version.clone(),
                    time: Some(now),
                };
                managers.set(manager.clone(), owned);
            }
        }
        cap::cap_updaters(&mut managers);
        Ok(managers)
    }

    fn updater<'a>(&'a self, converter: &'a dyn VersionConverter) -> Updater<'a> {
        Updater {
            converter,
            filters: &self.filters,
            api_version: &self.api_version,
        }
    }

    fn typed(&self, object: &Value, duplicates: Duplicates) -> Result<TypedValue, TypedErrors> {
        let ObjectType { schema, root } = &self.object_type;
        TypedValue::new(object.clone(), Arc::clone(schema), root.clone(), duplicates)
    }
}

/// Converts typed values as objects.
struct Typed<'a> {
    converter: &'a dyn ObjectConverter,
}

impl VersionConverter for Typed<'_> {
    fn convert(
        &self,
        object: &TypedValue,
        _from: &str,
        to: &str,
    ) -> Result<TypedValue, ConvertError> {
        let (object, object_type) = self.converter.convert(object.value(), to)?;
        let ObjectType { schema, root } = object_type;
        let typed = TypedValue::new(object, schema, root, Duplicates::Refused);
        typed.map_err(|errors| ConvertError::Failed(errors.to_string()))
    }
}

/// As upstream's errors name an object: `default/web; apps/v1, Kind=Deployment`.
struct Named<'a>(&'a Value);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &self.0["metadata"];
        let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
        write!(f, "{namespace}/{name}; {}", GroupVersionKind(self.0))
    }
}

/// As Go prints the type of an object: `/v1, Kind=Pod`.
struct GroupVersionKind<'a>(&'a Value);

impl fmt::Display for GroupVersionKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |name: &str| self.0[name].as_str().unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        write!(f, "{group}/{version}, Kind={kind}")
    }
}
