//! `ManagedFields`: the managers of an object, with the fields that each owns.
//!
//! Read from and written as `metadata.managedFields`. Sets that no write changes keep their text.

use crate::field_set::FieldSet;
use crate::fields_v1::{FIELDS_DEPTH_MAX, FieldsV1Error};
use crate::manager_id::ManagerId;
use crate::owned_set::OwnedSet;
use crate::updater::UpdateError;
use kubist_apimachinery::wire::FieldsV1;
use kubist_apimachinery::{ManagedFieldsEntry, Str, Time};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// The only format of field sets.
const FIELDS_TYPE: &str = "FieldsV1";

/// The managers of an object. Empty by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManagedFields {
    managers: BTreeMap<ManagerId, OwnedFields>,
}

/// What a manager owns.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedFields {
    /// The fields.
    pub fields: OwnedSet,
    /// The API version that the fields are named by.
    pub api_version: Str,
    /// When the fields last changed.
    pub time: Option<Time>,
}

/// An entry of `metadata.managedFields` cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManagedFieldsError {
    /// The operation is neither `Apply` nor `Update`.
    Operation,
    /// There is no API version.
    NoApiVersion,
    /// There is no format. With the position of the entry.
    NoFieldsType(usize),
    /// The format is not `FieldsV1`. With the format and the position of the entry.
    FieldsType(Str, usize),
    /// The field set cannot be read.
    Fields(FieldsV1Error),
}

impl ManagedFields {
    /// Reads the entries of an object.
    ///
    /// # Errors
    /// The first entry that cannot be read.
    pub fn from_entries(entries: &[ManagedFieldsEntry]) -> Result<Self, ManagedFieldsError> {
        Self::read(entries, |text| Ok(FieldSet::from_json(text)?.into()))
    }

    /// Reads the entries of an object, and their sets with `read`.
    pub(crate) fn read(
        entries: &[ManagedFieldsEntry],
        read: impl Fn(&Str) -> Result<OwnedSet, FieldsV1Error>,
    ) -> Result<Self, ManagedFieldsError> {
        let mut managers = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            let id = ManagerId::of_entry(entry).ok_or(ManagedFieldsError::Operation)?;
            if entry.api_version.is_empty() {
                return Err(ManagedFieldsError::NoApiVersion);
            }
            match &*entry.fields_type {
                FIELDS_TYPE => {}
                "" => return Err(ManagedFieldsError::NoFieldsType(at)),
                _ => {
                    return Err(ManagedFieldsError::FieldsType(
                        entry.fields_type.clone(),
                        at,
                    ));
                }
            }
            let fields = match &entry.fields_v1 {
                Some(text) => read(&text.raw),
                None => Ok(OwnedSet::default()),
            };
            let owned = OwnedFields {
                fields: fields.map_err(ManagedFieldsError::Fields)?,
                api_version: entry.api_version.clone(),
                time: entry.time,
            };
            managers.insert(id, owned);
        }
        Ok(Self { managers })
    }

    /// Writes the entries of an object, in upstream's order: applies first, then by time and name.
    pub fn to_entries(&self) -> Vec<ManagedFieldsEntry> {
        let mut all: Vec<_> = self.managers.iter().collect();
        all.sort_by(|left, right| entry_order(*left, *right));
        let entry = |(id, owned): (&ManagerId, &OwnedFields)| ManagedFieldsEntry {
            manager: id.name.clone(),
            operation: id.operation.as_str().into(),
            api_version: owned.api_version.clone(),
            time: owned.time,
            fields_type: FIELDS_TYPE.into(),
            fields_v1: Some(FieldsV1 {
                raw: owned.fields.text(),
            }),
            subresource: id.subresource.clone(),
        };
        all.into_iter().map(entry).collect()
    }

    /// As [`to_entries`](Self::to_entries), unless a set is nested so deeply that it could not be
    /// read again.
    pub(crate) fn to_readable_entries(&self) -> Result<Vec<ManagedFieldsEntry>, UpdateError> {
        let mut all = self.managers.values();
        if all.any(|it| it.fields.depth() > FIELDS_DEPTH_MAX) {
            return Err(UpdateError::TooDeep);
        }
        Ok(self.to_entries())
    }

    /// Reports whether there are no managers.
    pub fn is_empty(&self) -> bool {
        self.managers.is_empty()
    }

    /// Returns what a manager owns.
    pub fn get(&self, id: &ManagerId) -> Option<&OwnedFields> {
        self.managers.get(id)
    }

    /// Sets what a manager owns; one that owns nothing is removed.
    pub fn set(&mut self, id: ManagerId, owned: OwnedFields) {
        if owned.fields.is_empty() {
            self.managers.remove(&id);
        } else {
            self.managers.insert(id, owned);
        }
    }

    /// Removes a manager and returns what it owned.
    pub fn remove(&mut self, id: &ManagerId) -> Option<OwnedFields> {
        self.managers.remove(id)
    }

    /// Returns the managers.
    pub fn iter(&self) -> impl Iterator<Item = (&ManagerId, &OwnedFields)> {
        self.managers.iter()
    }

    /// Keeps the managers that `keep` accepts; it may change what they own. Those that own nothing
    /// are removed.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&ManagerId, &mut OwnedFields) -> bool) {
        self.managers
            .retain(|id, owned| keep(id, owned) && !owned.fields.is_empty());
    }

    /// Sets the time of a manager, if it owns anything.
    pub(crate) fn set_time(&mut self, id: &ManagerId, time: Option<Time>) {
        if let Some(owned) = self.managers.get_mut(id) {
            owned.time = time;
        }
    }
}

/// Seconds since the epoch; 0 without a time.
pub(crate) fn seconds(owned: &OwnedFields) -> i64 {
    owned.time.map_or(0, Time::unix)
}

fn entry_order(left: (&ManagerId, &OwnedFields), right: (&ManagerId, &OwnedFields)) -> Ordering {
    let order = |(id, owned): (&ManagerId, &OwnedFields)| (id.operation, seconds(owned));
    let order = order(left).cmp(&order(right));
    let names = || left.0.name.cmp(&right.0.name);
    let versions = || left.1.api_version.cmp(&right.1.api_version);
    let subresources = || left.0.subresource.cmp(&right.0.subresource);
    order
        .then_with(names)
        .then_with(versions)
        .then_with(subresources)
}

impl fmt::Display for ManagedFieldsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operation => f.write_str("operation must be `Apply` or `Update`"),
            Self::NoApiVersion => f.write_str("apiVersion must not be empty"),
            Self::NoFieldsType(at) => {
                write!(f, "missing fieldsType in managed fields entry {at}")
            }
            Self::FieldsType(found, at) => {
                write!(
                    f,
                    "invalid fieldsType {found:?} in managed fields entry {at}"
                )
            }
            Self::Fields(error) => write!(f, "error decoding set: {error}"),
        }
    }
}

impl std::error::Error for ManagedFieldsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Fields(error) => Some(error),
            _ => None,
        }
    }
}
