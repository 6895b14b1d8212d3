//! `Updater`: what a write makes of an object and of the fields that managers own.
//!
//! The counterpart of structured-merge-diff's updater. An update gives the fields that changed to
//! its manager. An apply merges a configuration, removes what its manager applied before and nobody
//! else owns, and takes fields of other managers only by force.
//!
//! It knows no metadata of Kubernetes; see `FieldManager`.

mod error;
mod prune;

pub use error::{ConvertError, UpdateError};

use crate::conflict::{Conflict, Conflicts};
use crate::field_filter::FieldFilter;
use crate::field_set::FieldSet;
use crate::managed_fields::{ManagedFields, OwnedFields};
use crate::manager_id::ManagerId;
use crate::object_type::ObjectType;
use crate::owned_set::OwnedSet;
use crate::typed::{Comparison, TypedErrors, TypedValue, reconcile};
use kubist_apimachinery::{Str, Time};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Converts objects between the API versions of their managers.
pub trait VersionConverter {
    /// Converts an object to another version.
    ///
    /// # Errors
    /// The version does not exist any more, or the object cannot be converted.
    fn convert(
        &self,
        object: &TypedValue,
        from: &str,
        to: &str,
    ) -> Result<TypedValue, ConvertError>;
}

/// Computes owners for writes at one API version.
#[derive(Clone, Copy)]
pub struct Updater<'a> {
    /// Converts to the versions of other managers.
    pub converter: &'a dyn VersionConverter,
    /// The fields that can have owners, by API version. Others are not tracked.
    pub filters: &'a BTreeMap<Str, FieldFilter>,
    /// The API version of the write.
    pub api_version: &'a Str,
}

/// The result of an apply.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it is a pair")]
pub struct Applied {
    /// The new object; none if it is the same.
    pub object: Option<TypedValue>,
    /// The managers.
    pub managers: ManagedFields,
}

impl Updater<'_> {
    /// Returns the managers after an update by `manager`, which now owns the fields that differ.
    ///
    /// # Errors
    /// The values have different types, or a conversion failed.
    pub fn update(
        &self,
        live: &TypedValue,
        new: &TypedValue,
        managers: ManagedFields,
        manager: &ManagerId,
    ) -> Result<ManagedFields, UpdateError> {
        self.update_changed(&Pair { live, new }, managers, manager)
    }

    /// As [`update`](Self::update), for objects that become typed values only if that is necessary.
    pub(crate) fn update_changed(
        &self,
        change: &dyn Change,
        mut managers: ManagedFields,
        manager: &ManagerId,
    ) -> Result<ManagedFields, UpdateError> {
        self.reconcile(change, &mut managers)?;
        let changes = self.disown(change, &mut managers, manager, true)?;
        let before = managers.get(manager);
        let (owned, time) = before.map_or((None, None), |it| (Some(&it.fields), it.time));
        let owned = owned.map_or_else(FieldSet::default, |it| it.difference(&changes.removed));
        let owned = owned.into_union(changes.changed);
        self.own(&mut managers, manager, self.filtered(owned), time);
        Ok(managers)
    }

    /// Merges a configuration into the live object, as its manager.
    ///
    /// # Errors
    /// There are conflicts, and `force` is not set; a value does not fit; or a conversion failed.
    pub fn apply(
        &self,
        live: &TypedValue,
        config: &TypedValue,
        mut managers: ManagedFields,
        manager: &ManagerId,
        force: bool,
    ) -> Result<Applied, UpdateError> {
        self.reconcile(&Pair { live, new: live }, &mut managers)?;
        let merged = live.merge(config);
        let merged = merged.map_err(typed("failed to merge config"))?;
        let applied = config.to_field_set();
        let applied = applied.map_err(typed("failed to get field set"))?;
        let last = managers.remove(manager);
        let time = last.as_ref().and_then(|it| it.time);
        self.own(&mut managers, manager, self.filtered(applied), time);
        let new = match last.filter(|it| !it.fields.is_empty()) {
            Some(last) => self.prune(merged, &managers, &last)?,
            None => merged,
        };
        let change = Pair { live, new: &new };
        self.disown(&change, &mut managers, manager, force)?;
        let object = (!live.has_value_of(&new)).then_some(new);
        Ok(Applied { object, managers })
    }

    fn own(
        &self,
        managers: &mut ManagedFields,
        manager: &ManagerId,
        fields: FieldSet,
        time: Option<Time>,
    ) {
        let owned = OwnedFields {
            fields: fields.into(),
            api_version: self.api_version.clone(),
            time,
        };
        managers.set(manager.clone(), owned);
    }

    fn filtered(&self, fields: FieldSet) -> FieldSet {
        match self.filters.get(self.api_version) {
            Some(filter) => filter.apply(fields),
            None => fields,
        }
    }

    /// Takes changed and removed fields from all managers but the one that writes.
    fn disown(
        &self,
        change: &dyn Change,
        managers: &mut ManagedFields,
        writer: &ManagerId,
        force: bool,
    ) -> Result<Changes, UpdateError> {
        let mut versions: BTreeMap<Str, Option<Changes>> = BTreeMap::new();
        let own = self.changes(change.compare(), self.api_version)?;
        let mut conflicts = Vec::new();
        let mut failure = None;
        managers.retain(|id, owned| {
            if id == writer || failure.is_some() {
                return true;
            }
            let changes = if owned.api_version == *self.api_version {
                Some(&own)
            } else if let Some(known) = versions.get(&owned.api_version) {
                known.as_ref()
            } else {
                match self.changes_at(change, &owned.api_version) {
                    Ok(changes) => {
                        let version = owned.api_version.clone();
                        versions.entry(version).or_insert(changes).as_ref()
                    }
                    Err(error) => {
                        failure = Some(error);
                        return true;
                    }
                }
            };
            let Some(changes) = changes else { return false };
            let taken = owned.fields.intersection(&changes.changed);
            taken.for_each(&mut |path| {
                conflicts.push(Conflict {
                    manager: id.clone(),
                    path: path.to_vec(),
                });
            });
            for lost in [taken, owned.fields.intersection(&changes.removed)] {
                if !lost.is_empty() {
                    owned.fields = owned.fields.difference(&lost).into();
                }
            }
            true
        });
        if let Some(error) = failure {
            return Err(error);
        }
        if !force && !conflicts.is_empty() {
            return Err(UpdateError::Conflicts(Conflicts::sorted(conflicts)));
        }
        Ok(own)
    }

    fn changes(
        &self,
        all: Result<Comparison, TypedErrors>,
        version: &Str,
    ) -> Result<Changes, UpdateError> {
        let all = all.map_err(typed("failed to compare objects"))?;
        let all = all.filtered(self.filters.get(version));
        Ok(Changes {
            removed: all.removed,
            changed: all.modified.into_union(all.added),
        })
    }

    /// Returns the changes as another version has them; none if there is no such version any more.
    fn changes_at(
        &self,
        change: &dyn Change,
        version: &Str,
    ) -> Result<Option<Changes>, UpdateError> {
        let context = "failed to convert old object";
        let live = change.live_object().map_err(typed(context))?;
        let live = self.converted(live, self.api_version, version, context)?;
        let Some(live) = live else { return Ok(None) };
        let context = "failed to convert new object";
        let new = change.new_object().map_err(typed(context))?;
        let new = self.converted(new, self.api_version, version, context)?;
        let Some(new) = new else { return Ok(None) };
        self.changes(live.compare(&new), version).map(Some)
    }

    /// Converts an object; returns none if there is no such version any more.
    fn converted<'v>(
        &self,
        object: &'v TypedValue,
        from: &str,
        to: &str,
        context: &'static str,
    ) -> Result<Option<Cow<'v, TypedValue>>, UpdateError> {
        if from == to {
            return Ok(Some(Cow::Borrowed(object)));
        }
        match self.converter.convert(object, from, to) {
            Ok(converted) => Ok(Some(Cow::Owned(converted))),
            Err(ConvertError::NoVersion) => Ok(None),
            Err(ConvertError::Failed(why)) => Err(UpdateError::Convert(context, why)),
        }
    }

    /// Adapts the managers to changes of the schema since they wrote. Those of versions that do not
    /// exist any more are dropped.
    fn reconcile(
        &self,
        change: &dyn Change,
        managers: &mut ManagedFields,
    ) -> Result<(), UpdateError> {
        let mut versions: BTreeMap<Str, Option<ObjectType>> = BTreeMap::new();
        let mut failure = None;
        let own = change.object_type();
        managers.retain(|_, owned| {
            if failure.is_some() {
                return true;
            }
            let result = if owned.api_version == *self.api_version {
                reconciled(&mut owned.fields, &own).map(|()| true)
            } else {
                self.reconciled_at(change, owned, &mut versions)
            };
            result.unwrap_or_else(|error| {
                failure = Some(error);
                true
            })
        });
        failure.map_or(Ok(()), Err)
    }

    /// Adapts a manager of another version; returns false if there is no such version any more.
    fn reconciled_at(
        &self,
        change: &dyn Change,
        owned: &mut OwnedFields,
        versions: &mut BTreeMap<Str, Option<ObjectType>>,
    ) -> Result<bool, UpdateError> {
        if !versions.contains_key(&owned.api_version) {
            let live = change
                .live_object()
                .map_err(typed("failed to convert live object"))?;
            let live = self.converted(live, self.api_version, &owned.api_version, "")?;
            let of_version = live.map(|it| ObjectType::of(&it));
            versions.insert(owned.api_version.clone(), of_version);
        }
        match versions.get(&owned.api_version) {
            Some(Some(of_version)) => {
                reconciled(&mut owned.fields, of_version)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// Adapts a set to the current type of the objects.
fn reconciled(fields: &mut OwnedSet, current: &ObjectType) -> Result<(), UpdateError> {
    if fields.fits(&current.schema) {
        return Ok(());
    }
    let adapted = reconcile(fields, &current.schema, &current.root);
    let context = "errors reconciling field set with schema";
    if let Some(adapted) = adapted.map_err(typed(context))? {
        *fields = adapted.into();
    }
    fields.set_fits(&current.schema);
    Ok(())
}

/// An old and a new object of one version.
pub(crate) trait Change {
    /// Returns their type.
    fn object_type(&self) -> ObjectType;
    /// Compares them.
    fn compare(&self) -> Result<Comparison, TypedErrors>;
    /// Returns the old one.
    fn live_object(&self) -> Result<&TypedValue, TypedErrors>;
    /// Returns the new one.
    fn new_object(&self) -> Result<&TypedValue, TypedErrors>;
}

/// Two typed values.
pub(crate) struct Pair<'a> {
    pub(crate) live: &'a TypedValue,
    pub(crate) new: &'a TypedValue,
}

impl Change for Pair<'_> {
    fn object_type(&self) -> ObjectType {
        ObjectType::of(self.live)
    }
    fn compare(&self) -> Result<Comparison, TypedErrors> {
        self.live.compare(self.new)
    }
    fn live_object(&self) -> Result<&TypedValue, TypedErrors> {
        Ok(self.live)
    }
    fn new_object(&self) -> Result<&TypedValue, TypedErrors> {
        Ok(self.new)
    }
}

/// The differences between two objects at one version.
struct Changes {
    /// Those that only the old object has.
    removed: FieldSet,
    /// All others.
    changed: FieldSet,
}

fn typed(context: &'static str) -> impl FnOnce(TypedErrors) -> UpdateError {
    move |errors| UpdateError::Typed(context, errors)
}

impl fmt::Debug for Updater<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Updater")
            .field("filters", &self.filters)
            .field("api_version", &self.api_version)
            .finish_non_exhaustive()
    }
}
