//! `FieldManager`: keeps `metadata.managedFields` of one resource, or subresource, at one version.
//!
//! The rules of Kubernetes around [`Updater`](crate::Updater): which managers there are and how
//! they are named, what has no owner, how many updaters are kept, when times change, and the
//! transition from and to client-side apply. As upstream's `managedfields` package.

mod apply;
mod cap;

pub use apply::{AppliedObject, ApplyError, ApplyRequest};

use crate::field_filter::FieldFilter;
use crate::field_set::FieldSet;
use crate::managed_fields::{ManagedFields, ManagedFieldsError, OwnedFields};
use crate::manager_id::ManagerId;
use crate::object_type::ObjectType;
use crate::owned_set::SetCache;
use crate::typed::{
    Comparison, Duplicates, TypedErrors, TypedValue, compare_messages, created_fields,
};
use crate::updater::{Change, ConvertError, UpdateError, Updater, VersionConverter};
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{AnyObject, ManagedFieldsEntry, Str, Time};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

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

/// Converts objects between versions, as JSON.
pub trait ObjectConverter: Send + Sync {
    /// Converts an object to another version.
    ///
    /// # Errors
    /// The version does not exist any more, or the object cannot be converted.
    fn convert(&self, object: &Value, to: &str) -> Result<(Value, ObjectType), ConvertError>;
}

/// The objects whose managed fields are kept.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct ManagedKind {
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
    pub empty: Box<dyn AnyObject>,
}

/// Keeps the managed fields of a resource.
#[derive(Debug)]
pub struct FieldManager {
    of: ManagedKind,
    sets: SetCache,
}

/// A write other than an apply.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct UpdateRequest<'a> {
    /// The object before, at the version of the request; `None` if it does not exist.
    pub live: Option<&'a dyn AnyObject>,
    /// The new object. A client can change its managed fields.
    pub new: &'a dyn AnyObject,
    /// The name of the manager.
    pub manager: &'a str,
    /// The time of the write.
    pub now: Time,
}

impl FieldManager {
    /// Creates the field manager of these objects.
    pub fn new(of: ManagedKind) -> Self {
        Self {
            of,
            sets: SetCache::default(),
        }
    }

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
        let before = request.live.map_or(&[][..], |it| &it.meta().managed_fields);
        let managers = self.managers_before(before, &request.new.meta().managed_fields);
        if managers.is_empty() && request.live.is_some() {
            return Ok(Vec::new()); // Its fields are tracked from its first apply.
        }
        let change = Objects {
            of: &self.of,
            live: request.live,
            new: request.new,
            typed: [OnceCell::new(), OnceCell::new()],
        };
        let manager = self.updater_id(request.manager);
        let managers = self.tracked(&change, managers, &manager, request.now, converter)?;
        managers.to_readable_entries()
    }

    /// Returns the managers that a write starts from. A client can set them, and an empty list, or
    /// one empty entry, resets them.
    fn managers_before(
        &self,
        live: &[ManagedFieldsEntry],
        new: &[ManagedFieldsEntry],
    ) -> ManagedFields {
        if self.of.subresource.is_empty() {
            if let [only] = new
                && *only == ManagedFieldsEntry::default()
            {
                return ManagedFields::default();
            }
            match self.read(new) {
                Ok(managers) if !managers.is_empty() => return managers,
                _ => {}
            }
        }
        self.read(live).unwrap_or_default()
    }

    fn read(&self, entries: &[ManagedFieldsEntry]) -> Result<ManagedFields, ManagedFieldsError> {
        ManagedFields::read(entries, |text| self.sets.read(text))
    }

    fn updater_id(&self, name: &str) -> ManagerId {
        let name = if name.is_empty() { UNKNOWN } else { name };
        ManagerId::updater(
            name,
            self.of.api_version.clone(),
            self.of.subresource.clone(),
        )
    }

    /// Gives what an update changed to its manager. The time of the manager changes only if it
    /// takes fields.
    fn tracked(
        &self,
        change: &dyn Change,
        managers: ManagedFields,
        manager: &ManagerId,
        now: Time,
        converter: &dyn ObjectConverter,
    ) -> Result<ManagedFields, UpdateError> {
        // No manager has an empty version, so none is this one.
        let this = ManagerId::updater("current-operation", "", "");
        let adapter = Typed { converter };
        let updater = self.updater(&adapter);
        let mut managers = updater.update_changed(change, managers, &this)?;
        if let Some(taken) = managers.remove(&this) {
            let mut fields = taken.fields.into_fields();
            fields.subtract(&UNOWNED);
            if !fields.is_empty() {
                let fields = match managers.get(manager) {
                    Some(before) => fields.union(&before.fields),
                    None => fields,
                };
                let owned = OwnedFields {
                    fields: fields.into(),
                    api_version: self.of.api_version.clone(),
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
            filters: &self.of.filters,
            api_version: &self.of.api_version,
        }
    }

    fn typed(&self, object: &Value, duplicates: Duplicates) -> Result<TypedValue, TypedErrors> {
        self.of.object_type.typed(object.clone(), duplicates)
    }
}

/// The objects of an update. They become JSON only for managers of other versions.
struct Objects<'a> {
    of: &'a ManagedKind,
    /// `None` if it does not exist.
    live: Option<&'a dyn AnyObject>,
    new: &'a dyn AnyObject,
    typed: [OnceCell<TypedValue>; 2],
}

impl Objects<'_> {
    fn typed<'c>(
        &self,
        cell: &'c OnceCell<TypedValue>,
        object: &dyn AnyObject,
    ) -> Result<&'c TypedValue, TypedErrors> {
        if let Some(made) = cell.get() {
            return Ok(made);
        }
        let typed = self
            .of
            .object_type
            .typed(plain_json(object), Duplicates::Allowed)?;
        Ok(cell.get_or_init(|| typed))
    }
}

impl Change for Objects<'_> {
    fn object_type(&self) -> ObjectType {
        self.of.object_type.clone()
    }

    fn compare(&self) -> Result<Comparison, TypedErrors> {
        let ObjectType { schema, root } = &self.of.object_type;
        let Some(live) = self.live else {
            return Ok(Comparison {
                added: created_fields(schema, root, &*self.of.empty, self.new)?,
                ..Comparison::default()
            });
        };
        compare_messages(schema, root, live, self.new)
    }

    fn live_object(&self) -> Result<&TypedValue, TypedErrors> {
        let [cell, _] = &self.typed;
        self.typed(cell, self.live.unwrap_or(&*self.of.empty))
    }

    fn new_object(&self) -> Result<&TypedValue, TypedErrors> {
        let [_, cell] = &self.typed;
        self.typed(cell, self.new)
    }
}

/// Returns an object as JSON, without its managed fields.
fn plain_json(object: &dyn AnyObject) -> Value {
    if object.meta().managed_fields.is_empty() {
        return to_json_value(object);
    }
    let mut plain = object.boxed_clone();
    plain.meta_mut().managed_fields = Vec::new();
    to_json_value(&*plain)
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
        let typed = object_type.typed(object, Duplicates::Refused);
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
