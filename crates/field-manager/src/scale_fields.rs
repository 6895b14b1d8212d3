//! The managed fields of a scale, which are a part of its workload's.
//!
//! A scale owns nothing but replicas. As upstream's `ScaleHandler`.

use crate::field_set::FieldSet;
use crate::managed_fields::{ManagedFields, ManagedFieldsError, OwnedFields};
use crate::path_element::PathElement;
use kubist_apimachinery::ManagedFieldsEntry;

/// The API version of a scale.
const SCALE_VERSION: &str = "autoscaling/v1";

/// Where a version of a workload has its replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a version is one of these")]
pub enum ReplicasPath {
    /// There is no such version.
    NoVersion,
    /// The version has no scale.
    NoScale,
    /// At this path.
    At(Vec<PathElement>),
}

fn in_scale() -> [PathElement; 2] {
    ["spec".into(), "replicas".into()]
}

/// Returns the managed fields of the scale of a workload: those of its replicas.
///
/// # Errors
/// The entries cannot be read.
pub fn scale_entries(
    workload: &[ManagedFieldsEntry],
    path_of: impl Fn(&str) -> ReplicasPath,
) -> Result<Vec<ManagedFieldsEntry>, ManagedFieldsError> {
    let mut out = ManagedFields::default();
    for (id, owned) in ManagedFields::from_entries(workload)?.iter() {
        if let ReplicasPath::At(path) = path_of(&owned.api_version)
            && owned.fields.has(&path)
        {
            let of_scale = OwnedFields {
                fields: FieldSet::from_paths([&in_scale()[..]]).into(),
                api_version: SCALE_VERSION.into(),
                time: owned.time,
            };
            out.set(id.clone(), of_scale);
        }
    }
    Ok(out.to_entries())
}

/// Returns the managed fields of a workload at `api_version` after its scale was written.
///
/// # Errors
/// The entries cannot be read.
pub fn workload_entries(
    workload: &[ManagedFieldsEntry],
    scale: &[ManagedFieldsEntry],
    api_version: &str,
    path_of: impl Fn(&str) -> ReplicasPath,
) -> Result<Vec<ManagedFieldsEntry>, ManagedFieldsError> {
    let before = ManagedFields::from_entries(workload)?;
    let mut of_scale = ManagedFields::from_entries(scale)?;
    let mut out = ManagedFields::default();
    for (id, owned) in before.iter() {
        let path = match path_of(&owned.api_version) {
            ReplicasPath::NoVersion => continue,
            ReplicasPath::NoScale => None,
            ReplicasPath::At(path) => Some(path),
        };
        let owned = owned.clone();
        match path.filter(|path| owned.fields.has(path)) {
            None => out.set(id.clone(), owned),
            Some(_) if of_scale.remove(id).is_some() => out.set(id.clone(), owned),
            Some(path) => {
                let fields = owned.fields.difference(&FieldSet::from_paths([&path[..]]));
                let fields = fields.into();
                out.set(id.clone(), OwnedFields { fields, ..owned });
            }
        }
    }
    let ReplicasPath::At(path) = path_of(api_version) else {
        return Ok(out.to_entries());
    };
    for (id, _) in of_scale.iter().filter(|(_, it)| it.fields.has(&in_scale())) {
        let of_workload = OwnedFields {
            fields: FieldSet::from_paths([&path[..]]).into(),
            api_version: api_version.into(),
            // As upstream, a manager that is new to the workload has no time.
            time: before.get(id).and_then(|it| it.time),
        };
        out.set(id.clone(), of_workload);
    }
    Ok(out.to_entries())
}
