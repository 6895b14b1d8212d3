//! Rows of device claims and resource slices.

use super::age::age;
use super::cells;
use kubist_api::resource::v1::{ResourceClaim, ResourceSlice};
use kubist_apimachinery::Time;
use serde_json::Value;

pub(super) fn claim(object: &ResourceClaim, now: Time) -> Vec<Value> {
    let deleted = object.metadata.is_terminating();
    let allocated = object.status.allocation.is_some();
    let words = [
        (deleted, "deleted"),
        (!allocated && !deleted, "pending"),
        (allocated, "allocated"),
        (
            allocated && !object.status.reserved_for.is_empty(),
            "reserved",
        ),
    ];
    let state: Vec<&str> = words.iter().filter(|it| it.0).map(|it| it.1).collect();
    cells![
        &*object.metadata.name,
        state.join(","),
        age(&object.metadata, now)
    ]
}

pub(super) fn slice(object: &ResourceSlice, now: Time) -> Vec<Value> {
    let spec = &object.spec;
    cells![
        &*object.metadata.name,
        spec.node_name.as_deref().unwrap_or_default(),
        &*spec.driver,
        &*spec.pool.name,
        age(&object.metadata, now),
    ]
}
