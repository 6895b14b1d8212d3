//! Events: core/v1 and events.k8s.io/v1 are one resource with different names for most fields.

use super::rename;
use kubist_apimachinery::{FieldSelector, Status};
use serde_json::Value;

/// Field names in core/v1 and in events.k8s.io/v1.
const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

pub(super) fn to_events_group(json: &mut Value) {
    for (core, events) in NAMES {
        rename(json, core, events);
    }
}

pub(super) fn to_core_group(json: &mut Value) {
    for (core, events) in NAMES {
        rename(json, events, core);
    }
}

/// The selectable fields in events.k8s.io and their names in core.
const FIELDS: [(&str, &str); 12] = [
    ("reason", "reason"),
    ("regarding.kind", "involvedObject.kind"),
    ("regarding.namespace", "involvedObject.namespace"),
    ("regarding.name", "involvedObject.name"),
    ("regarding.uid", "involvedObject.uid"),
    ("regarding.apiVersion", "involvedObject.apiVersion"),
    (
        "regarding.resourceVersion",
        "involvedObject.resourceVersion",
    ),
    ("regarding.fieldPath", "involvedObject.fieldPath"),
    ("reportingController", "reportingComponent"),
    ("type", "type"),
    ("metadata.namespace", "metadata.namespace"),
    ("metadata.name", "metadata.name"),
];

/// Converts a field selector of events.k8s.io to the stored form.
///
/// # Errors
/// 400 for a field that is not selectable.
pub(crate) fn event_fields(fields: &FieldSelector) -> Result<FieldSelector, Status> {
    fields.transform(
        |field, value| match FIELDS.iter().find(|(name, _)| field == name) {
            Some((_, stored)) => Ok(((*stored).into(), value.clone())),
            None => Err(Status::bad_request(format!(
                "field label not supported: {field}"
            ))),
        },
    )
}
