//! Events: core/v1 and events.k8s.io/v1 are one resource with other names for most fields.

use super::rename;
use serde_json::Value;

/// Names in core/v1 and in events.k8s.io/v1.
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
