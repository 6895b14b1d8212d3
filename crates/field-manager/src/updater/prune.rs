//! Removal of fields that a manager applied before, and no longer does.

use super::{ConvertError, UpdateError, Updater, typed};
use crate::field_set::FieldSet;
use crate::managed_fields::{ManagedFields, OwnedFields};
use crate::typed::TypedValue;
use kubist_apimachinery::Str;
use std::collections::BTreeMap;

/// A value and its API version.
#[derive(Clone)]
struct Versioned {
    value: TypedValue,
    version: Str,
}

impl Updater<'_> {
    /// Removes the fields that were applied last and are neither applied now nor owned by another
    /// manager.
    pub(super) fn prune(
        &self,
        merged: TypedValue,
        managers: &ManagedFields,
        last: &OwnedFields,
    ) -> Result<TypedValue, UpdateError> {
        let version = &last.api_version;
        let context = "failed to prune fields: failed to convert merged object to last applied \
                       version";
        let Some(merged_then) = self.converted(&merged, self.api_version, version, context)? else {
            return Ok(merged);
        };
        let merged_then = Versioned {
            value: merged_then.into_owned(),
            version: version.clone(),
        };
        let all = merged_then.value.with_named_fields(&last.fields);
        let pruned = merged_then.with(merged_then.value.remove(&all));
        let pruned = self.add_back_owned(&merged_then, pruned, managers)?;
        let pruned = self.add_back_dangling(&merged_then, pruned, last)?;
        let pruned = self.convert(pruned, self.api_version)?;
        if pruned.version != *self.api_version {
            return Err(failed(ConvertError::NoVersion.to_string()));
        }
        Ok(pruned.value)
    }

    /// Adds back what managers own, those that apply, those that update, and the configuration.
    fn add_back_owned(
        &self,
        merged: &Versioned,
        pruned: Versioned,
        managers: &ManagedFields,
    ) -> Result<Versioned, UpdateError> {
        let mut sets: BTreeMap<&Str, Vec<&FieldSet>> = BTreeMap::new();
        for (_, of_one) in managers.iter() {
            sets.entry(&of_one.api_version)
                .or_default()
                .push(&of_one.fields);
        }
        let owned = sets
            .into_iter()
            .map(|(version, sets)| (version, union_of(&sets)));
        let mut owned: BTreeMap<&Str, FieldSet> = owned.collect();
        let (mut merged, mut pruned) = (merged.clone(), pruned);
        // What conversion needs may be missing at other versions, so the version of the last apply
        // comes first.
        let first = owned.remove_entry(&merged.version);
        for (version, fields) in first.into_iter().chain(owned) {
            (merged, pruned) = self.add_back_owned_at(merged, pruned, version, &fields)?;
        }
        Ok(pruned)
    }

    fn add_back_owned_at(
        &self,
        merged: Versioned,
        pruned: Versioned,
        version: &Str,
        owned: &FieldSet,
    ) -> Result<(Versioned, Versioned), UpdateError> {
        let merged = self.convert(merged, version)?;
        if merged.version != *version {
            return Ok((merged, pruned));
        }
        let pruned = self.convert(pruned, version)?;
        if pruned.version != *version {
            return Ok((merged, pruned));
        }
        let kept = pruned
            .fields()?
            .union(&merged.value.with_named_fields(owned));
        let removed = merged.fields()?.difference(&kept);
        let pruned = merged.with(merged.value.remove(&removed));
        Ok((merged, pruned))
    }

    /// Adds back what the manager did not own: items without an owner.
    fn add_back_dangling(
        &self,
        merged: &Versioned,
        pruned: Versioned,
        last: &OwnedFields,
    ) -> Result<Versioned, UpdateError> {
        let pruned = self.convert(pruned, &last.api_version)?;
        if pruned.version != last.api_version {
            return Ok(merged.clone());
        }
        let gone = merged.fields()?.difference(&pruned.fields()?);
        let last = merged.value.with_named_fields(&last.fields);
        Ok(merged.with(merged.value.remove(&gone.intersection(&last))))
    }

    /// Converts an object, unless there is no such version any more: then it keeps its version.
    fn convert(&self, object: Versioned, version: &Str) -> Result<Versioned, UpdateError> {
        if object.version == *version {
            return Ok(object);
        }
        match self
            .converter
            .convert(&object.value, &object.version, version)
        {
            Ok(value) => Ok(Versioned {
                value,
                version: version.clone(),
            }),
            Err(ConvertError::NoVersion) => Ok(object),
            Err(ConvertError::Failed(why)) => Err(failed(why)),
        }
    }
}

fn failed(why: String) -> UpdateError {
    UpdateError::Convert("failed to prune fields", why)
}

/// Returns the union of all sets, in halves: one after the other would copy the first for each.
fn union_of(sets: &[&FieldSet]) -> FieldSet {
    match sets {
        [] => FieldSet::default(),
        [only] => (*only).clone(),
        _ => {
            let (left, right) = sets.split_at(sets.len() / 2);
            union_of(left).union(&union_of(right))
        }
    }
}

impl Versioned {
    fn with(&self, value: TypedValue) -> Self {
        Self {
            value,
            version: self.version.clone(),
        }
    }

    /// Returns the fields, those of declared structs included.
    fn fields(&self) -> Result<FieldSet, UpdateError> {
        let fields = self.value.to_field_set();
        let fields = fields.map_err(typed("failed to prune fields"))?;
        Ok(self.value.with_named_fields(&fields))
    }
}
