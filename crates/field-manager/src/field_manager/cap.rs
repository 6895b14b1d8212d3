//! The limit of managers by updates. The oldest ones beyond it become one, of unknown origin.

use crate::managed_fields::{ManagedFields, OwnedFields, seconds};
use crate::manager_id::{ManagerId, Operation};
use kubist_apimachinery::Str;
use std::collections::BTreeMap;

/// The maximum of managers by updates (upstream: `DefaultMaxUpdateManagers`).
const UPDATERS_MAX: usize = 10;
/// The manager of the oldest updates, one for each API version.
const ANCIENT: &str = "ancient-changes";

/// Merges the oldest managers by updates until their number is within the limit, or there is one
/// for each version.
pub(super) fn cap_updaters(managers: &mut ManagedFields) {
    let updaters = managers
        .iter()
        .filter(|(id, _)| id.operation == Operation::Update);
    let mut updaters: Vec<_> = updaters
        .map(|(id, owned)| (seconds(owned), id.identifier(), id.clone()))
        .collect();
    let mut left = updaters.len();
    if left <= UPDATERS_MAX {
        return;
    }
    updaters.sort();
    let mut first_of_version: BTreeMap<Str, ManagerId> = BTreeMap::new();
    for (_, _, id) in updaters {
        if left <= UPDATERS_MAX {
            return;
        }
        let Some(version) = managers.get(&id).map(|it| it.api_version.clone()) else {
            continue;
        };
        let Some(first) = first_of_version.get(&version) else {
            first_of_version.insert(version, id);
            continue;
        };
        let bucket = ManagerId::updater(ANCIENT, version, "");
        if managers.get(&bucket).is_none()
            && let Some(owned) = managers.remove(first)
        {
            managers.set(bucket.clone(), owned);
        }
        let Some(owned) = managers.remove(&id) else {
            continue;
        };
        let fields = match managers.get(&bucket) {
            Some(before) => owned.fields.union(&before.fields).into(),
            None => owned.fields,
        };
        managers.set(bucket, OwnedFields { fields, ..owned });
        left -= 1;
    }
}
